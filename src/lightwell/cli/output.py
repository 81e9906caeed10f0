"""Text on its way to a terminal, a file or a pipe, whatever letters that can take and whatever the names in it hold.

Takes text, gives it to standard output or standard error. What a reader cannot take does not end in a traceback.
"""

from __future__ import annotations

import dataclasses
import io
import os
import sys
from typing import Any, TextIO, TypeVar

from lightwell.visible import visible as visible_text

_Shown = TypeVar("_Shown")

# For a terminal or a file that has only ASCII: one letter for one, so that tables stay in line.
_PLAIN = {"─": "-", "×": "x", "…": "~", "├": "|", "┤": "|", "●": "o", "±": "~"} | dict(
    zip("▁▂▃▄▅▆▇█", ".:-=+*%#", strict=True)
)


def show(text: str, command: str) -> int:
    """Print to standard output.

    Returns:
        The exit code: 0 also when the reader, `head` for one, has seen enough; 1 when nothing can be written.
    """
    try:
        print(fitted(text, sys.stdout))
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_what_is_left()
    except OSError as error:
        _drop_what_is_left()
        complain(f"cannot write the output: {error.strerror}", command)
        return 1
    return 0


def complain(text: str, command: str) -> None:
    """Print a problem to standard error."""
    print(fitted(f"lightwell {command}: {visible(text)}", sys.stderr), file=sys.stderr)


def fitted(text: str, stream: TextIO) -> str:
    """The text in letters that a stream can write."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return "".join(_letter(letter, encoding) for letter in text)


def visible(shown: _Shown) -> _Shown:
    """A text, or a structure with texts in it, with what a terminal would obey instead of showing it (`\\x1b`)
    written out."""
    made: Any = shown
    if isinstance(shown, str):
        made = visible_text(shown)
    elif isinstance(shown, dict):
        made = {visible(key): visible(value) for key, value in shown.items()}
    elif isinstance(shown, list | tuple):
        made = type(shown)(map(visible, shown))
    elif dataclasses.is_dataclass(shown) and not isinstance(shown, type):
        made = dataclasses.replace(
            shown, **{f.name: visible(getattr(shown, f.name)) for f in dataclasses.fields(shown)}
        )
    return made


def _letter(letter: str, encoding: str) -> str:
    try:
        letter.encode(encoding)
    except UnicodeEncodeError:
        return _PLAIN.get(letter) or letter.encode("ascii", "backslashreplace").decode()
    return letter


def _drop_what_is_left() -> None:
    """Let what waits in the buffer go nowhere: Python would try to write it again at the end, and complain."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, io.UnsupportedOperation):  # not a real file
        pass
