"""The Estimator that a command line names: a `model_fn` with its directory, an Estimator, a function that makes one."""

from __future__ import annotations

import json
import os
from typing import Any

from lightwell.callables import arguments_of
from lightwell.cli.named import load_named
from lightwell.errors import UsageError, reason_of
from lightwell.estimator.core import Estimator


def named_estimator(text: str, option: str, model_dir: str | None, params: str | None) -> Estimator:
    """Loads what `text` names.

    Args:
        text: `module:name` or `file.py:name`.
        option: where it was given, for errors.
        model_dir: where the model lives; a `model_fn` needs it, and an Estimator must live there.
        params: for a `model_fn`: JSON, or a file of it.

    Raises:
        UsageError: it names nothing of the kind.
    """
    named = load_named(text, option)
    if callable(named) and not isinstance(named, Estimator):
        takes = arguments_of(named)
        if takes.accepts("features") or takes.anything:
            if model_dir is None:
                raise UsageError(f"{option} {text} is a model_fn, and its directory is not told: add --model-dir.")
            return Estimator(named, model_dir, params=_params(params))
        if takes.required:
            raise UsageError(
                f"{option} {text}: the function takes {list(takes.names)}; expected a model_fn (features, "
                "labels, mode, params, config), or a function without arguments that makes an Estimator."
            )
        named = named()
    if not isinstance(named, Estimator):
        raise UsageError(
            f"{option} {text}: expected a model_fn, an Estimator, or a function that makes one, got "
            f"{type(named).__name__}."
        )
    if model_dir is not None and os.path.realpath(named.model_dir) != os.path.realpath(model_dir):
        raise UsageError(
            f"{option} {text}: this Estimator lives in {named.model_dir}, not in {model_dir}. Name "
            "that directory, or the model_fn itself."
        )
    return named


def _params(given: str | None) -> Any:
    if given is None:
        return None
    try:
        if os.path.isfile(given):
            with open(given, encoding="utf-8") as file:
                return json.load(file)
        return json.loads(given)
    except (OSError, ValueError) as error:
        raise UsageError(f"--params: expected JSON, or a file of it: {reason_of(error)}.") from error
