"""docs/ludwig.md: every name of Ludwig's schema, with what this version does about it, and the old forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainwright_api.checks import support
from trainwright_api.config.model import ModelConfig
from trainwright_api.generate.built import NOT_BUILT, built_sections, lack_of
from trainwright_api.ludwig.counterparts import CHOICES, counterpart
from trainwright_api.ludwig.names import LudwigSection, ludwig_sections
from trainwright_api.resource.job import TrainingJob
from trainwright_api.schema.section import Section
from trainwright_api.upgrade import backend, features, layers, preprocessing, trainer

_INTRODUCTION = """\
# Ludwig's names

`make generate` writes this page from the contract and from the schemas of Ludwig 0.11 and 0.17.

A field has the same name here as in Ludwig. *Built* fields act. What is *not built yet* is refused in those words. What
*will not be built* has no effect in Ludwig's file either, or is derived here; it is refused where it is set to another
value than its default. A key that no version of Ludwig has is a mistake, with the nearest name; `--lenient` ignores it.
"""

WILL_NOT: Mapping[str, str] = {
    "computed_fill_value": "Ludwig's preprocessing writes it",
    "computed_outlier_fill_value": "Ludwig's preprocessing writes it",
    "proc_column": "the cache is addressed by content",
    "saved_weights_in_checkpoint": "a model folder always holds its weights",
    "vocab": "derived from the training rows",
}
"""Fields that will not be built, and the reason."""

_HEADINGS: Mapping[str, str] = {
    "section": "Sections of a config",
    "input feature type": "Input features",
    "output feature type": "Output features",
    "preprocessing of a column": "Preprocessing of a column",
    "combiner": "Combiners",
    "encoder": "Encoders",
    "decoder": "Decoders",
    "loss": "Losses",
    "optimizer": "Optimizers",
    "split": "Splits",
    "defaults": "Defaults of a type",
    "augmentation": "Augmentation",
    "search algorithm": "Hyperparameter search: algorithms",
    "scheduler": "Hyperparameter search: schedulers",
    "parameter space": "Hyperparameter search: parameters",
    "adapter": "Adapters of large language models",
    "trainer of an llm": "Trainers of large language models",
}
_LLM_IS_BUILT = "llm" in support.WORDS["ModelConfig.model_type"]
_HEAD = "| name | in Ludwig | built | built fields | not built yet | will not be built |\n|---|---|---|---|---|---|\n"
BESIDE_CONFIG = ("backend",)
"""Sections of Ludwig's config that are beside the config here."""


def ludwig_names() -> str:
    """Return the page as Markdown."""
    page = _Page(built_sections(TrainingJob))
    parts = "\n".join(page.part(kind, heading) for kind, heading in _HEADINGS.items())
    reasons = "".join(f"* `{name}`: {reason}.\n" for name, reason in WILL_NOT.items())
    return f"{_INTRODUCTION}\n{_old_forms()}\n{parts}\n## Why some fields will not be built\n\n{reasons}"


class _Page:
    """The tables. `built` has the sections of the contract that this version implements."""

    def __init__(self, built: set[type[Section]]) -> None:
        self._built = built

    def part(self, kind: str, heading: str) -> str:
        """Return the table of a kind of sections. The kinds of encoders, decoders and losses have a type too."""
        rows = [self._row(section) for section in ludwig_sections() if section.kind.startswith(kind)]
        return f"## {heading}\n\n{_HEAD}{''.join(rows)}"

    def _row(self, section: LudwigSection) -> str:
        lacks = {name: self._lack(section, name) for name in section.fields}
        never = [name for name, lack in lacks.items() if lack and name in WILL_NOT]
        built = [name for name, lack in lacks.items() if not lack]
        later = [f"`{name}`{_words(lack)}" for name, lack in lacks.items() if lack and name not in WILL_NOT]
        title = f"`{section.name}`{_of_type(section)}"
        lists = (", ".join(f"`{name}`" for name in built), ", ".join(later), ", ".join(f"`{name}`" for name in never))
        state = "yes" if self._is_built(section) else "no"
        return f"| {title} | {section.versions} | {state} | {' | '.join(lists)} |\n"

    def _is_built(self, section: LudwigSection) -> bool:
        choice = CHOICES.get(section.kind)
        is_word = choice is None or section.name in support.built_words(choice)
        is_reachable = section.kind != "trainer of an llm" or _LLM_IS_BUILT
        return counterpart(section) in self._built and is_word and is_reachable

    def _lack(self, section: LudwigSection, name: str) -> str:
        """Return the sentence on the unbuilt part of a field, or "" if all of it is built."""
        our = counterpart(section)
        if our is ModelConfig and name in BESIDE_CONFIG:
            return ""
        if our is None or name not in our.model_fields or not self._is_built(section):
            return NOT_BUILT
        return lack_of(our, name)


