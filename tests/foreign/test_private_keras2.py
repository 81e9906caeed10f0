"""The private doors that programs of Keras 2 need do what their docstrings say."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell.foreign import private_keras2

keras = tf.keras


def test_the_shapes_of_a_call_are_collected_where_layers_look() -> None:
    module = private_keras2.layer_module(keras)
    assert module is not None
    assert callable(getattr(module, private_keras2.SHAPES_OF_A_CALL))


def test_a_release_without_that_function_loses_it_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delattr(private_keras2.layer_module(keras), private_keras2.SHAPES_OF_A_CALL)
    fake = SimpleNamespace(layers=keras.layers, __version__="3.99")
    assert private_keras2.layer_module(fake) is None
    assert "as_list" in caplog.text


def test_a_variable_gets_a_name_with_a_slash() -> None:
    layer = keras.layers.Layer(name="outer")
    variable = layer.add_weight(name="w", shape=(1,))
    private_keras2.rename_variable(variable, "part/w")
    assert (variable.name, variable.path.endswith("part/w")) == ("part/w", True)


def test_constructor_shapes_and_calls_of_a_layer_can_be_read() -> None:
    layer = keras.layers.Dense(2)
    assert private_keras2.input_shape_of(layer) is None
    private_keras2.set_input_shape(layer, (3,))
    assert keras.Sequential([layer]).input_shape == (None, 3)
    assert private_keras2.input_shape_of(layer) == (3,)
    layer = keras.layers.Dense(2)
    assert private_keras2.nodes_of(layer) == []
    layer(keras.Input((3,)))
    assert len(private_keras2.nodes_of(layer)) == 1


def test_weights_of_keras_2_are_files_that_keras_3_reads(tmp_path: Path) -> None:
    model, other = (keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="d")]) for _ in range(2))
    private_keras2.save_h5_weights(model, str(tmp_path / "weights.h5"), overwrite=False)
    other.load_weights(tmp_path / "weights.h5")
    np.testing.assert_array_equal(model.get_weights()[0], other.get_weights()[0])
    with pytest.raises(FileExistsError):
        private_keras2.save_h5_weights(model, str(tmp_path / "weights.h5"), overwrite=False)


def test_an_optimizer_knows_the_place_of_a_variable() -> None:
    optimizer, variables = keras.optimizers.SGD(), [keras.Variable([1.0]), keras.Variable([2.0])]
    optimizer.build(variables)
    assert private_keras2.place_of(optimizer, variables[1]) == 1


def test_calls_that_a_function_refuses_are_answered_until_stopped() -> None:
    class Mine:
        """No tensor."""

    asked: list[Any] = []

    def answer(function: Any, args: Any, kwargs: Any) -> Any:
        asked.append(function)
        return "answered" if isinstance([*args, *kwargs.values()][0], Mine) else private_keras2.not_answered()

    stop = private_keras2.start_answering(answer)
    assert stop is not None
    assert tf.nn.relu(Mine()) == "answered"
    tf.nn.relu(1.0)
    assert len(asked) == 1
    stop()
    with pytest.raises((TypeError, ValueError)):
        tf.nn.relu(Mine())
