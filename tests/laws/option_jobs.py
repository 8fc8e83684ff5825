"""The small job in which an option is tested. It has the option's feature and the settings of `MATTERS`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from .option_data import INPUTS, OUTPUTS, WIDTHS
from .option_paths import Job, make, put
from .option_tables import MATTERS, VALUES


def base_job(path: str) -> Job:
    """A small job with the feature of `path`. The defaults are a number and a category as input, a binary as output."""
    source, target = (re.match(rf"config\.{side}_features\[(\w+)\]", path) for side in ("input", "output"))
    inputs = ["number", "category"] if source is None else [source[1], *(["number"] if source[1] != "number" else [])]
    outputs = ["binary"] if target is None else [target[1]]
    job: Job = {
        "dataset": "rows.parquet",
        "config": {
            "input_features": [{"name": INPUTS.get(kind, "side"), "type": kind} for kind in inputs],
            "output_features": [{"name": OUTPUTS.get(kind, "class"), "type": kind} for kind in outputs],
            "trainer": {"epochs": 2, "batch_size": 40, "learning_rate": 0.05},
        },
        "backend": {"cache_dir": "cache"},
    }
    if path.endswith(".tied"):
        # What passes through has no weights to share, and an encoder of its own would be refused.
        dense = {"encoder": "dense"} if inputs[0] in ("number", "binary") else {}
        job["config"]["input_features"].append({"name": f"{INPUTS[inputs[0]]}2", "type": inputs[0], **dense})
    if path.endswith(".bucketing_field"):
        job["config"]["input_features"].append({"name": "note", "type": "text"})
    if path.endswith((".dependencies", ".validation_field")):
        job["config"]["output_features"].append({"name": "other", "type": "number", "column": "delay2"})
    if ".reduce_dependencies" in path:
        tags = {"name": "tags", "type": "sequence", "column": "steps2", "decoder": {"type": "tagger"}}
        job["config"]["output_features"].append(tags)
    return job


def settings_for(case: str, path: str) -> Iterator[tuple[str, Any]]:
    """The settings of `MATTERS` for the case, as (absolute path, value)."""
    section = path.rpartition(".")[0]
    stack = re.match(r"(.*\.(?:encoder|decoder|combiner)\[\w+\])", path)
    places = {"..": section.rpartition(".")[0], ".": section, "/": stack[1] if stack else ""}
    for pattern, settings in MATTERS.items():
        if fits(case, pattern) or fits(path, pattern):
            yield from ((_absolute(key, places), value) for key, value in settings.items())
    yield from _passed_on(path)


def _absolute(key: str, places: Mapping[str, str]) -> str:
    mark = next((mark for mark in places if key.startswith(mark)), None)
    return key if mark is None else f"{places[mark]}.{key.removeprefix(mark)}"


def _passed_on(path: str) -> Iterator[tuple[str, Any]]:
    """The layers that a passthrough decoder needs, because their output must have the width of the target."""
    found = re.match(r"(config\.output_features\[(\w+)\]\.decoder\[passthrough\])\.(\w+)", path)
    if found is None:
        return
    section, kind, field = found.groups()
    if field == "num_fc_layers":
        yield f"{section}.fc_output_size", WIDTHS[kind]
        yield f"{section}.num_fc_layers", 1
    else:
        yield f"{section}.fc_layers", [{}, {"output_size": WIDTHS[kind]}]


def given_values(case: str, path: str) -> list[Any] | None:
    """The last entry of `VALUES` that matches, with the name of the option's feature inserted."""
    found = [values for pattern, values in VALUES.items() if fits(case, pattern) or fits(path, pattern)]
    if not found:
        return None
    kind = re.match(r"config\.(input|output)_features\[(\w+)\]", path)
    name = {"input": INPUTS, "output": OUTPUTS}[kind[1]][kind[2]] if kind else ""
    return [_named(value, name) for value in found[-1]]


def _named(value: Any, name: str) -> Any:
    return value.format(column=name, name=name) if isinstance(value, str) else value


def first_fit(case: str, patterns: Iterable[str]) -> str | None:
    """The first pattern that matches a case, or None."""
    return next((pattern for pattern in patterns if fits(case, pattern)), None)


def fits(text: str, pattern: str) -> bool:
    return _compiled(pattern).fullmatch(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", ".*"))


def job_for(case: str, path: str) -> Job:
    """The job before the change. It has the sections around the option, of the types in the path."""
    job = base_job(path)
    for place, value in settings_for(case, path):
        put(job, place, value)
    make(job, path.rpartition(".")[0])
    return job
