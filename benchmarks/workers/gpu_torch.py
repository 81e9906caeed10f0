"""PyTorch on a GPU: the networks of the GPU rows as a PyTorch user writes them, in a plain loop, eager or compiled."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.workers import data
from benchmarks.workers.big_models import Encoder, Tables, gpu_models, gpu_shapes
from benchmarks.workers.protocol import Measure, Plan, Worker, first_step_of, measure_turns, status_mb

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
wait: Callable[[], Any] = torch.cuda.synchronize if DEVICE == "cuda" else int


def register(worker: Worker) -> None:
    for key in ("mlp", "cnn", "wide", "lstm", "bert", "dlrm"):
        worker.row(f"gpu_{key}", "", "compiled")(partial(_train, f"gpu_{key}"))
    for key in ("mlp", "bert"):
        worker.row(f"gpu_{key}_start")(partial(_start, f"gpu_{key}"))


def device_mb() -> float:
    return torch.cuda.max_memory_allocated() / 2**20 if DEVICE == "cuda" else status_mb("VmHWM")


def _train(key: str, plan: Plan) -> Measure:
    step = _step(key, plan, _arrays(key, plan.is_quick))

    def run(steps: int) -> float:
        started = time.perf_counter()
        for _ in range(steps):
            step()
        wait()
        return steps / (time.perf_counter() - started)

    run(plan.scaled(10, 2))
    return measure_turns(run, plan, guess=plan.scaled(20, 2), device_mb=device_mb)


def _start(key: str, plan: Plan) -> Measure:
    arrays = _arrays(key, plan.is_quick)

    def prepare() -> Any:
        step = _step(key, plan, arrays)
        return lambda: (step(), wait())

    return first_step_of(prepare, device_mb)


def _arrays(key: str, is_quick: bool) -> tuple[list[np.ndarray[Any, Any]], np.ndarray[Any, Any], int]:
    """The inputs, the labels and the size of a batch."""
    if key in gpu_models(is_quick):
        big = gpu_models(is_quick)[key]
        features, labels = big.arrays()
        return list(features.values()), labels, big.batch
    network = data.gpu_network(key, is_quick)
    values, labels = data.network_data(network)
    return [values], labels, network.batch


def _step(key: str, plan: Plan, arrays: Any) -> Callable[[], None]:
    torch.set_float32_matmul_precision("high")  # TF32, as TensorFlow and JAX compute by themselves
    inputs, labels, batch = arrays
    columns, targets = [torch.from_numpy(one) for one in inputs], torch.from_numpy(labels)
    targets = targets if key == "gpu_dlrm" else targets.long()
    encoder, tables, _ = gpu_shapes(plan.is_quick)
    network: nn.Module
    if key == "gpu_bert":
        network = Bert(encoder)
    elif key == "gpu_dlrm":
        network = Clicks(tables, is_sparse=plan.variant != "compiled")
    else:
        network = _network(key, plan.is_quick)
    network = network.to(DEVICE).train()
    weights = network.parameters()
    optimizer = torch.optim.SGD(weights, 1e-2) if key == "gpu_dlrm" else torch.optim.Adam(weights, 1e-3)
    loss_of: Any = functional.binary_cross_entropy_with_logits if key == "gpu_dlrm" else functional.cross_entropy
    model, batches = torch.compile(network) if plan.variant == "compiled" else network, data.Batches(len(labels), batch)

    def step() -> None:
        order = torch.from_numpy(batches.next())
        loss = loss_of(model(*(column[order].to(DEVICE) for column in columns)), targets[order].to(DEVICE))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return step


def _network(key: str, is_quick: bool) -> nn.Module:
    network = data.gpu_network(key, is_quick)
    if key == "gpu_lstm":
        return Recurrent(network)
    width, parts = network.features, list[nn.Module]()
    if key == "gpu_cnn":
        parts.append(nn.Unflatten(1, (1, 28, 28)))
        for inputs, outputs in ((1, 32), (32, 64)):
            parts += [nn.Conv2d(inputs, outputs, 5, padding="same"), nn.ReLU(), nn.MaxPool2d(2)]
        parts.append(nn.Flatten())
        width = 7 * 7 * 64
    for units in network.hidden:
        parts += [nn.Linear(width, units), nn.ReLU()]
        width = units
    if key == "gpu_cnn":
        parts.append(nn.Dropout(0.4))
    return nn.Sequential(*parts, nn.Linear(width, data.CLASSES))


class Recurrent(nn.Module):
    """An LSTM, and the classes from its last output."""

    def __init__(self, network: data.Network) -> None:
        super().__init__()
        self.cell = nn.LSTM(network.features, *network.hidden, batch_first=True)
        self.logits = nn.Linear(*network.hidden, data.CLASSES)

    def forward(self, values: Any) -> Any:
        return self.logits(self.cell(values)[0][:, -1])


class Bert(nn.Module):
    """An encoder of the shape of BERT."""

    def __init__(self, shape: Encoder) -> None:
        super().__init__()
        self.words, self.positions = (
            nn.Embedding(shape.vocabulary, shape.width),
            nn.Embedding(shape.positions, shape.width),
        )
        self.norm, self.dropout = nn.LayerNorm(shape.width), nn.Dropout(0.1)
        layer = nn.TransformerEncoderLayer(
            shape.width, shape.heads, 4 * shape.width, 0.1, activation="gelu", batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, shape.layers, enable_nested_tensor=False)
        self.pooled, self.logits = nn.Linear(shape.width, shape.width), nn.Linear(shape.width, 2)

    def forward(self, tokens: Any) -> Any:
        net = self.dropout(self.norm(self.words(tokens) + self.positions.weight))
        return self.logits(torch.tanh(self.pooled(self.encoder(net)[:, 0])))


class Clicks(nn.Module):
    """Tables, and the products of all pairs of their vectors."""

    def __init__(self, shape: Tables, is_sparse: bool) -> None:
        super().__init__()
        self.tables = nn.ModuleList(
            nn.Embedding(shape.rows, shape.width, sparse=is_sparse) for _ in range(shape.tables)
        )
        for table in self.tables:
            nn.init.uniform_(table.weight, -0.05, 0.05)
        self.numbers = nn.Sequential(nn.Linear(shape.numbers, 64), nn.ReLU(), nn.Linear(64, shape.width), nn.ReLU())
        width = shape.width + (shape.tables + 1) ** 2
        self.top = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, ids: Any, numbers: Any) -> Any:
        net = self.numbers(numbers)
        vectors = [net, *(table(ids[:, number]) for number, table in enumerate(self.tables))]
        stacked = torch.stack(vectors, dim=1)
        pairs = torch.bmm(stacked, stacked.transpose(1, 2)).flatten(1)
        return self.top(torch.cat([net, pairs], dim=1))[:, 0]
