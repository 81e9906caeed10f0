"""Keras 3 optimizers in `minimize`: the weights that Keras' own training gives, also across a resumed run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.interop.builds import X, Y, batches, built, classifier, estimator, keras, v1

import lightwell as lw
from lightwell.model.optimizers import minimize

L = keras.layers
optimizers = keras.optimizers
START = [np.random.RandomState(0).randn(6, 2).astype(np.float32), np.zeros(2, np.float32)]
KERNEL = "m/dense/kernel"
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "adadelta": lambda: optimizers.Adadelta(1.0),
    "adafactor": lambda: optimizers.Adafactor(0.05),
    "adagrad": lambda: optimizers.Adagrad(0.1),
    "adam": lambda: optimizers.Adam(0.05),
    "adamax": lambda: optimizers.Adamax(0.05),
    "adamw": lambda: optimizers.AdamW(0.01, weight_decay=0.1),
    "amsgrad": lambda: optimizers.Adam(0.05, amsgrad=True),
    "ftrl": lambda: optimizers.Ftrl(0.1),
    "lion": lambda: optimizers.Lion(0.01),
    "momentum": lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "nadam": lambda: optimizers.Nadam(0.01),
    "rmsprop": lambda: optimizers.RMSprop(0.01, centered=True, momentum=0.5),
    "schedule": lambda: optimizers.Adam(optimizers.schedules.ExponentialDecay(0.05, 4, 0.5)),
    "clipnorm": lambda: optimizers.SGD(0.1, clipnorm=0.01),
    "clipvalue": lambda: optimizers.SGD(0.1, clipvalue=0.01),
    "global clipnorm": lambda: optimizers.SGD(0.1, global_clipnorm=0.01),
    "ema": lambda: optimizers.SGD(0.1, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=3),
    "accumulation": lambda: optimizers.SGD(0.1, gradient_accumulation_steps=4),
    "loss scale": lambda: optimizers.LossScaleOptimizer(optimizers.Adam(0.05), dynamic_growth_steps=3),
    "fixed loss scale": lambda: optimizers.SGD(0.1, loss_scale_factor=128.0),
}


def network() -> Any:
    return keras.Sequential([keras.Input((6,)), L.Dense(2, kernel_constraint="max_norm")], name="m")


def started(x: Any) -> Any:
    model = network()
    model.set_weights(START)
    return model(x)


def fitted(optimizer: Any, steps: int) -> list[np.ndarray]:
    """What a loop of Keras' own gives."""
    model = network()
    model.set_weights(START)
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), run_eagerly=True)
    for step in range(steps):
        start = 16 * (step % 4)
        model.train_on_batch(X[start : start + 16], Y[start : start + 16])
    return model.get_weights()


