"""Whatever a model is made of, what was exported predicts what the Estimator predicts, loaded in every way there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.export import kinds

v1 = tf.compat.v1
CLOSE = {"rtol": 1e-5, "atol": 1e-6}


@pytest.fixture(scope="module", params=kinds.KINDS)
def exported(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, Any]:
    """A folder, one that is fed serialised examples, and what has to come out; the files for tables are gone."""
    folder: Path = tmp_path_factory.mktemp(request.param)
    made = kinds.trained(request.param, folder)
    expected = kinds.predictions(made)
    raw = made.export_saved_model(folder / "exports")
    parsing = made.export_saved_model(folder / "exports", kinds.parsing())
    for file in folder.glob("*.txt"):
        file.unlink()
    return raw.decode(), parsing.decode(), expected


def test_in_eager_code(exported: tuple[str, str, Any]) -> None:
    folder, _, expected = exported
    serve = tf.saved_model.load(folder).signatures["serving_default"]
    given = serve(x=tf.constant(kinds.X), word=tf.constant(kinds.WORD))
    np.testing.assert_allclose(given["output"], expected, **CLOSE)
    one = serve(x=tf.constant(kinds.X[:1]), word=tf.constant(kinds.WORD[:1]))
    np.testing.assert_allclose(one["output"], expected[:1], **CLOSE)


def test_in_a_session(exported: tuple[str, str, Any]) -> None:
    folder, _, expected = exported
    with tf.Graph().as_default(), v1.Session() as session:
        signature = v1.saved_model.load(session, ["serve"], folder).signature_def["serving_default"]
        fed = {signature.inputs["x"].name: kinds.X, signature.inputs["word"].name: kinds.WORD}
        given = session.run(signature.outputs["output"].name, fed)
    np.testing.assert_allclose(given, expected, **CLOSE)


def test_as_a_layer(exported: tuple[str, str, Any]) -> None:
    _, folder, expected = exported
    layer = keras.layers.TFSMLayer(folder, call_endpoint="serving_default")
    given = layer(tf.constant(kinds.examples()))
    np.testing.assert_allclose(given["output"], expected, **CLOSE)