def _of_type(section: LudwigSection) -> str:
    """Return the feature type of an encoder, a decoder or a loss, in brackets."""
    kind = section.kind.partition(" of a ")[2]
    return f" ({kind})" if section.kind in CHOICES and kind else ""


def _words(lack: str) -> str:
    """Return the unbuilt words of a field that is built in part, in brackets."""
    words = lack.removeprefix("Not built yet: ").rstrip(".")
    if lack == NOT_BUILT:
        return ""
    return f" ({words})" if lack.startswith("Not built yet: ") else " (other than its default)"


def _old_forms() -> str:
    rows = "".join(f"| `{old}` | {new} |\n" for old, new in _renamed())
    head = "| old | read as |\n|---|---|\n"
    return (
        f"## Old forms\n\nConfigs for Ludwig 0.3 to 0.10 are upgraded, with one notice for each change.\n\n{head}{rows}"
    )


def _renamed() -> Iterator[tuple[str, str]]:
    yield "training", "`trainer`"
    yield from (
        (f"trainer.{old}", f"`trainer.learning_rate_scheduler.{new}`") for old, new in trainer.SCHEDULER.items()
    )
    yield from ((f"trainer.{old}", f"`trainer.{new}`") for old, new in trainer.RENAMED.items())
    yield from ((f"trainer.{name}", said.removeprefix(" is ")) for name, said in trainer.REMOVED.items())
    yield "trainer.optimizer.beta_1, beta_2, beta1, beta2, epsilon, lr", "`betas`, `eps`, `trainer.learning_rate`"
    yield "preprocessing.TYPE", "`defaults.TYPE.preprocessing`"
    yield "preprocessing.force_split, split_probabilities, stratify", "`preprocessing.split`"
    yield from ((f"missing_value_strategy: {old}", f"`{new}`") for old, new in preprocessing.FILLS.items())
    yield "type: numerical", "`number`"
    yield "tied_weights", "`tied`"
    yield "a field of an encoder or decoder beside the feature", "the field in `encoder` or `decoder`"
    yield from ((old, f"`{new}`, in encoders, combiners and layers") for old, new in layers.RENAMED.items())
    yield from ((old, f"`{new}`, in encoders of images") for old, new in layers.OF_IMAGES.items())
    yield from ((name, said.removeprefix(" is ")) for name, said in layers.REMOVED.items())
    yield from ((f"encoder: {old} of an image, with old fields", f"`{new}`") for old, new in features.LEGACY.items())
    yield "combiner.bn_virtual_divider", "`combiner.bn_virtual_bs`: batch size / divider"
    yield "hyperopt.sampler", "`hyperopt.search_alg` and `hyperopt.executor`"
    yield "hyperopt.scheduler", "`hyperopt.executor.scheduler`"
    yield "hyperopt.parameters.training.NAME", "`hyperopt.parameters.trainer.NAME`"
    yield "backend: WORD", "`backend: {type: WORD}`"
    yield f"{', '.join(backend.DEEPSPEED)} beside the type", "the field in `backend.trainer.strategy`"
