"""`est.layers` and `est.weights`: values from a checkpoint, without a graph."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.inside.paths import models

import lightwell as lw

ORACLE = Path(__file__).resolve().parents[2] / "data" / "oracle-2.15.1" / "model_dir"


def test_a_layers_weights_are_arrays(trained: lw.Estimator) -> None:
    layer = trained.layers["hidden"]
    assert (layer.name, layer.path, layer.kind) == ("hidden", "layers/hidden", "Dense")
    np.testing.assert_array_equal(layer.kernel, trained.get_variable_value("hidden/kernel"))
    assert set(layer.weights) == {"kernel", "bias"}
    assert repr(layer) == "<layer layers/hidden: Dense, kernel [6, 5], bias [5]>"
    assert {"kernel", "bias", "output"} <= set(dir(layer))
    assert trained.layers["layers/rnn/lstm_cell"].kernel.shape == (32, 16)


def test_layers_are_a_mapping(trained: lw.Estimator) -> None:
    assert list(trained.layers)[:3] == ["conv2d", "conv2d_1", "max_pooling2d"]
    assert len(trained.layers) == 10
    assert "hidden" in trained.layers
    assert "conv2d_1" in repr(trained.layers)
    assert trained.layers._repr_html_().startswith("<div><table>")


def test_weights_are_a_mapping_apart_from_the_optimizers_state(trained: lw.Estimator) -> None:
    assert "hidden/kernel" in trained.weights
    assert "global_step" not in trained.weights
    assert not [name for name in trained.weights if "Adam" in name]
    assert len(trained.weights) == 14
    np.testing.assert_array_equal(trained.weights["weights/hidden/bias"], trained.weights["hidden/bias"])
    assert "hidden/kernel/Adam" in trained.weights.slots
    assert trained.weights.slots["hidden/kernel/Adam"].shape == (6, 5)
    assert "hidden/kernel" in repr(trained.weights)
    assert "6×5" in repr(trained.weights)


def test_an_older_checkpoint(trained: lw.Estimator) -> None:
    second = trained.latest_checkpoint().replace("-4", "-2")
    old, new = trained.layers["hidden"].at(second).kernel, trained.layers["hidden"].kernel
    assert not np.array_equal(old, new)
    np.testing.assert_array_equal(trained.weights.at(second)["hidden/kernel"], old)
    assert not np.array_equal(
        trained.layers["hidden"].at(second).output(models.once), trained.layers["hidden"].output(models.once)
    )


def test_a_checkpoint_that_is_not_there_is_answered_with_those_that_are(trained: lw.Estimator) -> None:
    third = trained.latest_checkpoint().replace("-4", "-3")
    for view in (trained.weights, trained.layers["hidden"]):
        with pytest.raises(lw.errors.CheckpointUnreadable, match=r"model.ckpt-3' does not exist.*model.ckpt-4"):
            view.at(third)


def test_what_is_not_there_is_answered_with_what_is(trained: lw.Estimator) -> None:
    with pytest.raises(KeyError, match=r"There is no layer 'hiden' in .* The nearest are \['hidden'"):
        trained.layers["hiden"]
    with pytest.raises(
        KeyError, match=r"There is no weight 'hidden/kernl' in .*model.ckpt-4. The nearest are \['hidden/kernel'"
    ):
        trained.weights["hidden/kernl"]
    with pytest.raises(
        AttributeError, match=r"layer 'hidden' \(Dense\) has no weight 'kernl'; it has \['kernel', 'bias'\]"
    ):
        _ = trained.layers["hidden"].kernl
    with pytest.raises(AttributeError, match="has no weight 'kernel'; it has no weights"):
        _ = trained.layers["dropout"].kernel
    with pytest.raises(KeyError, match=r"There is no weight 3 in .*model.ckpt-4. It has \['conv2d/bias', 'conv2d/kern"):
        trained.weights[3]
    with pytest.raises(KeyError, match=r"There is no layer 3 in .* It has \['conv2d', 'conv2d_1', 'max_pooling2d', "):
        trained.layers[3]
    assert 3 not in trained.weights
    assert 3 not in trained.layers


def test_what_is_elsewhere_says_where(trained: lw.Estimator) -> None:
    for name in ("hidden/kernel/Adam", "slots/hidden/kernel/Adam"):
        with pytest.raises(KeyError, match=rf"'{name}' is optimizer state: est.weights.slots\['hidden/kernel/Adam'\]"):
            trained.weights[name]
    with pytest.raises(KeyError, match=r"'weights/hidden/bias' is a weight: est.weights\['hidden/bias'\]"):
        trained.weights.slots["weights/hidden/bias"]
    with pytest.raises(KeyError, match=r"'hidden/kernel' is a weight of the layer 'hidden': est.weights\['hidden/kern"):
        trained.layers["hidden/kernel"]
    with pytest.raises(KeyError, match=r"is the step counter: est.get_variable_value\('global_step'\)"):
        trained.weights["global_step"]
    with pytest.raises(
        KeyError, match=r"There is no optimizer state 'hiden/bias/Adam' in .* nearest are \['hidden/bias/A"
    ):
        trained.weights.slots["hiden/bias/Adam"]


def test_one_of_several_calls(trained: lw.Estimator) -> None:
    layer = trained.layers["shared:1"]
    assert repr(layer) == "<layer layers/shared:1: Dense called 2 times, kernel [6, 6], bias [6]>"
    first, second = trained.layers["shared"].output(models.once), layer.output(models.once)
    np.testing.assert_allclose(np.tanh(first @ layer.kernel + layer.bias), second, rtol=1e-5, atol=1e-6)
    with pytest.raises(KeyError, match="There is no layer 'shared:2'"):
        trained.layers["shared:2"]


def test_outputs_that_are_not_one_array_over_examples(tmp_path: Path) -> None:
    lengths = [3, 3, 2, 5]

    def input_fn() -> Any:
        def examples() -> Any:
            yield from ({"x": np.full([length], length, np.float32)} for length in lengths)

        spec = {"x": tf.TensorSpec([None], tf.float32)}
        return tf.data.Dataset.from_generator(examples, output_signature=spec).padded_batch(2)

    def model_fn(features: Mapping[str, Any], mode: str) -> lw.EstimatorSpec:
        x = lw.layers.dropout(features["x"], 0.5, training=False, name="by_example")
        lw.layers.dropout(tf.transpose(x), 0.5, training=False, name="time_first")
        lw.layers.dropout(tf.reduce_sum(x), 0.5, training=False, name="number")
        count = tf.compat.v1.assign_add(tf.compat.v1.train.get_global_step(), 1)
        return lw.EstimatorSpec(mode, x, loss=tf.reduce_sum(x), train_op=count)

    made = models.estimator(model_fn, tmp_path).train(input_fn)
    assert [value.tolist() for value in made.layers["by_example"].output(input_fn)] == [
        [3, 3, 3],
        [3, 3, 3],
        [2, 2, 0, 0, 0],
        [5, 5, 5, 5, 5],
    ]
    assert [value.tolist() for value in made.layers["time_first"].output(input_fn)] == [
        [[3, 3]] * 3,
        [[2, 5], [2, 5], [0, 5], [0, 5], [0, 5]],
    ]
    assert made.layers["number"].output(input_fn) == [18, 29]


def test_an_untrained_model_says_so(tmp_path: Path) -> None:
    made = models.estimator(models.mlp, tmp_path)
    with pytest.raises(lw.errors.UsageError, match="Could not find trained model in model_dir: "):
        len(made.weights)


def test_a_model_dir_of_tf_estimator(tmp_path: Path) -> None:
    directory = tmp_path / "theirs"
    shutil.copytree(ORACLE, directory)
    made = models.estimator(models.mlp, directory)
    names = tf.train.list_variables(str(directory))
    assert set(made.weights) | set(made.weights.slots) | {"global_step"} == {name for name, _ in names}
    first = next(iter(made.layers))
    assert made.layers[first].kind == "?"
    assert all(isinstance(value, np.ndarray) for value in made.layers[first].weights.values())
