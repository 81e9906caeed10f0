"""Compiled training: what it computes, when it comes back, and what happens to steps that cannot be compiled."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.conftest import LogLines
from tests.run.engine.fused_models import big_constant, dropout, python
from tests.run.engine.fused_runs import Look, Seen, batches, train

import lightwell as lw

v1 = tf.compat.v1
COMPILED = "into one computation"
NOT_COMPILED = "steps are not compiled"


def with_loss(more: Callable[[Any], Any]) -> Callable[..., lw.EstimatorSpec]:
    """A model of two layers, with something more to its loss."""

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        hidden = lw.layers.dense(features["x"], 8, activation=tf.nn.relu, name="hidden")
        tf.reduce_mean(hidden, name="the_mean")
        loss = more(tf.reduce_mean(tf.square(lw.layers.dense(hidden, 1, name="out") - labels)))
        train_op = v1.train.AdamOptimizer(0.01).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


dense = with_loss(lambda loss: loss)


def not_a_number_after(step: int) -> Callable[..., lw.EstimatorSpec]:
    def more(loss: Any) -> Any:
        before = tf.cast(v1.train.get_global_step().read_value(), tf.float32)
        return loss + tf.where(before < step, 0.0, float("nan"))

    return with_loss(more)


def numbers() -> Any:
    """Batches of numbers only."""
    return batches()().map(lambda features, labels: ({"x": features["x"]}, labels))


def both_ways(folder: Path, model_fn: Any, data: Any, steps: int | None, every: int = 1000) -> tuple[Seen, Seen]:
    """The same training, plain and compiled; it was indeed compiled."""
    found = []
    for jit_compile in (False, True):
        look = Look(every, ["the_mean:0"])
        settings: dict[str, Any] = {"save_checkpoints_steps": 31, "save_summary_steps": 40, "log_step_count_steps": 20}
        settings["jit_compile"] = jit_compile
        found.append(
            train(folder / str(jit_compile), model_fn, "auto", hooks=[look], data=data, steps=steps, **settings)
        )
    plain, compiled = found
    said = [line for line in compiled.lines if COMPILED in line]
    assert said
    compiled.lines = [line for line in compiled.lines if line not in said]
    return plain, compiled


def without_loss(line: str) -> str:
    return re.sub(r"(loss = |final step: )[\d.e-]+", r"\1", line)


def check_alike(plain: Seen, compiled: Seen) -> None:
    assert compiled.error == plain.error
    assert [(step, what, [tag for tag, _ in values]) for step, what, values, _ in compiled.events] == [
        (step, what, [tag for tag, _ in values]) for step, what, values, _ in plain.events
    ]
    assert [without_loss(line) for line in compiled.lines] == [without_loss(line) for line in plain.lines]
    for ours, others in zip(compiled.looks, plain.looks, strict=True):
        assert [look[:2] for look in ours] == [look[:2] for look in others]
        np.testing.assert_allclose(
            [look[3]["the_mean:0"][1] for look in ours], [look[3]["the_mean:0"][1] for look in others], atol=1e-6
        )
    assert list(compiled.weights) == list(plain.weights)
    for name, value in plain.weights.items():
        np.testing.assert_allclose(compiled.weights[name], value, rtol=1e-6, atol=1e-6, err_msg=name)


def test_compiled_steps_are_the_same_steps(tmp_path: Path) -> None:
    plain, compiled = both_ways(tmp_path, dense, numbers, 130, every=25)
    check_alike(plain, compiled)
    assert [look[1] for look in compiled.looks[0]] == [25, 50, 75, 100, 125]
    assert compiled.weights["model.ckpt-130: global_step"] == 130


def test_data_ends_with_a_shorter_batch(tmp_path: Path) -> None:
    def data() -> Any:
        rows = np.random.RandomState(1).rand(803, 6).astype(np.float32)
        return tf.data.Dataset.from_tensor_slices(({"x": rows}, rows[:, :1])).batch(5)

    plain, compiled = both_ways(tmp_path, dense, data, None)
    check_alike(plain, compiled)
    assert compiled.weights["model.ckpt-161: global_step"] == 161


def test_a_loss_that_is_no_number_ends_it_at_that_step(tmp_path: Path) -> None:
    plain, compiled = both_ways(tmp_path, not_a_number_after(75), numbers, 130)
    check_alike(plain, compiled)
    assert "NaN" in compiled.error


def test_a_batch_that_fails_ends_it_after_those_before(tmp_path: Path) -> None:
    def data() -> Any:
        def checked(number: Any) -> Any:
            with tf.control_dependencies([tf.debugging.assert_less(number, tf.constant(71, tf.int64), "a bad batch")]):
                rows = tf.reshape(tf.sin(tf.range(30.0) + 7 * tf.cast(number, tf.float32)), [5, 6])
            return {"x": rows}, rows[:, :1]

        return tf.data.Dataset.range(200).map(checked)

    plain, compiled = both_ways(tmp_path, dense, data, 130)
    check_alike(plain, compiled)
    assert "a bad batch" in compiled.error


def test_what_lasts_between_steps_is_led_in(tmp_path: Path) -> None:
    plain, compiled = both_ways(tmp_path, big_constant, numbers, 130)
    check_alike(plain, compiled)


def jumping(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    spec, step = dense(features, labels, mode), v1.train.get_global_step()
    with tf.control_dependencies([spec.train_op]):
        return spec._replace(train_op=tf.group(v1.assign(step, step.read_value() + 1)))


def of_any_shape() -> Any:
    return numbers().map(lambda features, labels: (features, v1.placeholder_with_default(labels, [None, None])))


def headed(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    """A model that looks words up, of a head that checks shape and range of labels."""
    known = tf.lookup.KeyValueTensorInitializer([b"a", b"b", b"c"], tf.range(3, dtype=tf.int64))
    word = tf.one_hot(tf.lookup.StaticVocabularyTable(known, 2).lookup(features["word"]), 5)
    hidden = lw.layers.dense(tf.concat([features["x"], word], 1), 8, activation=tf.nn.relu, name="hidden")
    tf.reduce_mean(hidden, name="the_mean")
    return lw.estimator.MultiClassHead(3).create_estimator_spec(
        features,
        mode,
        lw.layers.dense(hidden, 3, name="out"),
        labels,
        train_op_fn=lambda loss: v1.train.AdamOptimizer(0.01).minimize(loss, v1.train.get_global_step()),
    )


def labelled(bad: int, label: int) -> Callable[[], Any]:
    """Words and numbers with three classes, and another in a batch that is bad."""

    def data() -> Any:
        rows = np.random.RandomState(1).rand(700, 6).astype(np.float32)
        words = np.array([b"a", b"b", b"c", b"d", b""])[np.arange(700) % 5]
        labels = np.arange(700) % 3
        labels[5 * bad + 2] = label
        return tf.data.Dataset.from_tensor_slices(({"x": rows, "word": words}, labels)).batch(5)

    return data


def test_words_are_looked_up_and_labels_checked_before_compiled_steps(tmp_path: Path) -> None:
    plain, compiled = both_ways(tmp_path, headed, labelled(1, 2), 130)
    check_alike(plain, compiled)
    assert not compiled.error


def test_a_label_that_is_refused_ends_it_after_the_steps_before(tmp_path: Path) -> None:
    plain, compiled = both_ways(tmp_path, headed, labelled(117, 7), 130)
    check_alike(plain, compiled)
    assert "Got] [7]" in compiled.error


CHECKED = with_loss(lambda loss: tf.debugging.check_numerics(loss, "bad", name="the_check"))
SPELT = with_loss(lambda loss: loss + 0.0 * tf.cast(tf.strings.length(tf.as_string(loss, name="the_text")), tf.float32))
REFUSED = {
    "strings": (SPELT, numbers, "the_text (AsString) works on strings"),
    "Python": (python, numbers, "calls Python"),
    "other draws": (dropout, numbers, "would draw other random numbers"),
    "checks": (CHECKED, numbers, "the_check (CheckNumerics) would be left out by XLA"),
    "shapes": (dense, of_any_shape, "may have another shape at each step"),
    "a count of its own": (jumping, numbers, "the global step does not move by a fixed number"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_compiled_is_trained_all_the_same(name: str, tmp_path: Path, log: LogLines) -> None:
    model_fn, data, reason = REFUSED[name]
    seen = train(tmp_path, model_fn, "auto", data=data, steps=2, jit_compile="auto")
    assert not seen.error
    (line,) = [line for line in seen.lines if NOT_COMPILED in line]
    assert reason in line
    again = train(tmp_path, model_fn, "auto", data=data, steps=1, jit_compile="auto")
    assert not [line for line in again.lines if NOT_COMPILED in line]  # it is said once


def test_what_xla_does_not_know_is_trained_all_the_same(tmp_path: Path) -> None:
    """That comes to light when batches have been taken in already; none is lost."""
    unknown = with_loss(lambda loss: loss + tf.cast(0 * tf.timestamp(name="the_time"), tf.float32))
    plain = train(tmp_path / "plain", unknown, "auto", data=numbers, steps=60)
    seen = train(tmp_path / "compiled", unknown, "auto", data=numbers, steps=60, jit_compile=True)
    (line,) = [line for line in seen.lines if NOT_COMPILED in line]
    assert "XLA does not know Timestamp, the op 'the_time'. Compute it in input_fn" in line
    seen.lines.remove(line)
    seen.check_same(plain)


def test_columns_that_are_looked_up_by_sparse_ops_say_so(tmp_path: Path, log: LogLines) -> None:
    column = tf.feature_column.categorical_column_with_identity("id", 9)
    deep = [tf.feature_column.embedding_column(column, 2)]
    rows = {"id": np.arange(60) % 9}
    model = lw.DNNLinearCombinedRegressor(
        str(tmp_path), [column], dnn_feature_columns=deep, dnn_hidden_units=[2], config=lw.RunConfig(jit_compile=True)
    )
    model.train(lambda: tf.data.Dataset.from_tensor_slices((rows, np.ones([60, 1]))).repeat().batch(6), steps=40)
    (line,) = log.having(NOT_COMPILED)
    assert re.search(r"XLA does not know \w*Sparse\w*, the op '\S+' of layers/\S+/id_embedding\.", line)
    assert "An indicator_column is compiled" in line


def test_steps_that_somebody_looks_at_are_not_compiled(tmp_path: Path, log: LogLines) -> None:
    class EveryStep(v1.train.SessionRunHook):  # type: ignore[misc]
        def before_run(self, run_context: Any) -> Any:
            return v1.train.SessionRunArgs("the_mean:0")

    train(tmp_path, dense, "auto", hooks=[EveryStep()], data=numbers, steps=2, jit_compile=True)
    (line,) = log.having(NOT_COMPILED)
    assert "they run one by one, as the hook EveryStep looks at every step" in line


def test_random_numbers_are_compiled_where_that_is_asked_for(tmp_path: Path) -> None:
    seen = train(tmp_path, dropout, "auto", data=numbers, steps=60, jit_compile=True, log_step_count_steps=None)
    assert not seen.error
    assert [line for line in seen.lines if COMPILED in line]
    assert [line for line in seen.lines if "draws other random numbers in compiled steps" in line]
    assert seen.weights["model.ckpt-60: global_step"] == 60


def test_another_setting_is_refused() -> None:
    with pytest.raises(lw.errors.UsageError, match="jit_compile should be True, False or \"auto\", got 'yes'"):
        lw.RunConfig(jit_compile="yes")
