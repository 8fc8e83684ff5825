"""The commands `trainwright logs`, `report`, `stop` and `resume`, for a TrainingJob of a cluster. They call kubectl."""

from __future__ import annotations

from typing import Annotated

import typer

from trainwright_trainer.commands.options import not_empty, text_option

JobName = Annotated[
    str, typer.Argument(metavar="tj/NAME", help="A TrainingJob of kubectl's cluster.", callback=not_empty)
]
Namespace = Annotated[
    str | None, text_option("NAMESPACE", "Its namespace. Default: kubectl's own.", "--namespace", "-n")
]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Print new lines as they are written.")]
Page = Annotated[str | None, text_option("FILE", "The file to write. Default: NAME-report.html.", "--output")]


def logs(job: JobName, namespace: Namespace = None, follow: Follow = False) -> None:
    """Print the log of the newest attempt of a job in a cluster: of its pods, or else of its run folder."""
    from trainwright_trainer.tasks import cluster_job as tasks

    typer.echo(tasks.logs(tasks.find(job, namespace), follow=follow), nl=False)


def report(job: JobName, namespace: Namespace = None, output: Page = None) -> None:
    """Fetch the report of a job in a cluster from its run folder."""
    from trainwright_trainer.tasks import cluster_job as tasks

    typer.echo(tasks.report(tasks.find(job, namespace), output))


def stop(job: JobName, namespace: Namespace = None) -> None:
    """Suspend a job in a cluster: it writes a checkpoint, stops, and releases its nodes."""
    from trainwright_trainer.tasks import cluster_job as tasks

    typer.echo(tasks.suspend(tasks.find(job, namespace), wanted=True))


def resume(job: JobName, namespace: Namespace = None) -> None:
    """Let a suspended job in a cluster go on from its newest checkpoint."""
    from trainwright_trainer.tasks import cluster_job as tasks

    typer.echo(tasks.suspend(tasks.find(job, namespace), wanted=False))
