"""Open sessions of one Estimator: fresh, or kept from an earlier call whose program was the same.

Owns `Opened`, a session with its loop and its prepared calls, and `Sessions`, where those wait that may be used again.
One in use is nobody else's, so interleaved calls never share one.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from lightwell.checkpoints.restore import version_of
from lightwell.devices.lookout import close
from lightwell.engine.calls import Calls
from lightwell.engine.denormals import can_be_flushed
from lightwell.engine.forms import Forms
from lightwell.engine.pace import Pace
from lightwell.engine.program import Program
from lightwell.engine.session import SessionPlan, open_session, reload
from lightwell.engine.threads import Threads
from lightwell.inputs.memory import give_back
from lightwell.inputs.pipeline import may_run_in_calling_thread
from lightwell.inputs.unpack import Inputs
from lightwell.loops.compiled import Compiled
from lightwell.loops.loop import Loop

_MOST_KEPT = 4


@dataclass(frozen=True, eq=False)
class Prepared:
    """A program that is about to be run, and the session of it that is open already, if there is one.

    Attributes:
        program: the program.
        inputs: the input of the coming run; None for the program's own.
        seen: what reads values of the program by path, made before its graph was final.
        opened: the open session.
        key: under which to keep the session where the user vouches for the model; None finds out by the graph.
        is_held: whether it will be run again, with the same hooks, by whoever closes them in the end.
    """

    program: Program
    inputs: Inputs | None = None
    seen: Any = None
    opened: Opened | None = None
    key: Hashable = None
    is_held: bool = False


class Opened:
    """A session of a program.

    Attributes:
        program: the program whose graph it runs.
        loop: many steps in one call, where that can be.
        compiled: its compiled variant, where that can be.
        pace: how long its steps take.
        forms: what has been compiled of it.
        seen: what reads values of the program by path, made before its graph was final.
        session: the `tf.compat.v1.Session`, once it is started.
        calls: runs elements in it.
        restored: the checkpoint that its weights are of; None for initial ones.
        version: what tells that checkpoint from others.
        threads: which threads run its steps.
        files: what the files held that its tables are filled from, as a digest, where the user vouches for the model.
    """

    calls: Calls

    def __init__(
        self,
        program: Program,
        loop: Loop | None,
        seen: Any = None,
        files: bytes | None = None,
        compiled: Compiled | None = None,
        how: tuple[Any, Any] = (None, False),
    ) -> None:
        self.program = program
        self.loop = loop
        self.compiled = compiled
        self.pace = Pace(how[0])
        self.forms = Forms(how[1])
        self.seen = seen
        self.session: Any = None
        self.restored: str | None = None
        self.files = files
        given = program.graph, program.inputs.initializers
        self.threads = Threads(
            may_stay=can_be_flushed() and may_run_in_calling_thread(*given),
            may_start=can_be_flushed() and may_run_in_calling_thread(*given, from_the_first=True),
            ops=len(program.graph.get_operations()),
        )
        self.version: Any = None
        self._is_remote = False

    def start(self, plan: SessionPlan, inputs: Inputs, asked: Sequence[Any] = ()) -> Sequence[Any]:
        """Makes it ready for a run: the weights that are newest, all other state fresh, the input from its beginning.
        Gives the values of what is asked for, before any step.

        The program's graph must be the default one.

        Args:
            plan: how to open it.
            inputs: the input of this run, of an equal graph: its arrays are used.
            asked: tensors that depend on no step.
        """
        self._is_remote = bool(plan.target)
        checkpoint = plan.find_checkpoint()
        version = version_of(checkpoint)
        self.pace.begin(is_new=self.session is None)
        self.threads.begin()
        self.program.inputs.take_arrays_of(inputs)  # before anything is initialised: tables may run iterators
        if self.session is None:
            self.restored = None
            prepare = [*self.program.inputs.initializers, *([] if self.loop is None else [self.loop.prepare])]
            prepare += [] if self.compiled is None else [self.compiled.read.prepare]
            self.session, values = open_session(self.program, plan, prepare=prepare, asked=asked, restored=self._took)
            self.calls = Calls(self.session)
        else:
            is_loaded = checkpoint is not None and version == self.version
            source = "" if is_loaded else checkpoint
            run = functools.partial(self.calls.run, stays=self.threads.may_start)
            taken, values = reload(self.session, run, self.program, source, plan.exact, asked)
            self.restored = taken or self.restored
        self.version = version
        return values

    def _took(self, checkpoint: str) -> None:
        self.restored = checkpoint

    def close(self) -> None:
        """Closes the session; `start` opens another."""
        session, self.session = self.session, None
        if session is not None:
            close(session) if self._is_remote else session.close()

    def free(self) -> None:
        """Closes the session for good, and lets the arrays of its input go."""
        self.close()
        self.program.inputs.close()


class Sessions:
    """The sessions of one Estimator that wait for the next call.

    Attributes:
        generation: how often all were closed: one taken before must not be kept after.
    """

    def __init__(self) -> None:
        self._idle: OrderedDict[Hashable, Opened] = OrderedDict()
        # A prediction that is dropped gives its session back when it is garbage collected, and that may be while this
        # very thread is in here.
        self._lock = threading.RLock()
        self.generation = 0

    def take(self, key: Hashable) -> Opened | None:
        """The idle session under `key`; it is the caller's until kept again."""
        with self._lock:
            return self._idle.pop(key, None)

    def keep(self, key: Hashable, opened: Opened, generation: int) -> None:
        """Keeps a session for the next call; the one unused for longest makes room.

        Args:
            key: what finds it again.
            opened: the session.
            generation: that of when it was taken; if all have been closed since, this one is closed too.
        """
        with self._lock:
            if generation != self.generation:
                surplus = [opened]
            else:
                surplus = [self._idle.pop(key)] if key in self._idle else []
                self._idle[key] = opened
                while len(self._idle) > _MOST_KEPT:
                    surplus.append(self._idle.popitem(last=False)[1])
        for old in surplus:
            self.let_go(old)

    def let_go(self, opened: Opened) -> None:
        """A session that cannot be used again, or not any more, is over."""
        opened.free()

    def close(self) -> None:
        """Frees all sessions: those that wait now, those in use once they are done."""
        with self._lock:
            self.generation += 1
            idle, self._idle = self._idle, OrderedDict()
        for opened in idle.values():
            self.let_go(opened)
        give_back()
