"""The same train function with Ray's own classes, and no job file: train two epochs, restore the run, train on."""

from __future__ import annotations

import sys

from digits_ddp import train_func
from ray.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig

from trainwright.ray import TorchTrainer


def main(folder: str) -> None:
    config = {"seed": 1, "lr": 0.003, "batch_size": 64, "channels": 8, "epochs": 2}
    trainer = TorchTrainer(
        train_loop_per_worker=train_func,
        train_loop_config=config,
        scaling_config=ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1}),
        run_config=RunConfig(
            name="digits",
            storage_path=folder,
            checkpoint_config=CheckpointConfig(
                num_to_keep=3, checkpoint_score_attribute="val_loss", checkpoint_score_order="min"
            ),
            failure_config=FailureConfig(max_failures=2),
        ),
    )
    print("trained to epoch", trainer.fit().metrics["epoch"])
    trainer = TorchTrainer.restore(f"{folder}/digits", train_loop_config={**config, "epochs": 3})
    print("trained to epoch", trainer.fit().metrics["epoch"])


if __name__ == "__main__":
    main(sys.argv[1])
