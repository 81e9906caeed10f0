"""Tracebacks show the program's lines and not the doors."""

from __future__ import annotations

import traceback

from lightwell import tf1
from lightwell.cli.tracebacks import hide_frames


def _files(error: BaseException) -> list[str]:
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


def _caught() -> BaseException:
    try:
        _ = tf1.no_such_name
    except AttributeError as error:
        return error
    raise AssertionError


def test_frames_of_the_doors_are_taken_out() -> None:
    error = _caught()
    assert any("lightwell/compat/tf1" in file for file in _files(error))
    hide_frames(error)
    assert _files(error) == [__file__]


def test_linked_errors_are_cleaned_too_even_in_a_circle() -> None:
    cause, error = _caught(), ValueError("outer")
    error.__cause__, cause.__context__ = cause, error
    hide_frames(error)
    assert _files(cause) == [__file__]
    assert error.__traceback__ is None
