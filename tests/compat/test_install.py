"""install() opens the doors; uninstall() leaves everything as it was, attribute by attribute."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import pytest
import tensorflow as tf

import lightwell.compat.v1.estimator
import lightwell.estimator
import lightwell.layers
import lightwell.rnn_cell
from lightwell.compat.install import Installed, install, uninstall


@pytest.fixture(autouse=True)
def shut() -> Iterator[None]:
    yield
    uninstall()


def _is_watched(name: str) -> bool:
    inner = any(part in name for part in (".python.", ".src."))
    return name.split(".")[0] in {"tensorflow", "keras", "tensorflow_estimator"} and not inner


def _snapshot() -> dict[str, dict[str, Any]]:
    """Every attribute of every API module, by identity; lists of public names by value."""
    modules = {name: module for name, module in sys.modules.items() if _is_watched(name)}
    spaces = {name: dict(vars(module)) for name, module in modules.items()}
    return {
        name: {key: list(value) if key == "__all__" else id(value) for key, value in space.items()}
        for name, space in spaces.items()
    } | {"modules": {name: id(module) for name, module in modules.items()}}


def _warm_up() -> None:
    """Let TensorFlow's lazy loaders load, so that only our own changes are seen."""
    importlib.import_module("tensorflow.compat.v1")
    importlib.import_module("tensorflow.keras.layers")
    for module in (tf, tf.compat.v1, tf.compat.v2):
        _ = module.keras.layers.Dense, module.nn.relu
    _ = keras.layers


def test_everything_is_back_in_its_place_and_gone_again() -> None:
    _warm_up()
    finders, before = list(sys.meta_path), _snapshot()
    handle = install()
    v1 = importlib.import_module("tensorflow.compat.v1")
    for module in (tf, tf.compat.v2):
        assert module.estimator is lightwell.estimator
    for module in (tf.compat.v1, v1, tf.compat.v1.compat.v1):
        assert module.estimator is lightwell.compat.v1.estimator
        assert module.layers is lightwell.layers
    assert v1.nn.rnn_cell is tf.compat.v1.nn.rnn_cell is lightwell.rnn_cell
    assert "estimator" in dir(tf.compat.v1)
    for name in (
        "tensorflow_estimator.python.estimator.canned.dnn",
        "tensorflow.python.estimator.training",
        "tensorflow.keras.estimator",
        "tensorflow.estimator.export",
        "tensorflow.compat.v1.layers",
    ):
        importlib.import_module(name)
    assert hasattr(tf.keras.layers, "DenseFeatures")
    handle.uninstall()
    assert not hasattr(tf.keras.layers, "DenseFeatures")
    assert sys.meta_path == finders
    assert _snapshot() == before


def test_a_lazy_loader_that_loaded_in_between_keeps_no_copy() -> None:
    loader = type(vars(tf.compat.v1)["layers"])(vars(tf.compat.v1).copy(), mode="v1")
    with install():
        _ = loader.layers
        assert loader.estimator.__name__ == "lightwell.compat.keras_estimator"
        tf._loader_under_test = loader
    del tf._loader_under_test
    assert not hasattr(loader, "estimator")


def test_handles_are_counted() -> None:
    first, second = install(), install()
    first.uninstall()
    first.uninstall()
    assert hasattr(tf, "estimator"), "undoing one handle twice must not take the other's share"
    assert (first.active, second.active) == (False, True)
    second.uninstall()
    assert not hasattr(tf, "estimator")


def test_as_a_context_it_closes_behind_itself() -> None:
    with install() as handle:
        assert isinstance(handle, Installed)
        assert repr(handle) == "<Installed: active>"
        with install():
            pass
        assert hasattr(tf, "estimator")
    assert not hasattr(tf, "estimator")
    assert repr(handle) == "<Installed: undone>"


def test_uninstall_closes_for_everybody_and_is_harmless_when_shut() -> None:
    handles = [install(), install()]
    uninstall()
    uninstall()
    assert not hasattr(tf, "estimator")
    assert not any(handle.active for handle in handles)
    handles[0].uninstall()
    fresh = install()
    handles[1].uninstall()
    assert fresh.active, "an old handle must not close doors that were opened after it"


def test_what_a_program_set_itself_is_left_alone() -> None:
    handle = install()
    mine = types.SimpleNamespace()
    tf.estimator = mine
    handle.uninstall()
    assert tf.estimator is mine
    del tf.estimator


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on sys.path with a tensorflow_estimator that can be imported only when it is told so."""
    package = tmp_path / "tensorflow_estimator"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('cannot import name ESTIMATOR_API_NAME')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return package


@pytest.mark.usefixtures("wheel")
def test_a_broken_wheel_beside_us_does_not_matter() -> None:
    with install():
        found = importlib.import_module("tensorflow_estimator")
        assert found.estimator is lightwell.compat.v1.estimator
    with pytest.raises(ImportError, match="ESTIMATOR_API_NAME"):
        importlib.import_module("tensorflow_estimator")


def test_a_wheel_that_was_imported_comes_back_as_the_same_object(wheel: Path) -> None:
    (wheel / "__init__.py").write_text("")
    (wheel / "python.py").write_text("")
    theirs = importlib.import_module("tensorflow_estimator.python")
    with install():
        assert importlib.import_module("tensorflow_estimator.python") is not theirs
    assert sys.modules["tensorflow_estimator.python"] is theirs
    assert sys.modules["tensorflow_estimator"].python is theirs
    for name in ("tensorflow_estimator", "tensorflow_estimator.python"):
        del sys.modules[name]
