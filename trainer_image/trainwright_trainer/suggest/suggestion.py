"""The suggested job: features, split, sizes and trainer, each with the comment that explains it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from trainwright_api.checks.validate import inspect
from trainwright_api.config.data import DEFAULT_PROBABILITIES
from trainwright_api.problems import Mistakes
from trainwright_trainer.data.split import hash_parts
from trainwright_trainer.features.number_statistics import COARSE, step_of_float32
from trainwright_trainer.runtime.memory import usable_bytes
from trainwright_trainer.suggest import sizes
from trainwright_trainer.suggest.column_type import TypeChoice, input_choice, target_choice
from trainwright_trainer.suggest.describe import described, positive_value
from trainwright_trainer.suggest.na_values import na_values, without_conflicts
from trainwright_trainer.suggest.pretrained import TRAINER, cached_models, frozen
from trainwright_trainer.suggest.profile import TARGET, ColumnProfile, TableProfile
from trainwright_trainer.suggest.shown import share

_BYTES = {"number": 4, "binary": 4, "category": 8, "date": 36}


@dataclass(frozen=True)
class Commented:
    """A value of the file, and its comment."""

    value: dict[str, Any]
    comment: str = ""


@dataclass(frozen=True)
class Suggestion:
    """`left_out`: the columns that are no inputs, with the reasons. Sections that the job does not need are None."""

    profile: TableProfile
    inputs: Sequence[Commented]
    left_out: Sequence[tuple[str, str]]
    output: Commented
    combiner: Commented
    split: Commented | None
    trainer: Commented | None
    loader: Commented | None
    na_values: Mapping[str, Sequence[str]]
    """The words that count as missing, each with the inputs that are no numbers and have it as a value."""
    memory: float
    """The bytes of all encoded rows."""
    given: Mapping[str, Any]
    """The section `datasetOptions` that the table was read with."""

    @property
    def dataset_options(self) -> dict[str, Any]:
        """The section `datasetOptions` of the job."""
        words = [*self.given.get("naValues", ()), *self.na_values]
        return {**self.given, **({"naValues": words} if words else {})}

    def job(self, dataset: str | None = None) -> dict[str, Any]:
        """The job as plain data."""
        config: dict[str, Any] = {
            "input_features": [line.value for line in self.inputs],
            "output_features": [self.output.value],
            "combiner": self.combiner.value,
        }
        if self.split is not None:
            config["preprocessing"] = {"split": self.split.value}
        if self.trainer is not None:
            config["trainer"] = self.trainer.value
        job: dict[str, Any] = {} if dataset is None else {"dataset": dataset}
        if self.dataset_options:
            job["datasetOptions"] = self.dataset_options
        job["config"] = config
        if self.loader is not None:
            job["backend"] = {"type": "local", "loader": self.loader.value}
        return job


def suggestion_of(profile: TableProfile, given: Mapping[str, Any] | None = None) -> Suggestion:
    """The job for a table, which was read with the section `datasetOptions` that is `given`.

    Raises `Mistakes` if its target cannot be predicted, or no column is left as an input.
    """
    target = profile.columns[profile.target]
    wanted = target_choice(target)
    if wanted.type is None:
        raise Mistakes.one(TARGET, f"column {target.name!r} of {profile.name} cannot be a target: {wanted.reason}")
    choices = without_conflicts(profile, {column.name: input_choice(column) for column in profile.inputs}, wanted)
    used = {name: choice for name, choice in choices.items() if choice.type is not None}
    if not used:
        reasons = (
            "; ".join(f"{name!r}: {choice.reason}" for name, choice in choices.items()) or "it has no other column"
        )
        raise Mistakes.one("dataset", f"no column of {profile.name} is left as an input: {reasons}")
    pretrained = _pretrained() if any(choice.type == "text" for choice in used.values()) else None
    inputs = [_input(profile.columns[name], choice, pretrained) for name, choice in used.items()]
    memory = profile.rows * sum(_row_bytes(profile.columns[name], choice) for name, choice in used.items())
    return Suggestion(
        profile=profile,
        inputs=inputs,
        left_out=[(name, choice.reason) for name, choice in choices.items() if choice.type is None],
        output=_output(target, wanted),
        combiner=_combiner(profile.rows, pretrained is not None),
        split=_split(profile, choices, wanted),
        trainer=None if pretrained is None else Commented(dict(TRAINER), "for frozen encoders, as Ludwig suggests it"),
        loader=_loader(memory),
        na_values=na_values(profile, used),
        memory=memory,
        given=given or {},
    )


def _input(column: ColumnProfile, choice: TypeChoice, pretrained: tuple[str, str] | None) -> Commented:
    assert choice.type is not None
    value: dict[str, Any] = {"name": column.name, "type": choice.type}
    if choice.type == "number" and column.infinite:
        value["preprocessing"] = {"missing_value_strategy": "drop_row"}
    elif choice.type == "number" and (column.missing or column.bad_rows):
        value["preprocessing"] = {"missing_value_strategy": "fill_with_mean"}
    if choice.type == "date" and column.dates.named:
        value["preprocessing"] = column.dates.named
    if choice.type == "category":
        value["encoder"] = sizes.category_encoder(column.distinct.number)
    if choice.type == "text" and pretrained is not None:
        value |= {"encoder": frozen(*pretrained), "preprocessing": {"cache_encoder_embeddings": True}}
    elif choice.type == "text":
        value["preprocessing"] = sizes.text_preprocessing(column.mean_words, column.most_words)
        value["encoder"] = sizes.text_encoder()
    return Commented(value, described(column, choice))


def _output(column: ColumnProfile, choice: TypeChoice) -> Commented:
    value: dict[str, Any] = {"name": column.name, "type": choice.type}
    if choice.type == "binary":
        true, false, part = positive_value(column)
        reverse = f"preprocessing: {{fallback_true_label: {false!r}}} reverses them"
        rows, gaps = "the rows", ""
        if column.missing:
            rows, gaps = "the rows that have one", f" · {share(column.missing / column.rows)} missing"
        return Commented(
            value, f"{true!r} is the positive value ({share(part)} of {rows}) and {false!r} the other; {reverse}{gaps}"
        )
    if choice.type == "number" and _is_coarse(column):
        value["preprocessing"] = {"normalization": "zscore"}
    return Commented(value, described(column, choice))


def _is_coarse(column: ColumnProfile) -> bool:
    """True if float32 keeps few digits of the numbers. A quarter of their range stands for the standard deviation."""
    step = step_of_float32(max(abs(column.least), abs(column.most)))
    return step > COARSE * (column.most - column.least) / 4


def _combiner(rows: int, is_pretrained: bool) -> Commented:
    found = sizes.combiner_of(rows)
    if is_pretrained:
        found |= {"num_fc_layers": found.get("num_fc_layers", 1), "norm": "ghost"}
    return Commented(found, f"the size for {rows:,} rows")


def _split(profile: TableProfile, choices: Mapping[str, TypeChoice], target: TypeChoice) -> Commented | None:
    """By time if the rows are in the order of time, by groups if an id has several rows; else by classes."""
    for column in profile.inputs:
        if column.is_sorted_by_time and not column.missing and len(column.kinds) == 1:
            comment = f"the rows are in the order of {column.name}: train on the oldest, test on the newest"
            return Commented({"type": "datetime", "column": column.name, **column.dates.named}, comment)
    for name, choice in choices.items():
        if choice.is_group and _divides(profile.columns[name]):
            return Commented({"type": "hash", "column": name}, f"all rows of one {name} are in the same part")
    if target.type in ("binary", "category"):
        return Commented({"type": "stratify", "column": profile.target}, "each part has the same share of each class")
    return None


def _divides(groups: ColumnProfile) -> bool:
    """True if a split by hash gives each part at least half of its share of the rows. Few groups can leave none."""
    counts = groups.distinct.counts
    if counts is None:
        return True
    parts = hash_parts(pa.array(list(counts)), DEFAULT_PROBABILITIES)
    rows = np.bincount(parts, weights=list(counts.values()), minlength=len(DEFAULT_PROBABILITIES))
    return bool((rows >= np.array(DEFAULT_PROBABILITIES) * rows.sum() / 2).all())


def _loader(memory: float) -> Commented | None:
    if not sizes.needs_windows(memory, usable_bytes()):
        return None
    return Commented({"fully_executed": False}, "the encoded rows are too large for this machine's memory")


def _row_bytes(column: ColumnProfile, choice: TypeChoice) -> float:
    if choice.type == "vector":
        return 4 * next(iter(column.sizes))
    return _BYTES.get(str(choice.type)) or 8 + 4 * max(column.mean_words, 1)


def _pretrained() -> tuple[str, str] | None:
    """The first model that is there, if this version can cache its embeddings."""
    return next((model for model in cached_models() if _is_built(model)), None)


def _is_built(model: tuple[str, str]) -> bool:
    text = {"name": "a", "type": "text", "encoder": frozen(*model), "preprocessing": {"cache_encoder_embeddings": True}}
    job = {
        "config": {"input_features": [text], "output_features": [{"name": "b", "type": "number"}], "trainer": TRAINER}
    }
    found = inspect({"dataset": "-", **job}, "init")
    return not found.mistakes and not found.unbuilt
