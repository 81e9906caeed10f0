"""Where the options of `lightwell run` and `lightwell launch` end and the program's own arguments begin.

argparse cannot do that: it would parse the program's options as ours.
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


def split_launch_arguments(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split at the first `--`: options of `launch` may stand before the program or after it.

    >>> split_launch_arguments(["train.py", "--workers", "3", "--", "--steps", "9"])
    (['train.py', '--workers', '3'], ['--steps', '9'])
    >>> split_launch_arguments(["--ps", "1", "train.py"])
    (['--ps', '1', 'train.py'], [])
    """
    if "--" not in words:
        return list(words), []
    place = list(words).index("--")
    return list(words[:place]), list(words[place + 1 :])
