"""`Estimator.export`: one call, another form, and a report of how far it is apart."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw

v1 = tf.compat.v1


def classifier(features: Any, labels: Any, mode: str) -> Any:
    """Floats, whole numbers and texts come out of it."""
    hidden = lw.layers.dense(features["x"], 8, tf.nn.relu)
    logits = lw.layers.dense(hidden, 3)
    ids = tf.argmax(logits, 1)
    predictions = {"probabilities": tf.nn.softmax(logits), "class": ids}
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, predictions)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    step = v1.train.AdamOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return lw.EstimatorSpec(mode, predictions, loss, step)


X = np.random.RandomState(0).randn(40, 4).astype(np.float32)


def rows() -> Any:
    return tf.data.Dataset.from_tensor_slices(({"x": X}, (X[:, 0] > 0).astype(np.int64))).batch(16)


@pytest.fixture(scope="module")
def made(tmp_path_factory: Any) -> lw.Estimator:
    return tiny.estimator(tmp_path_factory.mktemp("model"), classifier).train(rows)


def determinant(features: Any, labels: Any, mode: str) -> Any:
    """TFLite has no op for it."""
    w = v1.get_variable("w", [])
    x = tf.reshape(features["x"], [-1, 2, 2])
    out = w * tf.linalg.det(x)
    return lw.EstimatorSpec(mode, {"out": out}, tf.reduce_sum(out), v1.assign_add(v1.train.get_global_step(), 1))


@pytest.fixture(scope="module")
def not_for_tflite(tmp_path_factory: Any) -> lw.Estimator:
    return tiny.estimator(tmp_path_factory.mktemp("determinant"), determinant).train(rows)


@pytest.mark.filterwarnings("ignore:.*tf.lite.Interpreter is deprecated")
def test_tflite_on_the_rows_of_an_input_fn(made: lw.Estimator) -> None:
    result = made.export("tflite", rows=rows)
    assert result.path == os.path.join(made.model_dir, "export", "tflite", "model.tflite")
    assert result.is_close
    assert result.rows == 40
    assert result.largest_difference is not None
    assert 0 <= result.largest_difference < 1e-5
    interpreter = tf.lite.Interpreter(model_path=result.path)
    got = interpreter.get_signature_runner("serving_default")(x=X)
    expected = np.stack([row["probabilities"] for row in made.predict(rows)])
    # The report compares the served model, in batches of its own: each side may round its last bit the other way.
    last_bits = float(2 * np.finfo(np.float32).eps)
    assert np.abs(got["probabilities"] - expected).max() == pytest.approx(result.largest_difference, abs=last_bits)


def test_the_report(made: lw.Estimator, tmp_path: Path, log: LogLines) -> None:
    result = made.export("tflite", tmp_path / "m.tflite", rows={"x": X, "label": X[:, 0]})
    first, source, checked, *outputs = str(result).splitlines()
    assert first.startswith(f"tflite: {tmp_path / 'm.tflite'} (")
    assert source == f"  from     {made.latest_checkpoint()}, signature serving_default"
    assert checked == "  checked  40 rows given"
    assert [line.split()[0] for line in outputs] == ["class", "probabilities"]
    assert outputs[0].endswith("equal")
    assert log.having("INFO Exported tflite: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.tflite"], "nothing else is left behind"


def test_without_rows_it_says_that_they_are_made_up(made: lw.Estimator, tmp_path: Path) -> None:
    result = made.export("tflite", tmp_path / "m.tflite")
    assert "checked  8 made-up rows: pass rows to check on real ones" in str(result)
    assert result.is_close


def test_a_saved_model_is_compared_with_the_estimator(made: lw.Estimator, tmp_path: Path) -> None:
    result = made.export(path=tmp_path, rows=rows)
    assert result.largest_difference == 0.0
    assert result.rows == 40
    assert os.path.dirname(result.path) == str(tmp_path)
    served = tf.saved_model.load(result.path).signatures["serving_default"]
    expected = np.stack([row["probabilities"] for row in made.predict(rows)])
    assert np.allclose(served(x=tf.constant(X))["probabilities"], expected, atol=1e-6)


def test_a_difference_is_told(made: lw.Estimator, tmp_path: Path, monkeypatch: Any, log: LogLines) -> None:
    """A converter that went wrong."""
    from lightwell.estimator.export.conversions import convert

    def changed(content: bytes, signature: str, arrays: Any) -> Any:
        outputs = tflite.call(content, signature, arrays)
        outputs["probabilities"][7] += 0.5
        outputs["class"][:2] += 1
        return outputs

    tflite = convert.CONVERTERS["tflite"]
    monkeypatch.setattr(convert, "CONVERTERS", {"tflite": convert.Converter(tflite.make, changed)})
    result = made.export("tflite", tmp_path / "m.tflite", rows={"x": X})
    assert not result.is_close
    assert result.largest_difference == pytest.approx(0.5, abs=1e-5)
    assert "probabilities  largest difference 0.5 (row 7, values up to" in str(result)
    assert "class          2 values differ (the first in row 0)  <- NOT THE SAME" in str(result)
    assert log.having("WARNING Exported tflite: ")


def test_an_op_that_prevents_it_is_named(not_for_tflite: lw.Estimator, tmp_path: Path) -> None:
    text = (
        r"TFLite: the model cannot be converted, as TFLite has no op for MatrixDeterminant\. Either allow "
        r"TensorFlow's own \(select_tf_ops=True, --select-tf-ops\) .* or do this step outside of the model\."
    )
    with pytest.raises(ValueError, match=text):
        not_for_tflite.export("tflite", tmp_path / "m.tflite")
    assert list(tmp_path.iterdir()) == []


def test_with_tensorflows_ops_it_is_written(not_for_tflite: lw.Estimator, tmp_path: Path) -> None:
    """Whether it can be called here depends on the interpreter, which may have none of TensorFlow's ops."""
    result = not_for_tflite.export("tflite", tmp_path / "m.tflite", rows={"x": X}, select_tf_ops=True)
    assert b"FlexMatrixDeterminant" in (tmp_path / "m.tflite").read_bytes()
    if result.not_checked:
        assert "NOT CHECKED: it holds ops of TensorFlow, and the TFLite interpreter of this Python has none" in str(
            result
        )
        assert result.largest_difference is None
        assert not result.is_close
    else:
        assert result.is_close


