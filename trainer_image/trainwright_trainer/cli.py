"""The command line. Torch, Arrow and the rest are imported only by the commands that train."""

from __future__ import annotations

import csv
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import version
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from trainwright_api.checks import load
from trainwright_api.problems import Mistakes
from trainwright_trainer.backends.launchers import is_rank_zero
from trainwright_trainer.callbacks import is_live
from trainwright_trainer.callbacks.plain_lines import LineStream, flush_or_discard
from trainwright_trainer.commands import cache, cluster, compare, export
from trainwright_trainer.commands.options import Json, text_option
from trainwright_trainer.errors import AlreadyDone, ExitCode, Outcome, is_bug
from trainwright_trainer.job.options import Options
from trainwright_trainer.job.pod import this_pod
from trainwright_trainer.runtime.collector import collect_nothing_at_exit, without_collections
from trainwright_trainer.runtime.cpus import MOST_THREADS
from trainwright_trainer.runtime.signals import ending_on_signals
from trainwright_trainer.runtime.standard_streams import escape_odd_characters, open_closed_streams

app = typer.Typer(
    name="trainwright",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(cache.app)

JOB_ENDINGS = (".yaml", ".yml", ".json")
_NO_FILE = Path()
"""In place of the file of a job whose model and data the options name."""


Job = Annotated[Path | None, typer.Argument(metavar="JOB.yaml", help="A TrainingJob, or a bare Ludwig config.")]
Config = Annotated[
    Path | None, typer.Option("--config", "-c", metavar="FILE", help="The same file, as Ludwig names it.")
]
Dataset = Annotated[str | None, text_option("PATH", "Read this instead of the file's dataset.")]
Output = Annotated[
    str | None, text_option("DIR", "The run's folder. Default: NAME in the file's output, else out/NAME.")
]
Predictions = Annotated[
    str | None, text_option("FILE", "Where predictions go: .parquet or .csv, or a folder.", "--output")
]
Backend = Annotated[str | None, text_option("NAME", "Run on this backend: local, ray, deepspeed or horovod.")]
CacheDir = Annotated[str | None, text_option("DIR", "Use this cache folder instead of the file's.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Use this seed instead of the file's.")]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        max=MOST_THREADS,
        help="The number of threads. Default: OMP_NUM_THREADS, or what the job needs.",
    ),
]
Gpus = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="The number of this machine's GPUs to train on. Default: all.")
]
Resume = Annotated[str | None, typer.Option(metavar="[DIR]", help="Go on from the run's newest good checkpoint.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the run in the output folder.")]
Model = Annotated[str | None, text_option("DIR", "A model folder. Default: model in the run's folder.")]
Keep = Annotated[
    str | None,
    text_option("NAMES", 'Write these columns beside the predictions: id,name or "a,b",c or all. Targets always are.'),
]
TopK = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Write the N likeliest classes of a category, not a column for each class."),
]
Write = Annotated[bool, typer.Option("--write", help="Print the file with old forms of Ludwig replaced by today's.")]
Data = Annotated[str, typer.Argument(metavar="PATH", help="A table: a file, a folder, a glob or a URI.")]
Target = Annotated[str, text_option("COLUMN", "The column to predict.")]
DatasetOptions = Annotated[
    str | None, text_option("YAML", "The section datasetOptions of the job, as in '{format: csv, delimiter: \";\"}'.")
]
JobFile = Annotated[Path | None, typer.Option("--output", metavar="FILE", help="The file to write. Default: print it.")]
OverwriteFile = Annotated[bool, typer.Option("--overwrite", help="Replace the file.")]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Ignore keys that the file should not have, with one line for each.")
]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"trainwright {version('trainwright')}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version, and end.")
]


@app.callback()
def program(version: Version = False) -> None:
    """Train a model from one YAML file. The same file works on a laptop and on a GPU cluster."""


@dataclass(frozen=True)
class _Parameters:
    """The options of the commands. A command takes those that `_command` names."""

    dataset: Dataset = None
    output: Output = None
    predictions: Predictions = None
    backend: Backend = None
    cache_dir: CacheDir = None
    seed: Seed = None
    threads: Threads = None
    gpus: Gpus = None
    resume: Resume = None
    overwrite: Overwrite = False
    model: Model = None
    keep: Keep = None
    top_k: TopK = None
    lenient: Lenient = False
    json: Json = False

    def options(self) -> Options:
        """Raises `BadParameter` for options that contradict each other."""
        resume, output = self.resume, self.output or self.predictions
        if resume is not None and self.overwrite:
            raise typer.BadParameter("--resume goes on with a run, --overwrite starts anew: give one of them")
        if resume and output and Path(resume) != Path(output):
            raise typer.BadParameter(
                f"--resume {resume} goes on in that folder, --output names {output}: give one of them"
            )
        given = {name: value for name, value in vars(self).items() if name != "predictions"}
        keep = _names(self.keep or "")
        return Options(**{**given, "output": resume or output, "resume": resume is not None, "keep": keep})


