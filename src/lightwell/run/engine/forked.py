"""Whether this process can run sessions: one that was forked after a session was opened cannot.

TensorFlow's threads live in the process that opened its first session. A child that is forked afterwards has none of
them, and its first step would wait for ever.
"""

from __future__ import annotations

import os

from lightwell.errors import ForkedProcess

# The process that opened the first session, once one has.
_owners: list[int] = []


def check_not_forked() -> None:
    """To call before a session is opened.

    Raises:
        ForkedProcess: this process was forked from one that had opened a session.
    """
    if not _owners:
        _owners.append(os.getpid())
    elif _owners[0] != os.getpid():
        raise ForkedProcess(
            f"This process ({os.getpid()}) was forked from one ({_owners[0]}) that had opened a session of TensorFlow "
            "before. The threads that run steps are not in it, so its first step would never end. Start it with "
            "multiprocessing.set_start_method('spawn') (under `lightwell run`, spawned processes are of the program "
            "too), or start it before the first train, evaluate or predict."
        )
