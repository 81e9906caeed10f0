"""The session pool of one Estimator: open sessions that wait for another run of an equal program.

Owns `OpenSession`, a session with its loop and its prepared calls, and `SessionPool`. A session in use belongs to one
run, so interleaved calls never share one.
"""

from __future__ import annotations

import collections
import functools
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from lightwell.run.checkpoints.restore import version_of
from lightwell.run.devices.gpus import visible_gpus
from lightwell.run.devices.peer_monitor import close
from lightwell.run.engine.calls import Calls
from lightwell.run.engine.compiled_shapes import CompiledShapes
from lightwell.run.engine.denormals import can_be_flushed
from lightwell.run.engine.pace import Pace
from lightwell.run.engine.program import Program
from lightwell.run.engine.program_key import ProgramKey
from lightwell.run.engine.session import SessionPlan, open_session, reload
from lightwell.run.engine.threads import Threads
from lightwell.run.inputs.memory import release_memory
from lightwell.run.inputs.pipeline import may_run_in_calling_thread
from lightwell.run.inputs.unpack import Inputs
from lightwell.run.loops.compiled import CompiledLoop
from lightwell.run.loops.loop import Loop
from lightwell.run.loops.task import StepSettings

_MOST_IDLE = 4


class OpenSession:
    """A session of a program.

    Attributes:
        program: the program whose graph it runs.
        loop: runs many steps in one call; None where steps cannot be fused.
        compiled: its compiled variant; None where steps cannot be compiled.
        pace: says how many steps fit into a call.
        compiled_shapes: for which batch lengths its steps are compiled.
        session: the `tf.compat.v1.Session`, once it is started.
        calls: runs elements in it, by prepared calls.
        restored: the checkpoint of its weights; None for initial ones.
        version: the version of that checkpoint.
        threads: which threads run its steps.
        has_served_again: whether another run than the first one took it.
        files: where the user vouches for the model, a digest of the files that its tables are filled from.
    """

    calls: Calls

    def __init__(
        self,
        program: Program,
        loop: Loop | None,
        files: bytes | None = None,
        compiled: CompiledLoop | None = None,
        settings: StepSettings = StepSettings(),  # noqa: B008
    ) -> None:
        self.program = program
        self.loop = loop
        self.compiled = compiled
        self.pace = Pace(settings.fuse_steps)
        self.compiled_shapes = CompiledShapes(settings.jit_compile)
        self.session: Any = None
        self.restored: str | None = None
        self.files = files
        ops = program.graph, program.inputs.initializers
        may_stay = can_be_flushed() and not visible_gpus()  # where a GPU computes, threads only hand work to it
        self.threads = Threads(
            may_stay=may_stay and may_run_in_calling_thread(*ops),
            may_start=may_stay and may_run_in_calling_thread(*ops, from_the_first=True),
            ops=len(program.graph.get_operations()),
        )
        self.version: Any = None
        self.has_served_again = False
        self._is_remote = False

    def start(self, plan: SessionPlan, inputs: Inputs, fetches: Sequence[Any] = ()) -> Sequence[Any]:
        """Starts a run: the newest weights, all other state fresh, the input from its beginning. Returns the values of
        `fetches` before any step.

        The program's graph must be the default one.

        Args:
            plan: how to open it.
            inputs: the input of this run, of an equal graph: its arrays are used.
            fetches: tensors that depend on no step.
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
            self.session, values = open_session(
                self.program, plan, prepare=prepare, fetches=fetches, restored=self._set_restored
            )
            self.calls = Calls(self.session)
        else:
            is_loaded = checkpoint is not None and version == self.version
            source = "" if is_loaded else checkpoint
            run = functools.partial(self.calls.run, stays=self.threads.may_start)
            restored, values = reload(self.session, run, self.program, source, plan.exact, fetches)
            self.restored = restored or self.restored
        self.version = version
        return values

    def _set_restored(self, checkpoint: str) -> None:
        self.restored = checkpoint

    def close(self) -> None:
        """Closes the session; `start` opens another."""
        session, self.session = self.session, None
        if session is not None:
            close(session) if self._is_remote else session.close()

    def free(self) -> None:
        """Closes the session for good, and frees the arrays of its input."""
        self.close()
        self.program.inputs.close()


class SessionPool:
    """The idle sessions of one Estimator.

    Attributes:
        generation: how often all were closed: a session taken before that is not stored after it.
    """

    def __init__(self) -> None:
        self._idle: OrderedDict[ProgramKey, OpenSession] = OrderedDict()
        # A prediction that is dropped gives its session back when it is garbage collected, and that may be while this
        # very thread is in here.
        self._lock = threading.RLock()
        self.generation = 0

    def take(self, key: ProgramKey) -> OpenSession | None:
        """The idle session under `key`; it is the caller's until it is stored again."""
        with self._lock:
            opened = self._idle.pop(key, None)
        if opened is not None:
            opened.has_served_again = True
        return opened

    def store(self, key: ProgramKey, opened: OpenSession, generation: int) -> None:
        """Stores a session for the next call; at most four wait, and one of the others is evicted.

        Args:
            key: the key of its program.
            opened: the session.
            generation: the generation when it was taken; if the pool was closed since, so is this session.
        """
        with self._lock:
            if generation != self.generation:
                surplus = [opened]
            else:
                surplus = [self._idle.pop(key)] if key in self._idle else []
                self._idle[key] = opened
                while len(self._idle) > _MOST_IDLE:
                    surplus.append(self._idle.pop(self._least_useful(key)))
        for old in surplus:
            old.free()

    def _least_useful(self, stored: ProgramKey) -> ProgramKey:
        """Which session but `stored` to evict: of the mode that has most, one that never served again, the oldest.

        So predictions whose graphs all differ, such as rows that are constants, leave the session of an evaluation, and
        that of predictions which come again.
        """
        counts = collections.Counter(key.mode for key in self._idle)
        mode = max(counts, key=lambda mode: (counts[mode], mode == stored.mode))
        others = [key for key in self._idle if key.mode == mode and key != stored]
        return next((key for key in others if not self._idle[key].has_served_again), others[0])

    def close(self) -> None:
        """Frees all sessions: those that wait now, those in use at the end of their run."""
        with self._lock:
            self.generation += 1
            idle, self._idle = self._idle, OrderedDict()
        for opened in idle.values():
            opened.free()
        release_memory()
