"""Values that a run resolves once: the number of threads, and the batch size that a search finds."""

from __future__ import annotations

import json

import pytest

from trainwright_trainer.loop import batch_size_finder
from trainwright_trainer.tasks import resolve


def resolved(workplace, run="out/job"):
    return json.loads((workplace.folder / run / "resolved.json").read_text())["resolved"]


@pytest.fixture
def free(monkeypatch):
    """OMP_NUM_THREADS is not set, and the machine has eight CPUs."""
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.setattr("trainwright_trainer.backends.local.usable_cpus", lambda _: 8)
    return monkeypatch


def further(workplace, *arguments):
    workplace.job(lambda job: job["config"]["trainer"].update(epochs=len(attempts(workplace)) + 1))
    return workplace.done("train", "job.yaml", "--resume", *arguments).out


def attempts(workplace):
    return list((workplace.folder / "out/job/attempts").iterdir())


@pytest.mark.usefixtures("free")
def test_a_small_job_computes_in_one_thread_however_many_cpus_there_are(workplace):
    assert " · 1 process, 1 thread" in workplace.done("train", workplace.job()).out
    assert resolved(workplace)["threads"] == 1


def test_a_large_step_has_more(workplace, free):
    free.setattr("trainwright_trainer.runtime.threads.TABLE", ((2, 10), (4, 100)))
    assert " · 1 process, 4 threads" in workplace.done("train", workplace.job()).out
    assert resolved(workplace)["threads"] == 4


def test_an_argument_comes_before_the_environment_and_that_before_the_table(workplace, free):
    free.setenv("OMP_NUM_THREADS", "3")
    assert " · 1 process, 3 threads" in workplace.done("train", workplace.job(), "--output", "a").out
    assert " · 1 process, 2 threads" in workplace.done("train", "job.yaml", "--threads", "2", "--output", "b").out
    assert [resolved(workplace, run)["threads"] for run in "ab"] == [3, 2]


def test_a_run_that_goes_on_keeps_its_threads_unless_others_are_asked_for(workplace, free):
    workplace.done("train", workplace.job(), "--threads", "3")
    assert "1 process, 3 threads" in further(workplace)
    assert "1 process, 2 threads" in further(workplace, "--threads", "2")
    assert "1 process, 2 threads" in further(workplace)
    free.setenv("OMP_NUM_THREADS", "1")
    assert "1 process, 1 thread" in further(workplace)


def test_threads_that_are_none_are_a_mistake(workplace, free):
    free.setenv("OMP_NUM_THREADS", "many")
    line = "job.yaml: OMP_NUM_THREADS: expected a whole number, from 1 to 1,024, found 'many'"
    assert workplace.refused("train", workplace.job()) == line


def auto(job, **trainer):
    job["config"]["trainer"] |= {"epochs": 1, "batch_size": "auto", **trainer}


def measured(monkeypatch, taken):
    """Make the time of a step `taken(rows)`."""
    monkeypatch.setattr(batch_size_finder, "search", lambda _, sizes: search(taken, sizes))


search = batch_size_finder.search


def test_what_a_search_has_measured_stays_with_the_run(workplace, monkeypatch):
    measured(monkeypatch, lambda rows: 1e-3 + rows * 1e-4)
    out = workplace.done("train", workplace.job(auto)).out
    assert "batch_size auto: 16 rows, 6.2k rows/s (tried 16 to 16; the fastest is 16 rows, 6.2k rows/s)\n" in out
    found = resolved(workplace)
    assert found["batching"]["pass_rows"] == 16
    assert found["rows_per_second"] == {"16": pytest.approx(16 / 2.6e-3)}


def test_a_run_that_goes_on_never_searches_again(workplace, monkeypatch):
    workplace.done("train", workplace.job(auto))
    before = resolved(workplace)
    monkeypatch.setattr(resolve, "fastest_batch_size", None)
    workplace.job(lambda job: auto(job, epochs=2))
    assert "attempt 2" in workplace.done("train", "job.yaml", "--resume").out
    assert {name: resolved(workplace)[name] for name in ("batching", "threads", "rows_per_second")} == {
        name: before[name] for name in ("batching", "threads", "rows_per_second")
    }


def test_the_sizes_leave_room_for_other_workers_and_passes(workplace, monkeypatch):
    tried = []

    def searched(seconds, sizes):
        tried.append(sizes)
        return search(seconds, sizes)

    monkeypatch.setattr(batch_size_finder, "search", searched)
    for passes in ("auto", 2):
        workplace.job(lambda job, to=passes: auto(job, gradient_accumulation_steps=to))
        workplace.done("train", "job.yaml", "--overwrite")
    assert tried == [[16], [8]]
