"""Who is measured: each peer's worker, its name in the results, and the environment it needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Environment:
    """A virtual environment, made from `peers/<name>.txt` in `.venv-bench-<name>`.

    Attributes:
        oldest, newest: the Python versions that its packages are published for; None for no limit.
    """

    name: str
    oldest: tuple[int, int] = (3, 10)
    newest: tuple[int, int] | None = None


@dataclass(frozen=True)
class Peer:
    """One worker process.

    Attributes:
        worker: the module in `workers/`.
        title: how results name it.
        environment: where it runs.
    """

    worker: str
    title: str
    environment: Environment


_TENSORFLOW = Environment("tensorflow")
_TF_ESTIMATOR = Environment("tf_estimator", (3, 9), (3, 11))
_TORCH = Environment("torch")
_JAX = Environment("jax", (3, 11))

OURS = "ours"
BEFORE = "before"
PEERS = {
    peer.worker: peer
    for peer in (
        Peer(OURS, "Lightwell", _TENSORFLOW),
        Peer(BEFORE, "Lightwell before", _TENSORFLOW),
        Peer("tf_estimator", "tf.estimator 2.15.1", _TF_ESTIMATOR),
        Peer("keras3", "Keras 3", _TENSORFLOW),
        Peer("lightning_trainer", "Lightning `Trainer`", _TORCH),
        Peer("torch_loop", "PyTorch loop", _TORCH),
        Peer("jax_loop", "JAX jitted loop", _JAX),
        Peer("tf_session", "TensorFlow session by hand", _TENSORFLOW),
    )
}

# How results name a peer that does a thing in several ways. A contender is "worker" or "worker/variant".
_VARIANTS = {
    "ours/watch": "Lightwell, watched",
    "ours/plain": "Lightwell, not watched",
    "ours/jit": "Lightwell, `jit_compile=True`",
    "ours/auto": 'Lightwell, `jit_compile="auto"`',
    "ours/fused": "Lightwell, as it comes",
    "ours/vouched": "Lightwell, `model_fn` vouched for",
    "ours/default": "Lightwell, as it comes",
    "ours/predictor": "Lightwell `predictor()`",
    "ours/tap": "Lightwell, the tap alone",
    "ours/full": "Lightwell, full predict",
    "ours/capture": "Lightwell `capture`",
    "ours/train": "Lightwell `train`",
    "ours/evaluate": "Lightwell `evaluate`",
    "ours/save": "a checkpoint is written",
    "ours/restore": "the first row through a new `predictor()`",
    "ours/inspect": "`lightwell inspect`",
    "ours/compare": "`compare` of two checkpoints",
    "ours/edit": "`edit` of one row of a weight",
    "ours/npy": "`np.load` of one file, mapped",
    "ours/arrow": "pyarrow, mapped",
    "ours/lightwell": "`import lightwell`, after TensorFlow",
    "ours/tensorflow": "`import tensorflow`",
    "keras3/fit": "Keras 3 `fit`",
    "keras3/fit50": "Keras 3 `fit`, steps_per_execution=50",
    "keras3/predict": "Keras 3 `predict`",
    "keras3/on_batch": "Keras 3 `predict_on_batch`",
    "keras3/call": "Keras 3 `model(x)`",
    "keras3/evaluate": "Keras 3 `evaluate`",
    "jax_loop/scan": "JAX `lax.scan` over 50 steps",
    "tf_session/build": "its graph built by hand, not run",
    "tf_session/run": "session by hand, `run`",
    "tf_session/callable": "session by hand, `make_callable`",
    "tf_session/fused": "session by hand, 50 steps fused",
}


def split(contender: str) -> tuple[Peer, str]:
    """A contender's peer and variant."""
    worker, _, variant = contender.partition("/")
    return PEERS[worker], variant


def title_of(contender: str) -> str:
    """A contender's name in the results."""
    peer, variant = split(contender)
    if peer.worker == BEFORE and variant:
        return f"{_VARIANTS[f'{OURS}/{variant}']}, before"
    return _VARIANTS.get(contender) or peer.title
