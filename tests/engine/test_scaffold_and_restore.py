"""Opening a session: everything a `Scaffold` may bring is used, and a checkpoint that does not fit is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw
from lightwell.errors import CheckpointMismatch, CheckpointUnreadable, ModelFnError

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


def other_model(features: Any, labels: Any, mode: str) -> Any:
    v1.get_variable("extra", [3])
    v1.get_variable("w2", [])
    return tiny.linear(features, labels, mode, {})


@pytest.mark.parametrize("doing", ["train", "evaluate", "predict"])
def test_a_checkpoint_of_another_model_is_told_as_a_table(tmp_path: Path, doing: str) -> None:
    tiny.trained(tmp_path)
    made = tiny.estimator(tmp_path, other_model)
    acts = {
        "train": lambda: made.train(tiny.once, steps=1),
        "evaluate": lambda: made.evaluate(tiny.once),
        "predict": lambda: next(made.predict(tiny.once)),
    }
    with pytest.raises(
        CheckpointMismatch, match=r"model\.ckpt-2 does not fit this model: 2 of 5 variables differ"
    ) as e:
        acts[doing]()
    assert "  extra     [3]    -" in str(e.value).splitlines()
    assert "warm_start_from" in str(e.value)


def test_another_shape_is_told_too(tmp_path: Path) -> None:
    def wide(features: Any, labels: Any, mode: str) -> Any:
        w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
        b = v1.get_variable("b", [])
        loss = tf.reduce_sum(w) + b
        step = v1.train.get_global_step()
        return lw.EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(step, 1))

    tiny.trained(tmp_path)
    with pytest.raises(CheckpointMismatch, match=r"w +\[2\] +\[\]"):
        tiny.estimator(tmp_path, wide).train(tiny.once, steps=1)


def test_variables_that_only_the_checkpoint_has_do_no_harm(tmp_path: Path) -> None:
    tiny.estimator(tmp_path, other_model).train(tiny.once, steps=1)
    assert tiny.estimator(tmp_path).evaluate(tiny.once)["global_step"] == 1


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[2] ^= 0xFF
    file.write_bytes(bytes(content))


def test_damage_that_shows_only_on_reading_falls_back_to_an_older_one(tmp_path: Path, log: LogLines) -> None:
    made = tiny.trained(tmp_path, steps=3, save_checkpoints_steps=1)
    flip(tmp_path / "model.ckpt-3.data-00000-of-00001")
    assert made.evaluate(tiny.once)["global_step"] == 2
    (line,) = log.having("model.ckpt-3 is damaged")
    assert "Checksum does not match" in line
    assert "Trying an older one" in line
    made.train(tiny.data, max_steps=4)
    assert made.evaluate(tiny.once)["global_step"] == 4


def test_a_damaged_checkpoint_that_was_asked_for_by_name_is_an_error(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, steps=3, save_checkpoints_steps=1)
    flip(tmp_path / "model.ckpt-2.data-00000-of-00001")
    text = r"model\.ckpt-2 is damaged \(.*Checksum.*asked for by checkpoint_path; name another one"
    with pytest.raises(CheckpointUnreadable, match=text):
        made.evaluate(tiny.once, checkpoint_path=tmp_path / "model.ckpt-2")
    with pytest.raises(CheckpointUnreadable, match=text):
        next(made.predict(tiny.once, checkpoint_path=tmp_path / "model.ckpt-2"))
    assert made.evaluate(tiny.once)["global_step"] == 3


def test_nothing_but_damage_is_an_error(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, steps=1)
    for step in (0, 1):
        flip(tmp_path / f"model.ckpt-{step}.data-00000-of-00001")
    text = r"model\.ckpt-1 is damaged \(.*Checksum.*model\.ckpt-0 is damaged.*No older checkpoint can be read; restore"
    with pytest.raises(CheckpointUnreadable, match=text):
        made.evaluate(tiny.once)


def test_old_checkpoints_of_an_earlier_process_are_counted_and_removed(tmp_path: Path) -> None:
    for goal in (2, 4, 6):
        tiny.estimator(tmp_path, save_checkpoints_steps=1, keep_checkpoint_max=3).train(tiny.data, max_steps=goal)
    steps = sorted(int(file.stem.rpartition("-")[2]) for file in tmp_path.glob("*.index"))
    assert steps == [4, 5, 6]


def test_a_checkpoint_from_elsewhere_is_restored_as_it_is(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path / "a", steps=3, save_checkpoints_steps=1)
    other = tiny.estimator(tmp_path / "b")
    path = tmp_path / "a" / "model.ckpt-2"
    assert other.evaluate(tiny.once, checkpoint_path=path)["global_step"] == 2
    row = next(other.predict(tiny.once, checkpoint_path=str(path)))
    reader = tf.train.load_checkpoint(str(path))
    assert np.isclose(row["out"], reader.get_tensor("w") + reader.get_tensor("b"))
    assert made.evaluate(tiny.once)["global_step"] == 3


def trained_meanwhile(directory: Path, steps: int) -> Any:
    """Batches, and while they are made another Estimator trains on in the directory, and deletes old checkpoints."""

    def input_fn() -> Any:
        with tf.init_scope():
            tiny.estimator(directory, keep_checkpoint_max=1).train(tiny.data, steps=steps)
        return tiny.once()

    return input_fn


def test_a_checkpoint_that_a_training_deletes_meanwhile_is_replaced_by_the_next(tmp_path: Path, log: LogLines) -> None:
    made = tiny.trained(tmp_path, steps=1, keep_checkpoint_max=1)
    assert made.evaluate(trained_meanwhile(tmp_path, 2))["global_step"] == 3
    (line,) = log.having("deleted meanwhile")
    assert line == f"INFO Checkpoint {tmp_path}/model.ckpt-1 has been deleted meanwhile; took {tmp_path}/model.ckpt-3."
    assert log.having(f"Saving 'checkpoint_path' summary for global step 3: {tmp_path}/model.ckpt-3")
    hooks = [v1.train.SessionRunHook()]
    assert made.evaluate(trained_meanwhile(tmp_path, 1), hooks=hooks)["global_step"] == 4
    rows = list(made.predict(trained_meanwhile(tmp_path, 1)))
    w, b = made.get_variable_value("w"), made.get_variable_value("b")
    assert np.allclose([row["out"] for row in rows], w * tiny.X + b)
    assert made.latest_checkpoint() == f"{tmp_path}/model.ckpt-5"
    assert made.evaluate(tiny.once)["global_step"] == 5
    assert made.evaluate(trained_meanwhile(tmp_path, 1))["global_step"] == 6, "also in a session that is open already"


def test_one_that_was_asked_for_by_name_is_not_replaced(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, steps=1, keep_checkpoint_max=1)
    with pytest.raises(CheckpointUnreadable, match=r"model\.ckpt-1 cannot be read"):
        made.evaluate(trained_meanwhile(tmp_path, 2), checkpoint_path=tmp_path / "model.ckpt-1")
