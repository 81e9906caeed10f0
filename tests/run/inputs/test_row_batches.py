"""What `numpy_input_fn` and `pandas_input_fn` promise about order and epochs, and how their tensors can be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.run.inputs.rows import Echo, numbers, predicted, read

import lightwell as lw
from lightwell.compat.v1.estimator.inputs import numpy_input_fn
from lightwell.errors import UsageError, WrongType

v1 = tf.compat.v1
X = {"x": np.arange(40)}


def shuffled(**settings: Any) -> Any:
    return numpy_input_fn(X, **{"batch_size": 7, "shuffle": True, **settings})


def test_shuffled_epochs_give_each_row_once_in_another_order() -> None:
    rows = numbers(read(shuffled(num_epochs=3)))
    epochs = [rows[:40], rows[40:80], rows[80:]]
    assert [sorted(epoch) for epoch in epochs] == [list(range(40))] * 3
    assert len({tuple(epoch) for epoch in epochs} | {tuple(range(40))}) == 4


def test_the_seed_of_the_graph_says_the_order() -> None:
    assert numbers(read(shuffled(), seed=1)) == numbers(read(shuffled(), seed=1))
    assert numbers(read(shuffled(), seed=1)) != numbers(read(shuffled(), seed=2))
    assert numbers(read(shuffled())) != numbers(read(shuffled())), "without a seed, every time another"


def test_the_seed_of_the_config_says_the_order(tmp_path: Path) -> None:
    orders = [numbers(predicted(tmp_path, shuffled(), tf_random_seed=seed)) for seed in (1, 1, 2, None, None)]
    assert all(sorted(order) == list(range(40)) for order in orders)
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) == 4


def test_a_row_is_drawn_out_of_those_that_come_next() -> None:
    for place, row in enumerate(numbers(read(shuffled(queue_capacity=5)))):
        assert row < place + 5
    assert numbers(read(shuffled(queue_capacity=1))) == list(range(40))


def test_a_negative_capacity_draws_out_of_all() -> None:
    firsts = [numbers(read(shuffled(queue_capacity=-1), seed=seed))[0] for seed in range(12)]
    assert max(firsts) > 20
    assert len(set(firsts)) > 4


def test_every_thread_of_old_brought_its_epochs() -> None:
    assert sorted(numbers(read(shuffled(num_epochs=2, num_threads=3)))) == sorted([*range(40)] * 6)
    in_order = numpy_input_fn(X, batch_size=30, shuffle=False, num_threads=2)
    assert numbers(read(in_order)) == [*range(40)] * 2


def test_the_same_random_numbers_follow_as_in_the_original() -> None:
    """Initial weights hang on it: a queue asked for a seed if it shuffled, and only then."""
    for shuffle, asked in ((False, 0), (True, 1)):
        with tf.Graph().as_default():
            v1.set_random_seed(1)
            numpy_input_fn(X, shuffle=shuffle)()
            assert v1.get_seed(None) == (1, asked)


@pytest.mark.parametrize(
    ("setting", "kind", "text"),
    [
        ({"batch_size": 0}, UsageError, "batch_size must be at least 1, got 0"),
        ({"batch_size": "8"}, WrongType, "Expected int for batch_size, got '8' of type 'str' instead"),
        ({"num_epochs": 1.5}, WrongType, "Expected int for num_epochs, got 1.5 of type 'float' instead"),
        ({"num_threads": 0}, UsageError, "num_threads must be at least 1, got 0"),
        ({"queue_capacity": 0}, UsageError, "queue_capacity must not be 0"),
        ({"queue_capacity": None}, WrongType, "queue_capacity must be a number, got None"),
        ({"shuffle": None}, UsageError, "shuffle must be provided and explicitly set as boolean"),
        ({"shuffle": np.True_}, UsageError, "shuffle must be provided and explicitly set as boolean"),
    ],
    ids=lambda value: "-".join(map(str, *value.items())) if isinstance(value, dict) else "",
)
def test_settings_are_checked_when_the_function_is_made(setting: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=f"^numpy_input_fn: {text}"):
        shuffled(**setting)


def test_whole_numbers_of_numpy_will_do() -> None:
    settings = {"batch_size": np.int64(7), "num_epochs": np.int32(1), "queue_capacity": np.int64(9)}
    assert len(read(shuffled(**settings))) == 6


def test_outside_of_a_graph() -> None:
    with pytest.raises(
        RuntimeError, match=r"numpy_input_fn: .* not compatible with eager execution: pass the function"
    ):
        shuffled()()


def test_the_ways_programs_read_tensors_themselves() -> None:
    """Nothing has to be started, and what programs start for queues does no harm."""
    in_order = numpy_input_fn(X, -X["x"], batch_size=30, shuffle=False)
    with tf.Graph().as_default():
        features, labels = in_order()
        both = features["x"] + labels
        with v1.Session() as session:
            coordinator = v1.train.Coordinator()
            threads = v1.train.start_queue_runners(session, coordinator)
            assert [session.run(both).tolist() for _ in range(2)] == [[0] * 30, [0] * 10]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(both)
            coordinator.request_stop()
            coordinator.join(threads)
        with v1.train.MonitoredSession() as again:
            assert again.run(labels)[-1] == -29, "every session begins anew"
            assert again.run(features)["x"].tolist() == list(range(30, 40))


def test_a_graph_with_a_checkpoint_and_a_saver(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        features = shuffled(num_epochs=None)()
        step = v1.train.get_or_create_global_step()
        train_op = v1.assign_add(step, tf.cast(tf.reduce_sum(features["x"]) * 0 + 1, tf.int64))
        stop = v1.train.StopAtStepHook(last_step=20)
        with v1.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=[stop]) as session:
            while not session.should_stop():
                session.run(train_op)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-20")


def test_in_a_model_function(tmp_path: Path) -> None:
    """Where no `input_fn` is running, the tensors are those of a graph of one's own."""
    more = numpy_input_fn(np.arange(100, 140), batch_size=10, shuffle=False)

    def model_fn(features: Any, mode: str) -> Any:
        v1.get_variable("unused", [])
        return lw.EstimatorSpec(mode, predictions={"x": features["x"], "more": more()})

    input_fn = numpy_input_fn(X, batch_size=10, shuffle=False)
    rows = list(lw.Estimator(model_fn, tmp_path).predict(input_fn))
    assert [row["more"] - row["x"] for row in rows] == [100] * 40


def test_batches_that_never_end_are_all_full(tmp_path: Path) -> None:
    for shuffle in (False, True):
        with tf.Graph().as_default():
            endless = numpy_input_fn(X, batch_size=7, num_epochs=None, shuffle=shuffle)()
            assert endless["x"].shape == [7]
            assert numpy_input_fn(X, batch_size=7, shuffle=shuffle)()["x"].shape.as_list() == [None]
    rows = lw.Estimator(Echo(), tmp_path).predict(numpy_input_fn(X, num_epochs=None, shuffle=False))
    assert [int(next(rows)["x"]) for _ in range(81)] == [*range(40), *range(40), 0]
    rows.close()
