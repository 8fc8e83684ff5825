"""The command line. Torch, Arrow and the rest are imported only by the commands that train."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import AlreadyDone, EnvironmentFailure, ExitCode, StoppedRun
from trainwright_trainer.job.options import Options
from trainwright_trainer.job.pod import this_pod
from trainwright_trainer.runtime.signals import ending_on_signals
from trainwright_trainer.runtime.standard_streams import open_closed_streams

app = typer.Typer(
    name="trainwright",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

JOB_ENDINGS = (".yaml", ".yml", ".json")


def _not_empty(value: str | None) -> str | None:
    """As from a shell variable that is not set."""
    if value is not None and not value.strip():
        raise typer.BadParameter("is empty")
    return value


def _text(metavar: str, line: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=line, callback=_not_empty)


Job = Annotated[Path | None, typer.Argument(metavar="JOB.yaml", help="A TrainingJob, or a bare Ludwig config.")]
Config = Annotated[
    Path | None, typer.Option("--config", "-c", metavar="FILE", help="The same file, as Ludwig names it.")
]
Dataset = Annotated[str | None, _text("PATH", "Read this instead of the file's dataset.")]
Output = Annotated[str | None, _text("DIR", "The run's folder. Default: OUTPUT/NAME of the file.")]
Predictions = Annotated[str | None, _text("FILE", "Where predictions go: .parquet or .csv, or a folder.", "--output")]
Backend = Annotated[str | None, _text("NAME", "Run on this backend instead of the file's: local or ray.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Use this seed instead of the file's.")]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="Compute with so many threads. Default: OMP_NUM_THREADS, or what the job needs."
    ),
]
Resume = Annotated[str | None, typer.Option(metavar="[DIR]", help="Go on from the run's newest good checkpoint.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a run that lies in the output folder.")]
Model = Annotated[str | None, _text("DIR", "A model folder. Default: OUTPUT/model.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")]


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"trainwright {version('trainwright')}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="Show the version, and end.")
]


@app.callback()
def program(version: Version = False) -> None:
    """One YAML file to a trained model, on a laptop or on a GPU cluster, with no change to the file."""


@app.command()
def train(
    job: Job = None,
    config: Config = None,
    dataset: Dataset = None,
    output: Output = None,
    backend: Backend = None,
    seed: Seed = None,
    threads: Threads = None,
    resume: Resume = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Train a model, and write it with its report to the output folder."""
    options = _training_options(dataset, output, backend, seed, threads, resume, overwrite, json)
    _do("train", _file(job, config), options)


