"""The Keras model in use: predict, summary, fit, other checkpoints, other ways to tell the input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests import children
from tests.estimator.export.keras_model.converting import NUMBERS, ROWS, difference, estimator, once, trained

import lightwell as lw

v1 = tf.compat.v1


def net(features: Any, training: bool) -> Any:
    hidden = lw.layers.dense(features["x"], 6, activation=tf.nn.relu, name="hidden")
    normal = lw.layers.batch_normalization(hidden, training=training, name="normal", momentum=0.5)
    logits = lw.layers.dense(lw.layers.dropout(normal, 0.1, training=training), 3, name="logits")
    return {"logits": logits, "classes": tf.argmax(logits, axis=1)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: Any) -> lw.Estimator:
    """Trained twice, so that there are two checkpoints."""
    directory = tmp_path_factory.mktemp("model")
    trained(net, NUMBERS, directory)
    return trained(net, NUMBERS, directory)


def test_batches_of_any_size(made: lw.Estimator) -> None:
    model = made.to_keras(once(NUMBERS))
    whole = model.predict(NUMBERS, verbose=0)
    assert {key: value.shape for key, value in whole.items()} == {"logits": (ROWS, 3), "classes": (ROWS,)}
    for size in (1, 5):
        np.testing.assert_allclose(
            model.predict(NUMBERS, batch_size=size, verbose=0)["logits"], whole["logits"], atol=1e-6
        )


def test_a_batch_size_that_input_fn_fixes_is_not_the_models(made: lw.Estimator) -> None:
    model = made.to_keras(lambda: tf.data.Dataset.from_tensor_slices(NUMBERS).batch(4, drop_remainder=True))
    assert tuple(model.input["x"].shape) == (None, 8)


def test_the_summary_has_the_names_of_model_fn(made: lw.Estimator) -> None:
    lines: list[str] = []
    made.to_keras(once(NUMBERS)).summary(print_fn=lambda text, **_: lines.append(text))
    text = "\n".join(lines)
    assert 'Model: "net_fn"' in text
    for name in ("hidden (Dense)", "normal", "logits (Dense)", "classes"):
        assert name in text


def test_it_trains_on(made: lw.Estimator) -> None:
    model = made.to_keras(once(NUMBERS))
    before = {weight.path: weight.numpy() for weight in model.weights}
    labels = np.arange(ROWS) % 3
    loss = {"logits": keras.losses.SparseCategoricalCrossentropy(from_logits=True)}
    model.compile(keras.optimizers.Adam(0.05), loss=loss)
    losses = model.fit(NUMBERS, {"logits": labels}, epochs=8, batch_size=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    moved = {weight.path for weight in model.weights if np.abs(weight.numpy() - before[weight.path]).max() > 1e-6}
    assert moved == set(before)
    assert "normal/moving_mean" in moved
    rows = [row["logits"] for row in made.predict(once(NUMBERS))]
    assert np.abs(model.predict(NUMBERS, verbose=0)["logits"] - rows).max() > 1e-3  # the Estimator stays as it was


def test_another_checkpoint(made: lw.Estimator) -> None:
    older = str(Path(made.model_dir) / "model.ckpt-3")
    model = made.to_keras(once(NUMBERS), checkpoint_path=older)
    rows = [row["logits"] for row in made.predict(once(NUMBERS), checkpoint_path=older)]
    np.testing.assert_allclose(model(NUMBERS)["logits"], rows, atol=1e-6)
    assert np.abs(model(NUMBERS)["logits"] - made.to_keras(once(NUMBERS))(NUMBERS)["logits"]).max() > 1e-5


def test_the_input_as_training_saw_it_or_as_it_is_told(made: lw.Estimator) -> None:
    for inputs in (None, {"x": tf.TensorSpec([None, 8], tf.float32)}, NUMBERS):
        assert difference(made.to_keras(inputs), made, NUMBERS) <= 1e-6


def test_the_difference_on_real_rows_is_told(made: lw.Estimator, log: Any) -> None:
    made.to_keras(once(NUMBERS))
    (line,) = log.having("to_keras:")
    assert "on the first batch of input_fn the Keras model differs from predict by at most " in line


def test_weights_are_those_that_predict_uses(tmp_path: Path) -> None:
    """Here a saver that restores moving averages in place of the weights themselves."""

    def averaged(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        out = lw.layers.dense(features["x"], 2, name="dense")
        average = v1.train.ExponentialMovingAverage(0.9)
        if mode == lw.ModeKeys.PREDICT:
            scaffold = v1.train.Scaffold(saver=v1.train.Saver(average.variables_to_restore()))
            return lw.EstimatorSpec(mode, predictions={"out": out}, scaffold=scaffold)
        loss = tf.reduce_mean(tf.square(out - 1.0))
        step = v1.train.GradientDescentOptimizer(0.5).minimize(loss, v1.train.get_global_step())
        with tf.control_dependencies([step]):
            return lw.EstimatorSpec(mode, loss=loss, train_op=average.apply(v1.trainable_variables()))

    made = lw.Estimator(averaged, str(tmp_path)).train(lambda: once(NUMBERS)().repeat(), steps=5)
    model = made.to_keras(once(NUMBERS))
    assert difference(model, made, NUMBERS) <= 1e-6
    assert np.abs(model.get_layer("dense").kernel - made.weights["dense/kernel"]).max() > 1e-4


def test_a_model_without_a_checkpoint_is_one_of_initial_weights(tmp_path: Path, log: Any) -> None:
    model = estimator(net, tmp_path).to_keras(once(NUMBERS))
    assert log.having("running initialization to convert it to Keras")
    assert model(NUMBERS)["logits"].shape == (ROWS, 3)


def test_one_tensor_as_features(tmp_path: Path) -> None:
    made = trained(lambda features, training: {"out": lw.layers.dense(features, 2)}, NUMBERS["x"], tmp_path)
    model = made.to_keras(once(NUMBERS["x"]))
    assert difference(model, made, NUMBERS["x"]) <= 1e-6


_LOADS = """
import sys
import keras, lightwell
import numpy as np
model = keras.saving.load_model(sys.argv[1], custom_objects=lightwell.keras_objects)
print(model.predict({"x": np.ones([2, 8], "float32")}, verbose=0)["places"].tolist())
"""


def test_another_program_loads_what_has_layers_of_ours(tmp_path: Path) -> None:
    def with_top(features: Any, training: bool) -> Any:
        hidden = lw.layers.dense(features["x"], 5)
        return {"places": tf.nn.top_k(hidden, 2).indices, "hidden": hidden}

    model = trained(with_top, NUMBERS, tmp_path).to_keras(once(NUMBERS))
    file = str(tmp_path / "model.keras")
    model.save(file)
    done = subprocess.run(
        [sys.executable, "-c", _LOADS, file], env=children.environment(), capture_output=True, text=True, check=True
    )
    expected = model({"x": np.ones([2, 8], "float32")})["places"].numpy().tolist()
    assert done.stdout.strip().splitlines()[-1] == str(expected)
