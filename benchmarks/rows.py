"""The rows: every line of the performance goals, who is measured in it, and what it should come to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.goals import AtLeast, Flat, Goal, HoldsAtMost, Kind, Reaches, ShareAtMost, TakesAtMost, Works
from benchmarks.peers import BEFORE, OURS


@dataclass(frozen=True)
class Row:
    """One line of the results.

    Attributes:
        key: what `ROWS=` and the workers call it.
        title: what is measured.
        kind: whether workers answer with a rate, a time, a peak or a drift of memory, or a share of a whole.
        unit: what a rate counts.
        contenders: who is measured, ours first, as "worker" or "worker/variant".
        goals: what it should come to.
        note: what a reader must know to judge the figures.
        limit: if a goal is missed, what stands in the way and what was tried.
        rounds: this many instead of those asked for.
        more_rounds: so many times the rounds asked for, where a small difference has to be told.
        is_isolated: every measurement in a process of its own.
        is_big: measured only where its key is asked for: it takes minutes, and gigabytes.
    """

    key: str
    title: str
    kind: Kind = "per_second"
    unit: str = "steps/s"
    contenders: tuple[str, ...] = (OURS,)
    goals: tuple[Goal, ...] = ()
    note: str = ""
    limit: str = ""
    rounds: int | None = None
    more_rounds: int = 1
    is_isolated: bool = False
    is_big: bool = False

    @property
    def ours(self) -> str:
        """The contender that is held against the others."""
        return self.contenders[0]

    def rounds_of(self, asked: int) -> int:
        """How many rounds it takes."""
        return self.rounds or asked * self.more_rounds


_KERAS_PREDICT = ("keras3/predict", "keras3/on_batch")
_OTHER_LOOPS = ("torch_loop", "jax_loop")
_SESSIONS = ("tf_session/run", "tf_session/callable", "tf_session/fused")
_TRAINERS = (OURS, "tf_estimator", "keras3/fit", "keras3/fit50", "lightning_trainer", *_OTHER_LOOPS, *_SESSIONS)
_BOTH = (OURS, "tf_estimator")
_PREDICT = (OURS, "tf_estimator", *_KERAS_PREDICT, *_OTHER_LOOPS, "tf_session/run")


def _big_rows(name: str, title: str) -> tuple[Row, ...]:
    """The rows of a big model: its steps, its start, its memory."""
    contenders = (OURS, "tf_session/run", "tf_estimator")
    row = Row(
        f"big_{name}",
        f"Train {title}",
        contenders=contenders,
        goals=(AtLeast(0.97, "tf_session/run"),),
        rounds=3,
        is_isolated=True,
        is_big=True,
        note="The session by hand runs the same graph, with a checkpoint before the first step and after the last.",
    )
    start, memory = f"The first step of {title}", f"Peak of resident memory, training {title}"
    return (
        row,
        replace(
            row,
            key=f"{row.key}_start",
            title=f"{start}: building, session, checkpoint and step, from the call of `train`",
            kind="seconds",
            goals=(AtLeast(1, "tf_estimator"),),
            note="",
            limit="The tables' initial weights and the checkpoint of step 0 are four fifths of it, in kernels that "
            "both have: 1.1 to 1.7 s and 0.8 to 3.2 s from run to run, which is more than lies between the two.",
        ),
        replace(
            row,
            key=f"{row.key}_memory",
            title=memory,
            kind="megabytes",
            goals=(HoldsAtMost(1 / 1.05, "tf_session/run"),),
            rounds=1,
            note="Above what was resident before the training; the first checkpoint and the last are part of it.",
        ),
    )


ROWS = (
    Row(
        "mlp",
        "Train MLP (784-128-10, batch 32, Adam), no per-step hook",
        contenders=_TRAINERS,
        goals=(
            AtLeast(2.5, "tf_estimator"),
            AtLeast(3, "keras3/fit"),
            AtLeast(3, "lightning_trainer"),
            AtLeast(0.95, "tf_session/fused"),
        ),
        note="Lightwell and tf.estimator log, write summaries and save checkpoints as they do by default; the others "
        "do none of it.",
        limit="The operations of a step are the limit: a loop by hand that does nothing else is no faster. Tried: many "
        "steps to a call; running them in the calling thread, 5 to 25 % faster and kept where it is; pipelines without "
        "tuning. What the loop adds to a step, the count, the loss that is kept and the look for a NaN, are ten small "
        "operations, 6 microseconds together.",
    ),
    Row(
        "mlp_jit",
        "Train MLP (784-128-10, batch 32, Adam), compiled",
        contenders=("ours/jit", "ours/auto", "ours/fused", "jax_loop", "jax_loop/scan", "tf_session/fused"),
        goals=(AtLeast(1.4, "ours/fused"), AtLeast(1.0, "jax_loop"), AtLeast(0.9, "jax_loop/scan")),
    ),
    Row(
        "mlp_hook",
        "Train MLP, one old-style hook fetching a tensor each step",
        contenders=_BOTH,
        goals=(AtLeast(1.8, "tf_estimator"),),
        limit="Of 0.55 ms a step, 0.50 are inside the session call; Lightwell's Python takes 0.014 with nothing else "
        "running, and 0.05 beside a step, whose data have driven it out of the caches. Tried: calls that the session "
        "has prepared for themselves (0.04 ms less, kept); fetches that are resolved once; running in the calling "
        "thread (0.69 to 0.59 ms); asking hooks only up to their next look. "
        "Taking batches in the calling thread too would save 0.05 ms more, but can lock up pipelines with functions.",
    ),
    Row(
        "mlp_watch",
        "Train MLP (784-128-64-32-10), `Watch` of `stats` on its 4 layers and all 8 gradients, every 100",
        contenders=("ours/watch", "ours/plain"),
        goals=(AtLeast(0.97, "ours/plain"),),
        limit="A look is a call of its own, with seven reductions of each of 12 tensors beside the step: 300 small "
        "operations more. Tried: one backward pass for the optimizer and the watch (kept).",
        more_rounds=2,
    ),
    Row(
        "cnn",
        "Train CNN (two 5x5 convolutions, dense 1024, dropout; batch 32, Adam)",
        contenders=_TRAINERS,
        goals=(AtLeast(1.2, "tf_estimator"), AtLeast(1.2, "keras3/fit")),
        limit="Kernels take the step, and they are the same in TensorFlow 2.15.1 and 2.21. On one thread, at their "
        "least, 30.3 and 31.1 ms: the second convolution 15.2 and 15.5 (forward 5.0 and 5.0, by its input 4.9 and 5.3, "
        "by its filter 5.2 and 5.2), the layer of 3136 x 1024 weights 9.0 and 9.3 (forward 2.5 and 2.5, by its input "
        "4.0 and 4.1, by its weights 2.5 and 2.7), Adam over these 3.7 and 3.5, all else 2.4 and 2.8. With two threads "
        "the product by the input of that layer took 12 ms of the processors instead of 4; its mirror image takes "
        "3.7, and is what Lightwell computes. Memory is no part of it: two page faults "
        "a step. Tried, no difference beyond noise: threads that do not spin; one thread between operations; "
        "the calling thread. One thread inside an operation and two between takes a sixth less of the processors, but"
        " may give other last digits, so it is left to `RunConfig(session_config=...)`.",
    ),
    Row(
        "wide",
        "Train wide-and-deep on feature columns (10 string, 10 numeric columns, batch 256)",
        contenders=_BOTH,
        goals=(AtLeast(1.5, "tf_estimator"),),
    ),
    Row(
        "ready_wide",
        "Train `DNNLinearCombinedClassifier` (the same columns and layers, its own optimizers, batch 256)",
        contenders=_BOTH,
        goals=(AtLeast(1.5, "tf_estimator"),),
    ),
    Row(
        "ready_dnn",
        "Train `DNNClassifier` (784-128-10 on a numeric column, its own optimizer, batch 32)",
        contenders=("ours", "ours/jit", "tf_estimator"),
        goals=(AtLeast(2, "tf_estimator"),),
        limit="The operations of a step are the limit, as in `mlp`: a step is as long as that of a `model_fn` with the "
        "same layers and Adagrad, without a head's checks. Half of it are Adagrad over 100,000 weights and the two "
        "products with them, in the same kernels for both. Tried: checks of labels without branches (kept); "
        "taking batches in the calling thread (no difference beyond noise). "
        "`RunConfig(jit_compile=True)` compiles them.",
    ),
    Row(
        "predict_batches",
        "Predict 20,000 rows x 784 (MLP) in batches of 32",
        unit="rows/s",
        contenders=_PREDICT,
        goals=(AtLeast(2.5, "keras3/predict"),),
    ),
    Row(
        "predict_batches_256",
        "Predict 20,000 rows x 784 (MLP) in batches of 256",
        unit="rows/s",
        contenders=_PREDICT,
        goals=(AtLeast(2.5, "keras3/predict"),),
        limit="Of 75 ms a call, 20 go into calling both functions anew, as in `predict_loop`, 5 into the copy of 62 MB "
        "of input, and 40 into the 79 steps; Keras builds its function once, and never asks if the model changed.",
    ),
    Row(
        "predict_rows",
        "Predict 20,000 rows x 784 (MLP), one dict per row",
        unit="rows/s",
        contenders=_BOTH,
        goals=(AtLeast(20, "tf_estimator"),),
        limit="Of 175 ms a call, 125 to 140 are the 625 steps, in TensorFlow's kernels and executor (0.2 ms for 32 "
        "rows); 25 to 30 building the graph, as in `predict_loop`; 5 the copy of 62 MB of input; 7 the rows, of which "
        "each is a dict made without a line of Python. Tried: all steps in two calls instead of five (a session that "
        "is kept knows how long its steps take), many batches to a call, pipelines without tuning.",
    ),
    Row(
        "one_row",
        "One row through `predictor()`",
        kind="seconds",
        contenders=(
            "ours/predictor",
            "tf_session/run",
            "tf_session/callable",
            "keras3/on_batch",
            "keras3/call",
            *_OTHER_LOOPS,
        ),
        goals=(TakesAtMost(1 / 1.5, "tf_session/run"),),
    ),
    Row(
        "predict_loop",
        "`predict()` of one row, in a loop: both functions called anew each time",
        kind="seconds",
        contenders=(OURS, "tf_estimator", "keras3/predict", "tf_session/build"),
        goals=(AtLeast(8, "tf_estimator"),),
        limit="Whoever calls `input_fn` and `model_fn` anew lets TensorFlow build their graph, in Python: by hand, "
        "without running anything, that takes most of the time of this call (see the row's last line), and 37,500 of "
        "its 46,000 Python calls. Of 25 ms: `model_fn` 15.5 (half of it four variables), `input_fn` 2.1, its iterator "
        "1.3, the global step 2, garbage of earlier graphs 2, the session's three calls 1.3, what stands in for "
        "functions of TensorFlow and Keras 0.8, looking for a newer checkpoint 0.5, comparing the graph with that of "
        "the session 0.4. "
        "Copying variables from earlier ones of their kind, which takes a third off, was tried and left out: it means "
        "to rebuild TensorFlow's variables from the inside. `RunConfig(pure_model_fn=True)` skips `model_fn`, see the "
        "next row; `predictor()` both, see `one_row`.",
    ),
    Row(
        "predict_loop_vouched",
        "`predict()` of one row, in a loop, `RunConfig(pure_model_fn=True)`: only `input_fn` is called anew",
        kind="seconds",
        contenders=("ours/vouched", "tf_estimator", "keras3/predict"),
        goals=(AtLeast(15, "tf_estimator"),),
        limit="`input_fn` has to be called to know what it returns this time. Of 7.4 ms: `input_fn` 2.1, its iterator "
        "1.3, starting the iterator 0.8, the batch and the end of the data 0.7, what stands in for functions of "
        "TensorFlow and Keras 0.6, looking for a newer checkpoint 0.5, comparing the graph 0.2. "
        "`predictor()` needs no `input_fn`: see `one_row`.",
    ),
    Row(
        "predict_memory",
        "Resident memory over 1,000 calls of `predict()` of one row",
        kind="drift",
        goals=(Flat(),),
        rounds=1,
        is_isolated=True,
    ),
    Row(
        "first_step",
        "First training step on 62 MB of NumPy, from the call of `train`",
        kind="seconds",
        contenders=_BOTH,
        goals=(AtLeast(10, "tf_estimator"),),
    ),
    Row(
        "first_step_3gb",
        "First training step on 3.1 GB of NumPy",
        kind="seconds",
        contenders=_BOTH,
        goals=(Works(),),
        rounds=1,
        is_isolated=True,
    ),
    Row(
        "evaluate",
        "Evaluate 20,000 rows x 784 (MLP, accuracy), repeated",
        unit="rows/s",
        contenders=(OURS, "tf_estimator", "keras3/evaluate", "ours/vouched"),
        goals=(AtLeast(20, "tf_estimator"),),
    ),
    Row(
        "evaluate_memory",
        "Resident memory over 200 calls of `evaluate()`",
        kind="drift",
        goals=(Flat(),),
        rounds=1,
        is_isolated=True,
    ),
    Row(
        "taps",
        'Predict only `taps=["layers/conv2d"]` of the CNN, against the full predict',
        unit="rows/s",
        contenders=("ours/tap", "ours/full"),
        goals=(AtLeast(1, "ours/full"),),
    ),
    Row(
        "import", "Import Lightwell, over TensorFlow", kind="seconds", contenders=("ours/lightwell", "ours/tensorflow")
    ),
    Row(
        "memory",
        "Resident memory over 200 cycles of train (10 steps), evaluate and predict",
        kind="drift",
        goals=(Flat(),),
        rounds=1,
        is_isolated=True,
    ),
    Row(
        "capture_early",
        "Capture one early layer of the CNN (`layers/max_pooling2d`, 25 KB a row) to disk, against the full predict",
        unit="rows/s",
        contenders=("ours/capture", "ours/full"),
        goals=(AtLeast(1, "ours/full"),),
        note="Both read 4,096 rows in batches of 128; a capture also writes 103 MB.",
    ),
    Row(
        "capture_all",
        "Capture all layers of a network of 64 units (784-32-22-10, batch 256) to disk, against an untapped predict",
        unit="rows/s",
        contenders=("ours/capture", "ours/full"),
        goals=(AtLeast(0.9, "ours/full"),),
        more_rounds=2,
        note="100,000 rows; the capture writes 264 bytes of each.",
        limit="What is written takes 22 ms of one core, on the two that the model computes on: 13 to hand 26 MB to the "
        "system, which makes pages for them, 2 to copy, 2 to remove the capture that is replaced, the rest in Python. "
        "The sum of the input is made while the model is built. Tried: larger and smaller record batches, a longer "
        "queue, a writing thread of lower priority.",
    ),
    Row(
        "capture_read",
        "Read a captured column of 205 MB and sum it up, against one mapped file",
        unit="MB/s",
        contenders=("ours/capture", "ours/npy", "ours/arrow"),
        goals=(Reaches(800), AtLeast(0.8, "ours/npy"), AtLeast(0.9, "ours/arrow")),
    ),
    Row(
        "capture_memory",
        "Peak of resident memory in a capture of 320,000 rows, against one of 40,000",
        kind="drift",
        goals=(Flat(),),
        rounds=1,
        is_isolated=True,
    ),
    Row(
        "train_and_evaluate",
        "`train_and_evaluate` of the MLP, 20 evaluations (1,875 steps, then 10,000 rows in batches of 32: MNIST, 20 "
        "epochs): time outside of training steps and evaluation steps",
        kind="share",
        contenders=("ours/vouched", "ours/default", "tf_estimator"),
        goals=(ShareAtMost(0.10),),
        rounds=3,
        note="What is left of the whole call once the steps are taken off: building, sessions, checkpoints, events, "
        "the log. Vouched is `RunConfig(pure_model_fn=True)`.",
    ),
    *_big_rows("bert", "a transformer encoder of BERT-base's shape (110 M weights; 4 rows of 32 tokens, Adam)"),
    *_big_rows("dlrm", "a click model on 20 tables of 1 M rows (320 M weights; batch 256, sparse updates)"),
)


def chosen(keys: Sequence[str]) -> tuple[Row, ...]:
    """The rows that keys name: `mlp` means `mlp`, `mlp_hook` and `mlp_watch`. No keys: all but the big ones.

    Raises:
        LookupError: a key names no row.
    """
    for key in keys:
        if not any(_names(key, row) for row in ROWS):
            raise LookupError(f"No row is called {key!r}; there are {', '.join(row.key for row in ROWS)}.")
    found = (row for row in ROWS if (any(_names(key, row) for key in keys) if keys else not row.is_big))
    return tuple(map(_beside_before, found))


def _beside_before(row: Row) -> Row:
    """The row with an earlier Lightwell beside ours, where there is one to compare with."""
    if "LIGHTWELL_BEFORE" not in os.environ:
        return row
    ours = [contender for contender in row.contenders if contender.partition("/")[0] == OURS]
    earlier = [contender.replace(OURS, BEFORE, 1) for contender in ours]
    return replace(row, contenders=(row.ours, *earlier, *row.contenders[1:]))


def _names(key: str, row: Row) -> bool:
    return row.key == key or row.key.startswith(key + "_")
