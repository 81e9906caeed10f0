"""What goes wrong in an export says where, what was expected, what came and what to do; nothing is left behind."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> lw.Estimator:
    return tiny.trained(tmp_path_factory.mktemp("trained"))


def placeholder() -> Any:
    return v1.placeholder(tf.float32, [None], name="x")


def of_nothing() -> Any:
    return lw.export.ServingInputReceiver({"x": tf.ones([2])}, {})


def an_input_fn() -> Any:
    return {"x": placeholder()}


def of_another_feature() -> Any:
    return lw.export.ServingInputReceiver({"y": placeholder()}, placeholder())


def whole() -> Any:
    x = placeholder()
    return lw.export.ServingInputReceiver({"x": x}, {"x": x})


REFUSALS: dict[str, tuple[Callable[[lw.Estimator, Path], Any], type[Exception], str]] = {
    "a receiver without tensors": (
        lambda est, out: est.export_saved_model(out, of_nothing),
        ValueError,
        r"export_saved_model: the receiver function 'of_nothing' \(mode 'infer'\) returned a receiver without tensors: "
        r"receiver_tensors={}, so nothing can be fed\. Expected placeholders by name",
    ),
    "a receiver function that returns features": (
        lambda est, out: est.export_saved_model(out, an_input_fn),
        ValueError,
        r"export_saved_model: the receiver function 'an_input_fn' \(mode 'infer'\) must return a ServingInputReceiver, "
        r"TensorServingInputReceiver or SupervisedInputReceiver, got dict {'x': .*}\. .*build_raw_",
    ),
    "a receiver in place of its function": (
        lambda est, out: est.export_saved_model(out, {"x": 3}),  # type: ignore[arg-type]
        TypeError,
        r"export_saved_model: the receiver of mode 'infer' must be a function that returns it, got dict {'x': 3}",
    ),
    "a feature that the receiver does not give": (
        lambda est, out: est.export_saved_model(out, of_another_feature),
        KeyError,
        r"model_fn 'linear': there is no key 'x'; the receiver function gives features with 'y'",
    ),
    "no mode": (
        lambda est, out: est.experimental_export_all_saved_models(out, {"predict": whole}),
        ValueError,
        r"No valid modes for exporting found\. Got \['predict'\]; expected receiver functions by mode, of \['train', ",
    ),
    "no map of modes": (
        lambda est, out: est.experimental_export_all_saved_models(out, whole),  # type: ignore[arg-type]
        TypeError,
        r"input_receiver_fn_map must be a dict of receiver function by mode, got function",
    ),
    "no receiver function where none can be told": (
        lambda est, out: est.export_saved_model(out, experimental_mode="eval"),
        ValueError,
        r"An input_receiver_fn must be defined for mode 'eval'\. .*build_raw_supervised_input_receiver_fn makes one",
    ),
    "training without labels": (
        lambda est, out: est.export_saved_model(out, whole, experimental_mode="train"),
        ValueError,
        r"the receiver function '.*' gave no labels in mode 'train', and model_fn 'linear' failed",
    ),
    "a checkpoint that is not there": (
        lambda est, out: est.export_saved_model(out, whole, checkpoint_path="/nowhere/model.ckpt-1"),
        ValueError,
        r"checkpoint_path.*/nowhere/model\.ckpt-1",
    ),
    "a file that is not there": (
        lambda est, out: est.export_saved_model(out, whole, assets_extra={"a/b": "/nowhere/words.txt"}),
        tf.errors.NotFoundError,
        r"export_saved_model: assets_extra\['a/b'\]: there is no file '/nowhere/words\.txt'",
    ),
    "files that are a list": (
        lambda est, out: est.export_saved_model(out, whole, assets_extra=["words.txt"]),  # type: ignore[arg-type]
        ValueError,
        r"assets_extra must be a dict of path in the export to file, got list",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str, trained: lw.Estimator, tmp_path: Path) -> None:
    make, kind, text = REFUSALS[name]
    with pytest.raises(kind, match=text) as caught:
        make(trained, tmp_path / "out")
    assert isinstance(caught.value, lw.errors.LightwellError)
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").iterdir()) == []


def test_no_trained_model(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"export_saved_model: Couldn't find trained model at .*Train it first"):
        tiny.estimator(tmp_path / "model").export_saved_model(tmp_path / "out", whole)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("outputs", [{}, None])
def test_a_signature_without_outputs(outputs: Any, tmp_path: Path) -> None:
    def no_outputs(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        if mode == lw.ModeKeys.PREDICT and outputs is None:
            return lw.EstimatorSpec(mode, loss=tf.constant(0.0))
        return spec._replace(export_outputs=outputs)

    tiny.trained(tmp_path / "model")
    made = tiny.estimator(tmp_path / "model", no_outputs)
    text = (
        r"Missing predictions.*Pass predictions="
        if outputs is None
        else r"model_fn: the spec for mode 'infer' has no outputs to export, export_outputs={}: .*nobody can call\. "
        r"Leave export_outputs out to serve the predictions, or name some"
    )
    with pytest.raises(lw.errors.ModelFnError, match=text):
        made.export_saved_model(tmp_path / "out", whole)


@pytest.mark.parametrize("where", ["{tmp_path}/file/out", "/proc/out"])
def test_a_directory_that_cannot_be_written(where: str, trained: lw.Estimator, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    text = (
        r"export_saved_model: '.*/out' cannot be written: .*Nothing has been exported\. Choose another export_dir_base"
    )
    with pytest.raises(OSError, match=text) as caught:
        trained.export_saved_model(where.format(tmp_path=tmp_path), whole)
    assert isinstance(caught.value, lw.errors.ModelDirError)
    assert isinstance(caught.value, tf.errors.OpError)


def test_a_signature_that_cannot_be_computed_is_left_out(
    trained: lw.Estimator, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def forgets_one() -> Any:
        x, y = placeholder(), v1.placeholder(tf.float32, [None], name="y")
        return lw.export.ServingInputReceiver({"x": x + y}, {"x": x})

    with caplog.at_level(logging.INFO, "tensorflow"):
        folder = trained.export_saved_model(tmp_path, forgets_one)
    assert not tf.saved_model.load(folder.decode()).signatures
    (warning,) = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    assert warning.startswith(
        "Export includes no signatures! The signature's input tensors ['x:0'] are insufficient to"
    )
    assert "depends on the placeholder 'y'. Put that into receiver_tensors." in warning


def test_the_structure_of_the_input_is_not_known(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path / "model")
    (tmp_path / "model" / "description.json").unlink()
    text = (
        r"export_saved_model: the structure of the input is not known, .*est\.export_saved_model\(dir, .*build_raw_serv"
    )
    with pytest.raises(ValueError, match=text):
        made.export_saved_model(tmp_path / "out")


def test_sparse_features_need_a_receiver(tmp_path: Path) -> None:
    def sparse_model(features: Any, labels: Any, mode: str) -> Any:
        output = lw.layers.dense(tf.sparse.to_dense(features["s"]), 1)
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return lw.EstimatorSpec(mode, output, tf.reduce_sum(output), train_op)

    def sparse_data() -> Any:
        return tf.data.Dataset.from_tensors({"s": tf.sparse.from_dense(tf.ones([2, 3]))})

    made = lw.Estimator(sparse_model, str(tmp_path / "model"))
    made.train(sparse_data)
    text = r"export_saved_model: sparse features cannot be fed as arrays\. Give est\.export_saved_model a serving"
    with pytest.raises(lw.errors.InputFnError, match=text):
        made.export_saved_model(tmp_path / "out")
