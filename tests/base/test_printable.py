"""Text out of files does not steer a terminal."""

from __future__ import annotations

import pytest

from lightwell.base.printable import printable, printable_lines


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("layers/dense", "layers/dense"),
        ("größe × 3 …", "größe × 3 …"),
        ("\x1b[2Jgone\r", "\\x1b[2Jgone\\r"),
        ("a\nb", "a\\nb"),
        ("\u202ereversed", "\\u202ereversed"),
        ("\x9b31m", "\\x9b31m"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(given: str, shown: str) -> None:
    assert printable(given) == shown


def test_lines_stay_lines() -> None:
    assert printable_lines("head\n\x1b]0;title\x07\x0b") == "head\n\\x1b]0;title\\x07\\x0b"
