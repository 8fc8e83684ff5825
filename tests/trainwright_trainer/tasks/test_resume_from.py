"""`resumeFrom`: training begins with the weights of another run's model, or goes on from one of its checkpoints."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

Change = Callable[[dict[str, Any]], object]


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_file(run / "model/weights.safetensors")


def rows(kinds: str, seed: int, first: str = "late", sizes: float = 1.0) -> list[str]:
    """A table like the one of the workplace, with other kinds and sizes, and a second target."""
    draws = random.Random(seed)
    lines = [f"size,open,kind,{first},delay"]
    for _ in range(200):
        size = draws.gauss(0, sizes)
        late = "yes" if size + draws.gauss(0, 0.5) > 0 else "no"
        lines.append(f"{size:.3f},{draws.choice(['yes', 'no'])},{draws.choice(kinds)},{late},{draws.choice('xyz')}")
    return lines


def from_(place: str, *changes: Change, frozen: bool = False) -> Change:
    """A job that starts from `place`; `frozen`: its training changes no weight."""

    def change(job: dict[str, Any]) -> None:
        job["resumeFrom"] = place
        if frozen:
            job["config"]["trainer"] |= {"learning_rate": 1e-30, "optimizer": {"type": "sgd"}}
        for one in changes:
            one(job)

    return change


def epochs(count: int) -> Change:
    return lambda job: job["config"]["trainer"].update(epochs=count)


def output(feature: dict[str, Any]) -> Change:
    return lambda job: job["config"].update(output_features=[feature])


def line(out: str) -> str:
    [found] = [one for one in out.splitlines() if "resumeFrom: " in one]
    return found.partition("resumeFrom: ")[2]


def train(workplace, change: Change | None, run: str, *more: str):
    return workplace.done("train", workplace.job(change, name="new.yaml"), "--output", run, *more)


def test_it_begins_with_the_weights_of_the_model_and_reads_data_as_the_model_did(workplace):
    train(workplace, epochs(2), "a")
    workplace.data(*rows("cbad", seed=5, sizes=30.0))
    ended = train(workplace, from_("a", frozen=True), "b")
    before, after = weights(Path("a")), weights(Path("b"))
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert line(ended.out) == f"{len(before)} of {len(before)} parameters are those of a/model"
    for run in ("a", "b"):
        workplace.done("predict", "new.yaml", "--model", run, "--output", f"{run}.csv")
    assert Path("a.csv").read_text() == Path("b.csv").read_text()


def test_another_head_begins_anew_and_the_rest_is_taken(workplace):
    train(workplace, None, "a")
    workplace.data(*rows("abc", seed=5))
    ended = train(workplace, from_("a/model", output({"name": "delay", "type": "category"}), frozen=True), "b")
    before, after = weights(Path("a")), weights(Path("b"))
    heads = [name for name in after if name.startswith("decoders.")]
    assert line(ended.out).endswith(f"others begin anew: decoders.delay ({len(heads)}: not there)")
    assert all(torch.equal(before[name], after[name]) for name in after if name not in heads)


def test_an_output_with_a_new_value_begins_anew_and_one_without_keeps_its_head(workplace):
    category = output({"name": "delay", "type": "category"})
    workplace.data(*rows("abc", seed=4))
    train(workplace, category, "a")
    workplace.data(*rows("abc", seed=5))
    assert "begin anew" not in train(workplace, from_("a", category), "b").out
    workplace.data(*(one.replace(",x", ",w") for one in rows("abc", seed=5)))
    told = line(train(workplace, from_("a", category), "c").out)
    assert told.endswith("begin anew: decoders.delay (3: the values of the column differ)")


def test_values_that_the_model_does_not_know_are_one_line_for_each_feature(workplace):
    """Also in a run that finds all columns in the cache."""
    train(workplace, None, "a")
    workplace.data(*rows("abcxyz", seed=5))
    for run in ("b", "c"):
        [found] = [one for one in train(workplace, from_("a"), run).out.splitlines() if "does not know" in one]
        assert found.startswith("data.csv: column 'kind': 3 values that the model of resumeFrom does not know (")
        assert found.endswith(" times in the training rows: read as unknown")


@pytest.mark.parametrize("target", [{"name": "late", "type": "binary"}, {"name": "size", "type": "number"}])
def test_baselines_and_missing_cells_are_those_of_the_own_training_rows(workplace, target):
    """The rows of the model have another mean, another most frequent class, and missing cells."""

    def change(job: dict[str, Any]) -> None:
        job["config"] |= {"input_features": [{"name": "kind", "type": "category"}], "output_features": [target]}

    workplace.data(*(one.replace(",a,", ",,") for one in rows("abc", seed=4)))
    train(workplace, change, "a")
    workplace.data(*map(shifted, rows("abc", seed=5)))
    train(workplace, change, "new")
    tuned = train(workplace, from_("a", change), "tuned")
    assert "begin anew" not in tuned.out
    assert "missing cells" not in tuned.out
    baselines = [json.loads(Path(run, "metrics.json").read_text())["end"]["baseline"] for run in ("new", "tuned")]
    new, found = (one[target["name"]]["baseline"] for one in baselines)
    assert found == pytest.approx(new)


def shifted(line: str) -> str:
    """Larger sizes, and late in most rows."""
    size, opened, kind, late, delay = line.split(",")
    if size == "size":
        return line
    return f"{float(size) + 50},{opened},{kind},{'yes' if float(size) > -1 else late},{delay}"


def test_fine_tuning_lowers_the_first_loss(workplace):
    """The first evaluation of a run that starts from a trained model is better than that of a new run."""
    train(workplace, lambda job: job["config"]["trainer"].update(epochs=10, learning_rate=0.05), "a")
    workplace.data(*rows("abc", seed=5))
    train(workplace, from_("a"), "b")
    train(workplace, None, "c")
    tuned, new = (json.loads(Path(run, "metrics.json").read_text())["rounds"][0] for run in ("b", "c"))
    assert loss(tuned) < loss(new)


def loss(evaluated: dict[str, Any]) -> float:
    return float(evaluated["scores"]["validation"]["combined"]["loss"])


def test_a_checkpoint_goes_on_as_if_the_run_itself_went_on(workplace):
    """Bit for bit, also for a checkpoint in the middle, which has other best weights than the end."""
    train(workplace, epochs(2), "a")
    shutil.copytree("a", "kept")
    train(workplace, epochs(4), "a", "--resume")
    train(workplace, from_("kept/checkpoints", epochs(4)), "b")
    names = sorted(path.name for path in Path("kept/checkpoints").iterdir())
    train(workplace, from_(f"kept/checkpoints/{names[0]}", epochs(4)), "c")
    want = weights(Path("a"))
    for run in ("b", "c"):
        assert all(torch.equal(tensor, want[name]) for name, tensor in weights(Path(run)).items())
    assert json.loads(Path("b/attempts/1/start.json").read_text())["source"].endswith("kept")


def test_the_rounds_before_the_checkpoint_are_those_of_the_other_run(workplace):
    """Also after a resume: the best round may be one of them."""
    train(workplace, epochs(2), "a")
    train(workplace, from_("a/checkpoints", epochs(3)), "b")
    train(workplace, from_("a/checkpoints", epochs(4)), "b", "--resume")
    before, rounds = (json.loads(Path(run, "metrics.json").read_text())["rounds"] for run in ("a", "b"))
    assert [(row["attempt"], row["epoch"]) for row in rounds] == [(0, 0), (0, 1), (1, 2), (2, 3)]
    assert [row["scores"] for row in rounds[:2]] == [row["scores"] for row in before]


def test_it_stays_the_same_when_it_is_resumed(workplace):
    train(workplace, epochs(2), "a")
    train(workplace, from_("a"), "b")
    train(workplace, from_("a", epochs(2)), "b", "--resume")
    train(workplace, epochs(1), "a", "--overwrite")
    job = workplace.job(from_("a", epochs(3)), name="new.yaml")
    message = workplace.refused("train", job, "--output", "b", "--resume")
    assert message.startswith('new.yaml: resumeFrom: is "a/model, model ')
    job = workplace.job(epochs(3), name="new.yaml")
    assert "resumeFrom: is absent, the run has " in workplace.refused("train", job, "--output", "b", "--resume")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (from_("nowhere"), "resumeFrom: there is no model folder "),
        (from_("data.csv"), "resumeFrom: "),
        (from_("nowhere/checkpoints"), "resumeFrom: "),
        (from_("a/checkpoints/last"), "resumeFrom: 'last' is no name of a checkpoint, such as 0000001200-1"),
        (from_("out", lambda job: job.update(output="out/")), "resumeFrom: is the output of this job: "),
        (
            from_("a/checkpoints", lambda job: job["config"]["trainer"].update(batch_size=16)),
            "resumeFrom: a checkpoint is for the same job, but config.trainer.batch_size: is 16, the run has 32.",
        ),
    ],
)
def test_what_is_refused_in_one_line(workplace, change, expected):
    train(workplace, None, "a")
    job = workplace.job(change, name="new.yaml")
    message = workplace.refused("train", job, *(() if "output of this job" in expected else ("--output", "b")))
    assert expected in message
    assert "\n" not in message


@pytest.mark.parametrize("place", ["a", "a/model", "./a/checkpoints"])
def test_the_run_that_is_overwritten_is_no_source(workplace, place):
    """Its checkpoint would be deleted before it is read."""
    train(workplace, None, "a")
    before = weights(Path("a"))
    job = workplace.job(from_(place, epochs(2)), name="new.yaml")
    message = workplace.refused("train", job, "--output", "a", "--overwrite")
    assert message.endswith(f"{place} is part of the run that --overwrite deletes. Give another --output.")
    assert weights(Path("a")).keys() == before.keys()
    train(workplace, from_(place, epochs(2)), "b")
    train(workplace, from_(place, epochs(2)), "b", "--overwrite")


def test_a_model_of_other_features_is_refused(workplace):
    train(workplace, None, "a")
    workplace.data(*rows("abc", seed=5))
    inputs = [{"name": "delay", "type": "category"}]
    change = from_(
        "a", output({"name": "open", "type": "binary"}), lambda job: job["config"].update(input_features=inputs)
    )
    message = workplace.refused("train", workplace.job(change, name="new.yaml"), "--output", "b")
    assert message.endswith("the model at a/model has no feature of this job; its features are size, open, kind, late")


def test_evaluate_of_its_file_measures_the_model_that_it_trains(workplace):
    train(workplace, None, "a")
    job = workplace.job(lambda one: one.update(resumeFrom="a", output="out"))
    workplace.done("train", job)
    workplace.done("evaluate", job)
    job = workplace.job(lambda one: (one.pop("config"), one.update(resumeFrom="a", model="a", task="evaluate")))
    assert "resumeFrom: acts where a model is trained, not where one is used" in workplace.refused("evaluate", job)
