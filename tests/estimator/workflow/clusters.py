"""Real processes on this machine: the tasks of a cluster, started, killed and read from a test."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests import children

from lightwell.cli.launch import free_ports


class Cluster:
    """The tasks of `cluster_program`, at the other end of a pipe."""

    def __init__(self, folder: Path, program: list[Any], **tasks: int) -> None:
        self.model_dir, self.logs = str(folder / "model"), folder
        ports = iter(free_ports(sum(tasks.values())))
        self.cluster = {kind: [f"localhost:{next(ports)}" for _ in range(count)] for kind, count in tasks.items()}
        words = [program[0], self.model_dir, *program[1:]]
        settings = {"logs": str(folder), "cluster": self.cluster, "program": words}
        program = os.path.join(os.path.dirname(__file__), "cluster_program.py")
        with open(folder / "codes", "w") as codes:
            command = [sys.executable, program, json.dumps(settings)]
            self._parent = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=codes, env=children.environment(children.ROOT)
            )

    def tell(self, verb: str, kind: str, index: int = 0) -> None:
        assert self._parent.stdin is not None
        self._parent.stdin.write(f"{verb} {kind} {index}\n".encode())
        self._parent.stdin.flush()

    def start(self, evaluator: bool = True) -> None:
        for kind, addresses in self.cluster.items():
            for index in range(len(addresses)):
                self.tell("start", kind, index)
        if evaluator:
            self.tell("start", "evaluator")

    def kill_and_start(self, kind: str, index: int = 0) -> None:
        before = len(self.ended(kind, index))
        self.tell("kill", kind, index)
        self.until(lambda: len(self.ended(kind, index)) > before, f"the death of {kind} {index}")
        self.tell("start", kind, index)

    @property
    def codes(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for task, code in re.findall(r"^ended (\w+ \d+) (-?\d+)\n", (self.logs / "codes").read_text(), re.MULTILINE):
            found.setdefault(task, []).append(int(code))
        return found

    def ended(self, kind: str, index: int = 0) -> list[int]:
        return self.codes.get(f"{kind} {index}", [])

    def log(self, kind: str, index: int = 0) -> str:
        path = self.logs / f"{kind}-{index}.log"
        return path.read_text() if path.exists() else ""

    def step(self) -> int:
        newest = tf.train.latest_checkpoint(self.model_dir)
        return -1 if newest is None else int(newest.rpartition("-")[2])

    def until_ended(self, *tasks: tuple[str, int]) -> None:
        """Waits until each has ended as it should, and no longer once one of them has not."""
        failed = self._failures()
        for task in tasks:
            self.until(lambda task=task: 0 in self.ended(*task) or self._failures() > failed, f"the end of {task}")
            assert self._failures() == failed, self._tails()

    def _failures(self) -> int:
        return sum(code != 0 for codes in self.codes.values() for code in codes)

    def until(self, holds: Any, what: str, seconds: float = 300.0) -> None:
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"waited in vain for {what}\n{self._tails()}"
            time.sleep(0.05)

    def variables(self) -> dict[str, Any]:
        """What the newest checkpoint holds."""
        reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(self.model_dir))
        return {name: reader.get_tensor(name) for name in sorted(reader.get_variable_to_shape_map())}

    def close(self) -> None:
        assert self._parent.stdin is not None
        self._parent.stdin.close()
        self._parent.wait(timeout=300)

    def _tails(self) -> str:
        return "\n".join(f"== {path.name}\n{path.read_text()[-2500:]}" for path in self.logs.glob("*.log"))
