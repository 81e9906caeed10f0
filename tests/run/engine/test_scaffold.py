"""Opening a session: everything a `Scaffold` may bring is used, and a checkpoint that does not fit is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

from lightwell.errors import ModelFnError

v1 = tf.compat.v1


def with_scaffold(make: Any) -> Any:
    """The tiny model with a scaffold that `make` gives."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return tiny.linear(features, labels, mode, {})._replace(scaffold=make())

    return model_fn


def variable(name: str) -> Any:
    (found,) = [v for v in v1.global_variables() if v.op.name == name]
    return found


def test_everything_is_initialised_and_the_lines_are_logged(tmp_path: Path, log: LogLines) -> None:
    tiny.trained(tmp_path, steps=1)
    said = [line for line in log.lines if "local_init" in line or "finalized" in line or "Restoring" in line]
    assert said == ["INFO Graph was finalized.", "INFO Running local_init_op.", "INFO Done running local_init_op."]


def test_a_trained_model_is_restored(tmp_path: Path, log: LogLines) -> None:
    made = tiny.trained(tmp_path, steps=2)
    made.evaluate(tiny.once)
    assert log.having(f"INFO Restoring parameters from {tmp_path}/model.ckpt-2")


def test_an_init_op_with_fed_values(tmp_path: Path) -> None:
    def scaffold() -> Any:
        value = v1.placeholder(tf.float32, [])
        init = tf.group(v1.global_variables_initializer(), name="all")
        with tf.control_dependencies([init]):
            assign = v1.assign(variable("w"), value)
        return v1.train.Scaffold(init_op=assign, init_feed_dict={value: 7.0})

    made = tiny.estimator(tmp_path, with_scaffold(scaffold), save_checkpoints_steps=1)
    made.train(tiny.once, steps=1)
    first = tf.train.load_checkpoint(str(tmp_path / "model.ckpt-0"))
    assert first.get_tensor("w") == 7


def test_an_init_fn_runs_after_init_op_and_only_without_a_checkpoint(tmp_path: Path) -> None:
    called: list[Any] = []

    def scaffold() -> Any:
        def init_fn(own: Any, session: Any) -> None:
            called.append(own)
            variable("w").load(5.0, session)

        return v1.train.Scaffold(init_fn=init_fn)

    made = tiny.estimator(tmp_path, with_scaffold(scaffold))
    made.train(tiny.once, steps=1)
    assert len(called) == 1
    assert isinstance(called[0], v1.train.Scaffold)
    assert tf.train.load_checkpoint(str(tmp_path / "model.ckpt-0")).get_tensor("w") == 5
    made.train(tiny.once, steps=1)
    assert len(called) == 1


def test_a_local_init_op_of_ones_own(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        local = v1.get_variable("local", [], collections=[v1.GraphKeys.LOCAL_VARIABLES], trainable=False)
        spec = tiny.linear(features, labels, mode, {})
        metrics = {"local": (local, tf.no_op()), "mean": v1.metrics.mean(labels)} if mode == "eval" else {}
        own = v1.train.Scaffold(local_init_op=v1.assign(local, 3.0))
        return spec._replace(eval_metric_ops=metrics, scaffold=own)

    made = tiny.estimator(tmp_path, model_fn)
    # Metrics are local variables too, and the mean of the loss is made after model_fn: they are initialised as well.
    for _ in range(2):
        result = made.evaluate(tiny.once)
        assert (result["local"], result["mean"], result["loss"]) == (3, tiny.Y.mean(), np.square(tiny.X).mean())


def test_tables_are_initialised(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["1"], [10]), -1)
        spec = tiny.linear(features, labels, mode, {})
        if mode == "infer":
            return spec._replace(predictions={"found": table.lookup(tf.strings.as_string(features["x"], precision=0))})
        return spec

    made = tiny.estimator(tmp_path, model_fn)
    made.train(tiny.once, steps=1)
    assert [row["found"] for row in made.predict(tiny.once)][:2] == [10, -1]


def test_what_stays_uninitialised_is_named(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, with_scaffold(lambda: v1.train.Scaffold(init_op=variable("w").initializer)))
    text = r"ready for local_init\. Variables not initialized: .*b\. .*init_op or a saver of its own, it must cover"
    with pytest.raises(ModelFnError, match=text):
        made.train(tiny.once, steps=1)


