"""What becomes of the rows that `numpy_input_fn` and `pandas_input_fn` are given: batches, or an error.

Each scene makes an `input_fn` with the `inputs` module it is handed, that of tf.estimator 2.15.1 or ours; `outcome`
calls it in a graph and reads it to its end, as plain values. `REFUSED` adds the words of the error that programs match.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import tensorflow as tf

v1 = tf.compat.v1
Make = Callable[[Any], Any]
_MOST = 12
A = np.arange(5)
B = np.arange(10, 15).astype(np.float32)
TEXT = pd.Series(["x", "yy", "zé"], dtype=object, index=[10, 20, 30])
FRAME = pd.DataFrame({"b": [1.5, 2.5, 3.5], "a": [1, 2, 3], "s": TEXT}, index=[10, 20, 30])
SERIES = pd.Series([7, 8, 9], index=[10, 20, 30], name="label")
LABELS = pd.DataFrame({"q": [1, 2, 3], "p": [4.0, 5.0, 6.0]}, index=[10, 20, 30])


def _numpy(x: Any, y: Any = None, **settings: Any) -> Make:
    return lambda inputs: inputs.numpy_input_fn(x, y, **{"shuffle": False, **settings})


def _pandas(x: Any, y: Any = None, **settings: Any) -> Make:
    return lambda inputs: inputs.pandas_input_fn(x, y, **{"shuffle": False, **settings})


def _of_type(dtype: Any) -> Make:
    return _numpy({"x": np.array([0, 1, 2]).astype(dtype)}, batch_size=2)


def _changed_dict(inputs: Any) -> Any:
    x = {"a": A.copy(), "z": B}
    input_fn = inputs.numpy_input_fn(x, B, shuffle=False)
    x["a"][:] = 77
    x["new"] = A
    return input_fn


def _changed_frame(inputs: Any) -> Any:
    x, y = FRAME.copy(), SERIES.copy()
    input_fn = inputs.pandas_input_fn(x, y, shuffle=False)
    x["a"] = 0
    x["new"] = 5
    x.loc[10, "b"] = 99.0
    y[:] = 3
    return input_fn


NUMPY: dict[str, Make] = {
    "batches go on over the end of an epoch": _numpy({"a": A}, B, batch_size=2, num_epochs=2),
    "the last batch has what is left": _numpy({"a": A}, B, batch_size=2),
    "a batch larger than the data": _numpy({"a": A}, B, batch_size=8, num_epochs=3),
    "defaults": _numpy({"a": A}, B),
    "without end": _numpy({"a": A}, B, batch_size=3, num_epochs=None),
    "no epochs": _numpy({"a": A}, B, num_epochs=0),
    "fewer than no epochs": _numpy({"a": A}, B, num_epochs=-1),
    "a small queue": _numpy({"a": A}, B, batch_size=2, num_epochs=2, queue_capacity=1),
    "an array": _numpy(A, B, batch_size=3),
    "an array of two dimensions, no labels": _numpy(np.arange(6).reshape(3, 2), batch_size=2),
    "a dict, no labels": _numpy({"a": A}, batch_size=3),
    "a dict of labels": _numpy({"a": A}, {"p": B, "o": A * 2}, batch_size=4),
    "keys are sorted": _numpy(OrderedDict([("z", A), ("b", B), ("c", A)]), {"y": B, "x": A}),
    "a dict with a default": _numpy(defaultdict(list, a=A)),
    "keys that are numbers": _numpy({2: A, 1: B}, B),
    "labels of two dimensions": _numpy({"a": A}, B[:, None]),
    "a column of images": _numpy({"a": np.arange(12.0).reshape(2, 2, 3)}),
    "series in a dict": _numpy({"a": pd.Series(A)}, pd.Series(B)),
    "unicode": _numpy({"a": np.array(["x", "yy", "zé"])}),
    "bytes": _numpy({"a": np.array([b"x", b"yy", b"z"])}),
    "objects that are text": _numpy({"a": np.array(["x", "yy", b"z"], object)}),
    "big-endian numbers": _numpy({"a": np.array([1, 2, 3], ">i4")}),
    "masked numbers": _numpy({"a": np.ma.array([1, 2, 3], mask=[0, 1, 0])}),
    "every second row": _numpy({"a": np.arange(10)[::2]}, B),
    "a dict that is changed before the call": _changed_dict,
    **{
        f"of type {name}": _of_type(name)
        for name in "bool int8 uint8 int16 int32 uint32 int64 uint64 float16 float32 float64 complex64".split()
    },
}
PANDAS: dict[str, Make] = {
    "a frame and a series": _pandas(FRAME, SERIES, batch_size=2),
    "a frame": _pandas(FRAME, batch_size=2),
    "a frame of labels": _pandas(FRAME, LABELS, batch_size=2),
    "a frame with one label": _pandas(FRAME, LABELS[["q"]]),
    "labels with the name of a feature": _pandas(FRAME, LABELS.rename(columns={"p": "a"})),
    "batches go on over the end of an epoch": _pandas(FRAME, SERIES, batch_size=2, num_epochs=2),
    "without end": _pandas(FRAME, SERIES, batch_size=2, num_epochs=None),
    "rows of the same name": _pandas(FRAME.set_axis([1, 1, 2]), SERIES.set_axis([1, 1, 2])),
    "rows in another order": _pandas(FRAME[::-1], SERIES[::-1], batch_size=2),
    "a column called as the target, no labels": _pandas(FRAME.rename(columns={"a": "target"})),
    "another name for the target": _pandas(FRAME.rename(columns={"a": "target"}), SERIES, target_column="other"),
    "no columns but labels": _pandas(FRAME[[]], SERIES),
    "columns that have numbers": _pandas(pd.DataFrame([[1, 2], [3, 4]]), pd.Series([5, 6])),
    "columns of two levels": _pandas(
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    ),
    "a column called index": _pandas(pd.DataFrame({"index": [5, 6], "a": [1, 2]})),
    "small types": _pandas(pd.DataFrame({"f": np.float32([1, 2]), "i": np.int8([1, 2]), "b": [True, False]})),
    "frames that are changed before the call": _changed_frame,
}
REFUSED: dict[str, tuple[Make, str]] = {
    "numpy: shuffle left out": (_numpy({"a": A}, B, shuffle=None), "shuffle must be provided and explicitly set"),
    "numpy: shuffle of 0": (_numpy({"a": A}, B, shuffle=0), "as boolean (it is recommended"),
    "numpy: a list": (_numpy([1, 2]), "x must be a dict or array; got list"),
    "numpy: nothing": (_numpy(None, B), "x must be a dict or array; got NoneType"),
    "numpy: a frame": (_numpy(FRAME), "x must be a dict or array; got DataFrame"),
    "numpy: an empty dict": (_numpy({}, B), "x cannot be an empty dict"),
    "numpy: empty labels": (_numpy({"a": A}, {}), "y cannot be empty dict, use None instead."),
    "numpy: a list in a dict": (_numpy({"a": [1]}), "'list' object has no attribute 'shape'"),
    "numpy: a list of labels": (_numpy({"a": A}, [1]), "'list' object has no attribute 'shape'"),
    "numpy: a list in a dict of labels": (_numpy({"a": A}, {"y": [1]}), "'list' object has no attribute 'shape'"),
    "numpy: fewer labels": (
        _numpy({"a": A}, B[:3]),
        "Length of tensors in x and y is mismatched. All elements in x and y must have the same length.\n"
        "Shapes in x: {'a': (5,)}\nShapes in y: (3,)\n",
    ),
    "numpy: features differ": (
        _numpy({"a": A, "c": A[:2]}),
        "Shapes in x: {'a': (5,), 'c': (2,)}\nShapes in y: None\n",
    ),
    "numpy: labels differ": (_numpy({"a": A}, {"y": B, "z": B[:2]}), "Shapes in y: {'y': (5,), 'z': (2,)}\n"),
    "numpy: one key twice": (_numpy({"a": A}, {"a": B}), "1 duplicate keys are found in both x and y: {'a'}"),
    "numpy: keys of two types": (_numpy({1: A, "a": B}), "'<' not supported between instances of 'str' and 'int'"),
    "numpy: times": (
        _numpy({"a": np.array(["2020-01-01"], "datetime64[D]")}),
        "dtype('<M8[D]') to a TensorFlow DType.",
    ),
    "numpy: records": (_numpy({"a": np.array([(1, 2.0)], "i4,f4")}), "to a TensorFlow DType."),
    "numpy: a batch size that is no whole number": (
        _numpy({"a": A}, batch_size=2.5),
        "got 2.5 of type 'float' instead",
    ),
    "numpy: no threads": (_numpy({"a": A}, num_threads=0), ""),
    "numpy: epochs that are text": (_numpy({"a": A}, num_epochs="3"), ""),
    "pandas: shuffle left out": (_pandas(FRAME, SERIES, shuffle=None), "shuffle must be provided and explicitly set"),
    "pandas: an array": (_pandas(A, SERIES), "ndarray' object has no attribute 'index'"),
    "pandas: a dict": (_pandas({"a": A}, SERIES), "'dict' object has no attribute 'index'"),
    "pandas: an array of labels": (_pandas(FRAME, A), "ndarray' object has no attribute 'index'"),
    "pandas: a series of features": (_pandas(SERIES), "got Series"),
    "pandas: another index": (
        _pandas(FRAME, SERIES.reset_index(drop=True)),
        "Index for x and y are mismatched.\nIndex for x: Index([10, 20, 30], dtype='int64')\n"
        "Index for y: RangeIndex(start=0, stop=3, step=1)\n",
    ),
    "pandas: another order": (_pandas(FRAME, SERIES[::-1]), "Index for y: Index([30, 20, 10], dtype='int64')\n"),
    "pandas: the name of the target": (
        _pandas(FRAME, SERIES, target_column="a"),
        "Cannot use name a for target column: DataFrame already has a column with that name: Index(['b', 'a', 's']",
    ),
    "pandas: labels in a frame, the name of the target": (
        _pandas(FRAME.rename(columns={"a": "target"}), LABELS),
        "Cannot use name target for target column: DataFrame already has a column with that name:",
    ),
    "pandas: times": (_pandas(pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])})), "to a TensorFlow DType."),
}


def outcome(make: Make, inputs: Any) -> Any:
    """The form of the batch, and all batches; or when it was refused, by which of Python's exceptions, and its text."""
    stage = "made"
    try:
        input_fn = make(inputs)
        stage = "called"
        with tf.Graph().as_default():
            tensors = input_fn()
            stage = "run"
            return {"form": _form(tensors), "batches": _batches(tensors)}
    except Exception as error:
        kind = next(
            kind.__name__
            for kind in type(error).__mro__
            if kind.__module__ in ("builtins", tf.errors.OpError.__module__)
        )
        return {"refused": stage, "type": kind, "text": str(error)}


def _batches(tensors: Any) -> list[Any]:
    found: list[Any] = []
    with v1.train.MonitoredSession() as session:
        try:
            while len(found) < _MOST:
                found.append(_plain(session.run(tensors)))
        except tf.errors.OutOfRangeError:
            found.append("the end")
    return found


def _form(structure: Any) -> Any:
    if isinstance(structure, dict):
        return {str(key): _form(value) for key, value in structure.items()}
    if isinstance(structure, tuple):
        return [_form(part) for part in structure]
    return f"{structure.dtype.name} {structure.shape.as_list()}"


def _plain(structure: Any) -> Any:
    if isinstance(structure, dict):
        return {str(key): _plain(value) for key, value in structure.items()}
    if isinstance(structure, tuple):
        return [_plain(part) for part in structure]
    if np.iscomplexobj(structure):
        return str(structure.tolist())
    if structure.dtype == object:
        return [one.decode() for one in structure.ravel()]
    return structure.tolist()
