"""Arrays that `input_fn` makes datasets and tensors of stay out of the graph, whatever it makes them with."""

from __future__ import annotations

import sys
import threading
import types
from collections import OrderedDict, defaultdict, namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import lightwell as lw
from lightwell.errors import InputFnError

v1 = tf.compat.v1
ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)
LARGE = np.arange(600 * 600, dtype=np.float64).reshape(600, 600)
Named = namedtuple("Named", "x y")


class Model:
    """Gives back its features, and keeps the graph it was called in."""

    graph: Any = None

    def __call__(self, features: Any, mode: str) -> Any:
        self.graph = v1.get_default_graph()
        v1.get_variable("scale", [], initializer=tf.ones_initializer())
        return lw.EstimatorSpec(mode, predictions=features)

    @property
    def bytes_in_graph(self) -> int:
        return int(self.graph.as_graph_def().ByteSize())


def first_batch(tmp_path: Path, input_fn: Any, model: Any = None) -> Any:
    rows = lw.Estimator(model or Model(), tmp_path).predict(input_fn, yield_single_examples=False)
    batch = next(rows)
    rows.close()
    return batch


def slices(structure: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(structure).batch(6)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x: {"x": x},
        lambda x: OrderedDict(x=x),
        lambda x: defaultdict(list, x=x),
        lambda x: dict(pd.DataFrame({"x": x[:, 0]})),
        lambda x: ({"x": x},),
        lambda x: {"x": pd.DataFrame(x)},
        lambda x: {"x": pd.Series(x[:, 0])},
        lambda x: {"x": pd.Index(x[:, 0])},
        lambda x: {"x": x[:, 0].astype(str)},
    ],
    ids="dict ordered default frame tuple of-frame of-series of-index of-text".split(),
)
def test_whatever_holds_them(tmp_path: Path, wrap: Any) -> None:
    model, large = Model(), np.zeros([60_000, 2], np.float32)
    first_batch(tmp_path, lambda: slices(wrap(large)).map(lambda *parts: parts[0]), model)
    assert model.bytes_in_graph < 30_000


@pytest.mark.parametrize(
    "input_fn",
    [
        lambda: slices({"x": ROWS}),
        lambda: tf.data.Dataset.from_tensors({"x": ROWS}),
        lambda: slices(Named(ROWS, ROWS)).map(lambda both: {"x": both.x}),
        lambda: {"x": v1.data.make_one_shot_iterator(tf.data.Dataset.from_tensors(ROWS)).get_next()},
        lambda: v1.data.Dataset.from_tensor_slices({"x": ROWS}).batch(6).make_one_shot_iterator().get_next(),
        lambda: v1.data.make_initializable_iterator(slices({"x": ROWS})).get_next(),
        lambda: slices(pd.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1]})).map(lambda x: {"x": x}),
        lambda: tf.data.Dataset.range(6).map(lambda i: {"x": tf.gather(ROWS, i)}).batch(6),
        lambda: {"x": tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(ROWS))},
        lambda: {"x": v1.constant(ROWS)},
    ],
    ids="slices tensors named one-shot one-shot-method initializable frame in-map single constant".split(),
)
def test_the_values_are_the_same(tmp_path: Path, input_fn: Any) -> None:
    np.testing.assert_array_equal(first_batch(tmp_path, input_fn)["x"], ROWS)


CONSTANTS: dict[str, Any] = {
    "constant": lambda: tf.constant(LARGE),
    "constant of a type": lambda: tf.constant(LARGE, dtype=tf.float32),
    "constant by position": lambda: tf.constant(LARGE, tf.int32, [300, 1200], "mine"),
    "constant by keyword": lambda: tf.constant(value=LARGE, shape=(360_000,)),
    "v1.constant": lambda: v1.constant(LARGE, "int64", [600, 600], name="mine"),
    "convert_to_tensor": lambda: tf.convert_to_tensor(LARGE, dtype=tf.float32),
    "convert_to_tensor with a hint": lambda: tf.convert_to_tensor(LARGE, dtype_hint=tf.float32),
    "v1.convert_to_tensor": lambda: v1.convert_to_tensor(LARGE, None, "mine", tf.float32),
    "of text": lambda: tf.constant(LARGE.astype("U9")),
    "given to an op": lambda: tf.cast(LARGE, tf.float32),
    "an operand": lambda: tf.constant(1.0, tf.float64) + LARGE,
    "one of several": lambda: tf.concat([LARGE, LARGE[:1]], axis=0),
    "bfloat16": lambda: tf.constant(LARGE, tf.bfloat16),
}
IN_THE_GRAPH: dict[str, Any] = {
    "small": lambda: tf.constant(LARGE[:10]),
    "filled up": lambda: v1.constant(LARGE, shape=[601, 600]),
    "quantized": lambda: tf.constant(LARGE, tf.qint8),
}


