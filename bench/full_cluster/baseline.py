"""The baseline, written by hand: workers read the file from S3 and make one step of a small model on their rows.

It runs in a pod, beside the event reporter. It may become faster, never slower.

python baseline.py s3://BUCKET/KEY [WORKERS]     with Ray if WORKERS is given
"""

from __future__ import annotations

import sys
from functools import partial


def work(uri: str) -> None:
    from sitecustomize import mark  # type: ignore[import-not-found]  # the event reporter, by this name in pods

    mark("at work")
    import boto3
    import pandas
    import torch
    import torch.distributed as dist
    from torch import nn

    rank, world = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    frame = pandas.read_csv(boto3.client("s3").get_object(Bucket=bucket, Key=key)["Body"])
    mark("data read")
    inputs = pandas.concat([frame[["humidity"]], pandas.get_dummies(frame["airport"])], axis=1).to_numpy("float64")
    targets = frame[["temperature"]].to_numpy("float64")
    x, y = (torch.from_numpy((part - part.mean(0)) / part.std(0))[rank:128:world] for part in (inputs, targets))
    model: nn.Module = nn.Sequential(nn.Linear(x.shape[1], 256), nn.ReLU(), nn.Linear(256, 1)).double()
    if world > 1:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    torch.autograd.backward(nn.functional.mse_loss(model(x), y))
    optimizer.step()
    mark("stepped")


def by_ray(uri: str, workers: int) -> None:
    from ray.train import ScalingConfig
    from ray.train.torch import TorchTrainer

    TorchTrainer(partial(work, uri), scaling_config=ScalingConfig(num_workers=workers)).fit()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        by_ray(sys.argv[1], int(sys.argv[2]))
    else:
        work(sys.argv[1])
