"""Three evaluations and three predictions in a row of every program of `fresh_kinds`. The same code for both sides.

`SCENES` maps a name to a function of (estimator module, folder) that gives the answers of all calls.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.parity import draw_scenes, fresh_kinds
from tests.parity.file_kinds import FILE_KINDS
from tests.parity.fresh_kinds import KINDS, Kind, Maker

Scene = Callable[[Any, Path], Any]
SCENES: dict[str, Scene] = {}
CALLS = 3


def numbers(metrics: dict[str, Any]) -> dict[str, float]:
    """The result of an evaluation as plain numbers."""
    return {key: float(value) for key, value in metrics.items()}


def evaluated(est: Any, kind: Kind) -> dict[str, float]:
    """What an evaluation gives, as plain numbers."""
    return numbers(est.evaluate(kind.input_fn))


def predicted(est: Any, kind: Kind) -> list[float]:
    """What a prediction gives, as plain numbers."""
    return [float(row["output"]) for row in est.predict(kind.input_fn)]


Ask = Callable[[Any, Kind], Any]
VERBS: dict[str, Ask] = {"evaluate": evaluated, "predict": predicted}


def estimator(lib: Any, folder: Path, kind: Kind) -> Any:
    """An Estimator of a kind, over the checkpoint in its folder."""
    return draw_scenes.estimator(lib, folder / "model_dir", fresh_kinds.model(lib, kind), **kind.settings)


def answers(lib: Any, folder: Path, make: Maker, ask: Ask, anew: bool = False) -> list[Any]:
    """What three calls give, by one Estimator or (`anew`) by one for each call."""
    (folder / "model_dir").mkdir(parents=True)
    kind = make(folder)
    est, given = estimator(lib, folder, kind), []
    if kind.trained:
        est.train(kind.input_fn, steps=1)
    else:
        fresh_kinds.write_weights(folder / "model_dir")
    for number in range(CALLS):
        if number:
            kind.between(number)
        given.append(ask(estimator(lib, folder, kind) if anew else est, kind))
    return given


def _scene(name: str, make: Maker) -> None:
    def run(lib: Any, folder: Path) -> dict[str, Any]:
        return {verb: answers(lib, folder / verb, make, ask) for verb, ask in VERBS.items()}

    SCENES[name] = run


KINDS.update(FILE_KINDS)
for _name, _make in KINDS.items():
    _scene(_name, _make)


def _warm_start_after_removal(lib: Any, folder: Path) -> list[Any]:
    other, model_dir = folder / "other", folder / "model_dir"
    other.mkdir(parents=True)
    fresh_kinds.write_weights(other, scale=4.0)
    kind = Kind()
    config = lib.RunConfig(tf_random_seed=1)
    est = lib.Estimator(fresh_kinds.model(lib, kind), str(model_dir), config, warm_start_from=str(other))
    fresh_kinds.write_weights(model_dir, scale=2.0)
    before = [predicted(est, kind), evaluated(est, kind)]
    shutil.rmtree(model_dir)
    return [*before, predicted(est, kind), evaluated(est, kind)]


SCENES["warm start after model_dir was removed"] = _warm_start_after_removal
