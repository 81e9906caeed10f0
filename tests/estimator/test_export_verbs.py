"""The export verbs: what they return and where, and that what they write can be used."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1


def receiver() -> Any:
    x = v1.placeholder(tf.float32, [None], name="x")
    return lw.export.ServingInputReceiver({"x": x}, {"x": x})


def supervised() -> Any:
    return lw.estimator.experimental.build_raw_supervised_input_receiver_fn(
        {"x": tf.TensorSpec([None])}, tf.TensorSpec([None])
    )()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> lw.Estimator:
    return tiny.trained(tmp_path_factory.mktemp("trained"))


def predicted(trained: lw.Estimator) -> Any:
    return np.array([row["out"] for row in trained.predict(tiny.once)])


def served(folder: bytes, name: str = "serving_default", **fed: Any) -> Any:
    return tf.saved_model.load(folder.decode(), tags=["serve"]).signatures[name](
        **{k: tf.constant(v) for k, v in fed.items()}
    )


def test_what_is_loaded_predicts_the_same(trained: lw.Estimator, tmp_path: Path) -> None:
    folder = trained.export_saved_model(tmp_path / "a" / "b", receiver)
    assert isinstance(folder, bytes)
    path = Path(folder.decode())
    assert path.parent == tmp_path / "a" / "b"
    assert path.name.isdigit()
    assert len(path.name) == 10
    given = served(folder, x=tiny.X)
    assert set(given) == {"out", "twice"}
    np.testing.assert_allclose(given["out"], predicted(trained), rtol=1e-6)
    assert sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()) == [
        "saved_model.pb",
        "variables/variables.data-00000-of-00001",
        "variables/variables.index",
    ]


def test_the_old_name(trained: lw.Estimator, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "tensorflow"):
        folder = trained.export_savedmodel(str(tmp_path), receiver, as_text=True, strip_default_attrs=True)
    assert "This function has been renamed, use `export_saved_model` instead." in caplog.text
    assert (Path(folder.decode()) / "saved_model.pbtxt").is_file()


def test_all_modes_at_once(trained: lw.Estimator, tmp_path: Path) -> None:
    folder = trained.experimental_export_all_saved_models(
        str(tmp_path), {lw.ModeKeys.PREDICT: receiver, lw.ModeKeys.TRAIN: supervised, lw.ModeKeys.EVAL: supervised}
    )
    for tag, outputs in (("train", {"loss", "predictions/out"}), ("eval", {"loss", "predictions/out"})):
        loaded = tf.saved_model.load(folder.decode(), tags=[tag])
        given = loaded.signatures[tag](x=tf.constant(tiny.X), label=tf.constant(tiny.Y))
        assert outputs <= set(given)
    np.testing.assert_allclose(served(folder, x=tiny.X)["out"], predicted(trained), rtol=1e-6)


def test_the_receiver_is_told_from_the_last_training(trained: lw.Estimator, tmp_path: Path) -> None:
    folder = trained.export_saved_model(tmp_path)
    np.testing.assert_allclose(served(folder, x=tiny.X[:3])["out"], predicted(trained)[:3], rtol=1e-6)
