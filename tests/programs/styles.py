"""The programs of `tests/data/programs_*`: one folder for each style in which programs of the Estimator were written.

`google` is the style of TensorFlow's own tutorials and guides, `recommenders` that of repositories for models of clicks
and rankings, `notebooks` that of notebooks on Kaggle and Colab. Every program stands alone, makes its data in the
current directory, and prints one line of JSON last. Read by the recorder under Python 3.7 too: nothing newer may stand
here, and nothing of `lightwell`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"
STYLES = ("google", "recommenders", "notebooks")
OLD, NEW = "1.15.5", "2.15.1"
# `style/name: reason` of programs that do not run under `lightwell run` yet. They are recorded like the others.
WAITING = DATA / "programs_waiting.txt"
# How near numbers must be to the recorded ones, where the usual nearness does not fit.
_CLOSE = {}  # type: dict[str, float]


@dataclass(frozen=True)
class Program:
    """One program.

    Attributes:
        style: which of `STYLES`.
        file: its script or notebook.
        tensorflow: the release that runs it as it stands, which its first line names.
        graph_only: whether it turns eager execution off for its process.
    """

    style: str
    file: Path
    tensorflow: str
    graph_only: bool

    @property
    def key(self) -> str:
        return self.style + "/" + self.file.stem

    @property
    def close(self) -> float:
        return _CLOSE.get(self.key, 1e-3)


def _program(style: str, file: Path) -> Program:
    text = file.read_text()
    old = "TensorFlow 1." in text.partition(r"\n" if file.suffix == ".ipynb" else "\n\n")[0]
    switches = ("disable_v2_behavior()", "disable_eager_execution()")
    return Program(style, file, OLD if old else NEW, any(one in text for one in switches))


def programs(style: str) -> list[Program]:
    files = [file for file in sorted((DATA / ("programs_" + style)).iterdir()) if file.suffix in (".py", ".ipynb")]
    return [_program(style, file) for file in files]


PROGRAMS = [program for style in STYLES for program in programs(style)]


def waiting() -> dict[str, str]:
    """Key -> reason."""
    lines = WAITING.read_text().splitlines()
    return {key: reason for key, _, reason in (line.partition(": ") for line in lines)}
