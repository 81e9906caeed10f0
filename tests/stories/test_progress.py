"""What a person sees on a terminal, and what a file gets."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios
import threading
from pathlib import Path

from tests.stories.processes import Trainer


class Terminal:
    """A pseudo terminal whose screen is kept."""

    def __init__(self, columns: int = 100) -> None:
        self._screen, self._side = pty.openpty()
        fcntl.ioctl(self._side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.path = Path(os.ttyname(self._side))
        self._received: list[bytes] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                received = os.read(self._screen, 65536)
            except OSError:
                return
            if not received:
                return
            self._received.append(received)

    def text(self) -> str:
        os.close(self._side)
        self._reader.join(timeout=60)
        os.close(self._screen)
        return b"".join(self._received).decode()


def test_on_a_terminal_one_line_tells_step_loss_and_speed(trainer: Trainer, tmp_path: Path) -> None:
    terminal = Terminal()
    training = trainer.train(tmp_path, max_steps=3000, save_every=1000, stderr=terminal.path)
    training.wait_until_it_runs()
    assert training.wait() == 0
    raw = terminal.text()
    plain = re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", raw)
    lines = [line.rsplit("\r", 1)[-1] for line in plain.replace("\r\n", "\n").split("\n")]
    progress = [line for line in lines if line.startswith("train ")]
    assert re.search(r"step 3,000/3,000 +loss [\d.]+ +\d+ steps/s", progress[-1]), progress[-1:]
    assert all(len(line) <= 100 for line in progress), "no line wraps"
    assert not re.search(r"loss = [\d.]+, step = ", plain), "the log line of the loss would say the same again"
    broken = [line for line in lines if "train ━" in line and not line.startswith("train ")]
    assert broken == [], "log lines and the progress line keep apart"
    assert raw.count("\x1b[?25l") == raw.count("\x1b[?25h"), "the cursor is back"
    assert "Loss for final step" in lines[-2] or "Loss for final step" in lines[-1]


def test_a_narrow_terminal_is_shown_what_fits(trainer: Trainer, tmp_path: Path) -> None:
    terminal = Terminal(columns=50)
    training = trainer.train(tmp_path, max_steps=300, save_every=1000, stderr=terminal.path)
    assert training.wait() == 0
    plain = re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", terminal.text())
    lines = [part.rstrip() for line in plain.split("\n") for part in line.split("\r")]
    progress = [line for line in lines if line.startswith("train ")]
    assert re.fullmatch(r"train step 300/300 loss [\d.e+-]+", progress[-1]), progress[-1:]


def test_below_it_a_line_tells_of_the_evaluation(trainer: Trainer, tmp_path: Path) -> None:
    terminal = Terminal()
    training = trainer.train(tmp_path, max_steps=200, save_every=100, stderr=terminal.path, evaluates=True)
    assert training.wait() == 0
    plain = re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", terminal.text())
    lines = [part for line in plain.split("\n") for part in line.split("\r")]
    assert any(re.match(r"eval  step 100: running \d+ s", line) for line in lines), "while it runs"
    found = re.compile(r"eval  (step 200: running \d+ s \| )?step 100: loss [\d.e+-]+, mae")
    assert any(found.match(line) for line in lines), "and what came of it, also while the next one runs"
    assert any(line.startswith("eval  step 200: loss") for line in lines), "the last one too"
    assert [line for line in lines if line.startswith("eval  ") and len(line) > 100] == [], "no line wraps"


def test_a_file_gets_lines_and_no_drawing(trainer: Trainer, tmp_path: Path) -> None:
    training = trainer.train(tmp_path, max_steps=300, save_every=1000)
    assert training.wait_until_it_runs() == 0
    assert training.wait() == 0
    said = training.said()
    assert "\x1b" not in said
    assert "\r" not in said
    assert len(re.findall(r"loss = [\d.]+, step = \d+", said)) == 3
    assert "step 300/300" not in said
