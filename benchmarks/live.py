"""A live worker: the process of one peer, idle on its stdin while others measure."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.environments import ROOT, without_places

TIMEOUT = 900.0


class WorkerError(Exception):
    """A worker failed: in a piece of work, or altogether."""


class LiveWorker:
    """One process.

    Args:
        python: the interpreter of the peer's environment.
        worker: the module in `workers/`.
        cores: which cores it may use; every peer gets the same.
        scratch: a directory for its files.
    """

    def __init__(self, python: Path, worker: str, cores: Sequence[int], scratch: str) -> None:
        self.worker = worker
        self._log = tempfile.TemporaryFile("w+", dir=scratch)  # noqa: SIM115 - open as long as the process
        self._process = subprocess.Popen(
            [str(python), "-m", f"benchmarks.workers.{worker}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=ROOT,
            env=environment_for(cores, scratch),
            preexec_fn=_pinned_to(cores),
        )
        self._answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, **request: Any) -> dict[str, Any]:
        """Sends a request and waits for the answer.

        Raises:
            WorkerError: the worker answers with an error, dies, or does not answer in time.
        """
        try:
            self._pipe.write(json.dumps(request) + "\n")
            self._pipe.flush()
            line = self._answers.get(timeout=TIMEOUT)
        except OSError:
            line = ""
        except queue.Empty:
            self.kill()
            raise WorkerError(f"no answer within {TIMEOUT:.0f} s") from None
        if not line:
            raise WorkerError(f"the process ended: {self.last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise WorkerError(without_places(answer["error"]))
        return answer

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def last_words(self) -> str:
        """The last line it wrote to stderr, or its exit code."""
        self._process.wait(timeout=10)
        self._log.seek(0)
        lines = [line.strip() for line in self._log if line.strip()]
        return without_places(lines[-1])[:300] if lines else f"exit code {self._process.returncode}"

    def log(self) -> str:
        """All that it wrote to stderr."""
        self._log.flush()
        self._log.seek(0)
        return self._log.read()

    def close(self) -> None:
        """Lets it end by itself; by force, if it does not."""
        self._pipe.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Ends it at once."""
        self._process.kill()
        self._process.wait()

    @property
    def _pipe(self) -> Any:
        return self._process.stdin

    def _listen(self) -> None:
        stdout: Any = self._process.stdout
        for line in stdout:
            self._answers.put(line)
        self._answers.put("")


def environment_for(cores: Sequence[int], scratch: str) -> Mapping[str, str]:
    """The environment variables of a worker: the same number of threads for every library, our sources, no GPU.

    Peers are installed, and Python keeps what it compiled of them. It is let do so with our sources, whatever the shell
    says: else every new process would compile them anew, half a second in each first step.
    """
    threads = str(len(cores))
    return {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
        "TMPDIR": scratch,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_NUM_INTRAOP_THREADS": threads,
        "TF_NUM_INTEROP_THREADS": threads,
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "CUDA_VISIBLE_DEVICES": "-1",
        "JAX_PLATFORMS": "cpu",
        "PYTHONWARNINGS": "ignore",
    }


def _pinned_to(cores: Sequence[int]) -> Any:
    """What to do in the new process before Python starts: keep to these cores, where the system knows how."""
    pin = getattr(os, "sched_setaffinity", None)
    return None if pin is None else lambda: pin(0, cores)
