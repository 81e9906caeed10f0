"""Programs whose answers hang on state that an earlier call could have left behind or kept: every kind of it.

`KINDS` maps a name to a function of a folder that makes a `Kind`. Its model multiplies by `scale`, a variable of the
checkpoint that `write_weights` writes, and has its own say in `body`. Works on TensorFlow 2.15 and newer.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity import scenes
from tests.parity.draws import DRAWS, WIDTH

v1 = tf.compat.v1
ROWS = 6
X = np.linspace(0.5, 3.0, ROWS).astype(np.float32)
START = {"scale": np.float32(1.5), "changed": np.float32(0.0), "global_step": np.int64(1)}


def rows() -> Any:
    """Three batches of two."""
    return dataset(X)


def dataset(x: Any) -> Any:
    """Batches of two of these numbers."""
    return tf.data.Dataset.from_tensor_slices({"x": x}).batch(2)


@dataclass
class Kind:
    """One program.

    Attributes:
        body: what the model does with its numbers.
        input_fn: where they come from.
        between: called before the second and the third call, with 1 and 2.
        settings: of `RunConfig`.
        trained: its checkpoint comes from a step of training: it holds more than `scale`.
    """

    body: Callable[[Any], Any] = lambda x: x
    input_fn: Callable[[], Any] = rows
    between: Callable[[int], None] = lambda number: None
    settings: dict[str, Any] = field(default_factory=dict)
    trained: bool = False


Maker = Callable[[Path], Kind]
KINDS: dict[str, Maker] = {}


def _kind(name: str) -> Callable[[Maker], Maker]:
    def register(make: Maker) -> Maker:
        KINDS[name] = make
        return make

    return register


def write_weights(model_dir: Path, **values: Any) -> None:
    """A checkpoint of the model, the newest in `model_dir`, always under one name."""
    scenes.write_checkpoint(model_dir, {**START, **{name: np.float32(value) for name, value in values.items()}})


def model(lib: Any, kind: Kind) -> Callable[..., Any]:
    """The model function of a kind."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        scale = v1.get_variable("scale", [], initializer=v1.ones_initializer())
        v1.get_variable("changed", [], initializer=v1.zeros_initializer(), trainable=False)
        output = kind.body(features["x"] * scale)
        if mode == lib.ModeKeys.PREDICT:
            return lib.EstimatorSpec(mode, predictions={"output": output})
        loss = tf.reduce_mean(output)
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        return lib.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={"largest": _largest(output)})

    return model_fn


def _largest(values: Any) -> Any:
    kept = local_variable("largest", v1.zeros_initializer())
    return kept, v1.assign(kept, tf.maximum(kept, tf.reduce_max(values)))


def local_variable(name: str, initializer: Any) -> Any:
    """A number that no checkpoint keeps."""
    where = [v1.GraphKeys.LOCAL_VARIABLES]
    return v1.get_variable(name, [], initializer=initializer, trainable=False, collections=where)


def _after(updates: list[Any], value: Callable[[], Any]) -> Any:
    with tf.control_dependencies(updates):
        return value()


# State of Python's: the function is called anew, and sees what there is now.


@_kind("a closure that changes")
def _closure(folder: Path) -> Kind:
    factors = [1.0]
    return Kind(lambda x: x * factors[-1], between=lambda number: factors.append(factors[-1] + 1))


@_kind("Python's random numbers in model_fn")
def _python_random(folder: Path) -> Kind:
    draws = random.Random(3)
    return Kind(lambda x: x * draws.random())


@_kind("Python's random numbers in input_fn")
def _python_random_input(folder: Path) -> Kind:
    draws = random.Random(4)
    return Kind(input_fn=lambda: dataset(X * np.float32(draws.random())))


@_kind("arrays that change in place")
def _arrays(folder: Path) -> Kind:
    x = X.copy()

    def between(number: int) -> None:
        x[:] += 10

    return Kind(input_fn=lambda: dataset(x), between=between)


@_kind("tensors of an array that changes")
def _tensors(folder: Path) -> Kind:
    x = X.copy()

    def between(number: int) -> None:
        x[:] += 10

    return Kind(input_fn=lambda: _once_over({"x": tf.constant(x)}), between=between)


