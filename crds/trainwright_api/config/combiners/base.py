"""The base class of the combiners."""

from __future__ import annotations

from trainwright_api.schema.choice import Chosen


class Combiner(Chosen):
    """The combiner: it combines the encoder outputs of all inputs. `type` selects it."""
