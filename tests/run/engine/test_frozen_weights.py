"""`freeze`, `train_only`, `rates`: weights and slots that do not move by a bit, whichever optimizer there is.

One model with a tower for each optimizer, all trained in one step: `adam/frozen`, `adam/free`, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
X = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)
IDS = np.arange(8) % 5


def _clipped(loss: Any, variables: Any) -> Any:
    optimizer = v1.train.AdamOptimizer(0.01)
    gradients, targets = zip(*optimizer.compute_gradients(loss, variables), strict=True)
    clipped, _ = tf.clip_by_global_norm(gradients, 0.1)
    return optimizer.apply_gradients(zip(clipped, targets, strict=True))


def _decayed(loss: Any, variables: Any) -> Any:
    """Weight decay written by hand, after the update."""
    with tf.control_dependencies([v1.train.GradientDescentOptimizer(0.01).minimize(loss, var_list=variables)]):
        return tf.group(*(variable.assign_sub(0.01 * variable) for variable in variables))


def _in_a_branch(loss: Any, variables: Any) -> Any:
    def update() -> Any:
        with tf.control_dependencies([variable.assign_sub(0.001 * variable) for variable in variables]):
            return tf.constant(True)

    return tf.cond(loss > 0, update, lambda: tf.constant(False)).op


OPTIMIZERS: dict[str, Callable[[Any, Any], Any]] = {
    "adam": lambda loss, variables: v1.train.AdamOptimizer(0.01).minimize(loss, var_list=variables),
    "momentum": lambda loss, variables: v1.train.MomentumOptimizer(0.01, 0.9).minimize(loss, var_list=variables),
    "ftrl": lambda loss, variables: v1.train.FtrlOptimizer(0.01).minimize(loss, var_list=variables),
    "clipped": _clipped,
    "decayed": _decayed,
    "branch": _in_a_branch,
    "keras_adamw": lambda loss, variables: lw.minimize(
        keras.optimizers.AdamW(0.01, weight_decay=0.1, use_ema=True, ema_overwrite_frequency=7), loss, variables, False
    ),
    "keras_sgd": lambda loss, variables: lw.minimize(
        keras.optimizers.SGD(0.01, momentum=0.9, global_clipnorm=0.5), loss, variables, False
    ),
    "keras_ftrl": lambda loss, variables: lw.minimize(keras.optimizers.Ftrl(0.01), loss, variables, False),
}


def model_fn(features: Any, labels: Any, mode: str, params: Mapping[str, Any]) -> lw.EstimatorSpec:
    losses, ops = [], []
    for name in params["towers"]:
        with v1.variable_scope(name):
            trainable = params.get("trainable", True)
            table = v1.get_variable("table", [5, 2], trainable=trainable)
            hidden = tf.concat([features["x"], tf.nn.embedding_lookup(table, features["id"])], 1)
            hidden = lw.layers.dense(hidden, 4, tf.nn.relu, name="frozen", trainable=trainable)
            if "adam" in name:
                hidden = lw.layers.batch_normalization(hidden, training=True, name="norm", trainable=trainable)
            out = lw.layers.dense(hidden, 1, name="free")
        loss = tf.reduce_mean(tf.square(out - labels))
        losses.append(loss)
        ops.append(
            OPTIMIZERS[name](loss, [one for one in v1.trainable_variables() if one.op.name.startswith(f"{name}/")])
        )
    updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
    train_op = tf.group(*ops, *updates, v1.train.get_global_step().assign_add(1))
    return lw.EstimatorSpec(mode, {"out": out}, tf.add_n(losses), train_op)


def data() -> Any:
    return tf.data.Dataset.from_tensors(({"x": X, "id": IDS}, Y)).repeat()


def estimator(directory: Path, **params: Any) -> lw.Estimator:
    fuse = params.pop("fuse_steps", "auto")
    config = lw.RunConfig(tf_random_seed=3, fuse_steps=fuse, save_summary_steps=None, keep_checkpoint_max=None)
    return lw.Estimator(model_fn, str(directory), config, params={"towers": list(OPTIMIZERS), **params})


def values(est: lw.Estimator) -> dict[str, bytes]:
    return {name: est.get_variable_value(name).tobytes() for name in est.get_variable_names()}


def moved(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> set[str]:
    assert before.keys() == after.keys(), "the checkpoint has what it had"
    return {name for name in before if before[name] != after[name]}


def moved_in_training(est: lw.Estimator, **arguments: Any) -> set[str]:
    """What five steps from the beginning move."""
    after = values(est.train(data, steps=5, **arguments))
    est.revert()
    return moved(values(est), after)


FROZEN = ["*/frozen", "*/norm", "*/table"]


def is_frozen(name: str) -> bool:
    return any(part in name for part in ("/frozen/", "/norm/", "/table"))


@pytest.fixture(scope="module")
def states(tmp_path_factory: Any) -> list[dict[str, bytes]]:
    """All variables before and after 200 steps."""
    est = estimator(tmp_path_factory.mktemp("frozen")).train(data, steps=200, freeze=FROZEN)
    after = values(est)
    est.revert()
    return [values(est), after]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_not_a_bit_of_weights_and_slots_moves_in_200_steps(states: Any, name: str) -> None:
    changed = {one for one in moved(*states) if one.startswith(f"{name}/")}
    assert f"{name}/free/kernel" in changed
    assert not [one for one in changed if is_frozen(one)]
    stood = {one for one in states[0] if one.startswith(f"{name}/") and is_frozen(one)}
    assert {f"{name}/frozen/kernel", f"{name}/table"} <= stood
    assert "adam" not in name or f"{name}/norm/moving_mean" in stood


def test_the_others_move_as_in_a_model_that_does_not_train_them(tmp_path: Path) -> None:
    towers = ["adam"]  # no norm over all gradients
    frozen = estimator(tmp_path / "a", towers=towers).train(
        data, steps=9, freeze=["*/frozen", "*/table", "weights/*/norm"]
    )
    by_hand = estimator(tmp_path / "b", towers=towers, trainable=False)
    by_hand.train(data, steps=9)
    for name in towers:
        kernel = f"{name}/free/kernel"
        np.testing.assert_array_equal(frozen.weights[kernel], by_hand.weights[kernel])


def test_single_steps_come_to_the_same_bits_and_train_only_is_the_reverse(tmp_path: Path) -> None:
    towers = ["keras_adamw"]
    fused = estimator(tmp_path / "a", towers=towers).train(data, steps=9, freeze=FROZEN)
    single = estimator(tmp_path / "b", towers=towers, fuse_steps=False).train(data, steps=9, train_only=["*/free"])
    assert moved(values(fused), values(single)) == set()


def test_a_resumed_training_is_that_of_any_model_with_these_weights(tmp_path: Path) -> None:
    towers = ["keras_adamw"]
    frozen = estimator(tmp_path / "a", towers=towers)
    before = values(frozen.train(data, steps=3))
    changed = moved(before, values(frozen.train(data, steps=4, freeze=FROZEN)))
    assert changed
    assert not [name for name in changed if is_frozen(name)], "slots that are not zero stay, too"
    stood = values(frozen)
    # The same weights, slots and step in a model that was never frozen.
    other = estimator(tmp_path / "b", towers=towers).train(data, steps=7)
    with other.edit() as w:
        w.copy(["*", "slots/*"], from_checkpoint=frozen.model_dir)
    resumed = values(frozen.train(data, steps=3))
    assert {"keras_adamw/frozen/kernel", "keras_adamw/table/adam_w/momentum"} <= moved(stood, resumed)
    assert moved(resumed, values(other.train(data, steps=3))) == set()


def test_rates_are_shares_of_the_change(tmp_path: Path) -> None:
    towers = ["momentum", "keras_sgd"]
    whole = estimator(tmp_path / "a", towers=towers).train(data, steps=1)
    half = estimator(tmp_path / "b", towers=towers)
    half.train(data, steps=1, rates=lw.rates({"*/free": 0.25, "*/table": 0.0, "*/free/bias": 1}))
    for name in towers:
        start = tf.train.load_variable(f"{whole.model_dir}/model.ckpt-0", f"{name}/free/kernel")
        step, less = (est.weights[f"{name}/free/kernel"] - start for est in (whole, half))
        np.testing.assert_allclose(less, 0.25 * step, rtol=2e-4, atol=1e-7)
        np.testing.assert_array_equal(half.weights[f"{name}/free/bias"], whole.weights[f"{name}/free/bias"])
        start = tf.train.load_variable(f"{whole.model_dir}/model.ckpt-0", f"{name}/table")
        np.testing.assert_array_equal(half.weights[f"{name}/table"], start)


def test_a_layer_of_keras_and_its_statistics(tmp_path: Path) -> None:
    def keras_model(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        hidden = keras.layers.Dense(4, name="first")(features["x"])
        hidden = keras.layers.BatchNormalization(name="norm")(hidden)
        out = keras.layers.Dense(1, name="last")(hidden)
        loss = tf.reduce_mean(tf.square(out - labels))
        return lw.EstimatorSpec(mode, {"out": out}, loss, lw.minimize(keras.optimizers.Adam(0.1), loss))

    est = lw.Estimator(keras_model, str(tmp_path), lw.RunConfig(tf_random_seed=3))
    names = moved_in_training(est, train_only="layers/last")
    assert {name for name in names if not name.startswith("last/")} == {"global_step"}
    assert "last/kernel/adam/velocity" in names


def test_a_canned_model(tmp_path: Path) -> None:
    est = lw.estimator.DNNRegressor(
        [4, 4], [tf.feature_column.numeric_column("x", [3])], model_dir=str(tmp_path), optimizer="Ftrl"
    )
    changed = moved_in_training(est, freeze=["dnn/hiddenlayer_0", "weights/dnn/logits/bias"])
    assert not [name for name in changed if "hiddenlayer_0" in name or "logits/bias" in name]
    assert [name for name in changed if "hiddenlayer_1/kernel" in name]


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        (
            {"freeze": ["adam/frozn"]},
            lw.errors.PathError,
            "freeze='adam/frozn' matches no weight.*nearest.*adam/frozen",
        ),
        ({"train_only": "free"}, lw.errors.PathError, "train_only='free' matches no weight and no layer"),
        ({"rates": lw.rates({"tabel": 2})}, lw.errors.PathError, "rates='tabel' matches no weight.*adam/table"),
        ({"freeze": ["*"]}, lw.errors.UsageError, "nothing is left to train"),
        ({"freeze": "a", "train_only": "b"}, lw.errors.UsageError, "freeze and train_only say the same"),
        ({"freeze": ["slots/adam/table/Adam"]}, lw.errors.UsageError, "names optimizer state"),
        ({"freeze": [3]}, TypeError, "freeze must be a list of names or patterns"),
        ({"rates": {"a": 1}}, TypeError, "rates must be made by lw.rates"),
    ],
)
def test_wrong_patterns_are_told_before_the_first_step(
    tmp_path: Path, arguments: Any, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        estimator(tmp_path, towers=["adam"]).train(data, steps=1, **arguments)
    assert not list(tmp_path.glob("model.ckpt*"))


@pytest.mark.parametrize("shares", [{}, {"a": -1}, {"a": "much"}, {"a": float("nan")}, 3])
def test_wrong_rates(shares: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"^rates: expected"):
        lw.rates(shares)
