"""What an edit may give back, and how the values inside structures are named."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError
from lightwell.model.layers.gate import Passing
from lightwell.model.layers.record import LayerBook, recording

v1 = tf.compat.v1
Pair = namedtuple("Pair", "left right")


def run(values: Any) -> Any:
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        return session.run(values)


def plus_one(passing: Passing) -> Any:
    return passing.value + 1


def test_edits_apply_one_after_the_other() -> None:
    book = LayerBook(edits=[plus_one, lambda passing: passing.value * 10])
    assert run(book.pass_value("labels", tf.constant([1, 2]))).tolist() == [20, 30]


def test_values_are_named_by_their_place_in_a_structure() -> None:
    features = OrderedDict(
        b=tf.constant(1.0),
        a={"x": tf.constant(2.0), 3: tf.constant(3.0)},
        c=[tf.constant(4.0)],
        d=Pair(tf.zeros([]), 7),
    )
    seen: list[str] = []

    def edit(passing: Passing) -> Any:
        seen.append(passing.path)
        return passing.value + 1.0 if passing.path in ("features/a/3", "features/d/left") else passing.value

    changed = LayerBook(edits=[edit]).pass_value("features", features)
    assert seen == ["features/b", "features/a/x", "features/a/3", "features/c/0", "features/d/left"]
    assert type(changed) is OrderedDict
    assert list(changed) == ["b", "a", "c", "d"]
    assert changed["b"] is features["b"]
    assert changed["c"] is features["c"]
    assert type(changed["d"]) is Pair
    assert changed["d"].right == 7
    assert run([changed["a"][3], changed["d"].left]) == [4.0, 1.0]
    assert features["a"][3] is not changed["a"][3], "what the program holds itself stays as it is"


@pytest.mark.parametrize("edits", [[], [lambda passing: passing.value]])
def test_what_no_edit_changes_is_the_very_same_object(edits: list[Any]) -> None:
    features = {"x": tf.zeros([2]), "rest": [1, "two", None], "pair": (tf.ones([1]),)}
    operations = len(v1.get_default_graph().get_operations())
    book = LayerBook(edits=edits)
    assert book.pass_value("features", features) is features
    with recording(book):
        outputs = layers.Dropout()(features["x"])
    assert outputs is not None
    assert book.calls[0].outputs is outputs
    assert book.pass_value("labels", None) is None
    assert len(v1.get_default_graph().get_operations()) - operations == 1, "the dropout's own"


def test_the_outputs_of_a_layer_are_numbered() -> None:
    class Both(layers.Layer):
        def call(self, inputs: Any) -> Any:
            return {"b": inputs, "a": (inputs + 1.0, None)}

    seen: list[tuple[str, str]] = []

    def edit(passing: Passing) -> Any:
        assert passing.call is not None
        seen.append((passing.path, passing.call.kind))
        return passing.value * 0.0 if passing.path == "layers/both[0]" else passing.value

    with recording(LayerBook(edits=[edit])) as book:
        layer = Both()
        outputs = layer(tf.ones([1]))
        layer(tf.ones([1]))
    assert seen == [(f"layers/both{call}{part}", "Both") for call in ("", ":1") for part in ("/input", "[0]", "[1]")]
    assert book.calls[0].outputs is outputs is layer.get_output_at(0)
    assert outputs["a"][1] is None
    assert run([outputs["a"][0], outputs["b"]]) == [0.0, 1.0]


def test_a_changed_output_knows_its_layer_and_its_shape() -> None:
    def through_python(passing: Passing) -> Any:
        return tf.numpy_function(lambda value: value * 2.0, [passing.value], tf.float32)

    with recording(LayerBook(edits=[through_python])):
        output = layers.dense(tf.ones([4, 3]), 2)
    assert output.shape == (4, 2)
    assert output.kernel is output.layer.kernel
    assert output.op.type == "PyFunc"


def test_sparse_and_ragged_values_come_as_they_are() -> None:
    sparse = tf.sparse.from_dense([[0.0, 2.0]])
    ragged = tf.RaggedTensor.from_row_lengths(tf.constant([1.0, 2.0, 3.0]), [1, 2])
    book = LayerBook(edits=[lambda passing: passing.value.with_values(passing.value.values * 3.0)])
    changed = book.pass_value("features", {"sparse": sparse, "ragged": ragged})
    assert run(changed["sparse"]).values.tolist() == [6.0]
    assert run(changed["ragged"]).flat_values.tolist() == [3.0, 6.0, 9.0]


def test_arrays_and_numbers_will_do() -> None:
    book = LayerBook(edits=[lambda passing: np.zeros([2])])
    changed = book.pass_value("labels", tf.ones([2]))
    assert changed.dtype == tf.float32
    assert run(changed).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("value", "result", "text"),
    [
        (tf.float32, None, "an edit of 'labels' returned None; expected the value to go on with. Return what"),
        (tf.float32, lambda: tf.zeros([3]), r"Tensor float32 \(2,\); it returned Tensor float32 \(3,\). Cast or resh"),
        (tf.float32, lambda: tf.zeros([2], tf.int32), r"Tensor float32 \(2,\); it returned Tensor int32 \(2,\)"),
        (tf.float32, lambda: "no number", "it returned str 'no number'"),
        (None, lambda: tf.zeros([1, 2]), r"SparseTensor float32 \(1, 2\); it returned Tensor float32 \(1, 2\)"),
    ],
)
def test_what_the_model_cannot_go_on_with_is_told(value: Any, result: Any, text: str) -> None:
    given = tf.sparse.from_dense([[1.0, 0.0]]) if value is None else tf.ones([2], value)
    book = LayerBook(edits=[lambda passing: result() if result else None])
    with pytest.raises(UsageError, match=text):
        book.pass_value("labels", given)
