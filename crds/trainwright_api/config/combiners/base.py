"""What every combiner has."""

from __future__ import annotations

from trainwright_api.section import Section


class Combiner(Section):
    """How the inputs' vectors become one; `type` names it."""
