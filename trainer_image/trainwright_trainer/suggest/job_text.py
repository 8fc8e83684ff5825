"""The text of a suggested job: a commented YAML file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from trainwright_trainer.suggest.suggestion import Commented, Suggestion

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf"))
"""Words that a YAML parser may read as another type than text."""
_WIDEST = 70


def job_text(found: Suggestion, dataset: str, file: str) -> str:
    """The file. `dataset` is its data set; `file` is its name in the commands of the head."""
    return "\n".join(_lines(found, dataset, file)) + "\n"


def _lines(found: Suggestion, dataset: str, file: str) -> Iterator[str]:
    profile = found.profile
    yield f"# Predict {profile.target!r} from {profile.name} ({profile.rows:,} rows, {len(profile.columns):,} columns)."
    yield "# `trainwright init` suggests this job from the whole table. docs/init.md explains each choice."
    yield f"#   trainwright validate {file}"
    yield f"#   trainwright train {file}"
    yield f"dataset: {_flow(dataset)}"
    if found.dataset_options:
        comment = f"  # {_missing_words(found)}" if found.na_values else ""
        yield f"datasetOptions: {_flow(found.dataset_options)}{comment}"
    yield "config:"
    yield "  input_features:"
    yield from _items(found.inputs)
    if found.left_out:
        yield "    # left out:"
        yield from (f"    #   {_flow(name)}: {reason}" for name, reason in found.left_out)
    yield "  output_features:"
    yield from _items([found.output])
    yield _section("  combiner", found.combiner)
    if found.split is not None:
        yield "  preprocessing:"
        yield _section("    split", found.split)
    if found.trainer is None:
        yield "  # without a section trainer, the recipe of docs/recipe.md decides rate, batch size and epochs"
    else:
        yield f"  trainer:  # {found.trainer.comment}"
        yield from (f"    {key}: {_flow(value)}" for key, value in found.trainer.value.items())
    yield f"# The encoded rows take about {max(found.memory / 1e6, 0.1):,.1f} MB of memory."
    if found.loader is not None:
        yield "backend:"
        yield "  type: local"
        yield _section("  loader", found.loader)


def _missing_words(found: Suggestion) -> str:
    others = sorted({name for names in found.na_values.values() for name in names})
    also = f"; also in {', '.join(map(_flow, others))}" if others else ""
    return f"words that are read as missing in every column{also}"


def _items(lines: Sequence[Commented]) -> Iterator[str]:
    """The items of a list. Comments stand in one column beside short items, and above long ones."""
    texts = [f"    - {_flow(line.value)}" for line in lines]
    width = max((len(text) for text in texts if len(text) <= _WIDEST), default=0)
    for text, line in zip(texts, lines, strict=True):
        if len(text) > _WIDEST or len(line.comment) > _WIDEST:
            yield f"    # {line.comment}"
            yield text
        else:
            yield f"{text.ljust(width)}  # {line.comment}"


def _section(key: str, section: Commented) -> str:
    return f"{key}: {_flow(section.value)}" + (f"  # {section.comment}" if section.comment else "")


def _flow(value: Any) -> str:
    """A value in YAML's flow style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.10f}".rstrip("0")
    if isinstance(value, int):
        return str(value)
    is_plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
    return value if is_plain else json.dumps(value, ensure_ascii=False)
