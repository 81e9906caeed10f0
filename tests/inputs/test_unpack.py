"""Whatever `input_fn` returns becomes features and labels that a session can run."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell.errors import InputFnError
from lightwell.inputs.unpack import Inputs, unpack_inputs, with_all_initializers
from lightwell.keys import ModeKeys

v1 = tf.compat.v1
TRAIN, PREDICT = ModeKeys.TRAIN, ModeKeys.PREDICT
Pair = namedtuple("Pair", "features labels")
Triple = namedtuple("Triple", "a b c")
OUTSIDE = tf.data.Dataset.range(3)
OUTSIDE_TENSOR = tf.constant(1)


def read(input_fn: Callable[[], Any], mode: str = TRAIN) -> tuple[Any, Any]:
    """The first batch of an input, as values."""
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        inputs = with_all_initializers(unpack_inputs(input_fn(), input_fn, mode), graph)
        session.run(inputs.initializers)
        session.run(v1.tables_initializer())
        labels = [] if inputs.labels is None else inputs.labels
        features, labels = session.run((inputs.features, labels))
        return features, (None if inputs.labels is None else labels)


def slices(structure: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(structure).batch(2)


def test_a_dataset_of_features() -> None:
    features, labels = read(lambda: slices({"x": [1, 2, 3]}))
    assert features["x"].tolist() == [1, 2]
    assert labels is None
    assert read(lambda: slices([5, 6]))[0].tolist() == [5, 6]


def test_a_dataset_of_pairs() -> None:
    features, labels = read(lambda: slices(({"x": [1, 2]}, [3, 4])))
    assert (features["x"].tolist(), labels.tolist()) == ([1, 2], [3, 4])


def test_labels_may_be_a_dict() -> None:
    features, labels = read(lambda: slices(([1, 2], {"a": [3, 4], "b": [5, 6]})))
    assert (features.tolist(), labels["b"].tolist()) == ([1, 2], [5, 6])


def test_nested_features_keep_their_form() -> None:
    features, _ = read(lambda: slices(({"user": {"age": [1, 2]}, "items": ([3, 4], [5, 6])}, [0, 0])))
    assert features["user"]["age"].tolist() == [1, 2]
    assert features["items"][1].tolist() == [5, 6]


def test_strings() -> None:
    features, labels = read(lambda: slices(({"name": ["a", "bc"]}, ["x", "y"])))
    assert features["name"].tolist() == [b"a", b"bc"]
    assert labels.tolist() == [b"x", b"y"]


def test_sparse_features() -> None:
    sparse = lambda: slices(({"s": tf.sparse.from_dense([[0, 7], [8, 0]])}, [1, 2]))  # noqa: E731
    features, _ = read(sparse)
    assert features["s"].values.tolist() == [7, 8]
    assert features["s"].dense_shape.tolist() == [2, 2]


def test_ragged_features() -> None:
    features, _ = read(lambda: slices(({"r": tf.ragged.constant([[1], [2, 3]])}, [1, 2])))
    assert features["r"].to_list() == [[1], [2, 3]]


def test_plain_tensors_arrays_and_numbers() -> None:
    features, labels = read(lambda: ({"x": tf.constant([1.0]), "n": np.ones(2), "s": "text", "i": 3}, np.zeros(1)))
    assert features["n"].tolist() == [1, 1]
    assert (features["s"], features["i"]) == (b"text", 3)
    assert labels.tolist() == [0]


def test_sparse_and_ragged_tensors_without_a_dataset() -> None:
    features, _ = read(lambda: {"s": tf.sparse.from_dense([0, 7]), "r": tf.ragged.constant([[1], [2, 3]])})
    assert features["s"].values.tolist() == [7]
    assert features["r"].to_list() == [[1], [2, 3]]


def test_a_list_of_two_is_a_pair_and_labels_may_be_none() -> None:
    features, labels = read(lambda: [tf.constant(1), tf.constant(2)])
    assert (features, labels) == (1, 2)
    assert read(lambda: (tf.constant(1), None)) == (1, None)
    assert read(lambda: tf.data.Dataset.from_tensors(1).map(lambda x: (x, None))) == (1, None)


def test_a_named_pair_is_a_pair() -> None:
    features, labels = read(lambda: Pair(tf.constant(1), tf.constant(2)))
    assert (features, labels) == (1, 2)
    features, labels = read(lambda: tf.data.Dataset.from_tensors(Pair([1], [2])))
    assert (features.tolist(), labels.tolist()) == ([1], [2])


def test_features_may_be_empty() -> None:
    assert read(lambda: ({}, tf.constant(1))) == ({}, 1)


def test_prediction_drops_labels_even_odd_ones() -> None:
    assert read(lambda: slices(([1, 2], [3, 4])), PREDICT)[1] is None
    assert read(lambda: (tf.constant(1), object()), PREDICT) == (1, None)


def test_an_initializable_iterator_is_initialised_for_the_user() -> None:
    assert read(lambda: v1.data.make_initializable_iterator(slices([1, 2])).get_next())[0].tolist() == [1, 2]


def test_a_one_shot_iterator_needs_nothing() -> None:
    assert read(lambda: v1.data.make_one_shot_iterator(slices([1, 2])).get_next())[0].tolist() == [1, 2]


def test_an_iterator_that_needs_a_fed_value_stays_the_users_business() -> None:
    with tf.Graph().as_default() as graph:
        size = v1.placeholder(tf.int64, [])
        fed = v1.data.make_initializable_iterator(tf.data.Dataset.range(size))
        own = v1.data.make_initializable_iterator(tf.data.Dataset.range(2))
        nothing = Inputs(tf.constant(0), None)
        assert with_all_initializers(nothing, graph).initializers == (own.initializer,)
        known = Inputs(tf.constant(0), None, (own.initializer,))
        assert with_all_initializers(known, graph).initializers == (own.initializer,)
        assert fed.initializer is not None


def test_a_lookup_table_inside_map() -> None:
    def input_fn() -> Any:
        init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        table = tf.lookup.StaticHashTable(init, 0)
        return slices(["b", "a", "b"]).map(table.lookup)

    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        inputs = unpack_inputs(input_fn(), input_fn, TRAIN)
        session.run(v1.tables_initializer())
        session.run(inputs.initializers)
        assert session.run(inputs.features).tolist() == [2, 1]


def test_what_it_gives_is_a_value() -> None:
    assert Inputs(1, 2).initializers == ()
    with pytest.raises(AttributeError):
        Inputs(1, 2).features = 3  # type: ignore[misc]


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: None, r"\(mode 'train'\) returned nothing; expected a tf.data.Dataset, features, or .* `return` missing"),
    (lambda: (None, tf.constant(1)), "returned nothing"),
    (lambda: (1, 2, 3), r"should return \(features, labels\) as a len 2 tuple, got tuple of 3.* into a dict"),
    (lambda: [tf.constant(1)], "len 2 tuple, got list of 1"),
    (lambda: (), "len 2 tuple, got tuple of 0"),
    (lambda: Triple(1, 2, 3), "len 2 tuple, got Triple of 3"),
    (
        lambda: slices(([1], [2], [3])),
        r"dataset whose elements are tuples of 3; expected features or .*Map it to pairs",
    ),
    (lambda: iter([1]), "features must hold tensors, got list_iterator.*from_tensor_slices"),
    (lambda: (tf.constant(1), object()), "labels must hold tensors, got object"),
    (lambda: {"x": OUTSIDE_TENSOR}, "features holds a tensor that was made outside input_fn .*inside input_fn"),
    (lambda: (tf.constant(1), OUTSIDE_TENSOR), "labels holds a tensor that was made outside input_fn"),
    (lambda: OUTSIDE, "returned a dataset that was made outside input_fn.*inside input_fn"),
]


@pytest.mark.parametrize(("input_fn", "text"), REFUSED)
def test_refusals_say_what_came(input_fn: Callable[[], Any], text: str) -> None:
    with tf.Graph().as_default(), pytest.raises(InputFnError, match=r"(?s)input_fn '<lambda>' .*" + text):
        unpack_inputs(input_fn(), input_fn, TRAIN)