def assert_same(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert not np.array_equal(found[0], START[0])
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def plain(x: Any) -> Any:
    """The same network of TensorFlow variables, which Keras knows nothing of."""
    with v1.variable_scope("m/dense"):
        kernel = v1.get_variable(
            "kernel", initializer=START[0], constraint=keras.constraints.MaxNorm(), use_resource=True
        )
        bias = v1.get_variable("bias", initializer=START[1], use_resource=True)
    return tf.matmul(x, kernel) + bias


@pytest.mark.parametrize("network", [started, plain])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_it_trains_as_in_fit(name: str, network: Callable[[Any], Any]) -> None:
    def step(x: Any) -> Any:
        start = 16 * (v1.train.get_global_step() % 4)
        labels, logits = tf.constant(Y)[start : start + 16], network(x[start : start + 16])
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return minimize(OPTIMIZERS[name](), tf.reduce_mean(loss))

    build = built(step)
    with build.graph.as_default(), v1.Session() as session:
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        for _ in range(8):
            session.run(build.outputs)
        assert session.run(v1.train.get_global_step()) == 8
        found = session.run(v1.trainable_variables())
    assert_same(found, fitted(OPTIMIZERS[name](), 8))


def test_what_is_kept_from_weight_decay_is_told_by_the_variables_path() -> None:
    def step(x: Any) -> Any:
        optimizer = optimizers.SGD(0.1, weight_decay=0.5)
        optimizer.exclude_from_weight_decay(var_names=["other/bias"])
        some, other = (
            v1.get_variable(f"{name}/bias", initializer=np.ones(6, np.float32)) for name in ("some", "other")
        )
        return minimize(optimizer, 0.0 * tf.reduce_mean(x * some * other))

    build = built(step)
    with build.graph.as_default(), v1.Session() as session:
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        session.run(build.outputs)
        decayed, excluded = session.run(v1.trainable_variables())
    np.testing.assert_allclose(decayed, 0.95, rtol=1e-5)
    np.testing.assert_allclose(excluded, 1.0)


@pytest.mark.parametrize("name", ["adam", "loss scale", "accumulation"])
def test_it_goes_on_where_it_stopped(tmp_path: Path, name: str) -> None:
    est = estimator(tmp_path, classifier(started, OPTIMIZERS[name]))
    est.train(batches(16), steps=3)
    est.train(lambda: batches(16)().skip(3), steps=5)
    assert est.get_variable_value("global_step") == 8
    assert_same(
        [est.get_variable_value(f"m/dense/{kind}") for kind in ("kernel", "bias")], fitted(OPTIMIZERS[name](), 8)
    )


def test_state_is_saved_below_the_variable_it_serves(tmp_path: Path) -> None:
    est = estimator(tmp_path, classifier(started, OPTIMIZERS["loss scale"]))
    est.train(batches(), steps=1)
    names = [name for name in est.get_variable_names() if KERNEL in name or "optimizer" in name]
    assert sorted(names) == [
        *[KERNEL, f"{KERNEL}/adam/momentum", f"{KERNEL}/adam/velocity"],
        *["optimizer/adam/iteration", "optimizer/loss_scale_optimizer/dynamic_scale"],
        "optimizer/loss_scale_optimizer/step_counter",
    ]


def test_the_learning_rate_is_a_setting_that_a_resumed_run_may_change(tmp_path: Path) -> None:
    first = estimator(tmp_path, classifier(started, lambda: optimizers.SGD(0.1)))
    first.train(batches(), steps=1)
    kernel = first.get_variable_value(KERNEL)
    assert [name for name in first.get_variable_names() if "learning_rate" in name] == []
    estimator(tmp_path, classifier(started, lambda: optimizers.SGD(0.0))).train(batches(), steps=1)
    np.testing.assert_allclose(first.get_variable_value(KERNEL), kernel, rtol=1e-5)


def test_the_rate_of_a_schedule_follows_the_global_step(tmp_path: Path) -> None:
    class Rates(v1.train.SessionRunHook):
        def __init__(self) -> None:
            self.seen: list[float] = []

        def before_run(self, run_context: Any) -> Any:
            rate = run_context.session.graph.get_collection("lightwell/learning_rate")[0]
            return v1.train.SessionRunArgs(rate)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.seen.append(float(run_values.results))

    hook = Rates()
    optimizer = lambda: optimizers.SGD(optimizers.schedules.PiecewiseConstantDecay([1, 3], [0.4, 0.2, 0.1]))  # noqa: E731
    est = estimator(tmp_path, classifier(started, optimizer))
    est.train(batches(), steps=3, hooks=[hook])
    est.train(batches(), steps=2, hooks=[hook])
    np.testing.assert_allclose(hook.seen, [0.4, 0.4, 0.2, 0.2, 0.1])


def test_an_optimizer_from_outside_serves_every_run(tmp_path: Path) -> None:
    optimizer = optimizers.Adam(optimizers.schedules.CosineDecay(0.05, 8))
    est = estimator(tmp_path, classifier(started, lambda: optimizer))
    est.train(batches(16), steps=4)
    est.train(batches(16), steps=4)
    assert not optimizer.built
    expected = fitted(optimizers.Adam(optimizers.schedules.CosineDecay(0.05, 8)), 8)
    np.testing.assert_allclose(est.get_variable_value(KERNEL), expected[0], rtol=1e-5, atol=1e-6)


def test_two_optimizers_share_a_step_and_one_of_them_counts(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        first, second = L.Dense(4, name="first"), L.Dense(2, name="second")
        loss = v1.losses.sparse_softmax_cross_entropy(labels, second(first(features["x"])))
        one = minimize(optimizers.Adam(0.1), loss, first.trainable_variables)
        other = minimize(optimizers.Adam(0.1), loss, second.trainable_variables, global_step=False)
        return lw.EstimatorSpec(mode, loss=loss, train_op=tf.group(one, other))

    est = estimator(tmp_path, model_fn)
    est.train(batches(), steps=3)
    assert est.get_variable_value("global_step") == 3
    assert est.get_variable_value("optimizer/adam_1/iteration") == 3
    slots = [name for name in est.get_variable_names() if "/adam" in name and "optimizer" not in name]
    assert {name.split("/")[0] + "/" + name.split("/")[2] for name in slots} == {"first/adam", "second/adam_1"}


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16", "float64"])
def test_dtype_policies(tmp_path: Path, policy: str) -> None:
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:

        def wide(x: Any) -> Any:
            x = keras.Sequential([L.Dense(2), L.BatchNormalization()], name="m")(x)
            assert x.dtype.name == keras.config.dtype_policy().compute_dtype
            return x

        def optimizer() -> Any:
            return (
                optimizers.LossScaleOptimizer(optimizers.Adam(0.05))
                if policy == "mixed_float16"
                else optimizers.Adam(0.05)
            )

        est = estimator(tmp_path, classifier(wide, optimizer))
        est.train(batches(), steps=1)
        first = est.evaluate(batches(repeat=1))["loss"]
        est.train(batches(), steps=10)
        assert est.evaluate(batches(repeat=1))["loss"] < first
        stored = "float64" if policy == "float64" else "float32"
        assert est.get_variable_value(KERNEL).dtype == stored
    finally:
        keras.config.set_dtype_policy(before)


def test_a_loss_that_depends_on_nothing_is_told(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        L.Dense(2)(features["x"])
        loss = tf.reduce_mean(features["x"])
        return lw.EstimatorSpec(mode, loss=loss, train_op=minimize(optimizers.Adam(), loss))

    with pytest.raises(
        lw.errors.ModelFnError, match=r"depends on none of the variables \['dense/kernel', 'dense/bias'\], so 'adam'"
    ):
        estimator(tmp_path, model_fn).train(batches(), steps=1)


def test_one_optimizer_for_two_updates_is_refused(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        loss, optimizer = tf.reduce_mean(L.Dense(2)(features["x"])), optimizers.Adam()
        train_op = tf.group(minimize(optimizer, loss), minimize(optimizer, 2 * loss, global_step=False))
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    with pytest.raises(lw.errors.ModelFnError, match="'adam' makes two updates in one model_fn"):
        estimator(tmp_path, model_fn).train(batches(), steps=1)


def test_an_optimizer_that_cannot_be_copied_is_told(tmp_path: Path) -> None:
    class Custom(optimizers.SGD):
        def get_config(self) -> dict[str, Any]:
            raise NotImplementedError("no settings")

    optimizer = Custom(0.1)
    with pytest.raises(
        lw.errors.ModelFnError, match=r"cannot be copied \(NotImplementedError: no settings\). Create it inside"
    ):
        estimator(tmp_path, classifier(started, lambda: optimizer)).train(batches(), steps=1)