@app.command()
def experiment(
    job: Job = None,
    config: Config = None,
    dataset: Dataset = None,
    output: Output = None,
    backend: Backend = None,
    seed: Seed = None,
    threads: Threads = None,
    resume: Resume = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Train a model, then write its predictions for the test rows."""
    options = _training_options(dataset, output, backend, seed, threads, resume, overwrite, json)
    _do("experiment", _file(job, config), options)


@app.command()
def evaluate(
    job: Job = None,
    config: Config = None,
    dataset: Dataset = None,
    output: Output = None,
    backend: Backend = None,
    threads: Threads = None,
    model: Model = None,
    json: Json = False,
) -> None:
    """Measure a trained model. On the data it was trained on, only the test rows count."""
    options = Options(dataset=dataset, output=output, backend=backend, model=model, json=json, threads=threads)
    _do("evaluate", _file(job, config), options)


app.command("test", help="The same as evaluate.")(evaluate)


@app.command()
def predict(
    job: Job = None,
    config: Config = None,
    dataset: Dataset = None,
    output: Predictions = None,
    backend: Backend = None,
    threads: Threads = None,
    model: Model = None,
    json: Json = False,
) -> None:
    """Write a trained model's predictions, with probabilities, for every row of a data set."""
    options = Options(dataset=dataset, output=output, backend=backend, model=model, json=json, threads=threads)
    _do("predict", _file(job, config), options)


@app.command()
def preprocess(
    job: Job = None,
    config: Config = None,
    dataset: Dataset = None,
    backend: Backend = None,
    seed: Seed = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Encode the data set into the cache, and stop there."""
    options = Options(dataset=dataset, backend=backend, seed=seed, json=json, threads=threads)
    _do("preprocess", _file(job, config), options)


@app.command()
def run(
    job: Job = None,
    config: Config = None,
    output: Output = None,
    backend: Backend = None,
    threads: Threads = None,
    resume: Resume = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Do what the file's `task` says. This is what pods call."""
    file, options = _file(job, config), _training_options(None, output, backend, None, threads, resume, overwrite, json)
    with _mistakes_of(file):
        pod = this_pod(os.environ)
    if pod is None:
        _do(None, file, options)
        return
    if options.output is not None or options.resume or options.overwrite or options.backend is not None:
        raise typer.BadParameter(
            "in a pod the operator says where the run lies and how: give no place, backend or way to go on"
        )
    from trainwright_trainer.pod.entrypoint import run_in_pod

    sys.exit(run_in_pod(pod, file, options))


@app.command()
def validate(job: Job = None, config: Config = None, dataset: Dataset = None, backend: Backend = None) -> None:
    """Check a file as the cluster would, in under a second."""
    from trainwright_trainer.tasks.validate import validated

    file = _file(job, config)
    with _mistakes_of(file):
        notices = validated(file, dataset, backend)
    for line in (*notices, "valid"):
        typer.echo(f"{file.name}: {line}")


def _file(job: Path | None, config: Path | None) -> Path:
    """The job's file, which stands alone or behind `--config`."""
    if job is not None and config is not None:
        raise typer.BadParameter(f"the file is given twice: as {job}, and as --config {config}")
    found = job or config
    if found is None:
        raise typer.BadParameter("the file is missing: give JOB.yaml, or --config FILE")
    return found


def _training_options(
    dataset: str | None,
    output: str | None,
    backend: str | None,
    seed: int | None,
    threads: int | None,
    resume: str | None,
    overwrite: bool,
    json: bool,
) -> Options:
    if resume is not None and overwrite:
        raise typer.BadParameter("--resume goes on with a run, --overwrite starts anew: give one of them")
    if resume and output and Path(resume) != Path(output):
        raise typer.BadParameter(f"--resume {resume} goes on in that folder, --output names {output}: give one of them")
    return Options(
        dataset=dataset,
        output=resume or output,
        backend=backend,
        seed=seed,
        resume=resume is not None,
        overwrite=overwrite,
        json=json,
        threads=threads,
    )


def _do(task: str | None, job: Path, options: Options) -> None:
    from trainwright_trainer.tasks import run as story

    with _mistakes_of(job):
        story.run(task, job, options)


@contextmanager
def _mistakes_of(job: Path) -> Iterator[None]:
    """Mistakes are told with the name of the file that they are in."""
    try:
        yield
    except Mistakes as mistakes:
        _leave(mistakes.render(job.name or str(job)), ExitCode.MISTAKE)


def _with_optional_value(arguments: list[str]) -> list[str]:
    """`--resume` may stand alone: then it means the output folder."""
    following = [*arguments, "--"][1:]
    return [
        "--resume=" if word == "--resume" and (after.startswith("-") or after.lower().endswith(JOB_ENDINGS)) else word
        for word, after in zip(arguments, following, strict=True)
    ]


def main() -> None:
    """The `trainwright` program. Ends with the exit codes of `errors.ExitCode`."""
    open_closed_streams()
    _show_any_text()
    try:
        with ending_on_signals():
            app(_with_optional_value(sys.argv[1:]))
    except AlreadyDone as done:
        typer.echo(str(done))
    except EnvironmentFailure as failure:
        _leave(str(failure), ExitCode.ENVIRONMENT)
    except MemoryError:
        _leave("not enough memory on this machine", ExitCode.ENVIRONMENT)
    except StoppedRun as stopped:
        _leave(str(stopped), ExitCode.STOPPED)
    except Exception:  # a bug of ours: people get one line, the traceback goes to a file
        _leave(f"internal error, a bug of trainwright's; the traceback is in {_traceback_file()}", ExitCode.CRASH)


def _show_any_text() -> None:
    """A terminal may lack a character, and a name of a file need not be text: neither ends a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _traceback_file() -> str:
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", errors="backslashreplace", prefix="trainwright-", suffix=".log", delete=False
    ) as file:
        traceback.print_exc(file=file)
    return file.name


def _leave(line: str, code: ExitCode) -> None:
    typer.echo(line, err=True)
    sys.exit(code)
