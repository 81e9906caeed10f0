"""The exporters of an `EvalSpec`: told apart by their names, called after an evaluation.

An exporter is whatever has a `name` and an `export(estimator, export_path, checkpoint_path, eval_result,
is_the_final_export)`, derived from `Exporter` or not.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from lightwell.errors import UsageError, WrongType

_DIRECTORY = "export"


def checked_exporters(given: Any) -> tuple[Any, ...]:
    """The exporters that an `EvalSpec` was given: one, several or none.

    Raises:
        WrongType: something among them is no exporter.
        UsageError: one has no name, or two share one.
    """
    if given is None:
        return ()
    if _is_exporter(given):
        exporters: tuple[Any, ...] = (given,)
    elif isinstance(given, Iterable) and not isinstance(given, str | bytes):
        exporters = tuple(given)
    else:
        exporters = (given,)
    wrong = [one for one in exporters if not _is_exporter(one)]
    if wrong:
        raise WrongType(
            "EvalSpec: `exporters` must be an Exporter, an iterable of Exporter, or `None`, found "
            f"{type(wrong[0]).__name__} {wrong[0]!r}. An exporter has a `name` and a method `export`; derive one from "
            "tf.estimator.Exporter."
        )
    check_names(exporters, "EvalSpec")
    return exporters


def check_names(exporters: Sequence[Any], where: str) -> None:
    """Checks that exporters can be told apart: each writes to the directory of its name.

    Raises:
        UsageError: they cannot.
    """
    names = [exporter.name for exporter in exporters]
    told = f"All exporter names: {names}."
    if not all(names):
        raise UsageError(
            f"{where}: An Exporter cannot have a name that is `None` or empty. {told} It exports to "
            f"model_dir/{_DIRECTORY}/<name>."
        )
    other = [name for name in names if not isinstance(name, str)]
    if other:
        raise UsageError(f"{where}: An Exporter must have a string name. Given: {type(other[0])} {other[0]!r}. {told}")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UsageError(
            f"{where}: `exporters` must have unique names. Such a name cannot be `None`. {told} Give {twice[0]!r} "
            f"another name in one of them: each exports to model_dir/{_DIRECTORY}/<name>."
        )


def export_all(
    exporters: Sequence[Any], estimator: Any, checkpoint_path: str, eval_result: Any, is_the_final_export: bool
) -> list[Any]:
    """Calls each exporter; what they return, in their order."""
    return [
        exporter.export(
            estimator=estimator,
            export_path=os.path.join(_text(estimator.model_dir), _DIRECTORY, _text(exporter.name)),
            checkpoint_path=checkpoint_path,
            eval_result=eval_result,
            is_the_final_export=is_the_final_export,
        )
        for exporter in exporters
    ]


def _is_exporter(value: Any) -> bool:
    # `dir` finds a name that is a property without computing it: an error in there is the exporter's own.
    return not isinstance(value, type) and callable(getattr(value, "export", None)) and "name" in dir(value)


def _text(value: Any) -> str:
    return os.fspath(value)
