"""The exporters of an `EvalSpec`: validated, and called after an evaluation.

An exporter is any object with a `name` and an `export(estimator, export_path, checkpoint_path, eval_result,
is_the_final_export)`, derived from `Exporter` or not.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from lightwell.errors import UsageError, WrongType

_DIRECTORY = "export"


def checked_exporters(argument: Any) -> tuple[Any, ...]:
    """The argument `exporters` of an `EvalSpec` as a tuple.

    Raises:
        WrongType: one of them is no exporter.
        UsageError: one has no name, or two share one.
    """
    if argument is None:
        return ()
    if _is_exporter(argument):
        exporters: tuple[Any, ...] = (argument,)
    elif isinstance(argument, Iterable) and not isinstance(argument, str | bytes):
        exporters = tuple(argument)
    else:
        exporters = (argument,)
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
    """Checks that exporters have unique names: each writes to the directory of its name.

    Raises:
        UsageError: two share a name, or one has none.
    """
    names = [exporter.name for exporter in exporters]
    name_list = f"All exporter names: {names}."
    if not all(names):
        raise UsageError(
            f"{where}: An Exporter cannot have a name that is `None` or empty. {name_list} It exports to "
            f"model_dir/{_DIRECTORY}/<name>."
        )
    other = [name for name in names if not isinstance(name, str)]
    if other:
        raise UsageError(
            f"{where}: An Exporter must have a string name. Given: {type(other[0])} {other[0]!r}. {name_list}"
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UsageError(
            f"{where}: `exporters` must have unique names. Such a name cannot be `None`. {name_list} Give {twice[0]!r} "
            f"another name in one of them: each exports to model_dir/{_DIRECTORY}/<name>."
        )


def export_all(
    exporters: Sequence[Any], estimator: Any, checkpoint_path: str, eval_result: Any, is_the_final_export: bool
) -> list[Any]:
    """Calls each exporter; returns their results, in order."""
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
    # `dir` does not evaluate a property, whose error would belong to the exporter.
    return not isinstance(value, type) and callable(getattr(value, "export", None)) and "name" in dir(value)


def _text(value: Any) -> str:
    return os.fspath(value)
