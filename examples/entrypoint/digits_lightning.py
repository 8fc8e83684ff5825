"""The same network as a module of PyTorch Lightning, on Ray Train with RayDDPStrategy."""

from __future__ import annotations

from typing import Any

import lightning.pytorch as pl
import torch
from digits_ddp import build_model, tables
from ray.train import get_checkpoint
from ray.train.lightning import RayDDPStrategy, RayLightningEnvironment, RayTrainReportCallback, prepare_trainer
from torch import nn
from torch.utils.data import DataLoader

Batch = tuple[torch.Tensor, torch.Tensor]


class Digits(pl.LightningModule):
    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        self.model, self.rate = build_model(config), config["lr"]

    def training_step(self, batch: Batch, _: int) -> torch.Tensor:
        inputs, targets = batch
        loss = nn.functional.cross_entropy(self.model(inputs), targets)
        self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)
        return loss

    def validation_step(self, batch: Batch, _: int) -> None:
        inputs, targets = batch
        self.log("val_loss", nn.functional.cross_entropy(self.model(inputs), targets), sync_dist=True)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=self.rate)


def train_func(config: dict[str, Any]) -> None:
    pl.seed_everything(config["seed"])
    train, validation = tables()
    loaders = [DataLoader(rows, batch_size=config["batch_size"], shuffle=rows is train) for rows in (train, validation)]
    trainer = pl.Trainer(
        max_epochs=config["epochs"],
        strategy=RayDDPStrategy(),
        plugins=[RayLightningEnvironment()],
        callbacks=[RayTrainReportCallback()],  # reports after each epoch, with a checkpoint
        accelerator="auto",
        devices="auto",
        logger=False,
        enable_checkpointing=False,  # Ray Train keeps the checkpoints
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer = prepare_trainer(trainer)
    checkpoint = get_checkpoint()
    if checkpoint is None:
        trainer.fit(Digits(config), *loaders)
        return
    with checkpoint.as_directory() as folder:
        path = f"{folder}/{RayTrainReportCallback.CHECKPOINT_NAME}"
        trainer.fit(Digits(config), *loaders, ckpt_path=path)
