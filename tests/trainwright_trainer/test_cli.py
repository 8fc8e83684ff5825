"""The command line: what it takes, how it ends, what it prints."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from trainwright_trainer import cli
from trainwright_trainer.errors import AlreadyDone, EnvironmentFailure, StoppedRun
from trainwright_trainer.job.options import Options
from trainwright_trainer.tasks import run

COMMANDS = ("train", "experiment", "evaluate", "test", "predict", "preprocess", "run", "validate")
TASKS = ("train", "experiment", "evaluate", "predict", "preprocess", None)
"""The tasks of the commands; `run` asks for the file's own."""


@pytest.fixture
def asked(monkeypatch):
    """Record the call instead of running the task."""
    calls = []
    monkeypatch.setattr(run, "run", lambda task, path, options, **_: calls.append((task, str(path), options)))
    return calls


@pytest.mark.parametrize("command", ["ls", "verify", "prune"])
def test_the_commands_of_the_cache_have_help(workplace, command):
    assert f"  {command} " in workplace.done("cache", "--help").out
    assert "[CACHE]" in workplace.done("cache", command, "--help").out


def test_help_names_every_command(workplace):
    out = workplace.done("--help").out
    assert all(f"  {command}" in out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(workplace, command):
    assert "JOB.yaml" in workplace.done(command, "--help").out


def test_nothing_at_all_shows_the_help(workplace):
    ended = workplace.run()
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == workplace.done("--help").out


def test_the_version(workplace):
    assert workplace.done("--version").out == f"trainwright {version('trainwright')}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_the_file_as_ludwig_does(workplace, asked, command):
    workplace.job(name="a.yaml")
    for arguments in (["a.yaml"], ["--config", "a.yaml"], ["-c", "a.yaml"], ["--config=a.yaml"]):
        workplace.done(command, *arguments, "--backend", "local")
    assert {(name, options.backend) for _, name, options in asked} <= {("a.yaml", "local")}
    assert len(asked) == (0 if command == "validate" else 4)


@pytest.mark.parametrize("command", COMMANDS)
def test_one_file_is_needed(workplace, command):
    assert "the file is missing: give JOB.yaml, or --config FILE" in workplace.refused(command)
    message = workplace.refused(command, "a.yaml", "--config", "b.yaml")
    assert "the file is given twice: as a.yaml, and as --config b.yaml" in message


@pytest.mark.parametrize("command", ["evaluate", "predict"])
@pytest.mark.parametrize("model", ["out/churn", "out/churn/model", "s3://runs/churn/model", "s3://runs/churn/"])
def test_a_model_and_data_need_no_file(workplace, asked, command, model):
    workplace.done(command, "--model", model, "--dataset", "d")
    assert asked == [(command, "churn", Options(model=model, dataset="d"))]
    assert "the data are missing: give --dataset PATH, or JOB.yaml" in workplace.refused(command, "--model", model)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("loacl", "did you mean 'local'?"),
        ("RAY", "did you mean 'ray'?"),
        ("x", "expected one of local, ray, deepspeed, horovod"),
    ],
)
@pytest.mark.parametrize("own", [None, "local"])
def test_a_backend_that_is_none(workplace, command, name, hint, own):
    job = workplace.job(lambda job: job.update(backend={"type": own}) if own else None)
    assert workplace.refused(command, job, "--backend", name) == f"job.yaml: --backend: {name!r} is no backend: {hint}"


def test_an_empty_text_is_refused(workplace):
    for option in ("--dataset", "--output", "--backend"):
        assert f"'{option}': is empty" in workplace.refused("train", workplace.job(), option, "")


