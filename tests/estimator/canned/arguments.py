"""The arguments of canned models, as plain values. The same code for both sides."""

from __future__ import annotations

import inspect
from typing import Any

MODELS = ("Baseline", "Linear", "DNN", "DNNLinearCombined")
TASKS = ("Classifier", "Regressor", "Estimator")


def arguments_of_all(api: Any) -> dict[str, list[Any]]:
    """Name of a model to (argument, default) in order; what can only be given by name is left out."""
    names = [f"{model}{task}" for model in MODELS for task in TASKS]
    return {name: [[one.name, _plain(one.default)] for one in _places(getattr(api, name))] for name in names}


def _places(model: Any) -> list[Any]:
    parameters = inspect.signature(model).parameters.values()
    return [one for one in parameters if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]


def _plain(default: Any) -> Any:
    return default if isinstance(default, str | int | float | type(None)) else getattr(default, "__name__", "")