def plainly(make: Any) -> Any:
    with tf.Graph().as_default(), v1.Session() as session:
        tensor = make()
        return tensor.name, tensor.shape, session.run(tensor)


@pytest.mark.parametrize("name", [*CONSTANTS, *IN_THE_GRAPH])
def test_large_constants_are_what_they_are_in_tensorflow(tmp_path: Path, name: str) -> None:
    make = {**CONSTANTS, **IN_THE_GRAPH}[name]
    seen: list[Any] = []

    def input_fn() -> Any:
        tensor = make()
        seen.extend([tensor.name, tensor.shape])
        return {"x": tensor}

    model = Model()
    found = first_batch(tmp_path, input_fn, model)["x"]
    *expected, values = plainly(make)
    assert seen == expected
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, values)
    assert (model.bytes_in_graph < 30_000) == (name in CONSTANTS)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.constant(LARGE, tf.string),
        lambda: tf.constant(LARGE, shape=[2, 2]),
        lambda: v1.constant(LARGE, shape=[300, 1200], verify_shape=True),
        lambda: tf.constant(LARGE, no_such=1),
        lambda: tf.constant(LARGE, "no such type"),
        lambda: slices(np.zeros(3, [("a", "f4")])),
        lambda: slices(np.array(["a", None], object)),
        lambda: slices(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})),
    ],
)
def test_tensorflow_refuses_what_it_refuses(tmp_path: Path, make: Any) -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError) as expected:
        make()
    with pytest.raises(TypeError) as found:
        first_batch(tmp_path, make)
    assert str(found.value) == str(expected.value)


def test_arrays_of_two_lengths_are_named_at_once(tmp_path: Path) -> None:
    text = (
        r"input_fn: Dataset.from_tensor_slices takes one row of each array at a time, so they must be of one length; "
        r"Dimensions 5 and 6 are not compatible: the lengths are {'0/x': 6, '0/n/0': 5, '1': 6}. Cut the arrays"
    )
    with pytest.raises(InputFnError, match=text):
        first_batch(tmp_path, lambda: slices(({"x": ROWS, "n": (ROWS[1:],)}, [0] * 6)))


def test_input_fn_is_called_once_per_verb(tmp_path: Path) -> None:
    calls: list[str] = []

    def input_fn(mode: str) -> Any:
        calls.append(mode)
        return {"x": tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(ROWS))}, tf.constant(LARGE)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [])
        loss = tf.reduce_mean(features["x"]) * weight
        return lw.EstimatorSpec(mode, features, loss, v1.assign_add(v1.train.get_global_step(), 1))

    est = lw.Estimator(model_fn, tmp_path)
    est.train(input_fn, steps=3)
    est.evaluate(input_fn, steps=3)
    next(est.predict(input_fn))
    assert calls == ["train", "eval", "infer"]


def test_the_functions_are_put_back_after_an_error(tmp_path: Path) -> None:
    def now() -> Any:
        return vars(tf.data.Dataset)["from_tensor_slices"], v1.data.make_one_shot_iterator, tf.constant

    before, during = now(), []

    def input_fn() -> Any:
        during.extend(now())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        first_batch(tmp_path, input_fn)
    assert now() == before
    assert not set(before).intersection(during)


def test_a_name_that_the_program_imported_is_meant_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = types.ModuleType("a_program")
    module.constant = tf.constant
    monkeypatch.setitem(sys.modules, "a_program", module)
    model = Model()
    first_batch(tmp_path, lambda: {"x": module.constant(LARGE)}, model)
    assert model.bytes_in_graph < 30_000


def test_graphs_of_the_users_own_are_left_alone(tmp_path: Path) -> None:
    found: list[Any] = []

    def input_fn() -> Any:
        with tf.Graph().as_default() as graph, v1.Session():
            found.append(tf.constant(LARGE).eval())
            found.append({op.type for op in graph.get_operations()})
        return slices({"x": ROWS})

    first_batch(tmp_path, input_fn)
    np.testing.assert_array_equal(found[0], LARGE)
    assert found[1] == {"Const"}


def test_two_threads_keep_their_arrays_apart(tmp_path: Path) -> None:
    before = tf.constant, vars(tf.data.Dataset)["from_tensor_slices"]
    both, found = threading.Barrier(2), {}

    def predict(number: int) -> None:
        def input_fn() -> Any:
            both.wait()
            dataset = slices({"x": np.full([3], number)})
            both.wait()
            return dataset

        found[number] = first_batch(tmp_path / str(number), input_fn)["x"].tolist()

    threads = [threading.Thread(target=predict, args=[number]) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: [0, 0, 0], 1: [1, 1, 1]}
    assert (tf.constant, vars(tf.data.Dataset)["from_tensor_slices"]) == before