def test_it_is_named_also_where_a_table_is_filled_from_it(tmp_path: Path) -> None:
    def scaffold() -> Any:
        values = tf.reshape(variable("b"), [1])
        tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant(["1"]), values), 0.0)
        return v1.train.Scaffold(init_op=tf.group(variable("w").initializer, variable("global_step").initializer))

    with pytest.raises(ModelFnError, match=r"ready for local_init\. Variables not initialized: b\. "):
        tiny.estimator(tmp_path, with_scaffold(scaffold)).train(tiny.once, steps=1)


def test_a_ready_op_of_ones_own_is_asked(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, with_scaffold(lambda: v1.train.Scaffold(ready_op=tf.constant(["not_yet"]))))
    with pytest.raises(ModelFnError, match=r"did not make model ready\. Variables not initialized: not_yet"):
        made.train(tiny.once, steps=1)
    early = v1.train.Scaffold
    made = tiny.estimator(
        tmp_path / "other", with_scaffold(lambda: early(ready_for_local_init_op=tf.constant(["too_early"])))
    )
    with pytest.raises(ModelFnError, match=r"ready for local_init\. Variables not initialized: too_early"):
        made.train(tiny.once, steps=1)


def test_ready_ops_that_are_content_pass(tmp_path: Path) -> None:
    nothing = lambda: tf.zeros([0], tf.string)  # noqa: E731
    scaffold = lambda: v1.train.Scaffold(ready_op=nothing(), ready_for_local_init_op=nothing())  # noqa: E731
    tiny.estimator(tmp_path, with_scaffold(scaffold)).train(tiny.once, steps=1)


def test_a_saver_of_ones_own_saves_what_it_likes(tmp_path: Path) -> None:
    def scaffold() -> Any:
        renamed = {"new_w": variable("w"), "b": variable("b"), "global_step": v1.train.get_global_step()}
        return v1.train.Scaffold(saver=v1.train.Saver(renamed, max_to_keep=2))

    made = tiny.estimator(tmp_path, with_scaffold(scaffold), save_checkpoints_steps=1)
    made.train(tiny.data, steps=4)
    assert made.get_variable_names() == ["b", "global_step", "new_w"]
    assert len(list(tmp_path.glob("*.index"))) == 2
    before = made.get_variable_value("new_w")
    made.train(tiny.data, steps=1)
    assert made.evaluate(tiny.once)["global_step"] == 5
    assert made.get_variable_value("new_w") != before


def test_a_saver_that_leaves_out_the_metrics_restores_the_rest(tmp_path: Path) -> None:
    """A scaffold for evaluation alone, such as one that restores moving averages in place of weights."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {"learning_rate": 0.01})
        average = tf.train.ExponentialMovingAverage(0.5)
        if mode == "train":
            with tf.control_dependencies([spec.train_op]):
                return spec._replace(train_op=average.apply([variable("w")]))
        w = variable("w")
        shadow = {average.average_name(w): w, "b": variable("b"), "global_step": v1.train.get_global_step()}
        return spec._replace(scaffold=v1.train.Scaffold(saver=v1.train.Saver(shadow)))

    made = tiny.estimator(tmp_path, model_fn)
    made.train(tiny.data, steps=3)
    w, average = made.get_variable_value("w"), made.get_variable_value("w/ExponentialMovingAverage")
    assert w != average
    bias = made.get_variable_value("b")
    first = next(made.predict(tiny.once))["out"]
    assert first == pytest.approx(average * 1.0 + bias, rel=1e-6)


def test_only_the_scaffolds_own_summaries_are_written(tmp_path: Path) -> None:
    def scaffold() -> Any:
        v1.summary.scalar("other", 1.0)
        return v1.train.Scaffold(summary_op=v1.summary.scalar("mine", 2.0))

    made = tiny.estimator(tmp_path, with_scaffold(scaffold), save_summary_steps=1)
    made.train(tiny.once, steps=1)
    events = [e for file in tmp_path.glob("events.*") for e in v1.train.summary_iterator(str(file))]
    assert {value.tag for event in events for value in event.summary.value} == {"mine"}
