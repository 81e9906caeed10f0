"""The Estimator that a command line names: a `model_fn` with its directory, an Estimator, a function that makes one."""

from __future__ import annotations

import json
import os
from typing import Any

from lightwell.base.callables import arguments_of
from lightwell.cli.object_reference import load_object
from lightwell.errors import UsageError, reason_of
from lightwell.estimator.core import Estimator


def named_estimator(text: str, option: str, model_dir: str | None, params: str | None) -> Estimator:
    """Load the Estimator that `text` names.

    Args:
        text: `module:name` or `file.py:name`.
        option: the option that names it, for errors.
        model_dir: where the model lives; a `model_fn` needs it, and an Estimator must live there.
        params: for a `model_fn`: JSON, or a file of it.

    Raises:
        UsageError: it names nothing of the kind.
    """
    value = load_object(text, option)
    if callable(value) and not isinstance(value, Estimator):
        signature = arguments_of(value)
        if signature.accepts("features") or signature.has_kwargs:
            if model_dir is None:
                raise UsageError(f"{option} {text} is a model_fn, and its directory is not told: add --model-dir.")
            return Estimator(value, model_dir, params=_params(params))
        if signature.required:
            raise UsageError(
                f"{option} {text}: the function takes {list(signature.names)}; expected a model_fn (features, "
                "labels, mode, params, config), or a function without arguments that makes an Estimator."
            )
        value = value()
    if not isinstance(value, Estimator):
        raise UsageError(
            f"{option} {text}: expected a model_fn, an Estimator, or a function that makes one, got "
            f"{type(value).__name__}."
        )
    if model_dir is not None and os.path.realpath(value.model_dir) != os.path.realpath(model_dir):
        raise UsageError(
            f"{option} {text}: this Estimator lives in {value.model_dir}, not in {model_dir}. Name "
            "that directory, or the model_fn itself."
        )
    return value


def _params(text: str | None) -> Any:
    if text is None:
        return None
    try:
        if os.path.isfile(text):
            with open(text, encoding="utf-8") as file:
                return json.load(file)
        return json.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"--params: expected JSON, or a file of it: {reason_of(error)}.") from error
