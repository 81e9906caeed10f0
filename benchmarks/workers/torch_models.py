"""The networks and batches of the two PyTorch peers."""

from __future__ import annotations

import os
from typing import Any

import torch
from torch import nn

from benchmarks.workers import data

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))


def mlp() -> nn.Module:
    """784-128-10."""
    return nn.Sequential(nn.Linear(data.FEATURES, 128), nn.ReLU(), nn.Linear(128, data.CLASSES))


def cnn() -> nn.Module:
    """Two convolutions with pooling, a wide layer with dropout."""
    layers: list[nn.Module] = [nn.Unflatten(1, (1, 28, 28))]
    for inputs, outputs in ((1, 32), (32, 64)):
        layers += [nn.Conv2d(inputs, outputs, 5, padding="same"), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Flatten(), nn.Linear(7 * 7 * 64, 1024), nn.ReLU(), nn.Dropout(0.4), nn.Linear(1024, data.CLASSES)]
    return nn.Sequential(*layers)


def digits(rows: int) -> tuple[Any, Any]:
    """The data as tensors."""
    pixels, labels = data.digits(rows)
    return torch.from_numpy(pixels), torch.from_numpy(labels).long()


def adam(model: nn.Module) -> Any:
    """The optimizer."""
    return torch.optim.Adam(model.parameters(), lr=1e-3)
