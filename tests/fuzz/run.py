"""Programs in processes: one that lives long for each environment, ended and started anew where a program hangs."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from tests import children
from tests.fuzz.spec import Spec
from tests.fuzz.write import written

ROOT = Path(__file__).resolve().parents[2]
ORIGINAL = "original"


class Worker:
    """A process that runs programs."""

    def __init__(self, python: str, original: bool) -> None:
        self._python, self._original = python, original
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str] = queue.Queue()
        self.answered = 0

    def _start(self) -> None:
        settings = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "TF_ENABLE_ONEDNN_OPTS": "0"}
        environment = children.environment(ROOT, **settings)
        if self._original:
            environment |= {"PYTHONPATH": str(ROOT), "FUZZ_ORIGINAL": "1"}
        log = (ROOT / ".fuzz").resolve()
        log.mkdir(exist_ok=True)
        with open(log / f"worker-{os.getpid()}-{id(self)}.log", "w") as errors:
            self._process = subprocess.Popen(
                [self._python, "-m", "tests.fuzz.worker"],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        lines: queue.Queue[str] = queue.Queue()
        self._lines, self.answered = lines, 0
        output = self._process.stdout

        def pump() -> None:
            assert output is not None
            for line in output:
                lines.put(line)
            lines.put("")

        self._pump = threading.Thread(target=pump, daemon=True)
        self._pump.start()

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to a request; `hang` or `crash` where there is none."""
        if self._process is None or self._process.poll() is not None:
            self._start()
            seconds += 60  # TensorFlow is imported first
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        # A machine that is busy with other things is no hang.
        seconds *= max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            self.close()
            return {"hang": f"no answer in {seconds:.0f} s"}
        if not line:
            status = self._process.wait()
            self.close()
            return {"crash": f"the process ended with {status}"}
        self.answered += 1
        # Graphs of many programs are memory that TensorFlow never gives back.
        answer: dict[str, Any] = json.loads(line)
        if self.answered >= 150 or answer.pop("bye", False):
            self.close()
        return answer

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._pump.join()
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                pipe.close()
            self._process = None


class Bench:
    """The processes of one job: for Lightwell and for the original, two of each where a program resumes in another."""

    def __init__(self, original: str | None, folder: Path, seconds: float = 40.0) -> None:
        self._folder, self._seconds = folder, seconds
        self._pythons = {False: sys.executable, True: original}
        self._workers: dict[tuple[bool, int], Worker] = {}

    def worker(self, original: bool, which: int) -> Worker:
        if (original, which) not in self._workers:
            python = self._pythons[original]
            assert python is not None
            self._workers[original, which] = Worker(python, original)
        return self._workers[original, which]

    def run(self, spec: Spec, way: str) -> dict[str, Any]:
        """What a program gives in one way."""
        # A folder of its own for each run: TensorFlow keeps the writers of event files by their folder.
        self._folder.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{spec.seed}-{way}-", dir=self._folder))
        source = folder / "program.py"
        source.write_text(written(spec))
        is_original = way.startswith(ORIGINAL)
        cuts = [place for place, call in enumerate(spec.calls) if call.what.kind == "new_process"]
        ends = [0, *cuts, len(spec.calls)]
        records: list[Any] = []
        notes: list[str] = []
        for number in range(len(ends) - 1):
            first, last = ends[number], ends[number + 1]
            answer = self.worker(is_original, number % 2).ask(
                {
                    "program": str(source),
                    "folder": str(folder),
                    "way": way,
                    "first": first,
                    "last": last,
                    "is_last": last == len(spec.calls),
                    "control_flow_v2": spec.control_flow_v2,
                },
                self._seconds,
            )
            if "records" not in answer:
                shutil.rmtree(folder, ignore_errors=True)
                return answer
            records += answer["records"]
            notes += answer["notes"]
        shutil.rmtree(folder, ignore_errors=True)
        return {"records": records, "notes": notes}

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()