def test_every_flag_arrives(workplace, asked):
    workplace.done("train", "a.yaml", "--dataset", "d", "--output", "o", "--backend", "local", "--seed", "3", "--json")
    workplace.done("evaluate", "a.yaml", "--dataset", "d", "--output", "o", "--model", "m", "--json")
    workplace.done("predict", "a.yaml", "--dataset", "d", "--output", "o", "--model", "m", "--json")
    workplace.done("preprocess", "a.yaml", "--dataset", "d", "--backend", "local", "--seed", "3", "--json")
    workplace.done("experiment", "a.yaml", "--overwrite")
    workplace.done("run", "a.yaml", "--output", "o", "--backend", "local")
    for task in TASKS:
        workplace.done(task or "run", "a.yaml", "--threads", "2")
    workplace.done("test", "a.yaml", "--backend", "ray")
    measured = Options(dataset="d", output="o", model="m", json=True)
    assert asked == [
        ("train", "a.yaml", Options(dataset="d", output="o", backend="local", seed=3, json=True)),
        ("evaluate", "a.yaml", measured),
        ("predict", "a.yaml", measured),
        ("preprocess", "a.yaml", Options(dataset="d", backend="local", seed=3, json=True)),
        ("experiment", "a.yaml", Options(overwrite=True)),
        (None, "a.yaml", Options(output="o", backend="local")),
        *((task, "a.yaml", Options(threads=2)) for task in TASKS),
        ("evaluate", "a.yaml", Options(backend="ray")),
    ]


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("a.yaml", "--resume"), None),
        (("--resume", "a.yaml"), None),
        (("a.yaml", "--resume", "--json"), None),
        (("a.yaml", "--output", "o", "--resume"), "o"),
        (("a.yaml", "--resume", "--output", "o"), "o"),
        (("a.yaml", "--resume", "o"), "o"),
        (("a.yaml", "--resume=o"), "o"),
        (("a.yaml", "--output", "o", "--resume", "o"), "o"),
        (("--resume", "o", "a.yaml"), "o"),
    ],
)
def test_resume_takes_a_folder_or_none(workplace, asked, arguments, output):
    workplace.done("train", *arguments)
    (found,) = asked
    assert (found[1], found[2].resume, found[2].output) == ("a.yaml", True, output)


@pytest.mark.parametrize(
    ("error", "code", "out", "err"),
    [
        (AlreadyDone("out: job is done"), 0, "out: job is done\n", ""),
        (EnvironmentFailure("out: the disk is full"), 3, "", "out: the disk is full\n"),
        (MemoryError(), 3, "", "not enough memory on this machine\n"),
        (StoppedRun("stopped by SIGINT at epoch 1"), 75, "", "stopped by SIGINT at epoch 1\n"),
    ],
)
def test_how_a_run_can_end(workplace, monkeypatch, error, code, out, err):
    monkeypatch.setattr(run, "run", lambda *_, **__: (_ for _ in ()).throw(error))
    ended = workplace.run("train", "a.yaml")
    assert (ended.code, ended.out, ended.err) == (code, out, err)


def test_a_bug_is_one_line_and_its_traceback_a_file(workplace, monkeypatch):
    monkeypatch.setattr(cli.tempfile, "tempdir", str(workplace.folder))
    monkeypatch.setattr(run, "run", lambda *_, **__: {}["gone"])
    ended = workplace.run("train", "a.yaml")
    (file,) = workplace.folder.glob("trainwright-*.log")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == f"internal error, a bug of trainwright's; the traceback is in {file}\n"
    assert "KeyError: 'gone'" in file.read_text()


def test_validate_says_what_it_says_at_once(workplace):
    job = workplace.job(lambda job: job.update(backend={"type": "ray", "trainer": {"type": "ddp"}}))
    notice = "job.yaml: backend.trainer.type is read as backend.trainer.strategy\n"
    assert workplace.done("validate", job).out == f"{notice}job.yaml: valid\n"


def test_a_mistake_in_an_old_form_names_the_path_of_the_file(workplace):
    def old(job):
        del job["config"]["trainer"]
        job["config"]["training"] = {"decay_rate": "fast", "decay": True, "learning_rate_scheduler": {"decay": None}}

    workplace.job(old)
    ended = workplace.run("validate", "job.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert [line.split(":")[0].split("  ")[1] for line in ended.err.splitlines()[1:]] == [
        "config.training.decay",
        "config.training.decay_rate",
    ]


def test_validate_writes_the_upgraded_file(workplace):
    job = json.loads((workplace.folder / workplace.job()).read_text())
    job["config"]["training"] = job["config"].pop("trainer")
    workplace.data(json.dumps(job), name="old.json")
    ended = workplace.run("validate", "old.json", "--write")
    assert ended.code == 0
    assert ended.err == "old.json: config.training is read as config.trainer\nold.json: valid\n"
    workplace.data(ended.out, name="new.json")
    assert workplace.done("validate", "new.json").out == "new.json: valid\n"


