"""The combiners: class of the combiner's config → its class. A new combiner needs one file and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trainwright_api.config.combiners import Combiner
from trainwright_api.config.combiners.concat import ConcatCombiner
from trainwright_trainer.combiners.concat import Concat

COMBINERS: Mapping[type[Combiner], Callable[[Any, int, str], Concat]] = {ConcatCombiner: Concat}


def combiner_for(config: Combiner, input_size: int) -> Concat:
    """The combiner of inputs whose widths sum to `input_size`."""
    return COMBINERS[type(config)](config, input_size, "config.combiner")
