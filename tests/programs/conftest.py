"""What every program printed, each way; all run in two processes, side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.programs.batch import Batch
from tests.programs.cases import CASES, COMPAT, EDITED, RUN, TF1, TF2, Case

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
    arguments = case.command_line(str(here / "model"))
    if way == RUN:
        return ["lightwell", "run", str(case.file), *arguments]
    script = here / f"{case.name}.py"
    script.write_text(case.edited())
    return ["python", str(script), *arguments]


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    folder = tmp_path_factory.mktemp("programs")
    batches = {
        name: {f"{case.name}/{way}": _words(case, way, folder) for case, way in jobs}
        for name, jobs in (("first", _FIRST), ("second", _SECOND))
    }
    running = [Batch(folder, commands, name) for name, commands in batches.items()]
    return Outcomes(folder, {key: value for batch in running for key, value in batch.outcomes().items()})
