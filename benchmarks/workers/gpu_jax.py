"""JAX on a GPU: the networks of the GPU rows, a compiled step called from a loop or many of them by `jax.lax.scan`."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.workers import data
from benchmarks.workers.big_models import Encoder, Tables, gpu_models, gpu_shapes
from benchmarks.workers.protocol import Measure, Plan, Worker, first_step_of, measure_turns, status_mb

Weights = dict[str, Any]
SCANNED = 50  # steps in a call


def register(worker: Worker) -> None:
    for key in ("mlp", "cnn", "wide", "lstm", "bert", "dlrm"):
        worker.row(f"gpu_{key}", "", "scan")(partial(_train, f"gpu_{key}"))
    for key in ("mlp", "bert"):
        worker.row(f"gpu_{key}_start")(partial(_start, f"gpu_{key}"))


def device_mb() -> float:
    stats = jax.devices()[0].memory_stats()
    return stats["peak_bytes_in_use"] / 2**20 if stats else status_mb("VmHWM")


def _train(key: str, plan: Plan) -> Measure:
    at_once = plan.scaled(SCANNED, 2) if plan.variant == "scan" else 1
    call, finish = _call(key, plan, _arrays(key, plan.is_quick), at_once)

    def run(steps: int) -> float:
        calls, started = max(1, round(steps / at_once)), time.perf_counter()
        for _ in range(calls):
            call()
        finish()
        return calls * at_once / (time.perf_counter() - started)

    run(2 * at_once)
    return measure_turns(run, plan, guess=plan.scaled(20, 2), multiple=at_once, device_mb=device_mb)


def _start(key: str, plan: Plan) -> Measure:
    arrays = _arrays(key, plan.is_quick)

    def prepare() -> Any:
        call, finish = _call(key, plan, arrays, 1)
        return lambda: (call(), finish())

    return first_step_of(prepare, device_mb)


def _arrays(key: str, is_quick: bool) -> tuple[list[Any], int]:
    """The inputs with the labels, and the size of a batch."""
    if key in gpu_models(is_quick):
        big = gpu_models(is_quick)[key]
        features, labels = big.arrays()
        return [*features.values(), labels], big.batch
    network = data.gpu_network(key, is_quick)
    return list(data.network_data(network)), network.batch


def _call(key: str, plan: Plan, arrays: Any, at_once: int) -> tuple[Callable[[], None], Callable[[], Any]]:
    """A call of so many steps, and what waits for them."""
    columns, batch = arrays
    batches, loss_of, weights = data.Batches(len(columns[0]), batch), *_model(key, plan.is_quick)
    is_adam = key != "gpu_dlrm"
    zeros = partial(jax.tree.map, jnp.zeros_like)
    state = [weights, *((zeros(weights), zeros(weights)) if is_adam else (0, 0)), jnp.int32(0)]
    update = partial(_adam if is_adam else _descent, loss_of)
    one = jax.jit(update, donate_argnums=(0,))
    many = jax.jit(lambda state, stacked: jax.lax.scan(update, state, stacked), donate_argnums=(0,))

    def call() -> None:
        if at_once == 1:
            order = batches.next()
        else:
            order = np.stack([batches.next() for _ in range(at_once)])
        state[:], _ = (one if at_once == 1 else many)(tuple(state), tuple(column[order] for column in columns))

    return call, lambda: jax.block_until_ready(state)


def _adam(loss_of: Any, state: Any, batch: Any) -> tuple[Any, Any]:
    weights, first, second, count = state
    loss, gradients = jax.value_and_grad(loss_of)(weights, batch, jax.random.key(count))
    count = count + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    rate = 1e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    weights = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8), weights, first, second)
    return (weights, first, second, count), loss


def _descent(loss_of: Any, state: Any, batch: Any) -> tuple[Any, Any]:
    weights, first, second, count = state
    loss, gradients = jax.value_and_grad(loss_of)(weights, batch, None)
    return (jax.tree.map(lambda w, g: w - 1e-2 * g, weights, gradients), first, second, count + 1), loss


def _model(key: str, is_quick: bool) -> tuple[Any, Weights]:
    encoder, tables, _ = gpu_shapes(is_quick)
    if key == "gpu_bert":
        return partial(_encoder_loss, encoder), _encoder_weights(encoder)
    if key == "gpu_dlrm":
        return partial(_tables_loss, tables), _tables_weights(tables)
    network = data.gpu_network(key, is_quick)
    if key == "gpu_lstm":
        (units,) = network.hidden
        weights = {"cell": _pair(network.features + units, 4 * units), "out": _pair(units, data.CLASSES)}
        return _lstm_loss, weights
    if key == "gpu_cnn":
        (units,) = network.hidden
        shapes = {"0": (5, 5, 1, 32), "1": (5, 5, 32, 64), "2": (7 * 7 * 64, units), "3": (units, data.CLASSES)}
        return _cnn_loss, {name: _pair(*shape) for name, shape in shapes.items()}
    widths = (network.features, *network.hidden, data.CLASSES)
    return _mlp_loss, {str(number): _pair(*pair) for number, pair in enumerate(itertools.pairwise(widths))}


_generator = np.random.default_rng(7)


def _pair(*shape: int) -> tuple[Any, Any]:
    kernel = _generator.standard_normal(shape, dtype=np.float32) * np.float32(np.sqrt(2 / np.prod(shape[:-1])))
    return jnp.asarray(kernel), jnp.zeros(shape[-1], jnp.float32)


def _dense(inputs: Any, pair: tuple[Any, Any]) -> Any:
    return inputs @ pair[0] + pair[1]


def _dropped(net: Any, rate: float, key: Any) -> Any:
    return jnp.where(jax.random.bernoulli(key, 1 - rate, net.shape), net / (1 - rate), 0)


def _classes_loss(logits: Any, labels: Any) -> Any:
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()


def _mlp_loss(weights: Weights, batch: Any, key: Any) -> Any:
    net, labels = batch
    *hidden, out = weights.values()
    for pair in hidden:
        net = jax.nn.relu(_dense(net, pair))
    return _classes_loss(_dense(net, out), labels)


def _cnn_loss(weights: Weights, batch: Any, key: Any) -> Any:
    net = batch[0].reshape(-1, 28, 28, 1)
    for kernel, bias in (weights["0"], weights["1"]):
        net = jax.lax.conv_general_dilated(net, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        net = jax.nn.relu(net + bias)
        net = jax.lax.reduce_window(net, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    net = _dropped(jax.nn.relu(_dense(net.reshape(-1, 7 * 7 * 64), weights["2"])), 0.4, key)
    return _classes_loss(_dense(net, weights["3"]), batch[1])


def _lstm_loss(weights: Weights, batch: Any, key: Any) -> Any:
    values, labels = batch
    kernel, bias = weights["cell"]
    units, features = kernel.shape[1] // 4, values.shape[-1]
    # What depends on the inputs alone is one product for all steps.
    from_inputs = jnp.swapaxes(values @ kernel[:features] + bias, 0, 1)

    def step(carried: Any, from_input: Any) -> tuple[Any, None]:
        hidden, cell = carried
        i, f, g, o = jnp.split(from_input + hidden @ kernel[features:], 4, axis=-1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(cell), cell), None

    zeros = jnp.zeros((values.shape[0], units), jnp.float32)
    (hidden, _), _ = jax.lax.scan(step, (zeros, zeros), from_inputs)
    return _classes_loss(_dense(hidden, weights["out"]), labels)


def _encoder_weights(shape: Encoder) -> Weights:
    width = shape.width
    norm = lambda: (jnp.ones(width), jnp.zeros(width))  # noqa: E731
    layer = lambda: {  # noqa: E731
        **{name: _pair(width, width) for name in ("query", "key", "value", "attended")},
        "wide": _pair(width, 4 * width),
        "narrow": _pair(4 * width, width),
        "norm_1": norm(),
        "norm_2": norm(),
    }
    return {
        "words": _pair(shape.vocabulary, width)[0],
        "positions": _pair(shape.positions, width)[0],
        "norm": norm(),
        "layers": [layer() for _ in range(shape.layers)],
        "pooled": _pair(width, width),
        "logits": _pair(width, 2),
    }


def _normalized(net: Any, pair: tuple[Any, Any]) -> Any:
    centred = net - net.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-12) * pair[0] + pair[1]


def _encoder_loss(shape: Encoder, weights: Weights, batch: Any, key: Any) -> Any:
    tokens, labels = batch
    keys = iter(jax.random.split(key, 1 + 3 * shape.layers))
    net = _dropped(_normalized(weights["words"][tokens] + weights["positions"], weights["norm"]), 0.1, next(keys))
    split = lambda flat: flat.reshape(*flat.shape[:2], shape.heads, -1).swapaxes(1, 2)  # noqa: E731
    for layer in weights["layers"]:
        query, keyed, value = (split(_dense(net, layer[name])) for name in ("query", "key", "value"))
        scores = jax.nn.softmax(query @ keyed.swapaxes(2, 3) / np.float32(query.shape[-1] ** 0.5))
        mixed = (_dropped(scores, 0.1, next(keys)) @ value).swapaxes(1, 2).reshape(net.shape)
        net = _normalized(net + _dropped(_dense(mixed, layer["attended"]), 0.1, next(keys)), layer["norm_1"])
        wide = _dense(jax.nn.gelu(_dense(net, layer["wide"]), approximate=False), layer["narrow"])
        net = _normalized(net + _dropped(wide, 0.1, next(keys)), layer["norm_2"])
    return _classes_loss(_dense(jnp.tanh(_dense(net[:, 0], weights["pooled"])), weights["logits"]), labels)


def _tables_weights(shape: Tables) -> Weights:
    draw = lambda: jnp.asarray((_generator.random((shape.rows, shape.width), np.float32) - 0.5) / 10)  # noqa: E731
    tables = [draw() for _ in range(shape.tables)]
    widths = (shape.width + (shape.tables + 1) ** 2, 128, 64, 1)
    top = [_pair(*pair) for pair in itertools.pairwise(widths)]
    return {"tables": tables, "numbers": [_pair(shape.numbers, 64), _pair(64, shape.width)], "top": top}


def _tables_loss(shape: Tables, weights: Weights, batch: Any, key: Any) -> Any:
    ids, net, labels = batch
    for pair in weights["numbers"]:
        net = jax.nn.relu(_dense(net, pair))
    stacked = jnp.stack([net, *(table[ids[:, number]] for number, table in enumerate(weights["tables"]))], axis=1)
    net = jnp.concatenate([net, (stacked @ stacked.swapaxes(1, 2)).reshape(net.shape[0], -1)], axis=1)
    for pair in weights["top"][:-1]:
        net = jax.nn.relu(_dense(net, pair))
    logits = _dense(net, weights["top"][-1])[:, 0]
    return (jax.nn.softplus(logits) - labels * logits).mean()
