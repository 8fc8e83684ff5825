"""A train function for Ray Train, as in its own guide: a small network for handwritten digits, with DDP."""

from __future__ import annotations

from typing import Any

import ray.train
import torch
from ray.train.torch import get_device, prepare_data_loader, prepare_model
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from trainwright.ray import Checkpoint, get_checkpoint

VALIDATION_ROWS = 360


def build_model(config: dict[str, Any]) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, config["channels"], 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(config["channels"] * 16, 10),
    )


def tables() -> tuple[TensorDataset, TensorDataset]:
    """Images [rows, 1, 8, 8] from 0 to 1 with their digits, to train and to validate."""
    found = load_digits()
    images = torch.tensor(found.images, dtype=torch.float32).unsqueeze(1) / 16
    whole = TensorDataset(images, torch.tensor(found.target))
    return TensorDataset(*whole[:-VALIDATION_ROWS]), TensorDataset(*whole[-VALIDATION_ROWS:])


def train_func(config: dict[str, Any]) -> None:
    torch.manual_seed(config["seed"])
    train, validation = tables()
    model = prepare_model(build_model(config))
    loader = prepare_data_loader(DataLoader(train, batch_size=config["batch_size"], shuffle=True))
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
    inner = model.module if hasattr(model, "module") else model  # one worker has no DDP
    start = 0
    if (checkpoint := get_checkpoint()) is not None:
        state = checkpoint.to_dict()
        inner.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        start = state["epoch"] + 1
    for epoch in range(start, config["epochs"]):
        if ray.train.get_context().get_world_size() > 1:
            loader.sampler.set_epoch(epoch)  # otherwise each epoch has the order of the first
        running_loss = 0.0
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        val_loss, accuracy = validate(inner, validation)
        metrics = {"loss": running_loss / len(loader), "val_loss": val_loss, "accuracy": accuracy, "epoch": epoch}
        state = {"model": inner.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        ray.train.report(metrics, checkpoint=Checkpoint.from_dict(state))


@torch.inference_mode()
def validate(model: nn.Module, rows: TensorDataset) -> tuple[float, float]:
    """Mean cross entropy and accuracy. Every worker computes them from all rows, so all report the same."""
    inputs, targets = (tensor.to(get_device()) for tensor in rows.tensors)
    outputs = model(inputs)
    right = outputs.argmax(dim=1) == targets
    return nn.functional.cross_entropy(outputs, targets).item(), right.float().mean().item()
