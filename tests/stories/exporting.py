"""A program that trains, evaluates and exports, round after round, in forks of its own; see `trainer.py`.

Each line on standard input is a JSON object with the settings of one run. Run by `test_killed_exporting.py`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests import tiny

import lightwell as lw

RATE = 1e-4


def run(settings: dict[str, Any]) -> None:
    """Trains on, a step at a time, and exports what each evaluation allows; the file tells that an export begins."""
    os.dup2(os.open(settings["stderr"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
    made = tiny.estimator(settings["model_dir"], params={"learning_rate": RATE})
    exporters = [
        lw.BestExporter("best", exports_to_keep=3),
        lw.LatestExporter("latest", None, exports_to_keep=2),
    ]
    for _ in range(settings["rounds"]):
        made.train(lambda: tiny.data(batch=len(tiny.X)), steps=1)
        result = made.evaluate(tiny.once)
        with open(settings["exporting"], "a") as file:
            file.write(f"{result['global_step']}\n")
        for exporter in exporters:
            folder = os.path.join(made.model_dir, "export", str(exporter.name))
            exporter.export(made, folder, made.latest_checkpoint(), result, False)


def main() -> None:
    Path(sys.argv[1]).touch()  # TensorFlow is there
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            run(json.loads(line))
            return
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
