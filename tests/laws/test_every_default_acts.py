"""A setting in `config.defaults` has the same effect as the same setting in each feature of the type."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from trainwright_api.checks import support
from trainwright_api.config.defaults import Defaults
from trainwright_api.problems import Mistakes
from trainwright_api.schema.field_schema import schema_of

from .option_cases import OptionCase, cases_of, is_built
from .option_jobs import base_job, settings_for
from .option_paths import Job, make, put
from .option_runs import read
from .option_walk import Option, Walk

_OF_INPUTS = (("sequence", "preprocessing"), ("text", "preprocessing"))


def _with_part(kind: str, part: str) -> list[str]:
    """The features, input and output, that have a section of this name."""
    # The preprocessing of a target of tokens lacks what only an encoder has use for.
    both = part != "encoder" and kind in support.OUTPUTS and (kind, part) not in _OF_INPUTS
    outputs = [f"config.output_features[{kind}]"] if both else []
    inputs = [f"config.input_features[{kind}]"] if part in ("preprocessing", "encoder") else []
    return [*inputs, *outputs]


def _part(kind: str, path: str) -> str:
    """The part of a feature that a default is for: preprocessing, encoder, decoder or loss."""
    return path.removeprefix(f"config.defaults.{kind}.").partition(".")[0].partition("[")[0]


# Without those of outputs of a type that is built as inputs only, which no feature takes, and without the cache of
# embeddings, which needs a pretrained encoder: test_cached_embeddings.py.
_WALK = Walk(is_built)  # one for all types: a section that many share is tested below the first of them
DEFAULTS = [
    (kind, option)
    for kind in support.INPUTS
    for option in _WALK.section(schema_of(Defaults.model_fields[kind]).section, f"config.defaults.{kind}")
    if _with_part(kind, _part(kind, option.path)) and not option.path.endswith(".cache_encoder_embeddings")
]


@pytest.mark.parametrize(("kind", "option"), [pytest.param(*each, id=each[1].path) for each in DEFAULTS])
def test_a_default_is_as_good_as_a_field(kind: str, option: Option) -> None:
    """A field in `config.defaults` gives the same config as the field in each feature, or is refused."""
    below = option.path.removeprefix(f"config.defaults.{kind}.")
    features = _with_part(kind, _part(kind, option.path))
    case = next(cases_of(replace(option, path=f"{features[0]}.{below}")), None)
    if case is None:  # a section with only one type
        return
    bare = _sides(kind, features)
    plain = _resolved(_given(bare, features, below, case))
    for value in case.values:
        own = _resolved(_given(bare, features, below, case, value))
        found = _resolved(_given(bare, [f"config.defaults.{kind}"], below, case, value))
        assert isinstance(found, list) == isinstance(own, list)
        if isinstance(found, list):
            assert any(f"config.defaults.{kind}" in line for line in found), found
            return
        assert found == own
        if own != plain:
            return
    pytest.fail(f"no config differs with {case.values}")


def _sides(kind: str, features: list[str]) -> Job:
    """A job that has the type as input and, if one of `features` is an output, as output."""
    job = base_job(f"config.input_features[{kind}]")
    if f"config.output_features[{kind}]" in features:
        job["config"]["output_features"] = base_job(f"config.output_features[{kind}]")["config"]["output_features"]
    return job


def _given(bare: Job, sections: list[str], below: str, case: OptionCase, *value: Any) -> Job:
    """The job with the settings that the option needs in each of `sections`, and with the option's value, if given."""
    job = deepcopy(bare)
    feature = case.path.removesuffix(f".{below}")
    for section in sections:
        for place, setting in settings_for(case.name, case.path):
            if place == "config.combiner":
                put(job, place, setting)
            if (inside := place.removeprefix(f"{feature}.")).startswith(("preproc", "encoder", "decoder", "loss")):
                put(job, f"{section}.{inside}", setting)
        parent = make(job, f"{section}.{below}".rpartition(".")[0])
        if value:
            parent[below.rpartition(".")[2]] = value[0]
    return job


def _resolved(job: Job) -> Any:
    """The resolved config, or the list of mistakes."""
    try:
        config = read(job).config
    except Mistakes as mistakes:
        return [str(problem) for problem in mistakes.problems]
    assert config is not None
    return config.model_dump(mode="json")
