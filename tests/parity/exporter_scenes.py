"""Exporters called by hand, with an estimator that only pretends to export: the same code for both sides.

`SCENES` maps a name to a function of (estimator module, folder); it gives plain values that can be compared whole.
"""

from __future__ import annotations

import inspect
import itertools
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1
Scene = Callable[[Any, Path], Any]
SCENES: dict[str, Scene] = {}
FIRST = 1700000000


def scene(function: Scene) -> Scene:
    SCENES[function.__name__] = function
    return function


def receiver() -> None:
    """A serving input receiver function; nobody calls it."""


class Pretends:
    """What exporters need of an Estimator: it notes how it is called, and makes a folder that looks like an export."""

    def __init__(self, model_dir: Path) -> None:
        self.model_dir = str(model_dir)
        self.calls: list[dict[str, Any]] = []
        self._versions = itertools.count(FIRST)

    def export_saved_model(self, *given: Any, **named: Any) -> bytes:
        folder = Path(given[0], str(next(self._versions)))
        folder.mkdir(parents=True)
        (folder / "saved_model.pb").touch()
        self.calls.append({"positions": len(given), "receiver": given[1] is receiver, **named})
        return str(folder).encode()


def names(folder: Path) -> list[str]:
    """What is in a folder."""
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def made(returned: Any) -> str | None:
    """The name of an export."""
    return None if returned is None else Path(returned.decode()).name


def told(work: Callable[[], Any]) -> list[str]:
    """What is logged meanwhile."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    work()
    logger.removeHandler(handler)
    logger.setLevel(level)
    return [line for line in lines if "deprecated" not in line and "tf_record_iterator" not in line]


def raised(make: Callable[[], Any]) -> list[str]:
    try:
        make()
    except Exception as error:
        kind = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
        return [kind.__name__, str(error)]
    return []


@scene
def arguments(lib: Any, folder: Path) -> Any:
    kinds = (lib.LatestExporter, lib.FinalExporter, lib.BestExporter)
    return {
        kind.__name__: [
            [
                p.name,
                str(p.kind),
                repr(None if p.default is inspect.Parameter.empty or callable(p.default) else p.default),
            ]
            for p in inspect.signature(kind).parameters.values()
        ]
        for kind in kinds
    } | {"export": list(inspect.signature(lib.Exporter.export).parameters)}


@scene
def refused(lib: Any, folder: Path) -> Any:
    def best(**given: Any) -> Callable[[], Any]:
        return lambda: lib.BestExporter(serving_input_receiver_fn=receiver, **given)

    def latest(keep: Any) -> Callable[[], Any]:
        return lambda: lib.LatestExporter("latest", receiver, exports_to_keep=keep)

    return {
        "latest keeps none": raised(latest(0)),
        "latest keeps less": raised(latest(-1)),
        "latest keeps text": raised(latest("a")),
        "latest keeps all": raised(latest(None)),
        "best keeps none": raised(best(exports_to_keep=0)),
        "no compare_fn": raised(best(compare_fn=None)),
        "compare_fn a number": raised(best(compare_fn=3)),
        "compare_fn of one": raised(best(compare_fn=lambda best_eval_result: True)),
        "compare_fn of other names": raised(best(compare_fn=lambda a, b: True)),
        "compare_fn of any": raised(best(compare_fn=lambda **results: True)),
        "compare_fn of three": raised(best(compare_fn=lambda best_eval_result, current_eval_result, c: True)),
        "no receiver": raised(lambda: lib.BestExporter()),
        "base": raised(lambda: lib.Exporter()),
    }


@scene
def latest(lib: Any, folder: Path) -> Any:
    estimator, exporter = Pretends(folder), lib.LatestExporter("latest", receiver, {"a": "b"}, True, 2)
    there = folder / "export" / "latest"
    for name in ("12", "notes", "temp-1600000000", "16000000000", "1600000001x"):
        (there / name).mkdir(parents=True)
    steps = [
        (made(exporter.export(estimator, str(there), "model.ckpt-1", {"loss": 1.0}, final)), names(there))
        for final in (False, False, False, True)
    ]
    return {"name": exporter.name, "calls": estimator.calls, "steps": steps}


@scene
def latest_keeps_all(lib: Any, folder: Path) -> Any:
    estimator, exporter = Pretends(folder), lib.LatestExporter("latest", receiver, exports_to_keep=None)
    for _ in range(7):
        exporter.export(estimator, str(folder / "all"), "model.ckpt-1", {}, False)
    return names(folder / "all")


@scene
def final(lib: Any, folder: Path) -> Any:
    estimator, exporter = Pretends(folder), lib.FinalExporter("final", receiver)
    there = folder / "export" / "final"

    def steps() -> Iterator[Any]:
        for is_final in (False, True, True):
            exporter_made = exporter.export(estimator, str(there), "model.ckpt-1", {"loss": 1.0}, is_final)
            yield made(exporter_made), names(there)

    done: list[Any] = []
    lines = told(lambda: done.extend(steps()))
    return {"name": exporter.name, "calls": estimator.calls, "steps": done, "told": lines}


@scene
def best(lib: Any, folder: Path) -> Any:
    estimator, exporter = Pretends(folder), lib.BestExporter(serving_input_receiver_fn=receiver, exports_to_keep=2)
    there = folder / "export" / "best_exporter"

    def steps() -> Iterator[Any]:
        for loss in (1.0, 2.0, 0.9, 0.9, float("nan"), 0.5, 0.4):
            exporter_made = exporter.export(estimator, str(there), "model.ckpt-1", {"loss": loss}, False)
            yield str(loss), made(exporter_made), names(there)

    done: list[Any] = []
    lines = told(lambda: done.extend(steps()))
    performed = [line for line in lines if "Performing" in line]
    return {"name": exporter.name, "calls": estimator.calls[:1], "steps": done, "told": performed}


@scene
def best_without_a_loss(lib: Any, folder: Path) -> Any:
    results: list[Any] = [{"loss": 1.0}, {"accuracy": 1.0}, None, {}]
    estimator, exporter = Pretends(folder), lib.BestExporter(serving_input_receiver_fn=receiver)
    after_one = [raised(lambda r=r: exporter.export(estimator, str(folder / "a"), "c", r, False)) for r in results]
    first = lib.BestExporter(serving_input_receiver_fn=receiver)
    without = [raised(lambda r=r: first.export(estimator, str(folder / "b"), "c", r, False)) for r in results[1::-1]]
    return {"after one": after_one, "first": without}


@scene
def best_by_a_function(lib: Any, folder: Path) -> Any:
    compared: list[Any] = []

    def higher(best_eval_result: Any, current_eval_result: Any) -> bool:
        compared.append([dict(best_eval_result), dict(current_eval_result)])
        return bool(current_eval_result["auc"] > best_eval_result["auc"])

    estimator, exporter = Pretends(folder), lib.BestExporter("auc", receiver, None, higher)
    results = [{"auc": 0.5, "loss": 1.0}, {"auc": 0.4, "loss": 0.5}, {"auc": 0.75, "loss": 2.0}]
    steps = [made(exporter.export(estimator, str(folder / "auc"), "c", result, False)) for result in results]
    return {"steps": steps, "compared": compared}
