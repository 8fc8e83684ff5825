"""The combiner of the encoder outputs."""

from __future__ import annotations

from trainwright_api.config.combiners.base import Combiner
from trainwright_api.config.combiners.concat import ConcatCombiner
from trainwright_api.schema.choice import Choice

COMBINER = Choice(
    "combiner",
    __name__,
    {
        "concat": "concat.ConcatCombiner",
        "sequence_concat": "sequence.SequenceConcatCombiner",
        "sequence": "sequence.SequenceCombiner",
        "tabnet": "tabnet.TabNetCombiner",
        "transformer": "transformer.TransformerCombiner",
        "tabtransformer": "transformer.TabTransformerCombiner",
        "comparator": "comparator.ComparatorCombiner",
        "project_aggregate": "project_aggregate.ProjectAggregateCombiner",
    },
    default="concat",
)

__all__ = ["COMBINER", "Combiner", "ConcatCombiner"]
