"""Where the options of `lightwell run` end and the program's own arguments begin.

argparse cannot say that: an option-like first argument of the program would be taken for ours.
"""

from __future__ import annotations

from collections.abc import Sequence


def split_run_arguments(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split after the script, or after `-m module`, as `python` does.

    >>> split_run_arguments(["--tf1", "train.py", "--tf2", "-m"])
    (['--tf1', 'train.py'], ['--tf2', '-m'])
    >>> split_run_arguments(["-m", "pkg.train", "--steps", "3"])
    (['-m', 'pkg.train'], ['--steps', '3'])
    """
    for position, word in enumerate(words):
        if word == "-m":
            return list(words[: position + 2]), list(words[position + 2 :])
        if not word.startswith("-") or word == "--":
            end = position + (2 if word == "--" else 1)
            return list(words[:end]), list(words[end:])
    return list(words), []
