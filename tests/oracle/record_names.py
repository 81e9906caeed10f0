"""Record which names tf.estimator 2.15.1 offers, publicly and in its private modules, and which v1 defaults differ.

Run with an environment that holds tensorflow 2.15.1; writes tests/data/oracle-2.15.1/estimator_names.json.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import types
from pathlib import Path

import tensorflow as tf
import tensorflow_estimator
from tensorflow_estimator.python.estimator.head import base_head

OUT = Path(__file__).parents[1] / "data" / "oracle-2.15.1" / "estimator_names.json"
PRIVATE = "tensorflow_estimator.python.estimator"


def public_names(module: types.ModuleType) -> list[str]:
    return sorted(name for name in dir(module) if not name.startswith("_"))


def namespaces(module: types.ModuleType, path: str = "") -> dict[str, list[str]]:
    found = {path: public_names(module)}
    for name in public_names(module):
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            found |= namespaces(value, f"{path}.{name}".lstrip("."))
    return found


def changed_defaults() -> dict[str, dict[str, str]]:
    changed = {}
    for name in public_names(tf.estimator):
        old, new = getattr(tf.compat.v1.estimator, name), getattr(tf.estimator, name)
        if not isinstance(old, type) or old is new:
            continue
        old_parameters = inspect.signature(old.__init__).parameters
        new_parameters = inspect.signature(new.__init__).parameters
        changed[name] = {
            key: repr(parameter.default)
            for key, parameter in old_parameters.items()
            if key not in new_parameters or repr(new_parameters[key].default) != repr(parameter.default)
        }
    return changed


def private_modules() -> dict[str, list[str]]:
    found = {}
    for info in pkgutil.walk_packages(tensorflow_estimator.__path__, "tensorflow_estimator."):
        if not info.name.startswith(PRIVATE) or "test" in info.name or ".api" in info.name:
            continue
        try:
            module = importlib.import_module(info.name)
        except Exception as error:  # some of its own tools do not import
            print("cannot import", info.name, error)
            continue
        found[info.name.removeprefix(PRIVATE).lstrip(".")] = sorted(
            name
            for name, value in vars(module).items()
            if getattr(value, "__module__", None) == info.name
            or (name.isupper() and isinstance(value, str))
            or (isinstance(value, types.ModuleType) and value.__name__.startswith(info.name + "."))
        )
    return found


def vocabulary(module: str, name: str) -> dict[str, str]:
    words = vars(getattr(importlib.import_module(f"{PRIVATE}.{module}"), name))
    return {key: value for key, value in words.items() if not key.startswith("_")}


if __name__ == "__main__":
    OUT.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "tensorflow": tf.__version__,
        "v1": namespaces(tf.compat.v1.estimator),
        "v2": namespaces(tf.estimator),
        "v1_changed_defaults": changed_defaults(),
        "package_root": public_names(tensorflow_estimator),
        "private": private_modules(),
        "MetricKeys": vocabulary("canned.metric_keys", "MetricKeys"),
        "PredictionKeys": vocabulary("canned.prediction_keys", "PredictionKeys"),
        "TaskType": vocabulary("run_config", "TaskType"),
        "serving_keys": {name: getattr(base_head, name) for name in dir(base_head) if name.endswith("_SERVING_KEY")},
    }
    OUT.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