def _once_over(features: Any) -> Any:
    """Features as tensors, which would be given for ever, with an end."""
    one = tf.data.Dataset.from_tensors(0)
    return one.map(lambda _: features)


@_kind("a Python function that counts, in the model")
def _counting(folder: Path) -> Kind:
    return Kind(_counted(_Counter()))


@_kind("a Python function that counts, made by model_fn")
def _counting_anew(folder: Path) -> Kind:
    return Kind(lambda x: _counted(_Counter())(x))


@_kind("a Python function that counts, in the input")
def _counting_input(folder: Path) -> Kind:
    add = _counted(_Counter())
    return Kind(input_fn=lambda: rows().map(lambda features: {"x": add(features["x"])}))


@_kind("a generator with a state")
def _generator(folder: Path) -> Kind:
    given = _Counter()

    def generate() -> Any:
        for _ in range(ROWS):
            yield {"x": given()}

    spec = {"x": tf.TensorSpec([], tf.float32)}
    return Kind(input_fn=lambda: tf.data.Dataset.from_generator(generate, output_signature=spec).batch(2))


class _Counter:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self, *_: Any) -> np.float32:
        self.count += 1
        return np.float32(self.count)


def _counted(counter: _Counter) -> Callable[[Any], Any]:
    return lambda x: x + tf.ensure_shape(tf.numpy_function(counter, [x], tf.float32), [])


# Files.


@_kind("a vocabulary file that changes")
def _vocabulary(folder: Path) -> Kind:
    return _of_words(folder, lambda path: tf.lookup.StaticHashTable(_from_file(path), -1))


@_kind("a vocabulary file with buckets that changes")
def _vocabulary_with_buckets(folder: Path) -> Kind:
    return _of_words(folder, lambda path: tf.lookup.StaticVocabularyTable(_from_file(path), 5))


def _from_file(path: Path) -> Any:
    whole, line = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    return tf.lookup.TextFileInitializer(str(path), tf.string, whole, tf.int64, line)


def _of_words(folder: Path, table: Callable[[Path], Any]) -> Kind:
    path = folder / "words.txt"
    words = [f"word{number}" for number in range(ROWS)]

    def write(turned: int) -> None:
        path.write_text("\n".join(words[turned:] + words[:turned]) + "\n")

    write(0)
    ids = lambda: tf.cast(table(path).lookup(tf.constant(words[:2])), tf.float32)  # noqa: E731
    return Kind(lambda x: x + ids(), between=write)


@_kind("lines of a file that changes")
def _lines(folder: Path) -> Kind:
    path = folder / "lines.txt"

    def write(number: int) -> None:
        path.write_text("".join(f"{value + number}\n" for value in range(ROWS)))

    write(0)
    return Kind(
        input_fn=lambda: tf.data.TextLineDataset(str(path)).batch(2).map(lambda x: {"x": tf.strings.to_number(x)}),
        between=write,
    )


@_kind("a cache in a file")
def _file_cache(folder: Path) -> Kind:
    add = _counted(_Counter())
    return Kind(
        input_fn=lambda: rows().map(lambda features: {"x": add(features["x"])}).cache(str(folder / "cache")),
    )


@_kind("a checkpoint rewritten under its name")
def _rewritten(folder: Path) -> Kind:
    return Kind(between=lambda number: write_weights(folder / "model_dir", scale=10.0 * number))


@_kind("a table from tensors that change")
def _table_of_tensors(folder: Path) -> Kind:
    values = [1, 2]

    def between(number: int) -> None:
        values[:] = [values[0] + 10, values[1] + 20]

    def body(x: Any) -> Any:
        pairs = tf.lookup.KeyValueTensorInitializer(tf.constant(["a", "b"]), tf.constant(values, tf.int64))
        return x + tf.cast(tf.lookup.StaticHashTable(pairs, -1).lookup(tf.constant(["b", "a"])), tf.float32)

    return Kind(body, between=between)


# State of the session's: a call begins with a new one.


@_kind("a saved variable that the model changes")
def _changed(folder: Path) -> Kind:
    def body(x: Any) -> Any:
        with v1.variable_scope("", reuse=True):
            changed = v1.get_variable("changed", [])
        return x + _after([changed.assign_add(101)], changed.read_value)

    return Kind(body)


