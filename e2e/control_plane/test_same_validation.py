"""pydantic and a real API server accept the same objects: for the Kubernetes fields, and for the status."""

from __future__ import annotations

import asyncio
import copy
import json
import random
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from testkit.cluster.cluster import Cluster
from testkit.contract import answers, jobs
from testkit.contract.differences import DIFFERENCES, Difference, Validated, mistakes
from testkit.contract.mutations import Location, mutated

LUDWIGS: tuple[Location, ...] = (("spec", "config"), ("spec", "backend"), ("spec", "entrypoint", "config"))
"""Only the webhook validates these."""
BEYOND_INTEGERS = 2**63


def validated(cluster: Cluster, namespace: str, made: Sequence[Any]) -> list[Validated]:
    as_json = [json.loads(json.dumps(job)) for job in made]
    answers_of = asyncio.run(answers.created(cluster.kubeconfig, namespace, as_json))
    return [Validated(job, answer, mistakes(job)) for job, answer in zip(as_json, answers_of, strict=True)]


def random_jobs(seed: int, count: int) -> list[Any]:
    """A fifth of them is valid, the others have mistakes."""
    rng = random.Random(seed)
    made = [jobs.job(rng) for _ in range(count)]
    return [job if rng.random() < 0.2 else mutated(rng, job, LUDWIGS) for job in made]


def answers_of(one: Validated) -> str:
    found = [f"{'.'.join(map(str, mistake['loc']))}: {mistake['msg']}" for mistake in one.mistakes]
    seen = json.dumps(one.made)[:2000]
    return f"API server: {one.answer.refusal[:500] or 'valid'}\npydantic: {found or 'valid'}\n{seen}"


def check_that_they_agree(cluster: Cluster, namespace: str, seed: int, count: int) -> None:
    all_validated = validated(cluster, namespace, random_jobs(seed, count))
    apart = [one for one in all_validated if one.differ and not any(known.explains(one) for known in DIFFERENCES)]
    assert not apart, f"seed {seed}: {len(apart)} differ, as\n{answers_of(apart[0])}"
    stored = [one for one in all_validated if not one.answer.refusal]
    assert not [one for one in stored if mistakes(one.answer.stored)], f"seed {seed}: stored, and not valid"
    assert count / 4 < len(stored) < count * 3 / 4, "too few valid ones, or too few others, to tell anything"


def test_800_objects_are_validated_alike(cluster: Cluster, namespace: str) -> None:
    check_that_they_agree(cluster, namespace, seed=20260501, count=800)


@pytest.mark.slow
@pytest.mark.parametrize("_", range(4))
def test_20000_other_objects_are_validated_alike(cluster: Cluster, namespace: str, _: int) -> None:
    check_that_they_agree(cluster, namespace, seed=secrets.randbits(32), count=5000)


def test_what_is_generated_without_mistakes_is_valid(cluster: Cluster, namespace: str) -> None:
    rng = random.Random(1)
    for one in validated(cluster, namespace, [jobs.job(rng) for _ in range(300)]):
        assert not one.answer.refusal + str(one.mistakes or ""), answers_of(one)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=[known.why for known in DIFFERENCES])
def test_each_known_difference_is_one(cluster: Cluster, namespace: str, difference: Difference) -> None:
    made: list[Any] = []
    for path, value in difference.example.items():
        made.append(jobs.plain())
        put(made[-1], path.split("."), value)
    for one in validated(cluster, namespace, made):
        assert one.differ
        assert [known for known in DIFFERENCES if known.explains(one)] == [difference]


