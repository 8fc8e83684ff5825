"""What every encoder has."""

from __future__ import annotations

from trainwright_api.config.fields import Skip
from trainwright_api.section import Section


class Encoder(Section):
    """How an input becomes a vector, or a sequence of vectors; `type` names it."""

    skip: Skip = False
