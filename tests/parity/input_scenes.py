"""Ways to hand data to an Estimator, and what becomes of them. The same code for both sides.

`SCENES` maps a name to a function of (estimator module, model_dir) that gives plain values.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity.result_scenes import described
from tests.parity.spies import known_name

v1 = tf.compat.v1
_Keys = v1.GraphKeys
Scene = Callable[[Any, Path], Any]
SCENES: dict[str, Scene] = {}

X = np.linspace(-1, 1, 16, dtype=np.float32).reshape(8, 2)
Y = X.sum(axis=1, keepdims=True)
MINE = "my_initializers"


class RunsInitializer(v1.train.SessionRunHook):  # type: ignore[misc]
    """The hook that every guide on iterators and Estimators had: an `input_fn` gives it what to run."""

    initializer: Any = None

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self.initializer)


class FeedsHandle(v1.train.SessionRunHook):  # type: ignore[misc]
    """Says with each step which iterator to read."""

    placeholder: Any = None
    string_handle: Any = None
    value: Any = None

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.value = session.run(self.string_handle)

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(None, {self.placeholder: self.value})


def linear(lib: Any, init_op: bool = False, local_init_op: bool = False) -> Callable[..., Any]:
    """A regression whose first weights depend on how many random seeds the input has used up."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [2, 1], initializer=v1.random_normal_initializer())
        output = tf.matmul(features["x"], weight)
        mine = v1.get_collection(MINE)
        scaffold = None
        if local_init_op:
            own = [v1.local_variables_initializer(), v1.tables_initializer(), *mine]
            scaffold = v1.train.Scaffold(local_init_op=tf.group(*own))
        if init_op:
            scaffold = v1.train.Scaffold(init_op=tf.group(v1.global_variables_initializer(), *mine))
        if mode == lib.ModeKeys.PREDICT:
            return lib.EstimatorSpec(mode, predictions={"output": output}, scaffold=scaffold)
        loss = tf.reduce_mean(tf.square(output - labels))
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=v1.train.get_global_step())
        return lib.EstimatorSpec(mode, loss=loss, train_op=train_op, scaffold=scaffold)

    return model_fn


def batches(x: Any = X, y: Any = Y) -> Any:
    return v1.data.Dataset.from_tensor_slices(({"x": x}, y)).shuffle(4).batch(2)


def _one_shot(hook: Any) -> Any:
    return v1.data.make_one_shot_iterator(batches()).get_next()


