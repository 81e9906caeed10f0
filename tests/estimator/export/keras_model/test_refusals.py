"""What cannot become a Keras model is told: which ops, which lines made them, and the ways on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers
from tests import children
from tests.estimator.export.keras_model.converting import NUMBERS, SEQUENCES, estimator, once, trained

import lightwell as lw

v1 = tf.compat.v1


def text_of(net: Any, features: Any, model_dir: Path) -> str:
    with pytest.raises(ValueError, match=r"^to_keras: ") as caught:
        estimator(net, model_dir).to_keras(once(features))
    assert isinstance(caught.value, lw.errors.UsageError)
    return str(caught.value)


def line_of(text: str) -> int:
    """The number of the line of this file that has the text."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line and "line_of" not in line)


def test_a_loop_is_told_with_its_line_and_the_way_on(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        outputs, _ = v1.nn.dynamic_rnn(lw.rnn_cell.BasicLSTMCell(3), features["steps"], dtype=tf.float32)
        return {"out": lw.layers.dense(outputs, 2)}

    text = text_of(net, SEQUENCES, tmp_path)
    assert "expected a model of layers and ops that depend on nothing but their inputs and weights" in text
    assert "While 'rnn/while'" in text
    assert "for sequences Keras has recurrent layers: keras.layers.LSTM" in text
    where = line_of("outputs, _ = v1.nn.dynamic_rnn(")
    assert f"made by {__file__}:{where}, in net: outputs, _ = v1.nn.dynamic_rnn(lw.rnn_cell" in text
    assert 'path = est.export_saved_model("exports").decode()' in text
    assert 'keras.layers.TFSMLayer(path, call_endpoint="serving_default")' in text


def test_all_ops_in_the_way_are_told_at_once(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        noise = features["x"] + tf.random.normal([8])
        called = tf.numpy_function(lambda x: x * 2, [features["x"]], tf.float32)
        fed = v1.placeholder_with_default(tf.constant(1.0), [])
        chosen = tf.cond(tf.reduce_sum(noise) > 0, lambda: noise, lambda: -noise)
        return {"noise": chosen, "called": tf.ensure_shape(called, [None, 8]) * fed}

    text = text_of(net, NUMBERS, tmp_path)
    assert "RandomStandardNormal 'random_normal/RandomStandardNormal' draws random numbers" in text
    assert "If 'cond'" in text
    assert "'PyFunc' reads or writes what is kept outside of the model" in text
    assert "PlaceholderWithDefault 'PlaceholderWithDefault' is fed from elsewhere than the features" in text


class Repeats(layers.Layer):
    """A layer that has a loop inside, and cannot be made again."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def call(self, inputs: Any) -> Any:
        return tf.map_fn(self.function, inputs)


def test_a_layer_that_could_not_be_copied_is_told_as_the_cause(tmp_path: Path) -> None:
    text = text_of(lambda features, training: {"out": Repeats(lambda row: row * 2)(features["x"])}, NUMBERS, tmp_path)
    assert "Layer 'repeats' was not copied: making it from its get_config() raised NotImplementedError" in text


class Forgets(layers.Layer):
    """A layer whose configuration leaves out what it computes with."""

    def __init__(self, factor: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, inputs: Any) -> Any:
        return inputs * self.factor

    def get_config(self) -> dict[str, Any]:
        return dict(super().get_config())


def test_a_copy_that_computes_something_else_is_found_out(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        return {"out": Forgets(factor=3.0)(layers.Dense(2)(features["x"]))}

    made = trained(net, NUMBERS, tmp_path)
    text = (
        r"must give what predict gives, but on the first batch of input_fn 'out' differs by .* leave a setting out of "
        r"get_config\(\).* tf\.TensorSpec instead of an input_fn"
    )
    with pytest.raises(lw.errors.UsageError, match=text):
        made.to_keras(once(NUMBERS))
    assert made.to_keras(NUMBERS)(NUMBERS)["out"].shape == (12, 2)


def test_features_that_are_no_dense_tensors(tmp_path: Path) -> None:
    def sparse() -> Any:
        return once(NUMBERS)().map(lambda row: {"x": tf.sparse.from_dense(row["x"])})

    made = estimator(lambda features, training: {"out": tf.sparse.to_dense(features["x"])}, tmp_path)
    with pytest.raises(lw.errors.InputFnError, match=r"^to_keras: sparse features cannot be fed as arrays"):
        made.to_keras(sparse)


def test_features_of_unknown_rank(tmp_path: Path) -> None:
    made = estimator(lambda features, training: {"out": features["x"] * 2.0}, tmp_path)
    with pytest.raises(lw.errors.UsageError, match=r"feature 'x' must have a known number of axes.*tf.ensure_shape"):
        made.to_keras({"x": tf.TensorSpec(None, tf.float32)})


def test_an_input_that_nobody_told(tmp_path: Path) -> None:
    made = estimator(lambda features, training: {"out": features["x"] * 2.0}, tmp_path)
    with pytest.raises(
        lw.errors.UsageError, match=r"^to_keras: the structure of the input is not known.*est\.to_keras"
    ):
        made.to_keras()


def test_keras_on_another_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keras.config, "backend", lambda: "jax")
    made = estimator(lambda features, training: {"out": features["x"] * 2.0}, tmp_path)
    with pytest.raises(lw.errors.UsageError, match="Keras must compute with TensorFlow, but its backend is 'jax'"):
        made.to_keras(once(NUMBERS))


_WITHOUT_EAGER = """
import sys
import tensorflow as tf
import lightwell as lw
tf.compat.v1.disable_eager_execution()
made = lw.Estimator(lambda features, mode: lw.EstimatorSpec(mode, predictions=features["x"] * 2), sys.argv[1])
try:
    made.to_keras({"x": tf.TensorSpec([None, 2], tf.float32)})
except ValueError as error:
    print(error)
"""


def test_a_program_without_eager_execution(tmp_path: Path) -> None:
    run = [sys.executable, "-c", _WITHOUT_EAGER, str(tmp_path)]
    done = subprocess.run(run, env=children.environment(), capture_output=True, text=True, check=False)
    assert "Keras 3 needs eager execution, which this program has switched off" in done.stdout, done.stderr


def test_a_model_that_draws_in_predict_is_found_out(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        return {"out": layers.Dropout(0.5)(layers.Dense(8)(features["x"]), training=True)}

    made = trained(net, NUMBERS, tmp_path)
    with pytest.raises(lw.errors.UsageError, match="or does the model draw random numbers in predict"):
        made.to_keras(once(NUMBERS))
    outputs = made.to_keras(NUMBERS)(NUMBERS)["out"]
    assert 0.2 < np.mean(outputs == 0) < 0.8
