"""JAX: a step compiled by `jax.jit`, called from a plain loop, or many of them by `jax.lax.scan`; Adam by hand."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.workers import data
from benchmarks.workers.prediction_pieces import add_predictions
from benchmarks.workers.protocol import Measure, Plan, Worker, measured_steps

worker = Worker(("jax", "jaxlib", "numpy"))
Weights = list[tuple[Any, Any]]
Forward = Callable[[Weights, Any, Any], Any]
SCANNED = 50  # steps in a call


def mlp_weights() -> Weights:
    """784-128-10."""
    return [_pair(data.FEATURES, 128), _pair(128, data.CLASSES)]


def mlp(weights: Weights, pixels: Any, key: Any) -> Any:
    """The forward pass; there is nothing random in it."""
    hidden, out = weights
    return _dense(jax.nn.relu(_dense(pixels, hidden)), out)


def cnn_weights() -> Weights:
    """Two convolutions, two dense layers."""
    return [_pair(5, 5, 1, 32), _pair(5, 5, 32, 64), _pair(7 * 7 * 64, 1024), _pair(1024, data.CLASSES)]


def cnn(weights: Weights, pixels: Any, key: Any) -> Any:
    """The forward pass in training."""
    net = pixels.reshape(-1, 28, 28, 1)
    for kernel, bias in weights[:2]:
        net = jax.lax.conv_general_dilated(net, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        net = jax.nn.relu(net + bias)
        net = jax.lax.reduce_window(net, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    net = jax.nn.relu(_dense(net.reshape(-1, 7 * 7 * 64), weights[2]))
    kept = jax.random.bernoulli(key, 0.6, net.shape)
    return _dense(jnp.where(kept, net / 0.6, 0), weights[3])


def train(make: Callable[[], Weights], forward: Forward, multiple: int, plan: Plan) -> Measure:
    """Training."""
    pixels, labels = data.digits(data.TRAIN_ROWS)
    batches, step = data.Batches(data.TRAIN_ROWS), _step(forward)
    state = _first_state(make)

    def run(steps: int) -> float:
        started = time.perf_counter()
        for _ in range(steps):
            rows = batches.next()
            *state[:], _ = step(*state, pixels[rows], labels[rows])
        jax.block_until_ready(state)
        return steps / (time.perf_counter() - started)

    run(multiple)
    return measured_steps(run, plan, guess=multiple, multiple=multiple)


def train_scanned(make: Callable[[], Weights], forward: Forward, plan: Plan) -> Measure:
    """Training, many steps in a call, over batches that are put together before it."""
    pixels, labels = data.digits(data.TRAIN_ROWS)
    batches, step = data.Batches(data.TRAIN_ROWS), _step(forward)
    state = _first_state(make)

    @functools.partial(jax.jit, donate_argnums=(0,))
    def many(state: Any, pixels: Any, labels: Any) -> Any:
        def one(state: Any, batch: Any) -> Any:
            *state, loss = step(*state, *batch)
            return tuple(state), loss

        return jax.lax.scan(one, state, (pixels, labels))

    def run(steps: int) -> float:
        started = time.perf_counter()
        for _ in range(steps // SCANNED):
            rows = np.stack([batches.next() for _ in range(SCANNED)])
            state[:], _ = many(tuple(state), pixels[rows], labels[rows])
        jax.block_until_ready(state)
        return steps / (time.perf_counter() - started)

    run(SCANNED)
    return measured_steps(run, plan, guess=SCANNED, multiple=SCANNED)


worker.piece("mlp_jit")(functools.partial(train, mlp_weights, mlp, 50))
worker.piece("mlp_jit", "scan")(functools.partial(train_scanned, mlp_weights, mlp))
worker.piece("mlp")(functools.partial(train, mlp_weights, mlp, 50))
worker.piece("cnn")(functools.partial(train, cnn_weights, cnn, 10))


def prediction() -> Callable[[Any], dict[str, Any]]:
    """A function from rows to class and probabilities."""
    weights = mlp_weights()

    @jax.jit
    def compiled(pixels: Any) -> tuple[Any, Any]:
        logits = mlp(weights, pixels, None)
        return logits.argmax(1), jax.nn.softmax(logits)

    def predict(pixels: Any) -> dict[str, Any]:
        classes, probabilities = compiled(pixels)
        return {"classes": np.asarray(classes), "probabilities": np.asarray(probabilities)}

    return predict


add_predictions(worker, prediction)


def _first_state(make: Callable[[], Weights]) -> list[Any]:
    weights = make()
    zeros = jax.tree.map(jnp.zeros_like, weights)
    return [weights, zeros, jax.tree.map(jnp.zeros_like, weights), jnp.int32(0)]


def _step(forward: Forward) -> Callable[..., Any]:
    def loss_of(weights: Weights, pixels: Any, labels: Any, key: Any) -> Any:
        logs = jax.nn.log_softmax(forward(weights, pixels, key))
        return -jnp.take_along_axis(logs, labels[:, None], axis=1).mean()

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
    def step(weights: Weights, first: Weights, second: Weights, count: Any, pixels: Any, labels: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(weights, pixels, labels, jax.random.key(count))
        count = count + 1
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
        rate = 1e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        weights = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8), weights, first, second)
        return weights, first, second, count, loss

    return step


def _pair(*shape: int) -> tuple[Any, Any]:
    scale = np.sqrt(2 / np.prod(shape[:-1]))
    kernel = np.random.default_rng(7).normal(0, scale, shape).astype(np.float32)
    return jnp.asarray(kernel), jnp.zeros(shape[-1], jnp.float32)


def _dense(inputs: Any, pair: tuple[Any, Any]) -> Any:
    return inputs @ pair[0] + pair[1]


if __name__ == "__main__":
    worker.serve()