def _with_tables(hook: Any) -> Any:
    iterator = v1.data.make_initializable_iterator(batches())
    v1.add_to_collection(_Keys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next()


def _own_method(hook: Any) -> Any:
    iterator = batches().make_initializable_iterator()
    v1.add_to_collection(_Keys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next()


def _by_hook(hook: Any) -> Any:
    iterator = v1.data.make_initializable_iterator(batches())
    hook.initializer = iterator.initializer
    return iterator.get_next()


def _by_scaffold(hook: Any) -> Any:
    iterator = v1.data.make_initializable_iterator(batches())
    v1.add_to_collection(MINE, iterator.initializer)
    return iterator.get_next()


def _structure(dataset: Any) -> Any:
    return v1.data.Iterator.from_structure(v1.data.get_output_types(dataset), v1.data.get_output_shapes(dataset))


def _of_structure(hook: Any) -> Any:
    dataset = batches()
    iterator = _structure(dataset)
    iterator.make_initializer(batches(X * 100))
    v1.add_to_collection(_Keys.TABLE_INITIALIZERS, iterator.make_initializer(dataset))
    iterator.make_initializer(batches(X * 1000))
    return iterator.get_next()


def _of_structure_by_hook(hook: Any) -> Any:
    dataset = batches()
    iterator = _structure(dataset)
    iterator.make_initializer(batches(X * 100))
    hook.initializer = iterator.make_initializer(dataset)
    return iterator.get_next()


def _by_handle(hook: Any) -> Any:
    dataset = batches()
    hook.placeholder = v1.placeholder(tf.string, [])
    hook.string_handle = v1.data.make_one_shot_iterator(dataset).string_handle()
    types, shapes = v1.data.get_output_types(dataset), v1.data.get_output_shapes(dataset)
    return v1.data.Iterator.from_string_handle(hook.placeholder, types, shapes).get_next()


def _captured(hook: Any) -> Any:
    table = tf.constant(X)
    dataset = v1.data.Dataset.from_tensor_slices(np.arange(8))
    return dataset.map(lambda row: ({"x": tf.gather(table, row)}, tf.gather(Y, row))).batch(2)


def _large(hook: Any) -> Any:
    x = np.repeat(X, 40_000, axis=0).astype(np.float64)
    return batches(tf.constant(x, tf.float32), tf.constant(x.sum(axis=1), tf.float32, shape=[len(x), 1])).take(4)


def _single(hook: Any) -> Any:
    return tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(({"x": X}, Y)))


def _goes(name: str, make: Callable[[Any], Any], hook: Any = None, endless: bool = False, **model: bool) -> None:
    """Trains, evaluates and predicts, each twice."""

    def run(lib: Any, model_dir: Path) -> Any:
        calls: list[str] = []

        def input_fn(mode: str) -> Any:
            calls.append(mode)
            return make(using)

        using = hook() if hook else None
        hooks = [using] if hook else None
        est = lib.Estimator(linear(lib, **model), str(model_dir), lib.RunConfig(tf_random_seed=7))
        weights, losses, outputs = [], [], []
        for _ in range(2):
            est.train(input_fn, hooks, steps=3)
            weights.append(est.get_variable_value("weight"))
        for _ in range(2):
            losses.append(est.evaluate(input_fn, steps=3, hooks=hooks)["loss"])
        for _ in range(2):
            rows = est.predict(input_fn, hooks=hooks)
            outputs.append([next(rows)["output"] for _ in range(3)])
            rows.close()
        return [calls, *map(described, (weights, losses, outputs))]

    SCENES[f"goes over: {name}"] = run


_goes("a dataset", lambda hook: batches())
_goes("a dataset of tensors", lambda hook: tf.data.Dataset.from_tensors(({"x": X}, Y)).repeat(4))
_goes("a one-shot iterator", _one_shot)
_goes("a one-shot iterator by its method", lambda hook: batches().make_one_shot_iterator().get_next())
_goes("an iterator that is initialised with the tables", _with_tables)
_goes("an iterator by the dataset's own method", _own_method)
_goes("an iterator that a hook initialises", _by_hook, RunsInitializer)
_goes("an iterator that local_init_op initialises", _by_scaffold, local_init_op=True)
_goes("an iterator of a structure", _of_structure)
_goes("an iterator of a structure, by a hook", _of_structure_by_hook, RunsInitializer)
_goes("an iterator by its handle", _by_handle, FeedsHandle)
_goes("an array that a map function captured", _captured)
_goes("large constants", _large)
_goes("a single element", _single)


def _initialised_by_init_op(lib: Any, model_dir: Path) -> Any:
    est = lib.Estimator(linear(lib, init_op=True), str(model_dir), lib.RunConfig(tf_random_seed=7))
    est.train(lambda: _by_scaffold(None), steps=3)
    return described(est.get_variable_value("weight"))


SCENES["an iterator that init_op initialises"] = _initialised_by_init_op


class Overwrites(v1.train.SessionRunHook):  # type: ignore[misc]
    """Writes into the program's array after the second step."""

    def __init__(self, array: Any) -> None:
        self.array, self.steps = array, 0

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.steps += 1
        if self.steps == 2:
            self.array[:] = 0


def _aligned(array: Any) -> Any:
    """A copy that starts at a multiple of 64 bytes, which TensorFlow uses as it is."""
    memory = np.empty(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    made = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    made[:] = array
    return made


def _overwritten(verb: str) -> None:
    def run(lib: Any, model_dir: Path) -> Any:
        x = _aligned(X)
        est = lib.Estimator(linear(lib), str(model_dir), lib.RunConfig(tf_random_seed=7))

        def input_fn() -> Any:
            return tf.data.Dataset.from_tensor_slices(({"x": x}, Y)).repeat(5).batch(2)

        if verb == "train":
            est.train(input_fn, [Overwrites(x)])
            return described(est.get_variable_value("weight"))
        if verb == "evaluate":
            return described(est.evaluate(input_fn, hooks=[Overwrites(x)])["loss"])
        rows = []
        for row in est.predict(input_fn):
            x[:] = 0
            rows.append(row["output"])
        return described(rows)

    SCENES[f"an array is written to: {verb}"] = run


for _verb in ("train", "evaluate", "predict"):
    _overwritten(_verb)


@dataclass
class Own:
    """A program's own way to hold its features."""

    x: Any


Three = namedtuple("Three", "a b c")


def shown(value: Any) -> Any:
    """What a model was given, without the tensors' names."""
    if tf.is_tensor(value):
        return f"tensor {value.dtype.name}"
    if isinstance(value, dict):
        return [type(value).__name__, {str(key): shown(part) for key, part in value.items()}]
    if isinstance(value, tuple | list):
        return [type(value).__name__, len(value), [shown(part) for part in value[:3]]]
    if isinstance(value, np.ndarray):
        return [f"ndarray {value.dtype} {list(value.shape)}"]
    return [type(value).__name__, str(value) if isinstance(value, str | bytes | int | float | bool) else ""]


def _gives(name: str, input_fn: Callable[[], Any], verbs: str = "train evaluate predict") -> None:
    """What `model_fn` gets of what `input_fn` returns."""

    def run(lib: Any, model_dir: Path) -> Any:
        seen: list[Any] = []

        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            seen.append([mode, shown(features), shown(labels)])
            weight = v1.get_variable("weight", [])
            step = v1.train.get_global_step()
            return lib.EstimatorSpec(mode, tf.zeros([2]) + weight, weight * 1, v1.assign_add(step, 1))

        est = lib.Estimator(model_fn, str(model_dir))
        if "train" in verbs:
            est.train(input_fn, steps=1)
        if "evaluate" in verbs:
            est.evaluate(input_fn, steps=1)
        if "predict" in verbs:
            next(est.predict(input_fn))
        return seen

    SCENES[f"arrives as: {name}"] = run


_gives("lists", lambda: ([1.0, 2.0], [3.0, 4.0]))
_gives("a list in a dict", lambda: ({"x": list(range(2000)), "y": tf.constant([1.0])}, [1, 2]))
_gives("lists of lists", lambda: ([[1.0, 2.0], [3.0, 4.0]], None))
_gives("None in a dict", lambda: ({"x": tf.constant([1.0]), "mask": None}, {"y": None}))
_gives("nothing", lambda: None)
_gives("no features", lambda: (None, tf.constant([1.0])))
# There prediction sorts the features, only to look for an iterator behind them.
_gives(
    "keys of several types", lambda: ({1: tf.constant([1.0]), "a": tf.constant(2)}, {2: [1], "b": 2}), "train evaluate"
)
_gives("arrays", lambda: (X, Y))
_gives("numbers and text", lambda: {"x": X, "n": 3, "s": "text", "b": b"bytes", "f": np.float32(2), "t": True})
_gives("an object", lambda: (Own(tf.constant([1.0])), tf.constant([1.0])))
_gives("a named tuple", lambda: (Three(tf.constant(1), 2, [3]), tf.constant(1)))
_gives("an ordered dict", lambda: (OrderedDict([("b", tf.constant(1.0)), ("a", [1, 2])]), tf.constant(1)))
_gives("sparse values", lambda: ({"x": v1.SparseTensorValue([[0, 0]], [1.0], [1, 1])}, tf.constant(1)))
_gives("empty dicts", lambda: ({}, {}))
_gives("a number", lambda: 5)
_gives("datasets in a pair", lambda: (tf.data.Dataset.range(3), [tf.data.Dataset.range(3)]))
_gives("a dataset of a list", lambda: tf.data.Dataset.from_tensors([1.0, 2.0]))

ARRAYS: dict[str, Any] = {
    "text": np.array(["a", "bé", ""]),
    "bytes": np.array([b"a", b"b\0c", b""]),
    "objects that are text": np.array(["a", b"b", "é"], object),
    "no rows": np.zeros([0, 2], np.float32),
    "no rows of text": np.zeros([0], "U3"),
    "no columns": np.zeros([3, 0], np.float32),
    "float16": np.array([1.5, 2, 3], np.float16),
    "bool": np.array([True, False]),
    "uint64": np.array([2**63, 1], np.uint64),
    "big-endian": np.array([1, 2, 3], ">f4"),
    "every second": np.arange(12.0).reshape(6, 2)[::2, ::-1],
    "by columns": np.asfortranarray(np.arange(6.0).reshape(3, 2)),
    "transposed": np.arange(6).reshape(2, 3).T,
    "masked": np.ma.array([1.0, 2.0], mask=[True, False]),
    "read-only": np.frombuffer(np.arange(3.0).tobytes()),
    "one number": np.array(3.0),
    "objects that are numbers": np.array([1, 2], object),
    "objects, one missing": np.array(["a", None], object),
    "records": np.zeros(2, [("a", "f4"), ("b", "i4")]),
    "dates": np.zeros(2, "M8[s]"),
    "long doubles": np.ones(2, np.longdouble),
}


def _rows_of(name: str, structure: Any) -> None:
    def run(lib: Any, model_dir: Path) -> Any:
        def model_fn(features: Any, mode: str) -> Any:
            v1.get_variable("unused", [])
            return lib.EstimatorSpec(mode, predictions=features)

        def input_fn() -> Any:
            return tf.data.Dataset.from_tensor_slices(structure).batch(2)

        try:
            return [described(row) for row in lib.Estimator(model_fn, str(model_dir)).predict(input_fn)]
        except Exception as error:
            return known_name(error)

    SCENES[f"rows of: {name}"] = run


for _name, _array in ARRAYS.items():
    _rows_of(_name, {"x": _array})
_rows_of("arrays of other lengths", {"x": np.zeros([3, 2]), "y": np.zeros(4)})
_rows_of("a list that is longer", {"x": np.zeros([3, 2]), "y": [1, 2, 3, 4]})
