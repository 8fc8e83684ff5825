"""The run folder of a search: what may lie there, and what it holds at the end."""

from __future__ import annotations

import json
import subprocess

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.rundir import compatibility
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.rundir.process_state import identity_now
from trainwright_trainer.search import folder
from trainwright_trainer.search.log import ATTEMPTS, SearchLog


def job(rate=0.1, **executor):
    search = {"executor": {"num_samples": 2, "scheduler": {"type": "fifo"}, **executor}}
    config = {"hyperopt": search, "trainer": {"learning_rate": rate, "epochs": 2}}
    return {"spec": {"config": config, "dataset": "data.csv", "seed": 1, "backend": {}}}


def with_dataset(path):
    plain = job()
    return {"spec": {**plain["spec"], "dataset": path}}


def look(storage, plain, *, resume=False, overwrite=False, in_pod=False):
    chosen = {ExistingRun.RESUME: resume, ExistingRun.OVERWRITE: overwrite, ExistingRun.CONTINUE: in_pod}
    return folder.look(storage, plain, next((how for how, is_it in chosen.items() if is_it), ExistingRun.NEW))


def line(*arguments, **options):
    with pytest.raises(Mistakes) as mistakes:
        look(*arguments, **options)
    return str(mistakes.value)


def begun(storage):
    return SearchLog.begin(storage, folder.about_of(job(), "job", "content"))


def test_an_empty_folder_takes_a_search_and_has_none_to_go_on_with(storage):
    assert look(storage, job()) is False
    assert "holds no search to go on with" in line(storage, job(), resume=True)


def test_a_folder_with_other_files_is_refused(storage):
    storage.write("notes.txt", [b"mine"])
    assert "holds other things (notes.txt) and no search" in line(storage, job())
    assert "holds other things" in line(storage, job(), overwrite=True)


def test_another_search_is_continued_or_replaced_only_on_request(storage):
    begun(storage).add({}, {})
    storage.write("notes.txt", [b"mine"])
    storage.write("evaluation.html", [b"of the old model"])
    assert "holds another search (job). Use --resume" in line(storage, job())
    assert look(storage, job(), resume=True) is True
    before = storage.list()
    assert look(storage, job(), overwrite=True) is False
    assert storage.list() == before
    folder.clear(storage)
    assert storage.list() == ["notes.txt"]


def test_a_search_that_runs_is_neither_continued_nor_replaced(storage):
    """It would lose its turn and its running trials. A pod takes the turn: the operator has ended the other one."""
    begun(storage)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:
        own = {**identity_now(), "pid": other.pid}
        storage.write(f"{ATTEMPTS}1.json", [json.dumps(own).encode()])
        for how in ({"resume": True}, {"overwrite": True}):
            found = f"job searches on this machine as process {other.pid}. Stop it first, or give another --output."
            assert found in line(storage, job(), **how)
        assert look(storage, job(), in_pod=True) is True
    assert look(storage, job(), resume=True) is True


def test_a_pod_begins_a_search_or_goes_on_with_it(storage):
    storage.write("attempts/1/outcome.json", [b"{}"])  # of an attempt that ended before it searched
    assert look(storage, job(), in_pod=True) is False
    begun(storage)
    assert look(storage, job(), in_pod=True) is True


def test_a_search_continues_with_the_same_job_only(storage):
    begun(storage)
    assert "config.trainer.learning_rate: is 0.2, the run has 0.1" in line(storage, job(0.2), resume=True)
    other = job(scheduler={"type": "asha"})
    assert "config.hyperopt.executor.scheduler.type: is " in line(storage, other, resume=True)
    longer = job()
    longer["spec"]["config"]["trainer"]["epochs"] = 3
    assert "config.trainer: trains longer" in line(storage, longer, resume=True)
    assert look(storage, job(num_samples=5), resume=True) is True


def test_a_search_continues_with_the_same_data_only(storage):
    """The file may have moved. An earlier version wrote no hash: then the paths are compared."""
    begun(storage)
    folder.refuse_other_data(storage, with_dataset("moved.csv"), "content")
    with pytest.raises(Mistakes, match="dataset: its content is not the data that the run was begun with"):
        folder.refuse_other_data(storage, job(), "changed")
    SearchLog.begin(storage, {"name": "job", "job": compatibility.essence(job())})
    folder.refuse_other_data(storage, job(), "content")
    with pytest.raises(Mistakes, match=r'dataset: is "moved\.csv", the run has'):
        folder.refuse_other_data(storage, with_dataset("moved.csv"), "content")


def test_the_result_names_the_best_trial_and_what_was_asked_for(storage, objective, trial):
    trials = [
        trial("0001", [0.5], "done", rate=1),
        trial("0002", [0.7], "stopped", rate=2),
        trial("0003", kind="failed", line="no"),
    ]
    asked = {"num_samples": 3, "time_budget_s": 60}
    assert not folder.is_done(storage, asked)
    folder.write_result(storage, trials, objective, trials[1], 0.75, asked)
    found = json.loads(storage.read("hyperopt.json"))
    assert [row["trial"] for row in found["trials"]] == ["0002", "0001", "0003"]
    assert found["best"] == {
        "trial": "0002",
        "folder": "trials/0002",
        "score": 0.7,
        "state": "stopped",
        "values": {"rate": 2},
        "model_score": 0.75,
    }
    assert (found["trials"][2]["line"], found["trials"][2]["score"], found["ended"]) == ("no", None, 3)
    assert folder.is_done(storage, asked)
    assert not folder.is_done(storage, {**asked, "num_samples": 4})


def test_the_model_of_a_trial_becomes_the_model(storage, tmp_path):
    source = type(storage)(tmp_path / "trial")
    for name, content in (("weights.safetensors", b"w" * 100), ("config.json", b"{}"), ("model.json", b"sealed")):
        source.write(f"model/{name}", [content])
    folder.copy_model(storage, source)
    assert storage.list("model/") == ["config.json", "model.json", "weights.safetensors"]
    assert storage.read("model/weights.safetensors") == b"w" * 100
