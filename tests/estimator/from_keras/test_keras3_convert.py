"""What model_to_estimator takes: models, files, settings; and what it refuses, with what text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.from_keras.models import X, close, compiled, estimator, fit, keras, rows, sequential

import lightwell as lw

L = keras.layers


def test_neither_model_nor_path() -> None:
    with pytest.raises(
        ValueError, match="Either `keras_model` or `keras_model_path` needs to be provided, got neither"
    ):
        lw.model_to_estimator()


def test_both_model_and_path() -> None:
    with pytest.raises(ValueError, match="either `keras_model` or `keras_model_path`, but not both; got a Sequential"):
        lw.model_to_estimator(sequential(), "model.keras")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"No file or directory found at .*gone\.keras"):
        lw.model_to_estimator(keras_model_path=tmp_path / "gone.keras")


def test_a_model_that_is_not_compiled() -> None:
    with pytest.raises(ValueError, match=r"has not been compiled yet. It must be compiled") as told:
        lw.model_to_estimator(sequential())
    assert "Please compile the model with `model.compile()` before calling `model_to_estimator()`" in str(told.value)


def test_what_is_no_model() -> None:
    with pytest.raises(TypeError, match="keras_model must be a Keras model, got Dense"):
        lw.model_to_estimator(L.Dense(3))


def test_a_format_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match=r'Checkpoint format must be one of "checkpoint" or "saver". Got .h5.'):
        lw.model_to_estimator(compiled(sequential()), checkpoint_format="h5")


@pytest.mark.parametrize("name", ["metric_names_map", "export_outputs"])
def test_maps_are_dicts(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} must be a dict, got list"):
        lw.model_to_estimator(compiled(sequential()), **{name: ["accuracy"]})


def test_export_outputs_are_classes() -> None:
    with pytest.raises(TypeError, match=r"export_outputs\['out'\] must be a class of tf.estimator.export"):
        lw.model_to_estimator(compiled(sequential()), export_outputs={"out": L.Dense})


def test_a_directory_in_both_places() -> None:
    with pytest.raises(ValueError, match="`model_dir` are set both in constructor and `RunConfig`"):
        lw.model_to_estimator(compiled(sequential()), model_dir="/a", config=lw.RunConfig(model_dir="/b"))


class OwnStep(keras.Sequential):
    """A model that trains in its own way."""

    def train_step(self, data: Any) -> Any:
        return super().train_step(data)


def test_a_model_with_a_step_of_its_own_is_refused() -> None:
    with pytest.raises(lw.errors.UsageError, match=r"\(OwnStep\) has a train_step of its own") as told:
        lw.model_to_estimator(compiled(OwnStep([keras.Input((6,)), L.Dense(2)])))
    assert "Override compute_loss instead" in str(told.value)


def test_a_model_without_loss_predicts_and_says_so_when_trained(tmp_path: Path) -> None:
    model = sequential()
    model.compile("sgd")
    est = estimator(model, tmp_path)
    assert len(list(est.predict(rows))) == 64
    with pytest.raises(ValueError, match="has no loss to optimize: it was compiled without one"):
        est.train(rows, steps=1)


def test_a_model_without_optimizer_says_so_when_trained(tmp_path: Path) -> None:
    model = compiled(sequential(), None)
    est = estimator(model, tmp_path)
    close(est.evaluate(rows), model.evaluate(rows(), verbose=0, return_dict=True))
    with pytest.raises(lw.errors.UsageError, match="was compiled without an optimizer"):
        est.train(rows, steps=1)


@pytest.mark.parametrize("suffix", ["keras", "h5"])
def test_a_model_comes_from_a_file(tmp_path: Path, suffix: str) -> None:
    model = compiled(sequential(), keras.optimizers.Adam(0.02))
    fit(model)
    path = tmp_path / f"model.{suffix}"
    model.save(path)
    config = lw.RunConfig(model_dir=str(tmp_path / "run"))
    est = lw.model_to_estimator(keras_model_path=str(path), config=config)
    expected = keras.models.load_model(path)
    close(est.evaluate(rows), expected.evaluate(rows(), verbose=0, return_dict=True))
    est.train(rows, steps=4)
    expected.optimizer = keras.optimizers.Adam(0.02)  # the Estimator's starts anew
    fit(expected)
    np.testing.assert_allclose(est.get_variable_value("dense/kernel"), expected.get_weights()[0], rtol=1e-5, atol=1e-6)


class Doubled(L.Layer):
    """A layer that a file knows by name only."""

    def call(self, x: Any) -> Any:
        return 2 * x


def halved_error(labels: Any, outputs: Any) -> Any:
    return keras.ops.mean(keras.ops.square(keras.ops.cast(labels, "float32") - outputs[:, 0])) / 2


def test_custom_objects_are_known_when_a_file_is_read(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((6,)), Doubled(), L.Dense(2)])
    compiled(model, "sgd", halved_error)
    model.save(tmp_path / "model.keras")
    custom = {"Doubled": Doubled, "halved_error": halved_error}
    est = lw.model_to_estimator(
        keras_model_path=tmp_path / "model.keras", custom_objects=custom, model_dir=tmp_path / "run"
    )
    close(est.evaluate(rows), model.evaluate(rows(), verbose=0, return_dict=True))


def test_untrained_weights_of_the_model_are_no_cause_for_a_warning(tmp_path: Path, log: Any) -> None:
    estimator(compiled(sequential()), tmp_path).evaluate(rows)
    assert log.having("RANDOM") == []
    estimator(compiled(keras.Sequential([L.Dense(2)])), tmp_path / "unbuilt").evaluate(rows)
    assert len(log.having("RANDOM")) == 1


def test_a_model_that_cannot_be_built_for_the_features_says_so(tmp_path: Path) -> None:
    est = estimator(compiled(keras.Sequential([L.Conv2D(3, 2), L.Dense(2)])), tmp_path)
    with pytest.raises(lw.errors.ModelFnError, match=r"could not be built for features of shape \(None, 6\)") as told:
        est.evaluate(rows)
    assert "Call it once on a batch before model_to_estimator" in str(told.value)


def test_old_spellings_lead_here() -> None:
    with lw.install():
        from tensorflow.keras.estimator import model_to_estimator as public
        from tensorflow_estimator.python.estimator.keras_lib import model_to_estimator as private

        spelled = [tf.keras.estimator.model_to_estimator, tf.compat.v1.keras.estimator.model_to_estimator]
        assert all(one is lw.model_to_estimator for one in [*spelled, public, private])


def test_an_old_program_compiles_with_a_v1_optimizer(tmp_path: Path) -> None:
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.05)
    with lw.install():
        model = compiled(sequential(), optimizer)
        est = tf.keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))
        first = est.evaluate(rows)["loss"]
        est.train(lambda: rows().repeat(5), steps=20)
        assert est.evaluate(rows)["loss"] < first
    with pytest.raises(ValueError, match="Could not interpret optimizer identifier"):
        compiled(sequential(), optimizer)
    compiled(model, keras.optimizers.SGD(0.05))
    fit(model, 5)
    np.testing.assert_allclose(est.get_variable_value("dense/kernel"), model.get_weights()[0], rtol=1e-5, atol=1e-6)


def test_a_table_of_the_model_works_in_the_graph(tmp_path: Path) -> None:
    words = np.array([["a"], ["b"], ["c"], ["z"]])
    lookup = L.StringLookup()
    lookup.adapt(words[:3])
    model = keras.Sequential([keras.Input((1,), dtype="string"), lookup, L.Embedding(5, 2), L.Flatten(), L.Dense(1)])
    model.compile("sgd", "mse")
    est = estimator(model, tmp_path)
    data = lambda: tf.data.Dataset.from_tensor_slices((words, X[:4, :1])).batch(4)  # noqa: E731
    est.train(lambda: data().repeat(2), steps=2)
    model.fit(data(), verbose=0, epochs=2, shuffle=False)
    close(est.evaluate(data), model.evaluate(data(), verbose=0, return_dict=True))
