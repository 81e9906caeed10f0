"""Does the same work over and over in one process, and prints its memory after each time. Run by `test_memory.py`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import tiny

import lightwell as lw
from lightwell.estimator.workflow.observers import EvaluationObserver


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def told() -> None:
    print(resident_bytes(), flush=True)


def verbs(directory: str, cycles: int) -> None:
    """Trains, evaluates and predicts."""
    made = tiny.estimator(directory, save_checkpoints_steps=1000)
    for _ in range(cycles):
        made.train(tiny.data, steps=10)
        made.evaluate(tiny.once)
        list(made.predict(tiny.once))
        told()


def runs(directory: str, cycles: int) -> None:
    """One `train_and_evaluate` after the other, each with two evaluations."""
    made = tiny.estimator(directory, save_checkpoints_steps=5)
    for cycle in range(cycles):
        spec = lw.TrainSpec(tiny.data, max_steps=10 * (cycle + 1))
        lw.train_and_evaluate(made, spec, lw.EvalSpec(tiny.once, None, every_checkpoints=1))
        told()


def rounds(directory: str, cycles: int) -> None:
    """The evaluations of one `train_and_evaluate`."""

    class Tells(EvaluationObserver):
        def after_evaluation(self, evaluation: Any) -> None:
            told()

    made = tiny.estimator(directory, save_checkpoints_steps=5)
    spec = lw.TrainSpec(tiny.data, max_steps=5 * cycles)
    lw.train_and_evaluate(made, spec, lw.EvalSpec(tiny.once, None, every_checkpoints=1), observers=[Tells()])


WORK: dict[str, Callable[[str, int], None]] = {"verbs": verbs, "runs": runs, "rounds": rounds}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made_for_it:
        WORK[sys.argv[1]](made_for_it, int(sys.argv[2]))
