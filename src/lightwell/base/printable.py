"""Text from files, made safe to print on a terminal.

Characters that a terminal would obey (escape sequences, carriage returns, direction marks) are escaped, as in `\\x1b`.
"""

from __future__ import annotations


def printable(text: str) -> str:
    """Escapes a text of one line."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def printable_lines(text: str) -> str:
    """Escapes a text of several lines; only `\\n` begins another line."""
    return "\n".join(map(printable, text.split("\n")))
