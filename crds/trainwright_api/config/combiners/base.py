"""What every combiner has."""

from __future__ import annotations

from trainwright_api.schema.choice import Chosen


class Combiner(Chosen):
    """How the inputs' vectors become one; `type` names it."""
