"""The number of processes that train on this machine without a launcher, from the file, `--gpus` and the machine."""

from __future__ import annotations

from pathlib import Path

from trainwright_api.problems import Mistakes
from trainwright_api.resource.backend import Backend, BackendTrainer
from trainwright_trainer.errors import EnvironmentFailure


def processes_for(backend: Backend, gpus_here: int, asked: int | None) -> int:
    """The number of processes. `asked`: --gpus. Raises `Mistakes` and, for missing GPUs, `EnvironmentFailure`.

    `local` takes all GPUs, one process each, and without a GPU one process. `deepspeed` and `horovod` take
    `num_workers`, else one process for each GPU.
    """
    if asked is not None and backend.type != "local":
        raise Mistakes.one("--gpus", f"acts with backend local; backend {backend.type} has backend.trainer.num_workers")
    if asked is not None and asked > gpus_here:
        raise EnvironmentFailure(f"--gpus {asked}: this machine has {gpus_here or 'no'} GPU{'s' * (gpus_here != 1)}")
    trainer = backend.trainer
    _check_resources(backend.type, trainer)
    use_gpu = trainer.use_gpu is not False
    workers = trainer.num_workers or asked or (gpus_here if use_gpu else 0) or 1
    assert isinstance(workers, int)  # `worker_range.py` refuses a range
    if (trainer.use_gpu or (trainer.resources_per_worker or {}).get("GPU")) and workers > gpus_here:
        found = f"backend.trainer asks for {workers} GPUs, and this machine has {gpus_here}"
        raise EnvironmentFailure(f"{found}. To train here: --backend local")
    return workers


def _check_resources(backend: str, trainer: BackendTrainer) -> None:
    """Raise `Mistakes` for what only Ray can do."""
    for name, share in (trainer.resources_per_worker or {}).items():
        path = f"backend.trainer.resources_per_worker.{name}"
        if name not in ("CPU", "GPU"):
            raise Mistakes.one(path, f"acts with backend ray; a worker of {backend} has CPU and GPU")
        if name == "GPU" and share not in (0, 1):
            raise Mistakes.one(path, f"is {share:g}; a worker of {backend} has one GPU, or 0")


def gpus_of_this_machine(devices: Path = Path("/dev")) -> int:
    """The GPUs that this process sees. Imports torch only if the machine has some."""
    if not any(devices.glob("nvidia[0-9]*")) and not (devices / "dxg").exists():
        return 0
    import torch

    return torch.cuda.device_count()
