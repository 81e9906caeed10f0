"""Our options end where the program begins."""

from __future__ import annotations

import pytest

from lightwell.cli.arguments import split_run_arguments


@pytest.mark.parametrize(
    ("words", "own", "program"),
    [
        ("train.py", "train.py", ""),
        ("train.py --tf1 -m x", "train.py", "--tf1 -m x"),
        ("--tf1 train.py --help", "--tf1 train.py", "--help"),
        ("-m pkg.train --steps 3", "-m pkg.train", "--steps 3"),
        ("--tf2 -m pkg", "--tf2 -m pkg", ""),
        ("-m", "-m", ""),
        ("--help", "--help", ""),
        ("-- -odd-name.py a", "-- -odd-name.py", "a"),
        ("", "", ""),
    ],
)
def test_the_line_is_split_after_the_program(words: str, own: str, program: str) -> None:
    assert split_run_arguments(words.split()) == (own.split(), program.split())
