"""What `install()` brings back of Keras 2, what it refuses, and that `uninstall()` undoes all of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell
from lightwell.compat.keras2 import doors
from lightwell.errors import UsageError


@pytest.fixture
def keras() -> Iterator[Any]:
    with lightwell.install():
        yield tf.keras


def reached(keras: Any, path: str) -> Any:
    for part in filter(None, path.split(".")):
        keras = getattr(keras, part)
    return keras


@pytest.mark.parametrize("module", sorted(doors.NAMES))
def test_names_that_keras_3_dropped_are_there(keras: Any, module: str) -> None:
    for name in doors.NAMES[module]:
        assert callable(getattr(reached(keras, module), name)), name


@pytest.mark.parametrize("module", sorted(doors.PAGES))
def test_modules_that_keras_3_dropped_are_there(keras: Any, module: str) -> None:
    page = reached(keras, module)
    for name in dir(page):
        assert getattr(page, name) is not None


@pytest.mark.parametrize("module", sorted(doors.ABSENT))
def test_names_that_cannot_come_back_say_what_to_use(keras: Any, module: str) -> None:
    for name, text in doors.ABSENT[module].items():
        with pytest.raises(AttributeError) as caught:
            getattr(reached(keras, module), name)
        assert text in str(caught.value)
        assert f"tf.keras{'.' * bool(module)}{module}.{name}" in str(caught.value)


def test_old_modules_can_be_imported() -> None:
    with lightwell.install():
        from tensorflow.keras.layers.experimental.preprocessing import Rescaling  # type: ignore[import-not-found]
        from tensorflow.keras.optimizers.legacy import Adam  # type: ignore[import-not-found]
        from tensorflow.keras.wrappers import scikit_learn  # type: ignore[import-not-found]

        assert Rescaling is tf.keras.layers.Rescaling
        assert isinstance(Adam(lr=0.5), tf.keras.optimizers.Adam)
        with pytest.raises(AttributeError, match="scikeras"):
            _ = scikit_learn.KerasClassifier


def test_private_modules_of_keras_2_can_be_imported() -> None:
    with lightwell.install():
        from tensorflow.python.keras.layers import BatchNormalization, Dense
        from tensorflow.python.keras.layers.normalization import BatchNormalization as Same
        from tensorflow.python.keras.layers.recurrent_v2 import LSTM
        from tensorflow_core.python.keras.layers import Dense as OldDense  # type: ignore[import-not-found]

        assert BatchNormalization is Same is tf.keras.layers.BatchNormalization
        assert LSTM is tf.keras.layers.LSTM
        assert OldDense is Dense
    with pytest.raises(ImportError):
        import tensorflow_core  # type: ignore[import-not-found]  # noqa: F401


REFUSED = {
    "time_major": (lambda keras: keras.layers.LSTM(2, time_major=True), r"LSTM\(time_major=True\).*tf.transpose"),
    "virtual batches": (
        lambda keras: keras.layers.BatchNormalization(virtual_batch_size=4),
        r"BatchNormalization\(virtual_batch_size=4\).*tf.compat.v1.layers.batch_normalization",
    ),
    "axes": (lambda keras: keras.layers.BatchNormalization(axis=[1, 2]), "normalises one axis"),
    "padding": (lambda keras: keras.layers.LocallyConnected1D(2, 2, padding="same"), "ZeroPadding"),
    "weights": (
        lambda keras: keras.layers.Dense(2, weights=[np.ones((4, 2)), np.ones(2)])(np.ones((1, 3))),
        r"'kernel' of the layer 'dense\S*' has the shape \(3, 2\), and the array for it \(4, 2\)",
    ),
    "tensor": (lambda keras: keras.layers.Input(tensor=tf.ones([2, 3])), r"Call the layers, or the model, on the"),
    "to_yaml": (lambda keras: keras.Sequential().to_yaml(), "to_json"),
}


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_what_keras_3_cannot_follow_is_refused_with_the_way_out(keras: Any, case: str) -> None:
    make, text = REFUSED[case]
    with pytest.raises(UsageError, match=text):
        make(keras)


def test_a_layer_that_was_never_called_says_so(keras: Any) -> None:
    with pytest.raises(AttributeError, match=r"no output at index 0. There are 0 symbolic calls"):
        _ = keras.layers.Dense(2).output_shape


def test_closing_the_doors_undoes_everything() -> None:
    keras = tf.keras
    inputs = keras.Input((3,))
    kinds = (keras.layers.Layer, keras.layers.Dense, keras.Model, keras.optimizers.Adam, keras.KerasTensor)
    before = [dict(vars(kind)) for kind in kinds]
    doors_open = lightwell.install()
    keras.layers.Dense(np.int64(3)).apply(tf.nn.relu(inputs))
    doors_open.uninstall()
    for kind, names in zip(kinds, before, strict=True):
        changed = {name for name in {*names, *vars(kind)} if names.get(name) is not vars(kind).get(name)}
        assert changed <= {"__annotations__"}
    with pytest.raises(ValueError, match="KerasTensor"):
        tf.nn.relu(inputs)
    with pytest.raises(ImportError, match="legacy"):
        keras.optimizers.legacy.Adam()
    assert not hasattr(keras.backend, "learning_phase")


def test_packages_for_keras_3_have_its_numbers(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function whose module is installed beside the program: here one of NumPy's name space."""
    space: dict[str, Any] = {"__name__": "numpy.written_for_keras_3"}
    exec(
        "def made(keras):\n    return float(keras.activations.hard_sigmoid(1.0)), keras.regularizers.l1_l2().l1\n",
        space,
    )
    with lightwell.install():
        package = space["made"](tf.keras)
        own = float(tf.keras.activations.hard_sigmoid(tf.constant(1.0))), float(tf.keras.regularizers.l1_l2().l1)
    assert package == pytest.approx((4 / 6, 0.0))
    assert own == pytest.approx((0.7, 0.01))