def test_lenient_ignores_an_unknown_key(workplace):
    workplace.job(lambda job: job["config"].update(nonsense=1))
    assert workplace.run("validate", "job.yaml").code == 2
    ignored, valid = workplace.done("validate", "job.yaml", "--lenient").out.splitlines()
    assert ignored == "job.yaml: config.nonsense is ignored: unknown"
    assert valid == "job.yaml: valid"


def test_validate_shows_what_a_cluster_would_refuse_as_notes(workplace):
    def as_resource(job):
        spec = {**job, "output": "s3://bucket/runs"}
        job.clear()
        job |= {
            "apiVersion": "trainwright.dev/v1alpha1",
            "kind": "TrainingJob",
            "metadata": {"name": "a"},
            "spec": spec,
        }

    notice, valid = workplace.done("validate", workplace.job(as_resource)).out.splitlines()
    assert notice.startswith("job.yaml: on a cluster: dataset: pods do not see 'data.csv': give a URI")
    assert valid == "job.yaml: valid"


def test_validate_takes_a_bare_config_with_data(workplace):
    bare = json.loads((workplace.folder / workplace.job()).read_text())["config"]
    workplace.data(json.dumps(bare), name="bare.yaml")
    assert workplace.done("validate", "bare.yaml", "--dataset", "data.csv").out == "bare.yaml: valid\n"


def test_help_and_validate_import_no_torch(workplace):
    workplace.job()
    for arguments, foreign in ((["--help"], ["torch", "pyarrow", "numpy"]), (["validate", "job.yaml"], ["torch"])):
        code = (
            "import sys; from trainwright_trainer import cli\n"
            f"sys.argv = ['trainwright', *{arguments!r}]\n"
            "try: cli.main()\n"
            "except SystemExit as end: assert not end.code, end.code\n"
            f"assert not set({foreign!r}) & set(sys.modules)\n"
        )
        ended = workplace.python(code)
        assert (ended.code, ended.err) == (0, "")


def test_json_is_one_object_a_line(workplace):
    lines = workplace.done("train", workplace.job(), "--output", "out", "--json").out.splitlines()
    events = [json.loads(line)["event"] for line in lines]
    assert events[0] == "started"
    assert events[-1] == "ended"
    assert "evaluated" in events


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("words", "code", "err"),
    [
        ("init data.csv --target late", 3, "No space left on device\n"),
        ("preprocess job.yaml", 0, "the output cannot be written: No space left on device\n"),
    ],
)
def test_a_full_disk_below_the_output_is_one_line(workplace, monkeypatch, unbuffered, words, code, err):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    workplace.job()
    command = [sys.executable, "-m", "trainwright_trainer", *words.split()]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (code, err)


def test_the_program_is_installed():
    from importlib.metadata import entry_points

    (found,) = entry_points(group="console_scripts", name="trainwright")
    assert found.load() is cli.main
    assert sys.modules["trainwright_trainer.cli"] is cli


@pytest.mark.parametrize("program", [["-m", "trainwright_trainer"], [f"{Path(sys.executable).parent}/trainwright"]])
def test_an_interrupt_of_the_imports_prints_no_traceback(tmp_path, program):
    (tmp_path / "sitecustomize.py").write_text(
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may have started the tests without it
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'pydantic':\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
    )
    paths = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    command = [sys.executable, *program, "--version"]
    ended = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize("number", ["0", "-2", "two"])
def test_threads_are_a_number_from_1(workplace, number):
    assert "'--threads'" in workplace.refused("train", workplace.job(), "--threads", number)


@pytest.mark.usefixtures("asked")
def test_a_terminal_shows_a_line_before_the_imports_of_training(workplace, monkeypatch):
    monkeypatch.setattr(cli, "is_live", lambda _: True)
    assert workplace.done("train", workplace.job()).out == "job.yaml: starting\n"
    assert workplace.done("train", "job.yaml", "--json").out == ""
    code = "import sys, trainwright_trainer.cli; print({'pyarrow', 'torch', 'numpy', 'ray'} & set(sys.modules))"
    assert workplace.python(code).out == "set()\n"
