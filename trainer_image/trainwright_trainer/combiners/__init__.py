"""The combiners: class of the combiner's config → its class. A new combiner needs one file and one line here.

Each is built from (config, inputs, path in the config).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.config.combiners import Combiner as CombinerConfig
from trainwright_api.config.combiners.comparator import ComparatorCombiner
from trainwright_api.config.combiners.concat import ConcatCombiner
from trainwright_api.config.combiners.project_aggregate import ProjectAggregateCombiner
from trainwright_api.config.combiners.sequence import SequenceCombiner, SequenceConcatCombiner
from trainwright_api.config.combiners.tabnet import TabNetCombiner
from trainwright_api.config.combiners.transformer import TabTransformerCombiner, TransformerCombiner
from trainwright_trainer.combiners.base import Combined, Combiner, CombinerInput, check_forms
from trainwright_trainer.combiners.comparator import Comparator
from trainwright_trainer.combiners.concat import Concat
from trainwright_trainer.combiners.project_aggregate import ProjectAggregate
from trainwright_trainer.combiners.sequence import SequenceConcat, SequenceEncoded
from trainwright_trainer.combiners.tabnet import TabNet
from trainwright_trainer.combiners.transformer import TabTransformer, Transformer

COMBINERS: Mapping[type[CombinerConfig], type[Any]] = {
    ConcatCombiner: Concat,
    TabNetCombiner: TabNet,
    TransformerCombiner: Transformer,
    TabTransformerCombiner: TabTransformer,
    ComparatorCombiner: Comparator,
    ProjectAggregateCombiner: ProjectAggregate,
    SequenceCombiner: SequenceEncoded,
    SequenceConcatCombiner: SequenceConcat,
}

__all__ = ["COMBINERS", "Combined", "Combiner", "CombinerInput", "check_forms"]
