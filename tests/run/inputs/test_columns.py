"""Arrays that cannot become tensors are refused with their name, the row, and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.run.inputs.rows import read

from lightwell.compat.v1.estimator.inputs import numpy_input_fn
from lightwell.errors import InputFnError, NotAnArray, WrongType


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (
            [1, 2],
            NotAnArray,
            r"must be an array .*; 'list' object has no attribute 'shape'\. Pass np\.asarray\(\.\.\.\)",
        ),
        (3, NotAnArray, r"must be an array .*; 'int' object has no attribute 'shape'\. Pass an array\."),
        (np.array(3), InputFnError, r"has no rows: it is a single value \(array\(3\)\)\. Pass an array"),
        (np.array(["a", 1], object), WrongType, r"Unsupported object type int: row 1 holds 1\. .*\.astype\(str\)"),
        (np.array([["a", "b"], ["c", None]], object), WrongType, "Unsupported object type NoneType: row 1 holds None"),
        (np.array([0], "timedelta64[s]"), WrongType, r"dtype\('<m8\[s\]'\) to a TensorFlow DType\. Convert it first"),
        (tf.constant([1, 2]), WrongType, r"is a tensor .*, expected an array: .* tensor\.numpy\(\)"),
    ],
    ids="list number scalar objects rows times tensor".split(),
)
def test_refused(value: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=rf"^numpy_input_fn: x\['it'\] .*{text}"):
        read(numpy_input_fn({"it": value}, shuffle=False))


def test_an_array_by_itself_is_called_x() -> None:
    with pytest.raises(WrongType, match=r"^numpy_input_fn: x is of Python objects"):
        read(numpy_input_fn(np.array([None]), shuffle=False))
    with pytest.raises(NotAnArray, match=r"^numpy_input_fn: y must be an array"):
        read(numpy_input_fn(np.array([1]), [1], shuffle=False))
    with pytest.raises(WrongType, match=r"^numpy_input_fn: y\['price'\] is of Python objects"):
        read(numpy_input_fn(np.array([1]), {"price": np.array([None])}, shuffle=False))


def test_whatever_gives_an_array_will_do() -> None:
    class Lazy:
        """As a dataset of an HDF5 file is."""

        shape = (3, 2)

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.arange(6.0).reshape(3, 2)

    (batch,) = read(numpy_input_fn({"x": Lazy()}, shuffle=False))
    assert batch["x"].tolist() == [[0, 1], [2, 3], [4, 5]]


def test_text_of_any_length() -> None:
    kinds: list[Any] = ["<U9", "S9", object]
    if hasattr(np, "dtypes") and hasattr(np.dtypes, "StringDType"):
        kinds.append(np.dtypes.StringDType())
    for kind in kinds:
        (batch,) = read(numpy_input_fn({"x": np.array(["a", "bcd", ""]).astype(kind)}, shuffle=False))
        assert [bytes(one) for one in batch["x"]] == [b"a", b"bcd", b""]
