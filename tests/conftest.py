"""What every test may ask for."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling


class ByFile(LoadFileScheduling):
    """Hands the files out one by one: a module's fixtures are made once."""

    def _split_scope(self, nodeid: str) -> str:
        # The programs run once for all the files that look at what they did.
        return "tests/programs" if nodeid.startswith("tests/programs/") else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: Any, log: Any) -> ByFile:
    return ByFile(config, log)


class LogLines(logging.Handler):
    """The lines that were logged, as `LEVEL text`."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.getMessage()}")

    def having(self, text: str) -> list[str]:
        """Those that contain `text`."""
        return [line for line in self.lines if text in line]


@pytest.fixture
def log() -> Iterator[LogLines]:
    """Everything that TensorFlow's logger, which is Lightwell's, is told at INFO and above."""
    logger, lines = logging.getLogger("tensorflow"), LogLines()
    level = logger.level
    logger.addHandler(lines)
    logger.setLevel(logging.INFO)
    yield lines
    logger.removeHandler(lines)
    logger.setLevel(level)
