"""SIGTERM during a training, as seen from inside the process; a process that is sent one stands in tests/stories."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import children, tiny
from tests.contracts.sources import ROOT

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def default_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


class Handlers(v1.train.SessionRunHook):
    """Notes who handles SIGTERM during a training, and sends one if told to."""

    def __init__(self, sends: bool = False) -> None:
        self.sends, self.handlers = sends, []

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.handlers.append(signal.getsignal(signal.SIGTERM))
        if self.sends:
            signal.raise_signal(signal.SIGTERM)


def test_a_training_handles_it_and_puts_back_what_was_there(tmp_path: Path) -> None:
    hook = Handlers()
    tiny.estimator(tmp_path).train(tiny.data, steps=1, hooks=[hook])
    assert hook.handlers != [signal.SIG_DFL]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL

    class Fails(v1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            raise KeyError("mine")

    with pytest.raises(KeyError):
        tiny.estimator(tmp_path).train(tiny.data, steps=1, hooks=[Fails()])
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_handler_of_the_programs_own_is_kept(tmp_path: Path) -> None:
    heard: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    made = tiny.estimator(tmp_path)
    made.train(tiny.data, steps=2, hooks=[Handlers(sends=True)])
    assert heard == [signal.SIGTERM] * 2
    assert made.get_variable_value("global_step") == 2


def test_another_thread_may_train_and_leaves_it_alone(tmp_path: Path) -> None:
    hook, made = Handlers(), tiny.estimator(tmp_path)
    thread = threading.Thread(target=lambda: made.train(tiny.data, steps=2, hooks=[hook]))
    thread.start()
    thread.join()
    assert hook.handlers == [signal.SIG_DFL] * 2
    assert made.get_variable_value("global_step") == 2


_TERMINATED = """
import signal
import sys
from tests import tiny
v1 = tiny.v1

class Swallows(v1.train.SessionRunHook):
    def after_run(self, run_context, run_values):
        if run_context.global_step == 3:
            try:
                signal.raise_signal(signal.SIGTERM)
            except Exception:
                print("swallowed", flush=True)

class AgainWhileSaving(v1.train.CheckpointSaverListener):
    def before_save(self, session, step):
        if step:
            signal.raise_signal(signal.SIGTERM)
            print("saving", step, flush=True)

tiny.estimator(sys.argv[1]).train(tiny.data, steps=9, hooks=[Swallows()], saving_listeners=[AgainWhileSaving()])
print("still there", flush=True)
"""


def test_nobody_swallows_it_and_the_last_checkpoint_is_not_cut_off_by_another(tmp_path: Path) -> None:
    environment = children.environment(ROOT, TF_CPP_MIN_LOG_LEVEL="3")
    done = subprocess.run(
        [sys.executable, "-c", _TERMINATED, str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "saving 3\n"), done.stderr
    assert tiny.estimator(tmp_path).get_variable_value("global_step") == 3
