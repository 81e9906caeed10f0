"""JAX: a step compiled by `jax.jit`, called from a plain loop, or many of them by `jax.lax.scan`; Adam by hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.workers import data, gpu_jax
from benchmarks.workers.protocol import Measure, Plan, Worker, measure_loop

worker = Worker(("jax", "jaxlib", "numpy"))
Weights = list[tuple[Any, Any]]
Forward = Callable[[Weights, Any, Any], Any]
SCANNED = 50  # steps in a call


MLP = (data.FEATURES, 128), (128, data.CLASSES)
CNN = (5, 5, 1, 32), (5, 5, 32, 64), (7 * 7 * 64, 1024), (1024, data.CLASSES)


def mlp(weights: Weights, pixels: Any, key: Any) -> Any:
    *hidden, out = weights
    for pair in hidden:
        pixels = jax.nn.relu(_dense(pixels, pair))
    return _dense(pixels, out)


def cnn(weights: Weights, pixels: Any, key: Any) -> Any:
    net = pixels.reshape(-1, 28, 28, 1)
    for kernel, bias in weights[:2]:
        net = jax.lax.conv_general_dilated(net, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        net = jax.nn.relu(net + bias)
        net = jax.lax.reduce_window(net, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    net = jax.nn.relu(_dense(net.reshape(-1, 7 * 7 * 64), weights[2]))
    is_used = jax.random.bernoulli(key, 0.6, net.shape)
    return _dense(jnp.where(is_used, net / 0.6, 0), weights[3])


def train(shapes: Any, forward: Forward, multiple: int, plan: Plan) -> Measure:
    """Training: a call a step, or (`scan`) fifty steps a call over batches that are stacked before it."""
    pixels, labels = data.digits(data.TRAIN_ROWS)
    batches, step, state = data.Batches(data.TRAIN_ROWS), _step(forward), _first_state(shapes)

    def one(state: Any, batch: Any) -> Any:
        *state, loss = step(*state, *batch)
        return tuple(state), loss

    many = jax.jit(lambda state, *stacked: jax.lax.scan(one, state, stacked), donate_argnums=(0,))

    def call() -> None:
        if plan.variant == "scan":
            order = np.stack([batches.next() for _ in range(SCANNED)])
            state[:], _ = many(tuple(state), pixels[order], labels[order])
        else:
            order = batches.next()
            *state[:], _ = step(*state, pixels[order], labels[order])

    steps_a_call = SCANNED if plan.variant == "scan" else 1
    wait = partial(jax.block_until_ready, state)
    return measure_loop(call, plan, multiple=multiple, steps_a_call=steps_a_call, finish=wait)


worker.row("mlp_jit", "", "scan")(partial(train, MLP, mlp, 50))
worker.row("mlp")(partial(train, MLP, mlp, 50))
worker.row("cnn")(partial(train, CNN, cnn, 10))
gpu_jax.register(worker)


def prediction() -> Callable[[Any], dict[str, Any]]:
    weights = _weights(MLP)

    @jax.jit
    def compiled(pixels: Any) -> tuple[Any, Any]:
        logits = mlp(weights, pixels, None)
        return logits.argmax(1), jax.nn.softmax(logits)

    def predict(pixels: Any) -> dict[str, Any]:
        classes, probabilities = compiled(pixels)
        return {"classes": np.asarray(classes), "probabilities": np.asarray(probabilities)}

    return predict


data.register_predictions(worker, {"": prediction})


def _first_state(shapes: Any) -> list[Any]:
    weights = _weights(shapes)
    zeros = jax.tree.map(jnp.zeros_like, weights)
    return [weights, zeros, jax.tree.map(jnp.zeros_like, weights), jnp.int32(0)]


def _step(forward: Forward) -> Callable[..., Any]:
    def loss_of(weights: Weights, pixels: Any, labels: Any, key: Any) -> Any:
        logs = jax.nn.log_softmax(forward(weights, pixels, key))
        return -jnp.take_along_axis(logs, labels[:, None], axis=1).mean()

    @partial(jax.jit, donate_argnums=(0, 1, 2))
    def step(weights: Weights, first: Weights, second: Weights, count: Any, pixels: Any, labels: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(weights, pixels, labels, jax.random.key(count))
        count = count + 1
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
        rate = 1e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        weights = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8), weights, first, second)
        return weights, first, second, count, loss

    return step


def _weights(shapes: Any) -> Weights:
    generator = np.random.default_rng(7)
    kernels = [generator.normal(0, np.sqrt(2 / np.prod(shape[:-1])), shape).astype(np.float32) for shape in shapes]
    return [(jnp.asarray(kernel), jnp.zeros(kernel.shape[-1], jnp.float32)) for kernel in kernels]


def _dense(inputs: Any, pair: tuple[Any, Any]) -> Any:
    return inputs @ pair[0] + pair[1]


if __name__ == "__main__":
    worker.serve()
