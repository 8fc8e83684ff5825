"""500 mutations of valid files: each message names the place that was changed, in words for people.

A mutation may make another place wrong: what `type` a section has decides which keys it may hold, and a few keys speak
of each other. `PARTNERS` is the whole list of such pairs; everything else must be named where it was changed, at
something below it, or at something above it.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trainwright_api.checks.load import inspected
from trainwright_api.paths import Location, dotted
from trainwright_api.problems import Mistakes, Problem
from trainwright_api.yaml.nodes import read

FILES = {path.name: read(path.read_text()).data for path in sorted((Path(__file__).parent / "files").glob("*.yaml"))}

PARTNERS = (
    # `type` says what its section may hold.
    (r"(.*)\.type", r"\1\..*"),
    # One of these fields decides the kind of a file, and all three distinguish the kinds.
    (r"task|config|model|entrypoint|dataset", r"task|config|model|entrypoint|dataset"),
    (r"apiVersion|kind|metadata|spec", r"apiVersion|kind|metadata|spec"),
    # Messages leave `spec` out of their paths.
    (r"spec", r"(?!metadata|apiVersion|kind).*"),
    # The column's meaning, the names by which features speak of each other, and what holds for all of a type.
    (
        r"config\.(input|output)_features(\[\d\](\.name|\.column)?)?",
        r"config\.(input|output)_features\[\d\]\.(name|column)",
    ),
    (r"config\.defaults.*", r"config\.(input|output)_features\[\d\]\..*"),
    (r"metadata\.(name|generateName)", r"metadata\.name"),
    # Backends, strategies and their sections (the table), GPUs, ZeRO's stages.
    (r"backend\.type", r"backend\.(processor|trainer)(\.strategy)?"),
    (r"backend\.(cache_credentials|credentials.*)", r"backend\.credentials\.cache"),
    (r"backend\.trainer\.(use_gpu|resources_per_worker.*)", r"backend\.trainer\.resources_per_worker\.GPU"),
    (r"(backend\.trainer\.strategy.*)\.stage", r"\1\.offload_(param|optimizer)"),
    (r"(backend\.trainer\.strategy)\.zero_optimization(?:\.stage)?", r"\1\.(fp16|bf16)"),
    (r"backend\.trainer\.num_workers\.min", r"backend\.trainer\.num_workers\.max"),
    (r"(.*)\.split\.probabilities\[\d\]", r"\1\.split\.probabilities"),
)

FOREIGN = re.compile(
    r"Input should|validation error|Traceback|pydantic|Extra inputs|Field required|internal error|"
    r"https?://(?!minio|proxy)|function-|literal\[|TrainerConfig|ModelConfig|TrainingJobSpec|BackendTrainer|NoneType|\bdict\b",
    re.IGNORECASE,
)

RANDOM = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-10, 10**12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["no", "auto", "ddp", "ray", "text", "number", "zscore", "1e-4", "-"]),
    st.lists(st.integers(0, 3), max_size=2),
    st.dictionaries(st.sampled_from(["type", "a", "name"]), st.integers(0, 3), max_size=2),
)
NAMES = st.from_regex(r"[a-z][a-z_]{0,12}", fullmatch=True)


def places(data: Any, at: Location = ()) -> Iterator[Location]:
    """The location of every value of a file but the whole."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*at, key)
        yield from places(value, (*at, key))


def parent_of(data: Any, at: Location) -> Any:
    """The list or mapping that holds a location."""
    for key in at[:-1]:
        data = data[key]
    return data


def delete(data: Any, at: Location, _: st.DataObject) -> Location:
    del parent_of(data, at)[at[-1]]
    return at


def retype(data: Any, at: Location, draw: st.DataObject) -> Location:
    parent_of(data, at)[at[-1]] = draw.draw(RANDOM, label="value")
    return at


