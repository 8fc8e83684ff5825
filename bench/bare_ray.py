"""The shortest program with Ray Train that trains the job of bench/tabular.yaml: two workers, torch's DDP, a checkpoint
after each epoch, and the test score at the end. It may become faster, never slower.

python bench/bare_ray.py DATA FOLDER WORKERS
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path


def work(path: str) -> None:
    import numpy as np
    import pyarrow.parquet as pq
    import torch
    import torch.distributed as dist
    from ray import train
    from ray.train.torch import prepare_model
    from torch import nn

    class Model(nn.Module):
        def __init__(self, sizes: list[int]) -> None:
            super().__init__()
            self.embeddings = nn.ModuleList(nn.Embedding(size, min(50, size)) for size in sizes)
            width = 11 + sum(min(50, size) for size in sizes)
            self.layers = nn.Sequential(nn.Linear(width, 256), nn.ReLU(), nn.Linear(256, 1))

        def forward(self, numbers: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
            embedded = [embedding(words[:, i]) for i, embedding in enumerate(self.embeddings)]
            return torch.as_tensor(self.layers(torch.cat([numbers, *embedded], 1)).squeeze(1))

    rank, world = dist.get_rank(), dist.get_world_size()
    table = pq.read_table(path)
    numbers = np.stack([table[f"n{i}"].to_numpy() for i in range(10)], 1)
    coded = [table[f"c{i}"].combine_chunks().dictionary_encode() for i in range(5)]
    words = torch.from_numpy(np.stack([column.indices.to_numpy() for column in coded], 1))
    flag, target = (table[name].to_numpy().astype("float32") for name in ("b0", "y"))
    order = np.random.default_rng(0).permutation(len(target))
    training, validation, test = np.split(order, [int(0.7 * len(order)), int(0.8 * len(order))])
    numbers = (numbers - numbers[training].mean(0)) / numbers[training].std(0)
    inputs = torch.from_numpy(np.concatenate([numbers, flag[:, None]], 1).astype("float32"))
    targets = torch.from_numpy(target)

    torch.manual_seed(0)
    own = Model([len(column.dictionary) for column in coded])
    model = prepare_model(own)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, fused=True)
    loss_of = nn.functional.binary_cross_entropy_with_logits
    for epoch in range(2):
        shuffled = training[np.random.default_rng(epoch).permutation(len(training))]
        for at in range(0, len(shuffled), 1_024):
            rows = shuffled[at : at + 1_024][rank::world]
            loss = loss_of(model(inputs[rows], words[rows]), targets[rows])
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
        with torch.no_grad():
            rows = validation[rank::world]
            loss = loss_of(model(inputs[rows], words[rows]), targets[rows])
            dist.all_reduce(loss)
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = None
            if rank == 0:
                torch.save([own.state_dict(), optimizer.state_dict()], Path(folder, "state.pt"))
                checkpoint = train.Checkpoint.from_directory(folder)
            train.report({"loss": float(loss) / world}, checkpoint=checkpoint)
    if rank == 0:
        with torch.no_grad():
            logits = own(inputs[test], words[test])
        print(f"test accuracy {float(((logits > 0) == (targets[test] > 0.5)).float().mean()):.4f}")


def main(path: str, folder: str, workers: int) -> None:
    import ray
    from ray.train import RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer

    ray.init(include_dashboard=False)
    TorchTrainer(
        partial(work, path),
        scaling_config=ScalingConfig(num_workers=workers),
        run_config=RunConfig(storage_path=folder, name="bare"),
    ).fit()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
