"""A cluster's file with `--backend local` has the curve of a local file with batch_size × N and rate × f(N)."""

from __future__ import annotations

import json

import pytest

from trainwright_trainer import train

NOTICE = (
    "job.yaml: backend.processor and backend.trainer of the file do not act with backend local; "
    "batch size and learning rate stay those of the file\n"
)


def curve(folder):
    """The losses of all rounds, and the test scores."""
    metrics = json.loads((folder / "metrics.json").read_text())
    losses = [part["combined"]["loss"] for one in metrics["rounds"] for part in one["scores"].values()]
    return [*losses, *metrics["end"]["test"]["late"].values()]


def on_ray(job, workers, **trainer):
    job["backend"] = {
        "type": "ray",
        "processor": {"type": "modin"},
        "trainer": {"strategy": "ddp", "num_workers": workers, "resources_per_worker": {"CPU": 2}},
    }
    job["config"]["combiner"] = {"type": "concat", "num_fc_layers": 1, "output_size": 8}
    job["config"]["trainer"] |= {"epochs": 3, "precision": "float64", **trainer}


def here(job, **trainer):
    on_ray(job, 1, **trainer)
    del job["backend"]


@pytest.mark.parametrize(("scaling", "factor"), [("linear", 4.0), ("sqrt", 2.0), ("constant", 1.0)])
def test_the_curve_is_that_of_the_whole_batch(workplace, scaling, factor):
    there = {"batch_size": 8, "learning_rate": 0.01, "learning_rate_scaling": scaling}
    job = workplace.job(lambda job: on_ray(job, 4, **there))
    ended = workplace.done("train", job, "--backend", "local", "--output", "ray")
    assert ended.out.startswith(NOTICE)
    assert ended.out.count("do not act with backend local") == 1
    assert f"batch 32 · adam {0.01 * factor:g} " in ended.out
    local = workplace.job(lambda job: here(job, batch_size=32, learning_rate=0.01 * factor), "local.yaml")
    workplace.done("train", local, "--output", "local")
    expected = curve(workplace.folder / "local")
    assert len(expected) == 3 * 2 + 6
    assert curve(workplace.folder / "ray") == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_fixed_batch_has_one_curve_on_any_number_of_workers(workplace):
    fixed = {"batch_size": 16, "effective_batch_size": 48, "learning_rate": 0.01}
    curves = []
    for workers in (1, 2, 3):
        folder = str(workers)
        job = workplace.job(lambda job, workers=workers: on_ray(job, workers, **fixed))
        assert "batch 48 · adam 0.01 " in workplace.done("train", job, "--backend", "local", "--output", folder).out
        curves.append(curve(workplace.folder / folder))
    assert curves[1] == pytest.approx(curves[0], rel=1e-9, abs=1e-9)
    assert curves[2] == pytest.approx(curves[0], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("workers", [1, 4])
def test_batch_norm_sees_the_whole_batch(workplace, workers):
    def with_norm(job, set_up, *arguments, **trainer):
        set_up(job, *arguments, learning_rate=0.01, learning_rate_scaling="constant", **trainer)
        job["config"]["combiner"]["norm"] = "batch"

    there = {"batch_size": 8, "gradient_accumulation_steps": 4 // workers}
    job = workplace.job(lambda job: with_norm(job, on_ray, workers, **there))
    workplace.done("train", job, "--backend", "local", "--output", "ray")
    local = workplace.job(lambda job: with_norm(job, here, batch_size=32), "local.yaml")
    workplace.done("train", local, "--output", "local")
    assert curve(workplace.folder / "ray") == pytest.approx(curve(workplace.folder / "local"), rel=1e-9, abs=1e-9)


def test_what_was_derived_is_kept(workplace):
    job = workplace.job(lambda job: on_ray(job, 4, batch_size=8, learning_rate=0.01))
    train(job, backend="local", output="out", quiet=True)
    resolved = json.loads((workplace.folder / "out/resolved.json").read_text())["resolved"]
    assert (resolved["backend"], resolved["workers"]) == ("local", 4)
    assert resolved["batching"] == {"global_rows": 32, "pass_rows": 8, "learning_rate": 0.04, "virtual_rows": None}
