"""Monitors the peers of this process in a cluster while it is inside a step, which may wait for them for ever.

Takes a `Member` and its session. Closes the session, which ends a waiting step, once the chief has ended the training
or a peer is gone without which no step can be taken.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

from lightwell.run.devices.member import Member, PeerLost, TrainingOver

_POLL_SECS, _POLL_SECS_REMOTE = 0.5, 10.0
_GRACE = 1.0  # for a last step that is under way
_CLOSING_SECS = 10.0


class PeerMonitor:
    """A thread that runs along with the steps of one session, until it is stopped."""

    def __init__(self, member: Member, session: Any) -> None:
        self._member, self._session = member, session
        self._reason: TrainingOver | PeerLost | None = None
        self._stopped = threading.Event()
        threading.Thread(target=self._poll, name="lightwell-peer-monitor", daemon=True).start()

    def stop(self) -> None:
        """Ends the thread, when the steps are over."""
        self._stopped.set()

    def raise_if_ended(self) -> None:
        """Raises the reason for which the session was closed, if it was.

        Raises:
            TrainingOver, PeerLost: the reason.
        """
        if self._reason is not None:
            raise self._reason from None

    def _poll(self) -> None:
        pause = _POLL_SECS_REMOTE if "://" in self._member.model_dir else _POLL_SECS
        since: float | None = None
        while not self._stopped.wait(pause):
            reason = self._member.end_reason()
            if reason is None:
                since = None
            elif since is None:
                since = time.monotonic()
            elif time.monotonic() - since >= _GRACE and not self._stopped.is_set():
                self._reason = reason
                close(self._session)
                return


def close(session: Any) -> None:
    """Closes a session on servers that may be gone: waits for their answer up to a limit, then returns."""

    def closing() -> None:
        with contextlib.suppress(Exception):  # the session is lost anyway
            session.close()

    thread = threading.Thread(target=closing, name="lightwell-closing", daemon=True)
    thread.start()
    thread.join(_CLOSING_SECS)