def _names(text: str) -> tuple[str, ...]:
    """The names in a list with commas. A name that contains a comma stands in double quotes, as in CSV."""
    rows = csv.reader(text.splitlines(keepends=True), skipinitialspace=True)
    return tuple(name.strip() for row in rows for name in row if name.strip())


def _command(*names: str) -> Callable[[Callable[[Path, Options], None]], Callable[..., None]]:
    """Register a function of the job's file and its options as a command, with the named fields of `_Parameters`."""
    hints = get_type_hints(_Parameters, include_extras=True)
    options = [Parameter(name, _KEYWORD, default=getattr(_Parameters, name), annotation=hints[name]) for name in names]
    file = [Parameter("job", _KEYWORD, default=None, annotation=Job)]
    file.append(Parameter("config", _KEYWORD, default=None, annotation=Config))

    def register(function: Callable[[Path, Options], None]) -> Callable[..., None]:
        def command(job: Path | None = None, config: Path | None = None, **given: Any) -> None:
            options = _Parameters(**given).options()
            function(_file(job, config, options), options)

        command.__signature__ = Signature([*file, *options])  # type: ignore[attr-defined]
        command.__annotations__ = {}  # typer reads the annotations of the signature
        command.__doc__ = function.__doc__
        app.command(function.__name__)(command)
        return command

    return register


_KEYWORD = Parameter.KEYWORD_ONLY
_OF_TRAINING = (
    *("dataset", "output", "backend", "cache_dir", "seed", "threads", "gpus"),
    *("resume", "overwrite", "lenient", "json"),
)


@_command(*_OF_TRAINING)
def train(job: Path, options: Options) -> None:
    """Train a model, and write it with its report to the output folder."""
    _run("train", job, options)


@_command(*_OF_TRAINING)
def experiment(job: Path, options: Options) -> None:
    """Train a model, then write its predictions for the test rows."""
    _run("experiment", job, options)


@_command("dataset", "output", "backend", "cache_dir", "threads", "model", "lenient", "json")
def evaluate(job: Path, options: Options) -> None:
    """Measure a trained model. On the data it was trained on, only the test rows count."""
    _run("evaluate", job, options)


app.command("test", help="The same as evaluate.")(evaluate)
app.command()(export.export)
for _of_a_cluster in (cluster.logs, cluster.report, cluster.stop, cluster.resume):
    app.command()(_of_a_cluster)
app.command()(compare.compare)


@_command("dataset", "predictions", "keep", "top_k", "backend", "threads", "model", "lenient", "json")
def predict(job: Path, options: Options) -> None:
    """Write a trained model's predictions, with probabilities, for every row of a data set."""
    _run("predict", job, options)


@_command("dataset", "backend", "cache_dir", "seed", "threads", "lenient", "json")
def preprocess(job: Path, options: Options) -> None:
    """Encode the data set into the cache, without training."""
    _run("preprocess", job, options)


@_command("dataset", "output", "backend", "cache_dir", "seed", "threads", "resume", "overwrite", "lenient", "json")
def hyperopt(job: Path, options: Options) -> None:
    """Search over the parameters of config.hyperopt, and keep the model of the best trial."""
    _run("hyperopt", job, options)


@_command("output", "backend", "threads", "gpus", "resume", "overwrite", "json")
def run(job: Path, options: Options) -> None:
    """Run the task that the file names. Pods call this."""
    with _mistakes_of(job):
        pod = this_pod(os.environ)
    if pod is None:
        _run(None, job, options)
        return
    if options.output is not None or options.resume or options.overwrite or options.backend is not None:
        raise typer.BadParameter(
            "in a pod the operator decides the output folder and the backend: "
            "remove --output, --backend, --resume and --overwrite"
        )
    from trainwright_trainer.pod.entrypoint import run_in_pod

    sys.exit(run_in_pod(pod, job, options))