def test_one_that_parses_examples_is_told_about_receivers(made: lw.Estimator, tmp_path: Path) -> None:
    receiver = lw.estimator.export.build_parsing_serving_input_receiver_fn(
        {"x": tf.io.FixedLenFeature([4], tf.float32)}
    )
    with pytest.raises(
        ValueError, match=r"no op for ParseExampleV2\. They parse .*export with a receiver that takes the"
    ):
        made.export("tflite", tmp_path / "m.tflite", serving_input_receiver_fn=receiver)
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.extend(X[0])
    result = made.export(path=tmp_path, rows=[example.SerializeToString()], serving_input_receiver_fn=receiver)
    assert result.largest_difference == 0.0


def test_the_log_is_left_as_it_was(made: lw.Estimator, tmp_path: Path) -> None:
    before = list(logging.getLogger().handlers)
    made.export("tflite", tmp_path / "m.tflite")
    assert logging.getLogger().handlers == before


def test_an_older_checkpoint(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, save_checkpoints_steps=1).train(tiny.data, steps=3)
    old = str(tmp_path / "model.ckpt-1")
    result = made.export("tflite", rows={"x": tiny.X}, checkpoint_path=old)
    assert f"from     {old}" in str(result)
    expected = [row["out"] for row in made.predict(tiny.once, checkpoint_path=old)]
    with open(result.path, "rb") as file:
        content = file.read()
    from lightwell.estimator.export.conversions.tflite import call_tflite

    assert np.allclose(call_tflite(content, "serving_default", {"x": tiny.X})["out"], expected)


def test_onnx_without_its_packages_says_what_to_install(made: lw.Estimator, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "tf2onnx", None)
    monkeypatch.setitem(sys.modules, "tf2onnx.convert", None)
    with pytest.raises(
        ValueError, match=r'ONNX: the package tf2onnx is not installed\. .* pip install "lightwell\[onnx\]"'
    ):
        made.export("onnx", tmp_path / "m.onnx")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"to": "keras"}, r"to='keras' is no form; there is 'saved_model', 'tflite', 'onnx'\."),
        ({"rows": {"y": X}}, r"rows: the model takes \['x'\], and the rows have \['y'\]: \['x'\] is missing\."),
        ({"rows": {"x": X[:, :2]}}, r"rows: 'x' must have shape \(None, 4\), got \(40, 2\)\."),
        ({"rows": {"x": [["a", "b", "c", "d"]]}}, r"rows: 'x' must be float32, which .* is not\."),
        ({"signature": "other"}, r"has no signature 'other'; it has \['serving_default'\]\. Name one of them\."),
        (
            {"to": "onnx", "select_tf_ops": True},
            r"ONNX: ops of TensorFlow cannot stay in it; leave select_tf_ops out\.",
        ),
    ],
)
def test_mistakes_are_told(made: lw.Estimator, tmp_path: Path, wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        made.export(**{"to": "tflite", "path": tmp_path / "m", **wrong})


def test_a_path_that_cannot_be_written(made: lw.Estimator, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"export: .*file/m\.tflite cannot be written: .* Name another path"):
        made.export("tflite", tmp_path / "file" / "m.tflite")
