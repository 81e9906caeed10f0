"""Trains, evaluates and predicts over and over in one process, and prints its memory after each time. Run by
`test_memory.py`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests import tiny


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def main(cycles: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        made = tiny.estimator(directory, save_checkpoints_steps=1000)
        for _ in range(cycles):
            made.train(tiny.data, steps=10)
            made.evaluate(tiny.once)
            list(made.predict(tiny.once))
            print(resident_bytes(), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
