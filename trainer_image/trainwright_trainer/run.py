"""The story of a run: read → preprocess → cache → load → train → evaluate → save → report.

The first half stands here. The second half is `training.py`; it needs torch, which is imported while this half reads.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.job import Job, read_job
from trainwright_trainer.memory import memory_told
from trainwright_trainer.options import Options
from trainwright_trainer.progress.formats import counted
from trainwright_trainer.result import Result
from trainwright_trainer.rundir.place import How, look
from trainwright_trainer.rundir.places import storage_at
from trainwright_trainer.screen import Screen
from trainwright_trainer.signals import StopRequest, stopping_on_signals
from trainwright_trainer.warm import warm_imports


def run(
    task: str | None, path: Path, options: Options, *, text: str | None = None, screen: Screen | None = None
) -> Result | None:
    """Do one task of a file: the given one, or the one that the file names. `text` stands for the file where given.

    Raises what `errors.py` lists.
    """
    screen = screen or Screen(as_json=options.json)
    job = read_job(task, path, options, text)
    with closing(screen), memory_told():
        screen.tell(job.notices, path.name)
        return TASKS[job.task](job, screen)


def _train(job: Job, screen: Screen) -> Result:
    warm_imports()
    storage = storage_at(str(job.output))
    how = _how(job.options)
    with stopping_on_signals(StopRequest()) as stop:
        look(storage, job.plain(), how)
        with stop.at_once("before training began: nothing was written but the cache. Start it again."):
            data = prepare(job.config, job.dataset, seed=job.spec.seed, cache_dir=job.cache_dir)
        screen.tell(data.notices, Path(job.dataset).name)
        from trainwright_trainer.training import train_on

        try:
            return train_on(data, job, storage, how, screen, stop)
        finally:
            data.finish()


def _how(options: Options) -> How:
    if options.overwrite:
        return How.OVERWRITE
    return How.RESUME if options.resume else How.NEW


def _experiment(job: Job, screen: Screen) -> Result:
    result = _train(job, screen)
    from trainwright_trainer import measuring

    measuring.predict_test_rows(job, result.model, screen)
    return result


def _preprocess(job: Job, screen: Screen) -> None:
    data = prepare(job.config, job.dataset, seed=job.spec.seed, cache_dir=job.cache_dir)
    screen.tell([*data.notices, *data.finish()], Path(job.dataset).name)
    state = "was there" if data.cache_hit else "written"
    screen.say(f"{data.dataset}: {counted(data.rows, 'row')}; cache {data.cache_key[:12]} {state}")


def _evaluate(job: Job, screen: Screen) -> None:
    warm_imports()
    from trainwright_trainer import measuring

    measuring.evaluate(job, screen)


def _predict(job: Job, screen: Screen) -> None:
    warm_imports()
    from trainwright_trainer import measuring

    measuring.predict(job, screen)


TASKS = {
    "train": _train,
    "experiment": _experiment,
    "preprocess": _preprocess,
    "evaluate": _evaluate,
    "predict": _predict,
}
