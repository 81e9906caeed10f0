"""Prints text to a terminal, a file or a pipe, in letters that the stream can encode.

A closed pipe or a full disk does not end in a traceback.
"""

from __future__ import annotations

import dataclasses
import io
import os
import sys
from typing import Any, TextIO, TypeVar

from lightwell.base.printable import printable as printable_text

_Shown = TypeVar("_Shown")

# For a terminal or a file that has only ASCII: one letter for one, so that tables stay in line.
_PLAIN = {"─": "-", "×": "x", "…": "~", "├": "|", "┤": "|", "●": "o", "±": "~"} | dict(
    zip("▁▂▃▄▅▆▇█", ".:-=+*%#", strict=True)
)


def show(text: str, command: str) -> int:
    """Print to standard output.

    Returns:
        The exit code: 0, also when the reader (such as `head`) closes the pipe; 1 when nothing can be written.
    """
    try:
        print(fitted(text, sys.stdout))
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_buffer()
    except OSError as error:
        _discard_buffer()
        complain(f"cannot write the output: {error.strerror}", command)
        return 1
    return 0


def complain(text: str, command: str) -> None:
    """Print a problem to standard error."""
    print(fitted(f"lightwell {command}: {printable(text)}", sys.stderr), file=sys.stderr)


def fitted(text: str, stream: TextIO) -> str:
    """The text in letters that a stream can write."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return "".join(_letter(letter, encoding) for letter in text)


def printable(shown: _Shown) -> _Shown:
    """A text, or a structure of texts, with control characters (`\\x1b`) escaped."""
    result: Any = shown
    if isinstance(shown, str):
        result = printable_text(shown)
    elif isinstance(shown, dict):
        result = {printable(key): printable(value) for key, value in shown.items()}
    elif isinstance(shown, list | tuple):
        result = type(shown)(map(printable, shown))
    elif dataclasses.is_dataclass(shown) and not isinstance(shown, type):
        result = dataclasses.replace(
            shown, **{f.name: printable(getattr(shown, f.name)) for f in dataclasses.fields(shown)}
        )
    return result


def _letter(letter: str, encoding: str) -> str:
    try:
        letter.encode(encoding)
    except UnicodeEncodeError:
        return _PLAIN.get(letter) or letter.encode("ascii", "backslashreplace").decode()
    return letter


def _discard_buffer() -> None:
    """Discard the buffer: Python would try to write it again at exit, and raise."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, io.UnsupportedOperation):  # not a real file
        pass
