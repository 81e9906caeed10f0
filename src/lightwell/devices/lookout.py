"""Looks out for the other processes of a cluster while this one is inside a step, which may wait for them for ever.

Takes a `Member` and its session; closes the session, which ends a step that waits, once there is nothing to wait for:
the chief has ended the training, or one without whom no step can be taken is gone.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

from lightwell.devices.member import Member, PeerLost, TrainingOver

_LOOK_EVERY, _LOOK_EVERY_FAR = 0.5, 10.0
_GRACE = 1.0  # for a last step that is under way
_CLOSING_SECS = 10.0


class Lookout:
    """A thread beside the steps of one session, until it is stopped."""

    def __init__(self, member: Member, session: Any) -> None:
        self._member, self._session = member, session
        self._seen: TrainingOver | PeerLost | None = None
        self._stopped = threading.Event()
        threading.Thread(target=self._look, name="lightwell-lookout", daemon=True).start()

    def stop(self) -> None:
        """The steps are over."""
        self._stopped.set()

    def raise_what_was_seen(self) -> None:
        """Raises what the session was closed for, if it was.

        Raises:
            TrainingOver, PeerLost: that.
        """
        if self._seen is not None:
            raise self._seen from None

    def _look(self) -> None:
        pause = _LOOK_EVERY_FAR if "://" in self._member.model_dir else _LOOK_EVERY
        since: float | None = None
        while not self._stopped.wait(pause):
            found = self._member.what_ended()
            if found is None:
                since = None
            elif since is None:
                since = time.monotonic()
            elif time.monotonic() - since >= _GRACE and not self._stopped.is_set():
                self._seen = found
                close(self._session)
                return


def close(session: Any) -> None:
    """Closes a session on servers, which may be gone: it waits for their answer, and is left alone after a while."""

    def closing() -> None:
        with contextlib.suppress(Exception):  # what is lost is lost
            session.close()

    thread = threading.Thread(target=closing, name="lightwell-closing", daemon=True)
    thread.start()
    thread.join(_CLOSING_SECS)
