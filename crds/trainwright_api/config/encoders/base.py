"""What every encoder has."""

from __future__ import annotations

from trainwright_api.schema.choice import Chosen
from trainwright_api.schema.fields import Skip


class Encoder(Chosen):
    """How an input becomes a vector, or a sequence of vectors; `type` names it."""

    skip: Skip = False
