"""Weights changed from outside `model_fn`: a new checkpoint that every verb goes on from, told of and undone."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
X = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)


def model_fn(features: Any, labels: Any, mode: str, params: Mapping[str, Any]) -> lw.EstimatorSpec:
    with v1.variable_scope("emb", partitioner=v1.fixed_size_partitioner(2)):
        table = v1.get_variable("table", [6, 4])
    hidden = lw.layers.dense(features["x"], 4, activation=tf.nn.relu, name="dense")
    out = lw.layers.dense(hidden + tf.nn.embedding_lookup(table, [1]), 1, name="out")
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, {"out": out})
    loss = tf.reduce_mean(tf.square(out - labels))
    train_op = v1.train.AdagradOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return lw.EstimatorSpec(mode, {"out": out}, loss, train_op)


def data() -> Any:
    return tf.data.Dataset.from_tensors(({"x": X}, Y)).repeat()


def once() -> Any:
    return tf.data.Dataset.from_tensors(({"x": X}, Y))


def estimator(directory: Path, **settings: Any) -> lw.Estimator:
    return lw.Estimator(model_fn, str(directory), lw.RunConfig(tf_random_seed=3, **settings), params={})


def values(est: lw.Estimator) -> dict[str, Any]:
    return {name: est.get_variable_value(name) for name in est.get_variable_names()}


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name in before if before[name].tobytes() != after[name].tobytes()}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: Any) -> str:
    return estimator(tmp_path_factory.mktemp("trained")).train(data, steps=3).model_dir


@pytest.fixture
def est(tmp_path: Path, trained: str) -> lw.Estimator:
    return estimator(Path(shutil.copytree(trained, tmp_path, dirs_exist_ok=True)))


def test_all_ways_to_change_make_one_checkpoint_and_change_nothing_else(est: lw.Estimator, tmp_path: Path) -> None:
    before, parent = values(est), str(est.latest_checkpoint())
    with est.edit("a try") as w:
        w["dense/kernel"][:, 3] = 0
        w["weights/dense/bias"] = np.arange(4)  # integers fit into floats
        w.layers["out"].kernel *= 0.5
        w["emb/table"] = np.ones([6, 4])
        w.slots["out/bias/Adagrad"][...] = 9
        assert "weights/emb/table set: 24 of 24 numbers" in repr(w)
        assert est.latest_checkpoint() == parent, "nothing is written inside the block"
    after = values(est)
    assert w.checkpoint == est.latest_checkpoint() == os.path.join(est.model_dir, "model.ckpt-edit1-3")
    assert changed(before, after) == {"dense/kernel", "dense/bias", "out/kernel", "emb/table", "out/bias/Adagrad"}
    kernel = before["dense/kernel"].copy()
    kernel[:, 3] = 0
    np.testing.assert_array_equal(after["dense/kernel"], kernel)
    np.testing.assert_array_equal(after["out/kernel"], before["out/kernel"] * np.float32(0.5))
    np.testing.assert_array_equal(after["emb/table"], np.ones([6, 4]))
    assert after["dense/bias"].dtype == np.float32
    assert after["global_step"] == 3
    assert {name: value.tobytes() for name, value in before.items()} == {
        name: tf.train.load_variable(parent, name).tobytes() for name in before
    }, "the parent is as it was"
    assert v1.train.get_checkpoint_state(est.model_dir).all_model_checkpoint_paths[-1] == w.checkpoint
    lineage = est.lineage()
    assert [(row.checkpoint, row.parent, row.by, row.note) for row in lineage[1:]] == [
        ("model.ckpt-3", "model.ckpt-0", "train", ""),
        ("model.ckpt-edit1-3", "model.ckpt-3", "edit", "a try"),
    ]
    assert "* model.ckpt-edit1-3" in str(lineage)
    assert "weights/out/kernel" in lineage._repr_html_()
    assert len({row.hash for row in lineage}) == 3
    other = estimator(tmp_path)
    assert other.lineage().to_dict() == lineage.to_dict(), "true in another program"
    assert changed(after, values(other)) == set()


def test_every_verb_goes_on_from_an_edit_also_in_a_warm_session(est: lw.Estimator, tmp_path: Path) -> None:
    first = [est.evaluate(once)["loss"] for _ in range(2)][-1]
    list(est.predict(once))
    held = est.predictor()
    est.layers["out"].kernel = np.zeros([4, 1])
    bias = float(est.layers["out"].bias[0])
    expected = np.full([8, 1], bias, np.float32)
    assert est.evaluate(once)["loss"] == pytest.approx(np.mean((expected - Y) ** 2), rel=1e-5) != first
    np.testing.assert_array_equal([row["out"] for row in est.predict(once)], expected)
    np.testing.assert_array_equal(est.predictor()({"x": X})["out"], expected)
    assert held.refresh()
    np.testing.assert_array_equal(held({"x": X})["out"], expected)
    path = est.export_saved_model(str(tmp_path / "export"))
    served = tf.saved_model.load(path.decode()).signatures["serving_default"]
    np.testing.assert_array_equal(served(x=tf.constant(X))["out"], expected)
    est.train(data, steps=1)
    assert est.lineage()[-1].parent == "model.ckpt-edit1-3"
    np.testing.assert_array_equal(est.weights.at(os.path.join(est.model_dir, "model.ckpt-edit1-3"))["out/kernel"], 0)
    assert est.weights.at(os.path.join(est.model_dir, "model.ckpt-3"))["out/kernel"].any(), "resuming spares the parent"


def test_an_edit_at_rest_and_between_steps_come_to_the_same_bits(est: lw.Estimator, tmp_path: Path) -> None:
    with est.edit() as w:
        w["dense/kernel"] *= 2
    est.train(data, steps=4)

    def double(step: Any) -> None:
        step.edit("weights/dense/kernel", lambda kernel: kernel * 2)

    live = estimator(tmp_path / "live").train(data, steps=7, hooks=[lw.Watch("loss", at=[3], do=double)])
    assert changed(values(est), values(live)) == set()


def test_slots_are_reset_to_what_they_start_from(est: lw.Estimator) -> None:
    start = {name: tf.train.load_variable(os.path.join(est.model_dir, "model.ckpt-0"), name) for name in values(est)}
    before = values(est)
    with est.edit() as w:
        assert w.reset_slots("dense") == ["dense/bias/Adagrad", "dense/kernel/Adagrad"]
        assert w.reset_slots("emb/*") == ["emb/table/Adagrad"]
    after = values(est)
    assert changed(before, after) == {"dense/bias/Adagrad", "dense/kernel/Adagrad", "emb/table/Adagrad"}
    assert {after[name].tobytes() == start[name].tobytes() for name in changed(before, after)} == {True}
    assert float(after["dense/bias/Adagrad"][0]) == pytest.approx(0.1), "not zero"


@pytest.mark.parametrize("face", ["lightwell.compat.v1.estimator", "lightwell.estimator"])
def test_slots_are_found_by_the_weight_they_serve(face: str, tmp_path: Path) -> None:
    made = importlib.import_module(face).DNNLinearCombinedRegressor
    column = [tf.feature_column.numeric_column("x", shape=[3])]
    est = made(str(tmp_path), column, dnn_feature_columns=column, dnn_hidden_units=[4])
    est.train(data, steps=3)
    before = values(est)
    start = {name: tf.train.load_variable(os.path.join(est.model_dir, "model.ckpt-0"), name) for name in before}
    served = ["dnn/hiddenlayer_0/kernel", "linear/linear_model/x/weights"]
    with est.edit() as w:
        reset = w.reset_slots(served)
        with pytest.raises(lw.errors.PathError, match="there are no slots of 'dnn/hiddenlayer_1'"):
            w.reset_slots("dnn/hiddenlayer_1")
    after = values(est)
    assert len(reset) == 3, "one of Adagrad, two of FTRL"
    assert all(any(weight in slot for weight in served) for slot in reset)
    assert changed(before, after) == set(reset)
    assert {after[name].tobytes() == start[name].tobytes() for name in reset} == {True}


def test_moving_averages_are_no_memory_of_the_optimizer(tmp_path: Path, log: Any) -> None:
    def averaged(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        spec = model_fn(features, labels, mode, {})
        with tf.control_dependencies([spec.train_op]):
            return spec._replace(train_op=tf.train.ExponentialMovingAverage(0.5).apply(v1.trainable_variables("out")))

    est = lw.Estimator(averaged, str(tmp_path)).train(data, steps=3)
    average = "out/kernel/ExponentialMovingAverage"
    before = values(est)
    with est.edit() as w:
        w["out/kernel"] *= 2
        w["dense/kernel"] *= 2
        assert w.reset_slots("out") == ["out/bias/Adagrad", "out/kernel/Adagrad"]
        assert not [slot for slot in w.reset_slots() if "Average" in slot]
    assert before[average].tobytes() == values(est)[average].tobytes()
    (line,) = log.having("edit: out/kernel has a moving average, which stays as it was.")
    assert line.endswith(f"w.slots[{average!r}] = w['out/kernel'].")
    with est.edit() as w:
        w["out/kernel"] *= 2
        w.slots[average] = w["out/kernel"]
    assert len(log.having("has a moving average")) == 1
    np.testing.assert_array_equal(est.weights.slots[average], est.weights["out/kernel"])


def test_weights_copied_from_another_model(est: lw.Estimator, tmp_path: Path) -> None:
    other = estimator(tmp_path / "other").train(data, steps=9)
    with est.edit() as w:
        assert w.copy(["dense", "slots/dense/bias/*"], from_checkpoint=other.model_dir) == [
            "dense/bias",
            "dense/kernel",
            "dense/bias/Adagrad",
        ]
    mine, theirs = values(est), values(other)
    for name in ("dense/kernel", "dense/bias", "dense/bias/Adagrad"):
        np.testing.assert_array_equal(mine[name], theirs[name])
    assert (mine["out/kernel"] != theirs["out/kernel"]).any()
    assert "copied from" in str(est.lineage())


def test_the_short_forms_and_the_way_back(est: lw.Estimator) -> None:
    before = values(est)
    est.layers["dense"].kernel = np.zeros([3, 4])
    est.weights["out/bias"] = [2.5]
    est.weights.slots["out/bias/Adagrad"] = [1.0]
    assert not est.layers["dense"].kernel.any()
    assert est.weights["out/bias"] == [2.5]
    assert [row.checkpoint for row in est.lineage()][2:] == [f"model.ckpt-edit{n}-3" for n in (1, 2, 3)]
    assert est.revert().endswith("model.ckpt-edit2-3")
    assert est.revert().endswith("edit1-3")
    assert est.revert() == os.path.join(est.model_dir, "model.ckpt-3")
    assert changed(before, values(est)) == set()
    assert est.revert("model.ckpt-edit2-3").endswith("edit2-3")
    assert est.weights["out/bias"] == [2.5]
    est.revert("model.ckpt-3")
    est.train(data, steps=2)
    assert est.lineage()[-1].parent == "model.ckpt-3"


def test_what_is_wrong_is_told_before_anything_is_written(est: lw.Estimator, log: Any) -> None:
    def edited(change: Any) -> None:
        with est.edit() as w:
            w["dense/bias"][...] = 1
            change(w)

    wrong: list[tuple[Any, type[Exception], str]] = [
        (lambda w: w["dens/kernel"], lw.errors.PathError, r"no weight 'dens/kernel'.*nearest are \['dense/kernel'"),
        (
            lambda w: w.update({"dense/kernel": np.zeros([4, 3])}),
            lw.errors.UsageError,
            r"edit of weights/dense/kernel: expected the shape \[3, 4\], got \[4, 3\]. Nothing was written",
        ),
        (lambda w: w.update({"dense/kernel": 0}), lw.errors.UsageError, r"To set all of it to one number: w\["),
        (
            lambda w: w.update({"dense/kernel": np.zeros([3, 4], complex)}),
            lw.errors.UsageError,
            r"expected values of type float32, got complex128",
        ),
        (
            lambda w: w.update({"dense/kernel": "zeros"}),
            lw.errors.UsageError,
            "expected numbers of type float32, got 'zeros' of type str",
        ),
        (lambda w: w["global_step"], lw.errors.PathError, "is the step counter"),
        (lambda w: w["out/bias/Adagrad"], lw.errors.PathError, "is optimizer state"),
        (lambda w: w.layers["dense"].gamma, AttributeError, "has no weight 'gamma'; it has"),
        (lambda w: w.layers["dens"], lw.errors.PathError, "There is no layer 'dens'"),
        (lambda w: w.layers["dense"].output(once), lw.errors.UsageError, "can be run once the edit is written"),
        (lambda w: w.reset_slots("dens"), lw.errors.PathError, "there are no slots of 'dens'. The nearest are"),
        (lambda w: w.copy("enc/*", from_checkpoint=est.model_dir), lw.errors.PathError, r"has no weights 'enc/\*'"),
        (
            lambda w: w.copy("dense", from_checkpoint="nowhere"),
            lw.errors.CheckpointUnreadable,
            "from_checkpoint 'nowhere' does not exist",
        ),
        (lambda w: w.pop("dense/bias"), lw.errors.UsageError, "cannot be deleted, the model has it"),
        (lambda w: 1 / 0, ZeroDivisionError, "division"),
    ]
    files = sorted(os.listdir(est.model_dir))
    for change, kind, text in wrong:
        with pytest.raises(kind, match=text):
            edited(change)
    with pytest.raises(
        AttributeError, match=r"'kernel' cannot be set in .*model\.ckpt-0.*a checkpoint is never changed"
    ):
        est.layers["dense"].at(os.path.join(est.model_dir, "model.ckpt-0")).kernel = 0
    with pytest.raises(lw.errors.UsageError, match="a checkpoint is never changed"):
        est.weights.at(os.path.join(est.model_dir, "model.ckpt-0"))["dense/bias"] = 0
    with est.edit() as w:
        w["dense/bias"] += 0
    assert w.checkpoint is None
    assert log.having("edit: nothing was changed in")
    assert sorted(os.listdir(est.model_dir)) == files
    for meta in Path(est.model_dir).glob("*.meta"):
        meta.unlink()
    with pytest.raises(lw.errors.UsageError, match=r"reset_slots: .*\.meta is not there"):
        edited(lambda w: w.reset_slots())


def test_what_is_not_finite_is_written_and_told(est: lw.Estimator, log: Any) -> None:
    with est.edit() as w:
        w["dense/kernel"][0, :] = np.nan
        w["out/bias"] = [np.inf]
    assert log.having("WARNING edit: 4 of 12 numbers in dense/kernel are NaN or infinite now. est.revert() goes back.")
    assert log.having("WARNING edit: 1 of 1 numbers in out/bias are NaN or infinite now.")
    assert np.isnan(est.layers["dense"].kernel[0]).all()
    est.revert()
    assert np.isfinite(est.layers["dense"].kernel).all()


def test_an_untrained_model_and_one_that_trains_are_refused(est: lw.Estimator, tmp_path: Path) -> None:
    with pytest.raises(lw.errors.UsageError, match="Could not find trained model"), estimator(tmp_path / "new").edit():
        pass

    def inside(step: Any) -> None:
        est.layers["dense"].bias = np.zeros(4)

    with pytest.raises(lw.errors.WatchError, match="ModelInUse") as caught:
        est.train(data, steps=2, hooks=[lw.Watch("loss", every=1, do=inside)])
    assert "this process" in str(caught.value.__cause__)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: Any) -> lw.Estimator:
    """A model with weights of all types, after two steps."""

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        def kept(name: str, shape: list[int], dtype: Any) -> Any:
            return v1.get_variable(name, shape, dtype, v1.zeros_initializer(), trainable=False)

        ints, bytes_, flags = kept("ints", [3], tf.int32), kept("bytes", [2], tf.int8), kept("flags", [2], tf.bool)
        words = v1.get_variable("words", initializer=tf.constant(["a", "b"]), trainable=False)
        half, brain = v1.get_variable("half", [2], tf.float16), v1.get_variable("brain", [1], tf.bfloat16)
        sums = [tf.reduce_sum(tf.cast(one, tf.float32)) for one in (ints, bytes_, flags, half, brain)]
        out = lw.layers.dense(features["x"], 1) + tf.add_n(sums)
        predictions = {"out": out, "words": tf.tile(words[None], [tf.shape(out)[0], 1])}
        if mode == lw.ModeKeys.PREDICT:
            return lw.EstimatorSpec(mode, predictions)
        loss = tf.reduce_mean(tf.square(out - labels))
        train_op = v1.train.GradientDescentOptimizer(0.01).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, predictions, loss, train_op)

    directory = tmp_path_factory.mktemp("odd")
    return lw.Estimator(model_fn, str(directory), lw.RunConfig(tf_random_seed=3)).train(data, steps=2)


ODD = {"ints": [7, 8, 9], "bytes": [-128, 127], "flags": [True, False], "words": ["long", b"b"], "half": [0.5, 1.0]}


def test_weights_of_all_types_are_changed(odd: lw.Estimator) -> None:
    before = odd.latest_checkpoint()
    with odd.edit() as w:
        for name, value in ODD.items():
            w[name] = value
        w["words"][1] = "ä"
        w["brain"] = np.float32([2.0])
    for name in ("ints", "bytes", "flags", "half"):
        assert odd.get_variable_value(name).tolist() == ODD[name]
    assert next(odd.predict(once))["words"].tolist() == [b"long", "ä".encode()]
    assert odd.get_variable_value("brain").astype(np.float32) == [2.0]
    assert "words" in str(odd.lineage())
    compared = odd.compare(before, odd.latest_checkpoint(), once)
    assert compared["weights/brain"].drift is not None, "a type that NumPy does not know by itself"
    assert compared["weights/brain"].drift > 0.0


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("words", [1, 2], "edit of weights/words: expected strings, got 1 of the type int64. Nothing was written"),
        ("bytes", [300, 0], "edit of weights/bytes: 300 is beyond what int8 can hold. Nothing was written"),
        ("half", [0.0, 1e6], "edit of weights/half: 1000000.0 is beyond what float16 can hold. Nothing was written"),
        ("flags", [1, 0], "edit of weights/flags: expected values of type bool, got int64"),
    ],
)
def test_what_a_type_cannot_hold_is_told(odd: lw.Estimator, name: str, value: Any, text: str) -> None:
    before = odd.latest_checkpoint()
    with pytest.raises(lw.errors.UsageError, match=text), odd.edit() as w:
        w[name] = value
    assert odd.latest_checkpoint() == before


def test_what_is_put_among_strings_is_looked_at_before_it_is_written(odd: lw.Estimator) -> None:
    before = odd.latest_checkpoint()
    with pytest.raises(lw.errors.UsageError, match=r"expected strings, got 5 of the type int\."), odd.edit() as w:
        w["words"][0] = 5
    assert odd.latest_checkpoint() == before
