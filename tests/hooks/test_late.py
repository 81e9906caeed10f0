"""What a step leaves behind, fetched by hooks: weights after it, metrics so far."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf
from tests import tiny

v1 = tf.compat.v1


class Fetch(v1.train.SessionRunHook):
    """Fetches a structure, and keeps what comes."""

    def __init__(self, asked: Any) -> None:
        self.asked = asked
        self.seen: list[Any] = []

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(self.asked)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(run_values.results)


class Pair(NamedTuple):
    """A structure a hook may fetch."""

    first: Any
    second: Any


def test_a_weight_costs_no_operation_of_the_graph(tmp_path: Path) -> None:
    own: list[str] = []

    class Counts(Fetch):
        """Keeps the names of what was added to the graph for its sake."""

        def after_create_session(self, session: Any, coord: Any) -> None:
            own.extend(op.name for op in session.graph.get_operations() if op.name.startswith("lightwell/sight"))

    hook = Counts({"w": "weights/*", "loss": "loss"})
    made = tiny.estimator(tmp_path)
    made.train(tiny.data, steps=2, hooks=[hook])
    assert own == []
    assert hook.seen[-1]["w"]["weights/w"] == made.weights["w"]


def test_what_a_step_leaves_is_read_before_any_hook_changes_it(tmp_path: Path) -> None:
    class Clears(v1.train.SessionRunHook):
        """Sets the weight to zero after each step."""

        def begin(self) -> None:
            (w,) = v1.trainable_variables("w:0")
            self.clear = w.assign(0.0)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            run_context.session.run(self.clear)

    hook = Fetch(["weights/w", Pair("loss", "weights/w"), {"alone": ("weights/w",)}])
    tiny.estimator(tmp_path).train(tiny.data, steps=3, hooks=[Clears(), hook])
    for alone, pair, inside in hook.seen:
        assert alone == pair.second == inside["alone"][0] != 0
        assert pair.first > 0


def test_a_metric_is_its_value_so_far(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path)
    hook = Fetch({"mae": "metrics/mae", "all": "metrics/*"})
    final = v1.train.FinalOpsHook("metrics/mae")
    result = made.evaluate(tiny.once, hooks=[hook, final])
    assert hook.seen[-1]["mae"] == result["mae"] == final.final_ops_values
    assert hook.seen[0]["mae"] != hook.seen[-1]["mae"]
    assert hook.seen[-1]["all"]["metrics/mae"] == result["mae"]
