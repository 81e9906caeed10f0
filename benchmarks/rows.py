"""The rows: what is measured, who is measured in it, what it should come to, and on which page it is shown."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.peers import BEFORE, OURS

BEST_PEER = "the best peer"


@dataclass(frozen=True)
class Goal:
    """What a row should come to."""

    bound: float | None = None  # times as fast as a contender; of ours alone, the bound of its figure; None: it works
    against: str = ""  # the contender, or BEST_PEER; "" for a goal of ours alone
    by: str = ""  # the contender of ours that the goal is for, where it is not the first
    inverse: str = ""  # "time" or "memory" where the goal is told as at most `1 / bound` of the contender's


@dataclass(frozen=True)
class Row:
    """One piece of work."""

    key: str  # what `ROWS=` and the workers call it
    title: str
    kind: str = "per_second"  # the figure that workers answer with; or seconds, megabytes, drift, share
    unit: str = "steps/s"  # what a rate counts
    contenders: tuple[str, ...] = (OURS,)  # ours first, as "worker" or "worker/variant"
    goals: tuple[Goal, ...] = ()
    note: str = ""  # what a reader must know to judge the figures
    limit: str = ""  # if a goal is missed, what stands in the way, in a sentence
    page: str = "bench"  # a key of `report.PAGES`
    device: str = "cpu"  # or "gpu"
    rounds: int | None = None  # instead of those asked for
    more_rounds: int = 1  # times those asked for, where a small difference counts
    is_isolated: bool = False  # every measurement has a process of its own
    of: str = ""  # the row whose answers hold its figures too; it is not measured by itself
    figure: str = ""  # the key of its figures in the answers, if that is not the kind
    gigabytes: float = 0.0  # the free memory that it needs
    sizes: tuple[int, ...] = ()  # where it is measured, if it grows with something
    columns: tuple[tuple[str, str, str], ...] = ()  # further figures of its table: heading, key, kind

    @property
    def ours(self) -> str:
        """The contender that is compared with the others."""
        return self.contenders[0]

    def points(self, is_quick: bool = False) -> list[str]:
        """The contenders, at every size as "contender@size" if there are sizes; for a quick run at the two smallest."""
        sizes = self.sizes[: 2 if is_quick else None]
        return [f"{one}@{size}" for size in sizes for one in self.contenders] or list(self.contenders)


_KERAS_PREDICT = ("keras3/predict", "keras3/on_batch")
_LOOPS = ("torch_loop", "jax_loop")
_SESSIONS = ("tf_session/run", "tf_session/callable", "tf_session/fused")
_PEERS_TRAIN = ("tf_estimator", "keras3/fit", "keras3/fit50", "torch_loop/lightning", *_LOOPS, *_SESSIONS)
_PREDICT = (OURS, "tf_estimator", *_KERAS_PREDICT, *_LOOPS, "tf_session/run")
_BOTH = (OURS, "tf_estimator")
_FLAT = {"kind": "drift", "goals": (Goal(0.01),), "rounds": 1, "is_isolated": True}

# fmt: off
_SESSION_CALLS = {"one_step": "trains one step", "train": "trains 200 steps", "evaluate": "evaluates",
    "predict_row": "predicts one row", "predict_batches": "predicts 6,000 rows in batches"}


def _session_part(figure: str, words: str, bound: float | None) -> Row:
    """A figure of the row `session`."""
    goals = () if bound is None else (Goal(bound, "tf_estimator"),)
    return Row(f"session_{figure}", f"In the short session: {words}", kind="seconds", contenders=_BOTH, goals=goals,
        of="session", figure=figure)


_GPU_BERT = "a transformer encoder of BERT-base's shape (110 M weights; 16 rows of 128 tokens, Adam)"
_GPU_MLP = "MLP (784-128-10, batch 128, Adam)"

_BENCH = (
    Row("mlp", "Train MLP (784-128-10, batch 32, Adam), no per-step hook", contenders=(OURS, *_PEERS_TRAIN),
        goals=(Goal(2.5, "tf_estimator"), Goal(3, "keras3/fit"), Goal(3, "torch_loop/lightning"),
        Goal(0.95, "tf_session/fused")),
        note="Lightwell and tf.estimator log, summarise and save checkpoints by default; the others do none of it.",
        limit="The operations of a step are the limit: a loop by hand that does nothing else is no faster."),
    Row("mlp_jit", "Train MLP (784-128-10, batch 32, Adam), compiled",
        contenders=("ours/jit", "ours/auto", "ours/fused", "jax_loop", "jax_loop/scan", "tf_session/fused"),
        goals=(Goal(1.4, "ours/fused"), Goal(1, "jax_loop"), Goal(0.9, "jax_loop/scan"))),
    Row("mlp_hook", "Train MLP, one old-style hook fetching a tensor each step", contenders=_BOTH,
        goals=(Goal(1.8, "tf_estimator"),),
        limit="Of 0.55 ms a step 0.50 are inside the session call, and Lightwell's Python takes at most 0.05."),
    Row("mlp_watch",
        "Train MLP (784-128-64-32-10), `Watch` of `stats` on its 4 layers and all 8 gradients, every 100",
        contenders=("ours/watch", "ours/plain"), goals=(Goal(0.97, "ours/plain"),),
        limit="A look is a call of its own, with seven reductions of each of 12 tensors beside the step.",
        more_rounds=2),
    Row("cnn", "Train CNN (two 5x5 convolutions, dense 1024, dropout; batch 32, Adam)",
        contenders=(OURS, *_PEERS_TRAIN), goals=(Goal(1.2, "tf_estimator"), Goal(1.2, "keras3/fit")),
        limit="Kernels take the step, and they are the same in TensorFlow 2.15.1 and 2.21."),
    Row("cnn_auto", 'Train CNN, `jit_compile="auto"`, which should not choose compiled steps where they are slower',
        contenders=("ours/auto", "ours/fused"), goals=(Goal(0.95, "ours/fused"),)),
    Row("wide", "Train wide-and-deep on feature columns (10 string, 10 numeric columns, batch 256)", contenders=_BOTH,
        goals=(Goal(1.5, "tf_estimator"),)),
    Row("ready_wide",
        "Train `DNNLinearCombinedClassifier` (the same columns and layers, its own optimizers, batch 256)",
        contenders=_BOTH, goals=(Goal(1.5, "tf_estimator"),)),
    Row("ready_dnn", "Train `DNNClassifier` (784-128-10 on a numeric column, its own optimizer, batch 32)",
        contenders=(OURS, "ours/jit", "tf_estimator"), goals=(Goal(2, "tf_estimator"),),
        limit="The operations of a step are the limit, as in `mlp`; `RunConfig(jit_compile=True)` compiles them."),
    Row("predict_batches", "Predict 20,000 rows x 784 (MLP) in batches of 32", unit="rows/s", contenders=_PREDICT,
        goals=(Goal(2.5, "keras3/predict"),)),
    Row("predict_batches_256", "Predict 20,000 rows x 784 (MLP) in batches of 256", unit="rows/s",
        contenders=_PREDICT, goals=(Goal(2.5, "keras3/predict"), Goal(1, "torch_loop")),
        limit="Of 75 ms a call, 20 go into building the graph, as in `predict_loop`, 5 into the copy of 62 MB of input "
        "and 40 into the 79 steps, while peers build their function once."),
    Row("predict_rows", "Predict 20,000 rows x 784 (MLP), one dict per row", unit="rows/s", contenders=_BOTH,
        goals=(Goal(20, "tf_estimator"),),
        limit="Of 175 ms a call, 125 to 140 are the 625 steps in TensorFlow's kernels and executor, 25 to 30 building "
        "the graph, 5 the copy of the input, 7 the rows."),
    Row("one_row", "One row through `predictor()`", kind="seconds", contenders=("ours/predictor", "tf_session/run",
        "tf_session/callable", "keras3/on_batch", "keras3/call", *_LOOPS),
        goals=(Goal(1 / 1.5, "tf_session/run", inverse="time"),)),
    Row("predict_loop", "`predict()` of one row, in a loop: both functions are called each time", kind="seconds",
        contenders=(OURS, "tf_estimator", "keras3/predict", "tf_session/build"), goals=(Goal(8, "tf_estimator"),),
        limit="Most of the time TensorFlow builds the graph of `input_fn` and `model_fn` in Python, as the line of the "
        "graph built by hand shows; `RunConfig(pure_model_fn=True)` and `predictor()` avoid it."),
    Row("predict_loop_vouched",
        "`predict()` of one row, in a loop, `RunConfig(pure_model_fn=True)`: only `input_fn` is called each time",
        kind="seconds", contenders=("ours/vouched", "tf_estimator", "keras3/predict"),
        goals=(Goal(15, "tf_estimator"),),
        limit="`input_fn` has to be called to know what it returns this time: it and its iterator take 4.2 of 7.4 ms."),
    Row("predict_overhead",
        "Time outside of the user's functions in `predict()` and `evaluate()` of 32 rows, in a loop", kind="seconds",
        contenders=("ours/predict", "ours/evaluate"), goals=(Goal(0.005),)),
    Row("session", "A short session of all verbs, the processor's time: train 1 step, train 200, 3 evaluations of "
        "6,000 rows, 3 predictions of one row, 3 in batches, and all of it again", kind="seconds", contenders=_BOTH,
        goals=(Goal(3, "tf_estimator"),), is_isolated=True, figure="cpu",
        note="In a process that has imported TensorFlow; MLP 32-128-10, batch 32.",
        limit="Both call the user's functions in each of the 22 calls, about a third of our time; a training has a new "
        "session each time, and the first call of each kind imports the engine and prepares a loop."),
    _session_part("seconds", "the same by the clock", 3),
    *(_session_part(f"first_{key}", f"the processor's time of the first call that {words}", 1)
        for key, words in _SESSION_CALLS.items()),
    *(_session_part(key, f"the processor's time of a later call that {words}", None)
        for key, words in _SESSION_CALLS.items()),
    _session_part("slowest_evaluate", "the slowest of the later evaluations", None),
    _session_part("slowest_predict_row", "the slowest of the later predictions of one row", None),
    Row("predict_memory", "Resident memory over 1,000 calls of `predict()` of one row", **_FLAT),
    Row("first_step", "First training step on 62 MB of NumPy, from the call of `train`", kind="seconds",
        contenders=_BOTH, goals=(Goal(10, "tf_estimator"),)),
    Row("first_step_3gb", "First training step on 3.1 GB of NumPy", kind="seconds", contenders=_BOTH, goals=(Goal(),),
        rounds=1, is_isolated=True, gigabytes=12),
    Row("evaluate", "Evaluate 20,000 rows x 784 (MLP, accuracy), repeated", unit="rows/s",
        contenders=(OURS, "tf_estimator", "keras3/evaluate", "ours/vouched"), goals=(Goal(20, "tf_estimator"),)),
    Row("evaluate_memory", "Resident memory over 200 calls of `evaluate()`", **_FLAT),
    Row("memory", "Resident memory over 200 cycles of train (10 steps), evaluate and predict", **_FLAT),
    Row("capture_early",
        "Capture one early layer of the CNN (`layers/max_pooling2d`, 25 KB a row) to disk, against the full predict",
        unit="rows/s", contenders=("ours/capture", "ours/full"), goals=(Goal(1, "ours/full"),)),
    Row("capture_all",
        "Capture all layers of a network of 64 units (784-32-22-10, batch 256) to disk, against an untapped predict",
        unit="rows/s", contenders=("ours/capture", "ours/full"), goals=(Goal(0.9, "ours/full"),),
        limit="What is written takes 22 ms of one core, on the two that the model computes on.", more_rounds=2),
    Row("capture_memory", "Peak of resident memory in a capture of 320,000 rows, against one of 40,000", **_FLAT),
    Row("train_and_evaluate",
        "`train_and_evaluate` of the MLP, 20 evaluations (MNIST, 20 epochs): time outside of training steps and "
        "evaluation steps", kind="share", contenders=("ours/vouched", "ours/default", "tf_estimator"),
        goals=(Goal(0.10),), rounds=3,
        note="Building, sessions, checkpoints, events and the log. Vouched is `RunConfig(pure_model_fn=True)`."),
)


def _big_rows(name: str, title: str) -> tuple[Row, ...]:
    """The rows of a big model: its steps, its start, its memory."""
    row = Row(f"big_{name}", f"Train {title}", contenders=(OURS, "tf_session/run", "tf_estimator"),
        goals=(Goal(0.97, "tf_session/run"),), page="big", rounds=3, is_isolated=True, gigabytes=8)
    start = replace(row, key=f"{row.key}_start", title=f"The first step, from the call of `train`: {title}",
        kind="seconds", goals=(Goal(1, "tf_estimator"),),
        limit="The tables' initial weights and the checkpoint of step 0 are four fifths of it, in kernels that both "
        "have, and vary more from run to run than lies between the two.")
    memory = replace(row, key=f"{row.key}_memory",
        title=f"Peak of resident memory above the start, both checkpoints included: {title}", kind="megabytes",
        goals=(Goal(1 / 1.05, "tf_session/run", inverse="memory"),), rounds=1)
    return row, start, memory


def _growth_row(
    key: str, title: str, sizes: tuple[int, ...], contenders: tuple[str, ...] = (OURS,), start: str = "first step",
    rounds: int = 1, note: str = "",
) -> Row:
    columns = ((start, "start_seconds", "seconds"), ("memory", "memory_mb", "megabytes"))
    return Row(
        f"growth_{key}", title, "seconds", contenders=contenders, page="growth", rounds=rounds, is_isolated=True,
        sizes=sizes, columns=columns, note=note)


_GROWTH = (
    _growth_row(
        "layers", "Layers of 64 units: a training step, batch 32", (2, 4, 8, 16, 32, 64), (OURS, "keras3"), rounds=3),
    _growth_row("depth", "Thin layers, a weight each: a training step, batch 32", (100, 1_000, 10_000),
        note="The start grows a little faster than the layers: TensorFlow optimises the graph of a call."),
    _growth_row("watches", "Watches, each every 10 steps: a training step, batch 32", (0, 1, 10, 100, 1_000),
        rounds=3,
        note="They observe the statistics of 31 layers, each computed once; nine of ten steps are observed by none."),
    _growth_row("taps", "Taps, of 64 layers: predicting 10,000 rows", (0, 1, 4, 16, 64), start="first time", rounds=3),
    _growth_row("rows", "Rows of 64 numbers: predicting all of them", (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
        (OURS, "keras3"), "first time"),
    _growth_row("batch", "Batch size: a training step", (1, 8, 64, 512, 4096), (OURS, "keras3"), rounds=3),
    _growth_row("params", "Weights: a training step, batch 32", (10**4, 10**5, 10**6, 10**7, 10**8), (OURS, "keras3")),
)

_CLUSTERS = ("one", "one_single", "apart_2", "mirrored_1", "mirrored_2", "ps_1", "ps_2", "together_2")
_SCALING = Row("scaling", "Train 256-512-512-10 (1.60 MB of weights, batch 128 for each worker, Adam)",
    unit="examples/s", contenders=tuple(f"cluster/{name}" for name in _CLUSTERS), page="scaling", rounds=1,
    is_isolated=True, columns=(("a step of a worker", "step_ms", "ms"), ("least", "step_ms_least", "ms"),
    ("most", "step_ms_most", "ms"), ("bytes a step", "bytes_per_step", "count"),
    ("from the variables", "expected_bytes", "count")))

_GPU_PEERS = ("keras3/fit", "keras3/fit_jit", "torch_loop", "torch_loop/compiled", "jax_loop", "jax_loop/scan")
_ON_GPU = (OURS, "ours/single", "ours/jit", "tf_session/callable", *_GPU_PEERS)
_GPU_STARTS = (OURS, "tf_session/callable", "keras3/fit", "torch_loop", "jax_loop")
_AS_IT_COMES = (Goal(1, "tf_session/callable"), Goal(1, "keras3/fit_jit"))
_GPU_COMPILED = (Goal(1.5, "jax_loop", by="ours/jit"), Goal(3, "torch_loop", by="ours/jit"),
    Goal(3, "keras3/fit_jit", by="ours/jit"))
_BEST = (Goal(0.95, BEST_PEER),)


def _gpu_row(key: str, title: str, **more: Any) -> Row:
    return Row(f"gpu_{key}", title, page="gpu", device="gpu", **more)


def _gpu_memory(key: str, title: str) -> Row:
    return _gpu_row(f"{key}_memory", f"Peak of device memory in these trainings: {title}", kind="megabytes",
        contenders=_ON_GPU, of=f"gpu_{key}",
        note="What tensors took at most, as each framework counts it; without the libraries' own.")


def _gpu_start(key: str, title: str, rounds: int) -> Row:
    return _gpu_row(f"{key}_start", f"The first step, in a process that has imported and loaded its data: {title}",
        kind="seconds", contenders=_GPU_STARTS, is_isolated=True, rounds=rounds,
        note="Lightwell writes its first checkpoint in that time; the others write none.")


_GPU = (  # in order of importance: a run with a time limit begins with the first
    _gpu_row("bert", f"Train {_GPU_BERT}", contenders=_ON_GPU, goals=(*_AS_IT_COMES, *_BEST),
        limit="The GPU computes 42 % of the time and waits for calls of small kernels in the rest; dropout keeps the "
        "step from being compiled by default."),
    _gpu_memory("bert", _GPU_BERT),
    _gpu_row("wide", "Train wide MLP (4096-4096-4096-10, batch 512, Adam)", contenders=_ON_GPU,
        goals=(*_AS_IT_COMES, *_BEST),
        limit="Copies of the batches (8 MB each) to the GPU take a quarter of the time, and steps wait for them."),
    _gpu_row("lstm", "Train LSTM (64 steps of 128 numbers, 256 units, batch 128, Adam)", contenders=_ON_GPU,
        goals=_AS_IT_COMES,
        note="Lightwell's is Keras's layer, the session's a cuDNN op, which XLA does not know; JAX's is a scan."),
    _gpu_row("dlrm", "Train a click model (26 tables of 100,000 x 32, dot products, batch 2048, descent)",
        contenders=_ON_GPU, goals=_AS_IT_COMES,
        note="Gradients of tables are sparse but in JAX, in `torch.compile` and where XLA makes them dense."),
    _gpu_row("mlp", f"Train {_GPU_MLP}", contenders=_ON_GPU, goals=(*_AS_IT_COMES, *_GPU_COMPILED),
        limit="Compiled steps wait for the `tf.data` pipeline, whose one thread that shuffles is busy all the time."),
    _gpu_memory("mlp", _GPU_MLP),
    _gpu_row("cnn", "Train CNN (two 5x5 convolutions, dense 1024, dropout; batch 128, Adam)", contenders=_ON_GPU,
        goals=(*_AS_IT_COMES, *_GPU_COMPILED)),
    _gpu_row("watch", "Train MLP (784-128-10, batch 128), a watch of `stats` of all gradients every 100 steps",
        contenders=("ours/watch", "ours/plain"), goals=(Goal(0.97, "ours/plain"),), more_rounds=2,
        limit="A look is a call of its own, of one step that is not compiled."),
    _gpu_row("one_row", "One row through `predictor()` (MLP 784-128-10)", kind="seconds",
        contenders=("ours/predictor", "tf_session/run", "tf_session/callable"),
        goals=(Goal(1 / 1.5, "tf_session/run", inverse="time"),)),
    _gpu_start("mlp", _GPU_MLP, 2),
    _gpu_start("bert", _GPU_BERT, 1),
)
# fmt: on


def _with_before(row: Row) -> Row:
    """The row with an earlier Lightwell as a further contender, where `LIGHTWELL_BEFORE` names one."""
    if "LIGHTWELL_BEFORE" not in os.environ:
        return row
    earlier = [one.replace(OURS, BEFORE, 1) for one in row.contenders if one.partition("/")[0] == OURS]
    return replace(row, contenders=(row.ours, *earlier, *row.contenders[1:]))


_BERT = "a transformer encoder of BERT-base's shape (110 M weights; 4 rows of 32 tokens, Adam)"
_DLRM = "a click model on 20 tables of 1 M rows (320 M weights; batch 256, sparse updates)"
ROWS = tuple(
    map(_with_before, (*_BENCH, *_big_rows("bert", _BERT), *_big_rows("dlrm", _DLRM), *_GROWTH, _SCALING, *_GPU))
)


def choose_rows(keys: Sequence[str], page: str = "bench") -> list[Row]:
    """The rows that keys name (`mlp` also means `mlp_hook`), or all of the page; LookupError if a key names none."""

    def is_named(row: Row, key: str) -> bool:
        return any(row.key == name or row.key.startswith(f"{name}_") for name in (key, f"{page}_{key}"))

    for key in keys:
        if not any(is_named(row, key) for row in ROWS):
            raise LookupError(f"No row is called {key!r}; there are {', '.join(row.key for row in ROWS)}.")
    return [row for row in ROWS if (any(is_named(row, key) for key in keys) if keys else row.page == page)]
