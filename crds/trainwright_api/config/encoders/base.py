"""The base class of the encoders."""

from __future__ import annotations

from trainwright_api.schema.choice import Chosen
from trainwright_api.schema.fields import Skip


class Encoder(Chosen):
    """The encoder: it maps an input to a vector or a sequence of vectors. `type` selects it."""

    skip: Skip = False