@_kind("a local variable that the model changes")
def _local(folder: Path) -> Kind:
    def body(x: Any) -> Any:
        kept = local_variable("kept", v1.ones_initializer())
        return x + _after([kept.assign_add(7)], kept.read_value)

    return Kind(body)


@_kind("a local variable with a random start")
def _local_random(folder: Path) -> Kind:
    return Kind(lambda x: x + local_variable("kept", v1.random_uniform_initializer(seed=5)))


@_kind("rows of a mutable table")
def _mutable_table(folder: Path) -> Kind:
    def body(x: Any) -> Any:
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, 0.0)
        key = tf.constant("sum")
        return x + _after([table.insert(key, table.lookup(key) + 1)], lambda: table.lookup(key))

    return Kind(body, trained=True)


@_kind("a generator of random numbers")
def _random_generator(folder: Path) -> Kind:
    return Kind(lambda x: x + tf.random.Generator.from_seed(3).uniform([]), trained=True)


@_kind("a queue")
def _queue(folder: Path) -> Kind:
    def body(x: Any) -> Any:
        queue = v1.FIFOQueue(100, [tf.float32], shapes=[[]])
        return x + tf.cast(_after([queue.enqueue(1.0)], queue.size), tf.float32)

    return Kind(body)


def _draws(name: str, draw: str) -> None:
    @_kind(f"random numbers in the model: {name}")
    def make(folder: Path) -> Kind:
        # The draws are of three columns and four rows.
        return Kind(lambda x: x + tf.reduce_sum(DRAWS[draw](tf.ones([4, WIDTH]) * x[0])))


_draws("an op", "dropout")
_draws("in a function", "noise in a function in a function")
_draws("in a cond", "dropout in a cond")
_draws("in a while loop", "dropout in a while loop")
_draws("a candidate sampler", "candidates: uniform")
_draws("a sampler that learns", "candidates: learned unigram")


@_kind("random numbers in the model: by the seed of the graph")
def _graph_seed(folder: Path) -> Kind:
    return Kind(lambda x: x + tf.random.uniform([]), settings={"tf_random_seed": 9})


def _input(name: str, settings: dict[str, Any], change: Callable[[Any], Any]) -> None:
    @_kind(f"input: {name}")
    def make(folder: Path) -> Kind:
        return Kind(input_fn=lambda: change(tf.data.Dataset.from_tensor_slices({"x": X})).batch(2), settings=settings)


def _noisy(features: Any) -> Any:
    return {"x": features["x"] + tf.random.uniform([], seed=6)}


_input("shuffled with a seed", {}, lambda data: data.shuffle(ROWS, seed=7))
_input("shuffled, again for each round", {}, lambda data: data.shuffle(ROWS, seed=7).repeat(2))
_input("shuffled by the seed of the graph", {"tf_random_seed": 9}, lambda data: data.shuffle(ROWS))
_input("random numbers in a map", {}, lambda data: data.map(_noisy))
_input("random numbers in a map, kept by a cache", {}, lambda data: data.map(_noisy).cache().repeat(2))
_input("a dataset of random numbers", {}, lambda data: tf.data.Dataset.zip((data, _random_dataset())).map(_added))
_input("drawn from two datasets", {}, lambda data: tf.data.Dataset.sample_from_datasets([data, data], seed=8))


def _random_dataset() -> Any:
    return tf.data.Dataset.random(seed=9).take(ROWS)


def _added(features: Any, drawn: Any) -> Any:
    return {"x": features["x"] + tf.cast(drawn % 100, tf.float32)}


@_kind("input: a one-shot iterator")
def _one_shot(folder: Path) -> Kind:
    return Kind(input_fn=lambda: v1.data.make_one_shot_iterator(rows().map(_noisy)).get_next())


@_kind("input: an initializable iterator")
def _initializable(folder: Path) -> Kind:
    def input_fn() -> Any:
        iterator = v1.data.make_initializable_iterator(rows().map(_noisy))
        v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        return iterator.get_next()

    return Kind(input_fn=input_fn)
