"""The processors of a run on Ray. `backend.processor.type` selects one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import ray
from ray.exceptions import RayError

from trainwright_api.resource.backend import Processor as ProcessorSection
from trainwright_trainer.errors import not_built
from trainwright_trainer.frames.interface import Processor
from trainwright_trainer.frames.pandas import PandasProcessor


def processor_of(section: ProcessorSection) -> Processor:
    """The section's processor, in a process that has joined a cluster. Raises `Mistakes` if this version lacks it."""
    if section.type not in PROCESSORS:
        raise not_built("backend.processor.type", section.type, ", ".join(PROCESSORS))
    return PROCESSORS[section.type](section)


def _pandas(_: ProcessorSection) -> Processor:
    return PandasProcessor()


def _dask(section: ProcessorSection) -> Processor:
    """Tasks of Dask as tasks of Ray, as many at a time as the cluster has CPUs.

    The workers of the run wait while the data are prepared, but hold their CPUs, so a task asks for none.
    """
    from ray.util.dask import ray_dask_get

    from trainwright_trainer.frames.dask import DaskProcessor

    there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    where = {"num_cpus": 0, "scheduling_strategy": "SPREAD"}
    return DaskProcessor(
        {"scheduler": ray_dask_get, "ray_remote_args": where},
        tasks=max(int(there.get("CPU", 1)), 1),
        start_options={"ray_persist": True},  # it returns before the result is there
        parallelism=section.parallelism,
        persist=section.persist,
        lost=(RayError,),
    )


PROCESSORS: Mapping[str, Callable[[ProcessorSection], Processor]] = {"pandas": _pandas, "dask": _dask}
