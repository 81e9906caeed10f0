"""What every test may ask for."""

from __future__ import annotations

import gc
import logging
import os
import signal
from collections.abc import Iterator
from typing import Any

# TensorFlow switches these kernels on by itself on some processors only. Without them CPUs have no images with channels
# first, and other last digits. Before it is imported, and for the processes that tests start too.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
# A shell switches Ctrl-C off for what it starts in the background, and for all its children; tests send it to theirs.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest
from tests.thorough import brief_selection
from xdist.scheduler import LoadFileScheduling

# These wait for processes of their own, up to a minute in one file: at the end, the other workers would wait for them.
_LONG = tuple(f"tests/{folder}/" for folder in ("programs", "estimator/workflow", "docs", "examples", "stories", "cli"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--brief", action="store_true", help="one case of every table, and no whole programs (`make test`)"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--brief"):
        return
    is_brief = brief_selection([item.nodeid for item in items])
    config.hook.pytest_deselected(items=[item for item, is_one in zip(items, is_brief, strict=True) if not is_one])
    items[:] = [item for item, is_one in zip(items, is_brief, strict=True) if is_one]


class ByFile(LoadFileScheduling):
    """Hands the files out one by one, so that a module makes its fixtures once; what may take long comes first."""

    def _split_scope(self, nodeid: str) -> str:
        # The programs run once for all the files that look at what they did.
        return "tests/programs/" if nodeid.startswith("tests/programs/") else super()._split_scope(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        long = next((scope for scope in self.workqueue if scope.startswith(_LONG)), None)
        if long is not None:
            self.workqueue.move_to_end(long, last=False)
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: Any, log: Any) -> ByFile:
    return ByFile(config, log)


def pytest_collection_finish() -> None:
    """What was imported stays: a collection need not go through TensorFlow and Keras, which are most of all objects."""
    gc.collect()
    gc.freeze()


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
