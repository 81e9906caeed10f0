"""Whatever `input_fn` returns becomes the features and labels of the model."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw
from lightwell.errors import InputFnError

v1 = tf.compat.v1
Pair = namedtuple("Pair", "features labels")
Triple = namedtuple("Triple", "a b c")
OUTSIDE = tf.data.Dataset.range(3)
OUTSIDE_TENSOR = tf.constant(1)
Read = Callable[..., tuple[Any, Any]]


class Model(v1.train.SessionRunHook):  # type: ignore[misc]
    """A model that can be trained on anything, and the hook that reads what it was given."""

    given: Any = None
    values: Any = None

    def __call__(self, features: Any, labels: Any, mode: str) -> Any:
        self.given = (features, labels)
        weight = v1.get_variable("weight", [])
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return lw.EstimatorSpec(mode, tf.zeros([1]) + weight, weight * 1, train_op)

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs([part for part in self.given if part is not None])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.values = run_values.results


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """The first batch of an input, as values."""

    def first_batch(input_fn: Callable[[], Any], hooks: Any = ()) -> tuple[Any, Any]:
        model = Model()
        lw.Estimator(model, tmp_path).train(input_fn, [*hooks, model], steps=1)
        return (*model.values, None) if len(model.values) == 1 else tuple(model.values)

    return first_batch


def slices(structure: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(structure).batch(2)


def test_a_dataset_of_features(read: Read) -> None:
    features, labels = read(lambda: slices({"x": [1, 2, 3]}))
    assert features["x"].tolist() == [1, 2]
    assert labels is None
    assert read(lambda: slices([5, 6]))[0].tolist() == [5, 6]


def test_a_dataset_of_pairs(read: Read) -> None:
    features, labels = read(lambda: slices(({"x": [1, 2]}, [3, 4])))
    assert (features["x"].tolist(), labels.tolist()) == ([1, 2], [3, 4])


def test_labels_may_be_a_dict(read: Read) -> None:
    features, labels = read(lambda: slices(([1, 2], {"a": [3, 4], "b": [5, 6]})))
    assert (features.tolist(), labels["b"].tolist()) == ([1, 2], [5, 6])


def test_nested_features_keep_their_form(read: Read) -> None:
    features, _ = read(lambda: slices(({"user": {"age": [1, 2]}, "items": ([3, 4], [5, 6])}, [0, 0])))
    assert features["user"]["age"].tolist() == [1, 2]
    assert features["items"][1].tolist() == [5, 6]


def test_strings(read: Read) -> None:
    features, labels = read(lambda: slices(({"name": ["a", "bc"]}, ["x", "y"])))
    assert features["name"].tolist() == [b"a", b"bc"]
    assert labels.tolist() == [b"x", b"y"]


def test_sparse_features(read: Read) -> None:
    sparse = lambda: slices(({"s": tf.sparse.from_dense([[0, 7], [8, 0]])}, [1, 2]))  # noqa: E731
    features, _ = read(sparse)
    assert features["s"].values.tolist() == [7, 8]
    assert features["s"].dense_shape.tolist() == [2, 2]


def test_ragged_features(read: Read) -> None:
    features, _ = read(lambda: slices(({"r": tf.ragged.constant([[1], [2, 3]])}, [1, 2])))
    assert features["r"].to_list() == [[1], [2, 3]]


def test_sparse_and_ragged_tensors_without_a_dataset(read: Read) -> None:
    features, _ = read(lambda: {"s": tf.sparse.from_dense([0, 7]), "r": tf.ragged.constant([[1], [2, 3]])})
    assert features["s"].values.tolist() == [7]
    assert features["r"].to_list() == [[1], [2, 3]]


def test_a_list_of_two_is_a_pair_and_labels_may_be_none(read: Read) -> None:
    features, labels = read(lambda: [tf.constant(1), tf.constant(2)])
    assert (features, labels) == (1, 2)
    assert read(lambda: (tf.constant(1), None)) == (1, None)
    assert read(lambda: tf.data.Dataset.from_tensors(1).map(lambda x: (x, None))) == (1, None)


def test_a_named_pair_is_a_pair(read: Read) -> None:
    features, labels = read(lambda: Pair(tf.constant(1), tf.constant(2)))
    assert (features, labels) == (1, 2)
    features, labels = read(lambda: tf.data.Dataset.from_tensors(Pair([1], [2])))
    assert (features.tolist(), labels.tolist()) == ([1], [2])


def test_features_may_be_empty(read: Read) -> None:
    assert read(lambda: ({}, tf.constant(1))) == ({}, 1)


def test_prediction_drops_labels_even_odd_ones(tmp_path: Path) -> None:
    model = Model()
    for labels in (tf.data.Dataset.range(3), object(), iter([1])):
        next(lw.Estimator(model, tmp_path).predict(lambda labels=labels: ({"x": tf.constant(1)}, labels)))
        assert model.given[1] is None


def test_an_initializable_iterator_is_initialised_for_the_user(read: Read) -> None:
    assert read(lambda: v1.data.make_initializable_iterator(slices([1, 2])).get_next())[0].tolist() == [1, 2]


def test_a_one_shot_iterator_needs_nothing(read: Read) -> None:
    assert read(lambda: v1.data.make_one_shot_iterator(slices([1, 2])).get_next())[0].tolist() == [1, 2]


class Feeds(v1.train.SessionRunHook):  # type: ignore[misc]
    """Initialises an iterator with a value that only it knows."""

    initializer: Any = None
    placeholder: Any = None

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self.initializer, {self.placeholder: 7})


def test_an_iterator_that_needs_a_fed_value_stays_the_users_business(read: Read) -> None:
    hook = Feeds()

    def input_fn() -> Any:
        hook.placeholder = v1.placeholder(tf.int64, [])
        iterator = v1.data.make_initializable_iterator(tf.data.Dataset.range(hook.placeholder, 10))
        hook.initializer = iterator.initializer
        return iterator.get_next(), v1.data.make_initializable_iterator(tf.data.Dataset.range(2)).get_next()

    assert read(input_fn, [hook]) == (7, 0)


def test_which_of_several_datasets_an_iterator_goes_over_is_for_the_user_to_say(read: Read) -> None:
    def input_fn(chosen: int | None) -> Any:
        datasets = [tf.data.Dataset.range(start, start + 9) for start in (10, 20, 30)]
        iterator = v1.data.Iterator.from_structure(tf.int64, [])
        made = [iterator.make_initializer(dataset) for dataset in datasets]
        if chosen is not None:
            v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, made[chosen])
        return iterator.get_next()

    assert [read(lambda chosen=chosen: input_fn(chosen))[0] for chosen in range(3)] == [10, 20, 30]
    with pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
        read(lambda: input_fn(None))


@pytest.mark.parametrize("is_with_tables", [True, False])
def test_an_iterator_is_initialised_once(read: Read, is_with_tables: bool) -> None:
    started: list[int] = []

    def start() -> Any:
        started.append(1)
        return np.int64(5)

    def input_fn() -> Any:
        dataset = tf.data.Dataset.range(tf.numpy_function(start, [], tf.int64), 9)
        iterator = v1.data.make_initializable_iterator(dataset)
        if is_with_tables:
            v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        return iterator.get_next()

    assert read(input_fn)[0] == 5
    assert started == [1]


def test_a_lookup_table_inside_map(read: Read) -> None:
    def input_fn() -> Any:
        init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        table = tf.lookup.StaticHashTable(init, 0)
        return slices(["b", "a", "b"]).map(table.lookup)

    assert read(input_fn)[0].tolist() == [2, 1]


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: (1, 2, 3), r"should return \(features, labels\) as a len 2 tuple, got tuple of 3.* into a dict"),
    (lambda: [tf.constant(1)], "len 2 tuple, got list of 1"),
    (lambda: (), "len 2 tuple, got tuple of 0"),
    (lambda: Triple(1, 2, 3), "len 2 tuple, got Triple of 3"),
    (
        lambda: slices(([1], [2], [3])),
        r"elements of its dataset are tuples of 3; expected features or .*Map it to pairs",
    ),
    (lambda: iter([1]), "features must hold tensors, got list_iterator.*from_generator.*from_tensor_slices"),
    (lambda: (tf.constant(1), {"y": [(row for row in [1])]}), "labels must hold tensors, got generator"),
    (lambda: {"x": OUTSIDE_TENSOR}, "features holds a tensor that was made outside input_fn .*inside input_fn"),
    (lambda: (tf.constant(1), OUTSIDE_TENSOR), "labels holds a tensor that was made outside input_fn"),
    (lambda: OUTSIDE, "returned a dataset that was made outside input_fn.*inside input_fn"),
]


@pytest.mark.parametrize(("input_fn", "text"), REFUSED)
def test_refusals_say_what_came(read: Read, input_fn: Callable[[], Any], text: str) -> None:
    with pytest.raises(InputFnError, match=r"(?s)input_fn '<lambda>' \(mode 'train'\).*" + text):
        read(input_fn)


def test_a_model_that_fails_on_nothing_is_told_where_it_came_from(tmp_path: Path) -> None:
    def model_fn(features: Any, mode: str) -> Any:
        return features["x"]

    text = (
        r"input_fn '<lambda>' \(mode 'train'\) returned nothing for features; expected a tf.data.Dataset, .*Is a "
        r"`return` missing\? model_fn '.*model_fn' failed: TypeError: 'NoneType' object is not subscriptable"
    )
    with pytest.raises(InputFnError, match=text):
        lw.Estimator(model_fn, tmp_path).train(lambda: None, steps=1)