KEYS = ("team", "A.b/c", "a b", "", "Ä", "/b", "a/b/c", f"{'a' * 253}/b", f"{'a' * 254}/b", "b" * 63, "b" * 64)
MEANT_ALIKE: Mapping[str, tuple[Any, ...]] = {
    "spec.config": (None, 5, [], "x", True),
    "spec.backend": (None, 5, [], "x", False),
    "spec.task": (None, "", "evaluate", "test"),
    "spec.workersPerPod": (None, 0, 1024, 1025, 2**64, "auto", "auto\n", "Auto", "", 1.5),
    "spec.podTemplate.labels": (*({key: "x"} for key in KEYS), {"a": None}, {"a": "b c"}, {"a": "b" * 64}),
    "spec.podTemplate.nodeSelector": ({"a": None}, {"a b": "x"}, {"a": "-"}),
    "spec.podTemplate.annotations": (*({key: "x"} for key in KEYS), {"a": None}, {"a": "b c"}),
    "spec.podTemplate.resources.limits": tuple({key: "1"} for key in (*KEYS, "nvidia.com/gpu")),
    "spec.podTemplate.resources.limits.cpu": (None, 2**53, 2**53 + 2, 2**63, 10**30, -1, "-1", True),
    "metadata.name": ("", None),
    "metadata.namespace": ("", None),
    "metadata.generateName": (
        *("", None, "a-", "a--", "a.b-", "a.", "a.-", "-", "A-"),
        *("a" * 253, "a" * 254, "a" * 253 + "-", f"{'a' * 57}.-"),
    ),
    "metadata.labels": (
        *({key: "x"} for key in KEYS),
        *({"a": None}, {"a": "b c"}, "", None, {f"a{number}": "" for number in range(500)}),
    ),
    "metadata.annotations": (
        *({key: "x"} for key in KEYS),
        *({"a": None}, {"a": "b c"}, "", None, {"a": "ä" * 2**17}, {"a": "x" * (2**18 - 1)}),
    ),
}


@pytest.mark.parametrize("base", ["config", "model"])
def test_what_was_once_judged_differently_is_judged_alike(cluster: Cluster, namespace: str, base: str) -> None:
    made = []
    for path, value in [(path, value) for path, values in MEANT_ALIKE.items() for value in values]:
        made.append(jobs.plain())
        if base == "model":
            made[-1]["spec"].pop("config")
            made[-1]["spec"] |= {"task": "predict", "model": "s3://bucket/model"}
        put(made[-1], path.split("."), value)
    unnamed = copy.deepcopy([job for job in made if job["metadata"].get("generateName")])
    for job in unnamed:
        del job["metadata"]["name"]
    for one in validated(cluster, namespace, [*made, *unnamed]):
        assert not one.differ, answers_of(one)


def test_the_api_server_takes_and_keeps_whatever_stands_below_config_and_backend(
    cluster: Cluster, namespace: str
) -> None:
    """Includes wrong types, unknown keys and nulls: the webhook reports them with its own messages."""
    rng = random.Random(7)
    made = [jobs.plain(config=jobs.RICH_CONFIG, backend=jobs.RICH_BACKEND) for _ in range(500)]
    changed = [_changed_below(rng, job) for job in made]
    answers_of = asyncio.run(answers.created(cluster.kubeconfig, namespace, changed))
    for job, answer in zip(changed, answers_of, strict=True):
        assert answer.refusal == "", json.dumps(job)
        for section in ("config", "backend"):
            assert as_go_reads_it(answer.stored["spec"][section]) == as_go_reads_it(job["spec"][section])


def _changed_below(rng: random.Random, job: Any) -> Any:
    section = rng.choice(["config", "backend"])
    return {**job, "spec": {**job["spec"], section: mutated(rng, job["spec"][section])}}


def as_go_reads_it(value: Any) -> Any:
    """Go reads integers beyond 64 bits as floats."""
    if isinstance(value, dict):
        return {key: as_go_reads_it(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_go_reads_it(item) for item in value]
    return float(value) if isinstance(value, int) and abs(value) >= BEYOND_INTEGERS else value


def put(made: Any, path: list[str], value: Any) -> None:
    *parents, key = path
    for parent in parents:
        made = made.setdefault(parent, {})
    made[key] = value