def rename(data: Any, at: Location, draw: st.DataObject) -> Location:
    section = parent_of(data, at)
    if isinstance(section, list):
        return retype(data, at, draw)
    new = draw.draw(NAMES.filter(lambda name: name not in section), label="name")
    items = [(new if key == at[-1] else key, value) for key, value in section.items()]
    section.clear()
    section.update(items)
    return (*at[:-1], new)


def insert(data: Any, at: Location, draw: st.DataObject) -> Location:
    section = parent_of(data, at)
    if isinstance(section, list):
        section.insert(at[-1], draw.draw(RANDOM, label="item"))
        return at
    new = draw.draw(NAMES.filter(lambda name: name not in section), label="name")
    section[new] = draw.draw(RANDOM, label="value")
    return (*at[:-1], new)


def swap(data: Any, at: Location, draw: st.DataObject) -> Location:
    """Two letters of a word, or a number for its text."""
    section = parent_of(data, at)
    value = section[at[-1]]
    if isinstance(value, str) and len(value) > 1:
        position = draw.draw(st.integers(0, len(value) - 2), label="position")
        value = value[:position] + value[position + 1] + value[position] + value[position + 2 :]
    else:
        value = str(value)
    section[at[-1]] = value
    return at


def is_named(changed: str, named: str) -> bool:
    """True if a message's path speaks of the place that was changed."""
    if _holds(named, changed) or _holds(changed, named):
        return True
    return any(_are_partners(first, second, changed, named) for first, second in PARTNERS)


def _are_partners(first: str, second: str, changed: str, named: str) -> bool:
    match = re.fullmatch(first, changed)
    if match is None:
        return False
    group = re.escape(match.group(1) or "") if match.groups() else ""
    return re.fullmatch(second.replace(r"\1", group), named) is not None


def _holds(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))


def problems(data: Any) -> tuple[Problem, ...]:
    """The messages for a file with this content."""
    try:
        inspected(json.dumps(data), "job.yaml").valid()
    except Mistakes as mistakes:
        return mistakes.problems
    return ()


def in_our_form(data: Any, at: Location) -> Location:
    """Return the path in messages: a bare config is below `config`, and its seed is called random_seed."""
    bare = "input_features" in data or "output_features" in data
    beside = ("backend", "dataset", "random_seed")
    return ("config", *at) if bare and at[0] not in beside else at


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_every_message_names_what_was_changed(draw: st.DataObject) -> None:
    name = draw.draw(st.sampled_from(sorted(FILES)), label="file")
    data = copy.deepcopy(FILES[name])
    at = draw.draw(st.sampled_from(list(places(data))), label="place")
    mutation = draw.draw(st.sampled_from([delete, rename, retype, insert, swap]), label="mutation")
    touched = {dotted(in_our_form(FILES[name], at)), dotted(in_our_form(FILES[name], mutation(data, at, draw)))}
    for problem in problems(data):
        assert any(is_named(changed, problem.path) for changed in touched), (touched, problem)
        assert not FOREIGN.search(str(problem)), problem
        assert problem.message
        assert "\n" not in problem.message


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_an_unknown_key_draws_exactly_one_line(draw: st.DataObject) -> None:
    name = draw.draw(st.sampled_from(sorted(FILES)), label="file")
    data = copy.deepcopy(FILES[name])
    strict = [at for at in places(data) if isinstance(at[-1], str) and not _open(at)]
    at = draw.draw(st.sampled_from(strict), label="place")
    parent_of(data, at)["not_a_key"] = 1
    where = dotted(in_our_form(FILES[name], (*at[:-1], "not_a_key")))
    assert [problem.path for problem in problems(data)] == [where]


def _open(at: Location) -> bool:
    """True if a place lies where any key is welcome: labels, resources, credentials, Kubernetes' own structures."""
    welcome = r"labels|annotations|nodeSelector|affinity|securityContext|requests|limits|resources_per_worker|"
    welcome += r"credentials\.cache|entrypoint\.config|volumes|valueFrom"
    return re.search(rf"(^|\.)({welcome})[.\[]", dotted(at)) is not None
