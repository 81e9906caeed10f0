"""Many command lines in one process of their own: see `run_many.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests import children


class Batch:
    """Commands that are running, one after the other, in `folder`, or each in the folder that `folders` has for it."""

    def __init__(
        self,
        folder: Path,
        commands: Mapping[str, Sequence[str]],
        name: str = "batch",
        folders: Mapping[str, Path] | None = None,
    ) -> None:
        jobs, self._outcomes = folder / f"{name}_jobs.json", folder / f"{name}_outcomes.json"
        where = folders or dict.fromkeys(commands, folder)
        jobs.write_text(
            json.dumps(
                [{"key": key, "words": list(words), "folder": str(where[key])} for key, words in commands.items()]
            )
        )
        self._errors = folder / f"{name}_stderr.txt"
        with self._errors.open("w") as errors:  # a file: nobody reads a pipe while the other batch runs
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.programs.run_many", str(jobs), str(self._outcomes)],
                cwd=folder,
                env=children.environment(children.ROOT, TF_CPP_MIN_LOG_LEVEL="3", PYTHONDONTWRITEBYTECODE="1"),
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def outcomes(self) -> dict[str, dict[str, Any]]:
        """Waits for the end: key -> `code`, `out`, `err`, `seconds`."""
        assert self._process.wait() == 0, self._errors.read_text()
        found: dict[str, dict[str, Any]] = json.loads(self._outcomes.read_text())
        return found
