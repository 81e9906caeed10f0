"""The peers: their names in the results, their worker modules, and their environments, which `make` installs."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS, BEFORE = "ours", "before"


class WorkerError(Exception):
    """A peer has no figures: the message says "absent" or "fails", and why."""


@dataclass(frozen=True)
class Peer:
    """A kind of worker process."""

    title: str  # its name in the results
    environment: str  # it runs in `.venv-bench-<environment>`, with the packages of `peers/<environment>.txt`
    module: str  # in `workers/`

    def python(self) -> Path:
        """The interpreter of its environment, which is made if it is missing or its packages have changed."""
        command = ["make", "--silent", f"bench-peer-{self.environment}"]
        variables = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()] or ["no reason"]
            reason = next((line for line in reversed(lines) if line.startswith("ERROR")), lines[0])
            raise WorkerError("absent: could not be installed: " + without_places(reason.removeprefix("ERROR: ")))
        return ROOT / f".venv-bench-{self.environment}" / "bin" / "python"


def without_places(text: str) -> str:
    """A message without the addresses and paths of this machine."""
    return re.sub(r"(?:\w+://|(?<![\w.])/)[^\s'\",;:)]+", "…", text)


PEERS = {
    OURS: Peer("Lightwell", "tensorflow", "ours"),
    BEFORE: Peer("Lightwell before", "tensorflow", "ours"),  # with the sources that LIGHTWELL_BEFORE names
    "tf_estimator": Peer("tf.estimator 2.15.1", "tf_estimator", "tf_estimator"),
    "keras3": Peer("Keras 3", "tensorflow", "keras3"),
    "torch_loop": Peer("PyTorch loop", "torch", "torch_loop"),
    "jax_loop": Peer("JAX jitted loop", "jax", "jax_loop"),
    "tf_session": Peer("TensorFlow session by hand", "tensorflow", "tf_session"),
    "cluster": Peer("Lightwell", "tensorflow", "cluster"),
}

_VARIANTS = {  # those that are not called "title `variant`"
    "ours/watch": "Lightwell, watched",
    "ours/plain": "Lightwell, not watched",
    "ours/jit": "Lightwell, `jit_compile=True`",
    "ours/auto": 'Lightwell, `jit_compile="auto"`',
    "ours/fused": "Lightwell, as it comes",
    "ours/default": "Lightwell, as it comes",
    "ours/vouched": "Lightwell, `model_fn` vouched for",
    "ours/full": "Lightwell, full predict",
    "ours/single": "Lightwell, `fuse_steps=False`",
    "keras3/fit_jit": "Keras 3 `fit`, `jit_compile=True`",
    "torch_loop/compiled": "PyTorch loop, `torch.compile`",
    "keras3/fit50": "Keras 3 `fit`, steps_per_execution=50",
    "keras3/on_batch": "Keras 3 `predict_on_batch`",
    "keras3/call": "Keras 3 `model(x)`",
    "jax_loop/scan": "JAX `lax.scan` over 50 steps",
    "torch_loop/lightning": "Lightning `Trainer`",
    "tf_session/build": "its graph built by hand, not run",
    "tf_session/run": "session by hand, `run`",
    "tf_session/callable": "session by hand, `make_callable`",
    "tf_session/fused": "session by hand, 50 steps fused",
    "cluster/one": "one process",
    "cluster/one_single": "one process, a call for each step",
    "cluster/apart_2": "two such processes, independent",
    "cluster/mirrored_1": "MirroredStrategy, 1 CPU device",
    "cluster/mirrored_2": "MirroredStrategy, 2 CPU devices",
    "cluster/ps_1": "1 ps, 1 worker",
    "cluster/ps_2": "1 ps, 2 workers",
    "cluster/together_2": "MultiWorkerMirroredStrategy, 2 processes",
}


def title_of(contender: str) -> str:
    """A contender's name in the results; it is "worker" or "worker/variant"."""
    worker, _, variant = contender.partition("/")
    if worker == BEFORE and variant:
        return f"{title_of(f'{OURS}/{variant}')}, before"
    return _VARIANTS.get(contender) or PEERS[worker].title + (f" `{variant}`" if variant else "")