@app.command()
def validate(
    job: Job = None,
    config: Config = None,
    dataset: Dataset = None,
    backend: Backend = None,
    lenient: Lenient = False,
    write: Write = False,
) -> None:
    """Check a file as the cluster would, in under a second."""
    from trainwright_trainer.tasks.validate import upgraded, validated

    file = _file(job, config)
    with _mistakes_of(file):
        if write:
            text, lost = upgraded(file)
            typer.echo(text, nl=False)
            for line in lost:
                typer.echo(f"{file.name}: {line}", err=True)
        notices = validated(file, load.Options(dataset=dataset, backend=backend, lenient=lenient))
    for line in (*notices, "valid"):
        typer.echo(f"{file.name}: {line}", err=write)


@app.command()
def init(
    data: Data,
    target: Target,
    dataset_options: DatasetOptions = None,
    output: JobFile = None,
    overwrite: OverwriteFile = False,
) -> None:
    """Write a commented job for a table: types, encoders, sizes and the split from all of its rows."""
    from trainwright_trainer.tasks.init import init as suggest

    with _mistakes_of(Path(data)):
        text, lines = suggest(data, target, output, options=dataset_options, overwrite=overwrite)
    if output is None:
        typer.echo(text, nl=False)
    for line in lines:
        typer.echo(line, err=output is None)


def _file(job: Path | None, config: Path | None, options: Options | None = None) -> Path:
    """The job's file: the argument, or the value of `--config`. A model needs none beside its data."""
    if job is not None and config is not None:
        raise typer.BadParameter(f"the file is given twice: as {job}, and as --config {config}")
    found = job or config
    if found is not None:
        return found
    if options is None or options.model is None:
        raise typer.BadParameter("the file is missing: give JOB.yaml, or --config FILE")
    if options.dataset is None:
        raise typer.BadParameter("the data are missing: give --dataset PATH, or JOB.yaml")
    return _NO_FILE


def _run(task: str | None, job: Path, options: Options) -> None:
    if not options.json and is_live(sys.stdout):  # the next imports take a while
        typer.echo(f"{job.name}: starting")
    with without_collections():
        from trainwright_trainer.tasks import run as tasks

    text = None
    if job == _NO_FILE and options.model is not None:
        job, text = _job_of(options.model), "{}"
    with _mistakes_of(job):
        tasks.run(task, job, options, text=text)


def _job_of(model: str) -> Path:
    """The name of the job that has trained a model: that of its run's folder."""
    folder = Path(model)
    is_model = folder.name == "model" and not os.path.isdir(folder / "model")
    return Path((folder.parent if is_model else folder).name or "model")


@contextmanager
def _mistakes_of(job: Path) -> Iterator[None]:
    """Print a mistake with the name of its file, and exit."""
    try:
        yield
    except Mistakes as mistakes:
        _exit(mistakes.render(job.name or str(job)), ExitCode.MISTAKE)


def _with_optional_value(arguments: list[str]) -> list[str]:
    """Give `--resume` without a value an empty one, which means the output folder."""
    following = [*arguments, "--"][1:]
    return [
        "--resume=" if word == "--resume" and (after.startswith("-") or after.lower().endswith(JOB_ENDINGS)) else word
        for word, after in zip(arguments, following, strict=True)
    ]


def main() -> None:
    """The `trainwright` program. Ends with the exit codes of `errors.ExitCode`."""
    collect_nothing_at_exit()
    open_closed_streams()
    escape_odd_characters()
    with nullcontext() if is_rank_zero(os.environ) else _silent():
        try:
            _main()
        finally:
            flush_or_discard(sys.stdout)


@contextmanager
def _silent() -> Iterator[None]:
    """For the other ranks of processes that a launcher has started: rank 0 prints what concerns all."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield


def _main() -> None:
    try:
        with ending_on_signals():
            app(_with_optional_value(sys.argv[1:]))
    except AlreadyDone as done:
        LineStream(sys.stdout).line(str(done))
    except Exception as error:
        outcome = Outcome.of(error)
        line = outcome.line
        if is_bug(error):  # people get one line, the traceback goes to a file
            line = f"internal error, a bug of trainwright's; the traceback is in {_traceback_file()}"
        _exit(line, outcome.exit_code)


def _traceback_file() -> str:
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", errors="backslashreplace", prefix="trainwright-", suffix=".log", delete=False
    ) as file:
        traceback.print_exc(file=file)
    return file.name


def _exit(line: str, code: ExitCode) -> None:
    typer.echo(line, err=True)
    sys.exit(code)
