"""Programs and schedules drawn at random: what a step computes, who looks at it when, how long it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from hypothesis import strategies as st
from tests.contracts.runs import plain
from tests.parity import draw_scenes, model_dirs
from tests.parity.draws import DRAWS, WIDTH

import lightwell as lw

v1 = tf.compat.v1
Change = Callable[[Any], Any]


def _keras_dropout(x: Any) -> Any:
    return keras.layers.Dropout(0.3, seed=31)(x, training=True)


def _batch_normalization(x: Any) -> Any:
    return lw.layers.batch_normalization(x, training=True, momentum=0.8)


def _counting(x: Any) -> Any:
    kept = v1.get_variable("kept", [], initializer=v1.zeros_initializer(), trainable=False)
    with tf.control_dependencies([kept.assign_add(0.01)]):
        return x + kept.read_value()


def _looping(x: Any) -> Any:
    return tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(y) + 0.1), [0, x], maximum_iterations=3)[1]


def _branching(x: Any) -> Any:
    return tf.cond(tf.reduce_mean(x) > 0, lambda: tf.nn.relu(x), lambda: tf.tanh(x))


# A function in a function draws anew for each set of fetches in single steps, here and in the original: what it gives
# hangs on who looks. tests/contracts/test_runs.py holds that fused steps do better.
BY_FETCHES = "noise in a function in a function"
CHANGES: dict[str, Change] = {
    **{name: draw for name, draw in DRAWS.items() if name != BY_FETCHES},
    "Keras dropout": _keras_dropout,
    "batch normalization": _batch_normalization,
    "a variable that counts": _counting,
    "a loop": _looping,
    "a branch": _branching,
}
# What draws nothing, and so gives the same numbers, but for the last digits, when it is compiled.
UNDRAWN = ("a variable that counts", "batch normalization", "a loop", "a branch")
INPUTS: dict[str, Change] = {
    "plain": lambda data: data,
    "shuffled": lambda data: data.shuffle(12, seed=41),
    "noisy": lambda data: data.map(lambda f, y: ({"x": f["x"] + tf.random.normal([WIDTH], seed=42)}, y)),
}
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "gradient descent": lambda: v1.train.GradientDescentOptimizer(0.05),
    "Adam": lambda: v1.train.AdamOptimizer(0.02),
    "momentum": lambda: v1.train.MomentumOptimizer(0.02, 0.9),
}


@dataclass(frozen=True)
class Drawn:
    """A program: the changes of its hidden values one after the other, its input and its optimizer, by name."""

    changes: tuple[str, ...]
    data: str
    optimizer: str

    def input_fn(self) -> Any:
        """Batches without end."""
        features, labels = draw_scenes.arrays(batches=5)
        rows = INPUTS[self.data](tf.data.Dataset.from_tensor_slices((features, labels)))
        return rows.repeat().batch(draw_scenes.ROWS, drop_remainder=True)

    def model_fn(self, features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        """A layer, the changes, a layer."""
        hidden = lw.layers.dense(features["x"], WIDTH, name="hidden", activation=tf.nn.tanh)
        for name in self.changes:
            hidden = CHANGES[name](hidden)
        output = lw.layers.dense(hidden, 1, name="out")
        loss = tf.reduce_mean(tf.square(output - labels))
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train_op = OPTIMIZERS[self.optimizer]().minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)


@dataclass(frozen=True)
class Schedule:
    """Who looks when: the cadences of watches, of an old hook's fetches (0: there is none), of checkpoints; steps."""

    watches: tuple[int, ...]
    hook: int
    checkpoints: int
    summaries: int
    calls: tuple[int, ...]


class Fetching(v1.train.SessionRunHook):  # type: ignore[misc]
    """An old hook that fetches the loss on some steps."""

    def __init__(self, every: int, seen: list[Any]) -> None:
        self.every, self.seen, self.count = every, seen, 0

    def before_run(self, run_context: Any) -> Any:
        self.count += 1
        return v1.train.SessionRunArgs("loss") if self.count % self.every == 0 else None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results is not None:
            self.seen.append(plain(run_values.results))


def programs(kinds: Sequence[str] = tuple(sorted(CHANGES))) -> st.SearchStrategy[Drawn]:
    """Programs of one to three changes."""
    changes = st.lists(st.sampled_from(kinds), min_size=1, max_size=3, unique=True).map(tuple)
    return st.builds(Drawn, changes, st.sampled_from(sorted(INPUTS)), st.sampled_from(sorted(OPTIMIZERS)))


def schedules(shortest: int = 1, longest: int = 9) -> st.SearchStrategy[Schedule]:
    """Schedules of one or two calls of some steps, looked at with cadences between the two given."""
    cadence = st.integers(shortest, longest)
    return st.builds(
        Schedule,
        watches=st.lists(cadence, max_size=3).map(tuple),
        hook=st.sampled_from([0, 0, 0, 1, 4]) if shortest == 1 else st.just(0),
        checkpoints=st.integers(3 * shortest, 30),
        summaries=st.sampled_from([0, 2 * shortest, 7 * shortest]),
        calls=st.lists(st.integers(shortest, 25 * shortest), min_size=1, max_size=2).map(tuple),
    )


def trained(lib: Any, folder: Path, drawn: Drawn, schedule: Schedule) -> dict[str, Any]:
    """Everything that a training shows: the weights of all checkpoints, summaries, and what was seen."""
    seen: list[Any] = []
    cadences = {"save_checkpoints_steps": schedule.checkpoints, "save_summary_steps": schedule.summaries}
    est = draw_scenes.estimator(lib, folder, drawn.model_fn, keep_checkpoint_max=None, **cadences)
    for steps in schedule.calls:
        hooks: list[Any] = [
            lw.Watch(
                "loss", "layers/hidden", every=every, do=lambda step: seen.append([step.global_step, plain(dict(step))])
            )
            for every in schedule.watches
        ]
        hooks += [Fetching(schedule.hook, seen)] if schedule.hook else []
        est.train(drawn.input_fn, steps=steps, hooks=hooks)
    v1.summary.FileWriterCache.clear()
    return {
        "weights": {
            f"{index.stem}: {name}": plain(tf.train.load_variable(str(index.with_suffix("")), name))
            for index in sorted(folder.glob("*.index"))
            for name, _ in tf.train.list_variables(str(index.with_suffix("")))
        },
        "losses": model_dirs.scalars(folder, "loss"),
        "seen": seen,
    }
