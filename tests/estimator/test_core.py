"""The Estimator: it stores, checks and delegates; all state is in its directory."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.parity.replica_runs import strategy_of

import lightwell as lw
from lightwell.errors import CheckpointUnreadable, UsageError, WrongType

v1 = tf.compat.v1


@pytest.fixture(scope="module")
def trained(tmp_path_factory: Any) -> lw.Estimator:
    return tiny.trained(tmp_path_factory.mktemp("trained"), steps=3, save_checkpoints_steps=1)


def test_construction_writes_nothing_and_says_how_it_runs(tmp_path: Path, log: LogLines) -> None:
    made = lw.Estimator(tiny.linear, tmp_path / "new", params={})
    assert not (tmp_path / "new").exists()
    assert made.model_dir == str(tmp_path / "new")
    assert log.lines[0] == "INFO Using default config."
    assert log.lines[1].startswith("INFO Using config: RunConfig(model_dir=")
    assert repr(made) == f"Estimator(model_fn=linear, model_dir='{tmp_path}/new')"


def test_the_config_is_a_copy_with_the_rest_filled_in(tmp_path: Path) -> None:
    given = lw.RunConfig(tf_random_seed=3)
    made = lw.Estimator(tiny.linear, str(tmp_path), given, {})
    assert made.config is not given
    assert (made.config.model_dir, made.config.tf_random_seed) == (str(tmp_path), 3)
    assert isinstance(made.config.session_config, v1.ConfigProto)
    assert (given.model_dir, given.session_config) == (None, None)


def test_a_session_config_of_ones_own_is_used(tmp_path: Path) -> None:
    own = v1.ConfigProto(inter_op_parallelism_threads=1)
    made = tiny.estimator(tmp_path, session_config=own)
    own.inter_op_parallelism_threads = 2
    assert made.config.session_config.inter_op_parallelism_threads == 1, "it has a copy"
    made.train(tiny.data, steps=1)


@pytest.mark.parametrize("config", [{}, "config", 3])
def test_another_config_is_refused(config: Any) -> None:
    with pytest.raises(UsageError, match="config must be an instance of `RunConfig`, but provided"):
        lw.Estimator(tiny.linear, config=config)


def test_params_are_copied_going_in_and_coming_out(tmp_path: Path) -> None:
    given = {"layers": [1, 2]}
    made = tiny.estimator(tmp_path, params=given)
    given["layers"].append(3)
    made.params["layers"].append(4)
    assert made.params == {"layers": [1, 2]}
    assert tiny.estimator(tmp_path, lambda features: None).params == {}


def test_model_fn_is_bound_to_the_params(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, params={"learning_rate": 0.5})
    with tf.Graph().as_default():
        v1.train.create_global_step()
        spec = made.model_fn({"x": tf.constant([1.0])}, tf.constant([2.0]), lw.ModeKeys.TRAIN, made.config)
        assert isinstance(spec, lw.EstimatorSpec)
        assert spec.mode == lw.ModeKeys.TRAIN


def test_input_fn_gets_mode_params_and_config(tmp_path: Path) -> None:
    seen: list[Any] = []

    def input_fn(mode: str, params: Any, config: Any) -> Any:
        seen.append((mode, params, config.model_dir))
        return tiny.once()

    made = tiny.estimator(tmp_path, params={"a": 1})
    made.train(input_fn, steps=1)
    made.evaluate(input_fn)
    next(made.predict(input_fn))
    assert seen == [(mode, {"a": 1}, str(tmp_path)) for mode in ("train", "eval", "infer")]


@pytest.mark.parametrize("verb", ["train", "evaluate", "predict"])
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"input_fn": None}, "input_fn must be a function that returns the input, got NoneType"),
        ({"input_fn": tiny.once, "hooks": [1]}, "{verb}: hooks: 1 is not a hook"),
        ({"input_fn": tiny.once, "hooks": v1.train.SessionRunHook()}, "{verb}: hooks must be a list of hooks"),
    ],
)
def test_arguments_are_checked_before_anything_is_built(
    tmp_path: Path, verb: str, arguments: dict[str, Any], text: str
) -> None:
    made = tiny.estimator(tmp_path / "new", lambda features: pytest.fail("built"))
    with pytest.raises(WrongType, match=text.format(verb=verb)):
        getattr(made, verb)(**arguments)
    assert not (tmp_path / "new").exists()


def test_reading_a_trained_model(trained: lw.Estimator) -> None:
    assert trained.get_variable_names() == ["b", "global_step", "w"]
    assert trained.get_variable_value("global_step") == 3
    assert trained.latest_checkpoint() == f"{trained.model_dir}/model.ckpt-3"
    assert trained.eval_dir() == f"{trained.model_dir}/eval"
    assert trained.eval_dir("a") == f"{trained.model_dir}/eval_a"


def test_reading_one_that_is_not_trained(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path / "none")
    assert made.latest_checkpoint() is None
    for read in (made.get_variable_names, lambda: made.get_variable_value("w")):
        with pytest.raises(UsageError, match=rf"find trained model .*{tmp_path}/none\. Train it first, or check"):
            read()


def test_an_unknown_variable_gets_the_nearest_names(trained: lw.Estimator) -> None:
    with pytest.raises(UsageError, match=r"has no variable 'W'\. The nearest names are \['w'\]"):
        trained.get_variable_value("W")


@pytest.mark.parametrize("verb", ["evaluate", "predict"])
def test_a_checkpoint_that_is_not_there_is_told_before_anything_is_built(trained: lw.Estimator, verb: str) -> None:
    made = tiny.estimator(trained.model_dir, lambda features: pytest.fail("built"))
    text = r"checkpoint_path '/nowhere/model\.ckpt-7' does not exist"
    with pytest.raises(CheckpointUnreadable, match=text):
        for _ in getattr(made, verb)(tiny.once, checkpoint_path="/nowhere/model.ckpt-7"):
            pass


def test_an_empty_checkpoint_path_is_none(trained: lw.Estimator) -> None:
    assert trained.evaluate(tiny.once, checkpoint_path="")["global_step"] == 3


def test_two_estimators_share_a_directory(trained: lw.Estimator) -> None:
    again = tiny.estimator(trained.model_dir)
    assert again.evaluate(tiny.once) == trained.evaluate(tiny.once)


def test_warm_start_from_a_directory_and_then_ones_own_checkpoints(
    trained: lw.Estimator, tmp_path: Path, log: LogLines
) -> None:
    made = tiny.estimator(tmp_path, warm_start_from=trained.model_dir)
    before = trained.get_variable_value("w")
    assert made.evaluate(tiny.once)["loss"] == trained.evaluate(tiny.once)["loss"]
    assert not log.having("RANDOM")
    made.train(tiny.data, steps=1)
    first = tf.train.load_checkpoint(str(tmp_path / "model.ckpt-0"))
    assert (first.get_tensor("w"), first.get_tensor("global_step")) == (before, 0)
    log.lines.clear()
    made.train(tiny.data, steps=1)
    assert made.get_variable_value("global_step") == 2
    assert not log.having("Warm-start")


def test_a_warm_start_that_is_gone_does_not_hinder_a_trained_model(tmp_path: Path) -> None:
    tiny.trained(tmp_path, steps=1)
    made = tiny.estimator(tmp_path, warm_start_from="/nowhere")
    made.train(tiny.data, steps=1)
    assert made.evaluate(tiny.once)["global_step"] == 2


def test_what_is_no_strategy_of_this_tensorflow_is_refused_with_words(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, train_distribute=object(), eval_distribute=object())
    with pytest.raises(WrongType, match=r"train: RunConfig's strategy must be a tf\.distribute\.Strategy .* builtins"):
        made.train(tiny.data, steps=1)
    with pytest.raises(WrongType, match=r"evaluate: RunConfig's strategy must be a tf\.distribute\.Strategy"):
        made.evaluate(tiny.once)


def test_a_session_with_too_few_devices_for_its_strategy_is_told(tmp_path: Path) -> None:
    strategy = strategy_of(2)
    settings = v1.ConfigProto(device_count={"CPU": 1})
    made = tiny.estimator(tmp_path, train_distribute=strategy, session_config=settings)
    with pytest.raises(UsageError, match=r"MirroredStrategy runs on 2 CPU devices, .*'CPU': 1.*Set it to 2"):
        made.train(tiny.data, steps=1)


INPUTS: dict[str, Any] = {
    "dataset": lambda: tiny.data(),
    "tensors": lambda: ({"x": tf.constant(tiny.X)}, tf.constant(tiny.Y)),
    "arrays": lambda: ({"x": tiny.X}, tiny.Y),
    "one shot iterator": lambda: v1.data.make_one_shot_iterator(tiny.data()).get_next(),
    "initializable iterator": lambda: v1.data.make_initializable_iterator(tiny.data()).get_next(),
    "generator": lambda: tf.data.Dataset.from_generator(
        lambda: iter([({"x": tiny.X}, tiny.Y)]),
        output_signature=({"x": tf.TensorSpec([8], tf.float32)}, tf.TensorSpec([8], tf.float32)),
    ).repeat(),
    "py_function": lambda: tiny.data().map(
        lambda f, y: ({"x": tf.ensure_shape(tf.numpy_function(lambda x: x, [f["x"]], tf.float32), [None])}, y)
    ),
    "shuffled and prefetched": lambda: tiny.data().shuffle(4, seed=1).prefetch(2),
}


@pytest.mark.parametrize("kind", INPUTS)
def test_every_form_of_input_trains_evaluates_and_predicts(tmp_path: Path, kind: str) -> None:
    made = tiny.estimator(tmp_path)
    made.train(INPUTS[kind], steps=3)
    result = made.evaluate(INPUTS[kind], steps=2)
    assert result["global_step"] == 3
    assert 0 < result["loss"] < 50
    rows = made.predict(INPUTS[kind])
    first = [next(rows)["out"] for _ in range(8)]
    w, b = made.get_variable_value("w"), made.get_variable_value("b")
    assert np.allclose(sorted(first), w * tiny.X + b) or kind == "shuffled and prefetched"
    rows.close()  # type: ignore[attr-defined]


def text_model(features: Any, labels: Any, mode: str) -> Any:
    """Words through a table, a sparse and a ragged feature, nested dicts."""
    words = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.range(2, dtype=tf.int64)), 1
    )
    weights = v1.get_variable("weights", [3], initializer=v1.zeros_initializer())
    out = tf.gather(weights, words.lookup(features["text"]["word"]))
    out += tf.reduce_sum(tf.sparse.to_dense(features["sparse"]), axis=1)
    out += tf.cast(tf.reduce_sum(features["ragged"], axis=1), tf.float32)
    if mode == "infer":
        return lw.EstimatorSpec(mode, predictions={"out": out, "word": features["text"]["word"]})
    loss = tf.reduce_mean(tf.square(out - labels))
    step = v1.train.get_global_step()
    return lw.EstimatorSpec(mode, loss=loss, train_op=v1.train.GradientDescentOptimizer(0.1).minimize(loss, step))


def test_words_tables_sparse_ragged_and_nested_features(tmp_path: Path) -> None:
    def input_fn() -> Any:
        lower = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["A", "B", "Z"], ["a", "b", "z"]), "?")
        features = {
            "text": {"word": ["A", "B", "Z", "A"]},
            "sparse": tf.sparse.from_dense([[1.0, 0], [0, 2], [0, 0], [3, 0]]),
            "ragged": tf.ragged.constant([[1], [], [2, 3], [4]]),
        }
        labels = [3.0, 3.0, 6.0, 8.0]
        slices = tf.data.Dataset.from_tensor_slices((features, labels)).repeat(40).batch(2)
        return slices.map(lambda f, y: ({**f, "text": {"word": lower.lookup(f["text"]["word"])}}, y))

    made = tiny.estimator(tmp_path, text_model)
    made.train(input_fn)
    assert made.get_variable_value("weights").tolist() == pytest.approx([1, 1, 1], abs=0.05)
    assert made.evaluate(input_fn)["loss"] < 0.01
    rows = made.predict(input_fn)
    assert [next(rows)["word"] for _ in range(4)] == [b"a", b"b", b"z", b"a"]


def copies(made: lw.Estimator) -> list[lw.Estimator]:
    return [copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))]


def test_an_estimator_is_copied_and_travels(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, params={"learning_rate": 0.01})
    first = list(made.predict(tiny.once))  # holds a session
    for other in copies(made):
        assert (other.model_dir, other.params, other.config.save_checkpoints_steps) == (
            made.model_dir,
            {"learning_rate": 0.01},
            1000,
        )
        assert list(other.predict(tiny.once)) == first
        other.close()
    assert list(made.predict(tiny.once)) == first
    deep = copy.deepcopy(made)
    deep._params["learning_rate"] = 1.0
    assert made.params == {"learning_rate": 0.01}


def test_config_is_given_out_as_a_copy_to_functions_too(tmp_path: Path) -> None:
    config = lw.RunConfig(model_dir=str(tmp_path))
    config.seen = []  # type: ignore[attr-defined]

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> lw.EstimatorSpec:
        config.seen.append(mode)
        return tiny.linear(features, labels, mode, {})

    made = lw.Estimator(model_fn, config=config)
    made.train(tiny.data, steps=1)
    assert made.config.seen == config.seen == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("mode", [None, "eval", "other"])
def test_a_spec_of_another_mode_serves_if_it_has_what_is_needed(mode: Any, tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any) -> lw.EstimatorSpec:
        spec = tiny.linear(features, labels, "train", {})
        return lw.EstimatorSpec(mode, spec.predictions, spec.loss, spec.train_op, spec.eval_metric_ops)

    made = tiny.estimator(tmp_path, model_fn).train(tiny.data, steps=2)
    assert made.evaluate(tiny.once)["global_step"] == 2
