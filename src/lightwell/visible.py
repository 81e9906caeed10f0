"""Text of others for a terminal: names and notes that come out of files must not steer it.

What a terminal would obey instead of showing it (escape sequences, carriage returns, marks that turn the direction of
writing) is written out, as in `\\x1b`.
"""

from __future__ import annotations


def visible(text: str) -> str:
    """A text on one line, as it may be printed."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def visible_lines(text: str) -> str:
    """A text of several lines, as it may be printed; only `\\n` begins another line."""
    return "\n".join(map(visible, text.split("\n")))
