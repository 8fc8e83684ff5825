"""How the inputs' vectors become one: the combiner's config → its class. A new one is one file and one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trainwright_api.config.combiners import Combiner
from trainwright_api.config.combiners.concat import ConcatCombiner
from trainwright_trainer.combiners.concat import Concat

COMBINERS: Mapping[type[Combiner], Callable[[Any, int, str], Concat]] = {ConcatCombiner: Concat}


def combiner_for(config: Combiner, input_size: int) -> Concat:
    """The combiner of inputs that are `input_size` wide together."""
    return COMBINERS[type(config)](config, input_size, "config.combiner")
