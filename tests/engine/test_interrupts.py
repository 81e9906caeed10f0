"""SIGTERM during a block of code; the process itself is sent one in tests/stories."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.contracts.sources import ROOT

from lightwell.engine.interrupts import Terminated, sigterm_raises, sigterm_waits


@pytest.fixture(autouse=True)
def default_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


def test_it_becomes_an_exception_and_the_handler_is_put_back() -> None:
    with pytest.raises(Terminated), sigterm_raises():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_no_except_exception_swallows_it() -> None:
    assert issubclass(Terminated, BaseException)
    assert not issubclass(Terminated, Exception)


def test_a_handler_of_the_programs_own_is_kept() -> None:
    heard: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    with sigterm_raises():
        signal.raise_signal(signal.SIGTERM)
    assert heard == [signal.SIGTERM]


def test_other_threads_may_train_too() -> None:
    done: list[Any] = []

    def work() -> None:
        with sigterm_raises():
            done.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [signal.SIG_DFL]


_FINISHES_FIRST = """
import signal
from lightwell.engine.interrupts import sigterm_raises, sigterm_waits
with sigterm_raises(), sigterm_waits():
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGTERM)
    print("finished", flush=True)
print("still there")
"""


def test_work_that_must_not_be_cut_off_is_finished_first() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", _FINISHES_FIRST], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "finished\n"), done.stderr


def test_without_a_signal_nothing_happens_and_outside_training_neither() -> None:
    with sigterm_raises():
        with sigterm_waits():
            pass
        with pytest.raises(Terminated):
            signal.raise_signal(signal.SIGTERM)
    with sigterm_waits():
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
