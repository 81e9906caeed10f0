"""What every program printed, each way; all run in two processes, side by side."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.programs.cases import CASES, COMPAT, EDITED, RUN, TF1, TF2, Case

ROOT = Path(__file__).parents[2]
# A TensorFlow 1 program under `lightwell run` turns eager execution off for good, so what needs it comes before.
_FIRST = [(case, EDITED) for case in CASES if case.spelling == TF1] + [
    (case, RUN) for case in CASES if case.spelling in (TF1, COMPAT)
]
_SECOND = [(case, way) for way in (RUN, EDITED) for case in CASES if case.spelling == TF2] + [
    (case, EDITED) for case in CASES if case.spelling == COMPAT
]


class Outcomes:
    """What the programs did. `printed(name, way)` is the JSON of a program, `model_dir(name, way)` what it left."""

    def __init__(self, folder: Path, found: dict[str, dict[str, Any]]) -> None:
        self.folder = folder
        self.found = found

    def printed(self, name: str, way: str) -> Any:
        outcome = self.found[f"{name}/{way}"]
        assert outcome["code"] == 0, outcome["err"]
        return json.loads(outcome["out"].splitlines()[-1])

    def model_dir(self, name: str, way: str) -> Path:
        return self.folder / name / way / "model"


def _words(case: Case, way: str, folder: Path) -> list[str]:
    here = folder / case.name / way
    here.mkdir(parents=True)
    script = case.file
    if way == EDITED:
        script = here / f"{case.name}.py"
        script.write_text(case.edited())
    return [str(script), *case.command_line(str(here / "model"))]


def _start(jobs: list[tuple[Case, str]], folder: Path, number: int) -> tuple[subprocess.Popen[str], Path]:
    listed, outcomes = folder / f"jobs_{number}.json", folder / f"outcomes_{number}.json"
    made = [{"key": f"{case.name}/{way}", "way": way, "words": _words(case, way, folder)} for case, way in jobs]
    listed.write_text(json.dumps(made))
    search = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.programs.run_many", str(listed), str(outcomes)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": search, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    return process, outcomes


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    folder = tmp_path_factory.mktemp("programs")
    running = [_start(jobs, folder, number) for number, jobs in enumerate((_FIRST, _SECOND))]
    found: dict[str, Any] = {}
    for process, path in running:
        _, err = process.communicate()
        assert process.returncode == 0, err
        found |= json.loads(path.read_text())
    return Outcomes(folder, found)
