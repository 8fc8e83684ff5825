"""From a file to a job: forms, old spellings, what the command line adds, hashes, secrets, and time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trainwright_api.checks.cluster import notes
from trainwright_api.checks.load import Loaded, Options, canonical, digest, inspected, load, loads, redacted, text_of
from trainwright_api.problems import Mistakes

FILES = Path(__file__).parent / "files"
SMALL = {"input_features": [{"name": "a", "type": "number"}], "output_features": [{"name": "b", "type": "binary"}]}


def read(data: Any, **options: str) -> Loaded:
    """A file of this content."""
    return inspected(json.dumps(data), "small.yaml", options=Options(**options)).valid()


def read_file(path: Path, **options: str) -> Loaded:
    """A file on disk; whether it is built is asked in `test_unbuilt`."""
    return inspected(text_of(path), path.name, options=Options(**options)).valid()


def mistakes(data: Any, **options: str) -> list[str]:
    """The lines that a file of this content draws."""
    with pytest.raises(Mistakes) as caught:
        read(data, **options)
    return [str(problem) for problem in caught.value.problems]


def resource(**spec: Any) -> dict[str, Any]:
    """A full resource."""
    head = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "small"}}
    return {**head, "spec": spec}


@pytest.mark.parametrize("path", sorted(FILES.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_valid_file_is_read_without_a_word(path: Path) -> None:
    loaded = read_file(path)
    assert (loaded.source, loaded.text) == (path.name, path.read_text())
    assert all("plain text" in notice for notice in loaded.notices)


def test_the_three_forms_mean_the_same() -> None:
    full = read(resource(dataset="d.csv", config=SMALL, backend={"type": "local"}, seed=3))
    spec = read({"dataset": "d.csv", "config": SMALL, "backend": {"type": "local"}, "seed": 3})
    bare = read({**SMALL, "dataset": "d.csv", "backend": {"type": "local"}, "random_seed": 3})
    beside = read({**SMALL, "backend": {"type": "local"}, "random_seed": 3}, dataset="d.csv")
    assert full.job == spec.job == bare.job == beside.job
    assert full.job.metadata.name == "small"


def test_a_pasted_config_brings_its_backend_and_its_seed() -> None:
    loaded = read({"dataset": "d.csv", "config": {**SMALL, "backend": {"type": "ray"}, "random_seed": 5}})
    assert (loaded.job.spec.backend.type, loaded.job.spec.seed) == ("ray", 5)


def test_what_a_pasted_config_brings_cannot_be_given_twice() -> None:
    assert mistakes({"dataset": "d", "config": {**SMALL, "random_seed": 5}, "seed": 5}) == [
        "config.random_seed: seed is given beside config already: keep one of them"
    ]


@pytest.mark.parametrize("form", [{"config": SMALL}, SMALL, resource(config=SMALL)], ids=["spec", "bare", "full"])
def test_without_data_one_line_says_so(form: dict[str, Any]) -> None:
    assert mistakes(form) == ["dataset: missing: name the data in the file, or with --dataset"]
    assert read(form, dataset="other.csv").job.spec.dataset == "other.csv"


def test_the_command_line_stands_over_the_file() -> None:
    assert read({**SMALL, "dataset": "d.csv"}, dataset="other.csv").job.spec.dataset == "other.csv"


def test_a_model_of_the_command_line_stands_for_the_config() -> None:
    spec = read({"dataset": "d", "config": SMALL}, task="predict", model="out/model").job.spec
    assert (spec.task, spec.model, spec.config) == ("predict", "out/model", None)


def test_the_status_that_kubectl_adds_is_not_looked_at() -> None:
    assert (
        read({**resource(dataset="d", config=SMALL), "status": {"phase": "Running", "whatever": 1}}).job.status is None
    )


def test_a_mistake_below_an_old_spelling_is_named_as_the_file_has_it() -> None:
    backend = {"type": "ray", "engine": {"type": "dusk"}, "trainer": {"type": "dpp"}}
    assert [line.partition(":")[0] for line in mistakes({"dataset": "d", "config": SMALL, "backend": backend})] == [
        "backend.engine.type",
        "backend.trainer.type",
    ]


def test_an_old_spelling_beside_its_successor_is_a_mistake() -> None:
    backend = {"type": "ray", "engine": {"type": "dask"}, "processor": {"type": "dask"}}
    assert mistakes({"dataset": "d", "config": SMALL, "backend": backend}) == [
        "backend.engine: the old spelling of processor, which is given too: keep processor"
    ]


def test_task_test_is_read_as_evaluate() -> None:
    loaded = read({"task": "test", "dataset": "d", "model": "out/model"})
    assert (loaded.job.spec.task, loaded.notices) == ("evaluate", ("task: test is read as evaluate",))


def test_another_backend_sets_aside_what_does_not_act_there() -> None:
    loaded = read_file(FILES / "ray.yaml", backend="local")
    backend = loaded.job.spec.backend
    assert (backend.type, backend.cache_dir, backend.trainer.num_workers) == ("local", "s3://bucket/cache", None)
    assert (loaded.declared.type, loaded.declared.trainer.num_workers) == ("ray", 4)
    assert loaded.notices == (
        "backend.processor and backend.trainer of the file do not act with backend local; batch size and learning rate "
        "stay those of the file",
    )


def test_one_section_that_does_not_act_is_told_in_the_singular() -> None:
    document = {"dataset": "d.csv", "config": SMALL, "backend": {"type": "ray", "trainer": {"num_workers": 2}}}
    (notice,) = read(document, backend="local").notices
    assert notice.startswith("backend.trainer of the file does not act with backend local; ")


def test_another_backend_cannot_train_with_any_strategy() -> None:
    with pytest.raises(Mistakes, match="backend horovod has strategy horovod; ddp fits backend ray"):
        read_file(FILES / "ray.yaml", backend="horovod")


def test_the_backend_of_the_command_line_holds_where_the_file_names_none() -> None:
    data = {"dataset": "d", "config": SMALL, "backend": {"trainer": {"strategy": "fsdp"}}}
    assert read(data, backend="ray").job.spec.backend.strategy == "fsdp"
    assert read({"dataset": "d", "config": SMALL}, backend="ray").job.spec.backend.type == "ray"


OPEN: dict[str, Any] = {"processor": {"type": "modin"}, "trainer": {"strategy": "fsdp", "num_workers": 4}}


def test_a_missing_backend_is_local_on_this_machine_and_says_so() -> None:
    loaded = read(resource(dataset="d", config=SMALL, backend=OPEN))
    backend = loaded.job.spec.backend
    assert (backend.type, backend.trainer.num_workers, loaded.declared.trainer.num_workers) == ("local", None, 4)
    assert loaded.notices[0].startswith("backend.type is missing: local on this machine; backend.processor and")
    assert inspected(json.dumps({"dataset": "d", "config": SMALL, "backend": OPEN}), "s").unbuilt == ()
    assert notes(loaded)[0] == "on a cluster: backend.type is missing: ray if KubeRay is installed, else local"


@pytest.mark.parametrize("name", ["local", "ray"])
def test_the_command_line_completes_a_missing_backend(name: str) -> None:
    loaded = read({"dataset": "d", "config": SMALL, "backend": OPEN}, backend=name)
    workers = loaded.job.spec.backend.trainer.num_workers
    assert (loaded.job.spec.backend.type, workers) == (name, 4 if name == "ray" else None)


def test_the_hash_is_that_of_the_meaning() -> None:
    yaml = "# a comment\ndataset: d\nseed: 0x2A\nconfig:\n  output_features: [{type: binary, name: 'b'}]\n"
    yaml += "  input_features:\n  - type: number\n    name: a\n"
    assert digest(loads(yaml, "small.yaml").job) == digest(read({"dataset": "d", "seed": 42, "config": SMALL}).job)
    assert digest(read({"dataset": "d", "config": SMALL}).job) != digest(read({"dataset": "e", "config": SMALL}).job)


def test_a_whole_number_and_its_fraction_are_one_number() -> None:
    one, same = ({**SMALL, "dataset": "d", "trainer": {"regularization_lambda": value}} for value in (1, 1.0))
    assert digest(read(one).job) == digest(read(same).job)


def test_the_canonical_model_holds_what_the_file_holds() -> None:
    data = resource(dataset="d", config=SMALL, checkpoint={"numToKeep": 2}, backend={"type": "ray", "loader": {}})
    assert canonical(read(data).job) == data


def test_what_is_written_again_holds_no_secret() -> None:
    backend = {
        "cache_credentials": {"s3": {"key": "CANARY", "hosts": ["CANARY"]}},
        "credentials": {"datasets": {"token": "CANARY"}, "artifacts": "/keys.json"},
    }
    loaded = read({"dataset": "d", "config": SMALL, "backend": backend})
    assert "CANARY" not in json.dumps(redacted(loaded.job))
    assert redacted(loaded.job)["spec"]["backend"]["credentials"]["artifacts"] == "/keys.json"
    assert [notice.partition(" ")[0] for notice in loaded.notices] == [
        "backend.cache_credentials",
        "backend.credentials.datasets",
    ]


FAULTS = {
    "an empty file": (b"", "the file is empty"),
    "a comment only": (b"# later\n", "the file is empty"),
    "a list": (b"- a\n", "expected keys and values, found a list"),
    "one word": (b"hello", "expected keys and values, found one value"),
    "Parquet": (b"PAR1\x15\x04\xff\xfe", "no text in UTF-8 (byte 7): is this the data?"),
    "UTF-16": ("a: 1".encode("utf-16"), "no text in UTF-8 (byte 1): is this the data?"),
    "a large table": (b"1,2,3\n" * 600_000, "larger than 3 MiB: is this the data? Give that with --dataset"),
}


@pytest.mark.parametrize(("content", "line"), FAULTS.values(), ids=FAULTS.keys())
def test_what_is_no_job_file_draws_one_line(tmp_path: Path, content: bytes, line: str) -> None:
    path = tmp_path / "job.yaml"
    path.write_bytes(content)
    with pytest.raises(Mistakes) as caught:
        load(path)
    assert caught.value.render(path.name) == f"job.yaml: {line}"


def test_a_file_that_is_not_there_draws_one_line(tmp_path: Path) -> None:
    with pytest.raises(Mistakes, match="cannot be read: No such file or directory"):
        load(tmp_path / "none.yaml")
    with pytest.raises(Mistakes, match="a folder, not a job's file: is it"):
        load(tmp_path)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"dataset": "d", "config": SMALL}).encode())
    assert load(path).job.spec.dataset == "d"


def test_a_file_is_judged_without_torch_and_without_the_trainer() -> None:
    code = (
        "import sys; from pathlib import Path; from trainwright_api.checks.load import load; "
        f"load(Path({str(FILES / 'local.yaml')!r})); "
        "print(sorted({name.partition('.')[0] for name in sys.modules} & "
        "{'torch', 'ray', 'numpy', 'pandas', 'pyarrow', 'kopf', 'trainwright_trainer', 'trainwright_operator'}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
