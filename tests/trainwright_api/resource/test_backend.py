"""Which section and which strategy fit which backend, and what a backend section may say."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from trainwright_api.checks.error_messages import lines
from trainwright_api.resource.backend import BACKENDS, Backend, BackendName, idle_sections
from trainwright_api.resource.strategy import StrategyName

FITS = {
    ("ray", "ddp"),
    ("ray", "fsdp"),
    ("ray", "deepspeed"),
    ("ray", "horovod"),
    ("deepspeed", "deepspeed"),
    ("horovod", "horovod"),
}


def refusals(**section: Any) -> dict[str, str]:
    """Return the location and the message of each refusal of a backend section."""
    with pytest.raises(ValidationError) as caught:
        Backend.model_validate(section)
    return {".".join(map(str, at)): text for at, text in lines(caught.value)}


@pytest.mark.parametrize("strategy", get_args(StrategyName))
@pytest.mark.parametrize("backend", get_args(BackendName))
def test_a_strategy_fits_where_the_table_says(backend: str, strategy: str) -> None:
    section = {"type": backend, "trainer": {"strategy": strategy}}
    if (backend, strategy) in FITS:
        assert Backend.model_validate(section).strategy == strategy
    else:
        assert list(refusals(**section)) == ["trainer.strategy"]


def test_a_strategy_that_does_not_fit_is_refused_in_a_plain_sentence() -> None:
    assert refusals(type="local", trainer={"strategy": "ddp"}) == {
        "trainer.strategy": "backend local trains in one process, without a strategy; ddp fits backend ray"
    }
    assert refusals(type="horovod", trainer={"strategy": {"type": "deepspeed"}}) == {
        "trainer.strategy": "backend horovod has strategy horovod; deepspeed fits backend ray or deepspeed"
    }


@pytest.mark.parametrize(
    ("backend", "section"),
    [("local", "processor"), ("local", "trainer"), ("deepspeed", "processor"), ("horovod", "processor")],
)
def test_a_section_that_does_not_act_is_refused(backend: str, section: str) -> None:
    filled = {"processor": {"type": "pandas"}, "trainer": {"num_workers": 2}}
    assert refusals(type=backend, **{section: filled[section]})[section].startswith("does not act with backend")


def test_an_empty_section_is_accepted_everywhere() -> None:
    assert Backend.model_validate({"type": "local", "processor": {}, "trainer": {}, "loader": {}})


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_default_strategy_is_the_first_of_the_table(backend: str) -> None:
    assert Backend.model_validate({"type": backend}).strategy == BACKENDS[backend].strategies[0]


@pytest.mark.parametrize(
    ("section", "is_open"),
    [
        ({"trainer": {"num_workers": 1}}, True),
        ({"trainer": {"use_gpu": True}, "processor": {"type": "pandas"}}, True),
        ({"trainer": {"resources_per_worker": {"GPU": 0.5}}}, True),
        ({"trainer": {"num_workers": 1}, "type": "ray"}, False),
        ({"trainer": {}}, False),
    ],
)
def test_a_backend_is_open_if_workers_or_gpus_have_no_type(section: dict[str, Any], is_open: bool) -> None:
    assert Backend.model_validate(section).is_open == is_open


@pytest.mark.parametrize("trainer", [{"resources_per_worker": {"CPU": 2}}, {"use_gpu": False}])
def test_without_a_type_a_trainer_that_asks_for_neither_does_not_act(trainer: dict[str, Any]) -> None:
    assert "does not act with backend local" in refusals(trainer=trainer)["trainer"]


def test_idle_sections_are_those_that_are_filled_and_do_not_act() -> None:
    given = {"processor": {"type": "dask"}, "trainer": {}, "loader": {"fully_executed": True}}
    assert idle_sections(given, "local") == ("processor",)
    assert idle_sections(given, "ray") == ()


REFUSED: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "parallelism of modin": (
        {"type": "ray", "processor": {"type": "modin", "parallelism": 3}},
        {"processor.parallelism": "acts with processor dask only; the type here is modin"},
    ),
    "a range upside down": (
        {"type": "ray", "trainer": {"num_workers": {"min": 4, "max": 2}}},
        {"trainer.num_workers.max": "2 is less than min (4)"},
    ),
    "a GPU without GPUs": (
        {"type": "ray", "trainer": {"use_gpu": False, "resources_per_worker": {"GPU": 1}}},
        {"trainer.resources_per_worker.GPU": "asks for a GPU, but use_gpu is false: drop one of them"},
    ),
    "a resource in lowercase letters": (
        {"type": "ray", "trainer": {"resources_per_worker": {"gpu": 1}}},
        {"trainer.resources_per_worker.gpu": "unknown resource: did you mean 'GPU'?"},
    ),
    "TPUs": (
        {"type": "ray", "trainer": {"resources_per_worker": {"TPU": 4}}},
        {"trainer.resources_per_worker.TPU": "not built yet: workers train on CPUs and GPUs"},
    ),
    "a part of the object store": (
        {"type": "ray", "trainer": {"resources_per_worker": {"object_store_memory": 1e9}}},
        {"trainer.resources_per_worker.object_store_memory": "Ray reserves none for a worker: remove it"},
    ),
    "bytes in place of pieces": (
        {"type": "ray", "trainer": {"resources_per_worker": {"memory": 4e9, "CPU": 4e9}}},
        {"trainer.resources_per_worker.CPU": "expected at most 1,000,000, found 4e+09"},
    ),
    "ZeRO without DeepSpeed": (
        {"type": "ray", "trainer": {"strategy": {"type": "fsdp", "zero_optimization": {"stage": 3}}}},
        {"trainer.strategy.zero_optimization": "acts with strategy deepspeed only, not with fsdp"},
    ),
    "FSDP's options without it": (
        {"type": "ray", "trainer": {"strategy": {"type": "ddp", "mp_policy": {}, "offload_policy": True}}},
        {
            "trainer.strategy.mp_policy": "acts with strategy fsdp only, not with ddp; here, set "
            "config.trainer.use_mixed_precision",
            "trainer.strategy.offload_policy": "acts with strategy fsdp only, not with ddp",
        },
    ),
    "a dtype that FSDP could have, but this version has not": (
        {"type": "ray", "trainer": {"strategy": {"type": "fsdp", "mp_policy": {"param_dtype": "float16"}}}},
        {
            "trainer.strategy.mp_policy.param_dtype": "expected bfloat16, found the text 'float16': did you mean "
            "'bfloat16'?"
        },
    ),
    "half precision without ZeRO": (
        {"type": "ray", "trainer": {"strategy": {"type": "deepspeed", "bf16": True}}},
        {"trainer.strategy.bf16": "needs zero_optimization.stage 1, 2 or 3; the stage here is 0"},
    ),
    "two half precisions": (
        {"type": "ray", "trainer": {"strategy": {"type": "deepspeed", "fp16": {"enabled": True}, "bf16": True}}},
        {"trainer.strategy.bf16": "fp16 and bf16 are both enabled: choose one"},
    ),
    "parameters offloaded in stage 2": (
        {
            "type": "ray",
            "trainer": {"strategy": {"type": "deepspeed", "zero_optimization": {"stage": 2, "offload_param": {}}}},
        },
        {
            "trainer.strategy.zero_optimization.offload_param": "acts in ZeRO stage 3 only; the stage here is 2",
        },
    ),
    "credentials twice": (
        {"cache_credentials": "a.json", "credentials": {"cache": "b.json"}},
        {"credentials.cache": "is given by cache_credentials already: keep one of them"},
    ),
    "a window without bytes": (
        {"type": "ray", "loader": {"window_size_bytes": 0}},
        {"loader.window_size_bytes": "expected at least 1, found the number 0"},
    ),
    "two mistakes at once": (
        {"type": "ray", "trainer": {"stratgy": "ddp"}, "loader": {"fully_executed": "yes"}},
        {
            "trainer.stratgy": "unknown: did you mean 'strategy'? trainer has strategy, use_gpu, num_workers, "
            "resources_per_worker, max_retries",
            "loader.fully_executed": "expected true or false, found the text 'yes': write true",
        },
    ),
}


@pytest.mark.parametrize(("section", "expected"), REFUSED.values(), ids=REFUSED.keys())
def test_what_makes_no_sense_is_refused(section: dict[str, Any], expected: dict[str, str]) -> None:
    assert refusals(**section) == expected


def test_the_documents_defaults_hold_where_nothing_is_reported() -> None:
    backend = Backend.model_validate({"type": "ray"})
    assert backend.cache_dir is None
    assert (backend.processor.type, backend.processor.parallelism, backend.processor.persist) == ("dask", None, True)
    assert (backend.trainer.use_gpu, backend.trainer.num_workers, backend.trainer.max_retries) == (None, None, 3)
    assert (backend.loader.fully_executed, backend.loader.window_size_bytes) == (True, None)
    assert backend.model_dump(exclude_unset=True) == {"type": "ray"}
