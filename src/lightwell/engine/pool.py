"""Warm programs: built graphs with open sessions, kept between calls of `evaluate` and `predict`.

A call whose input has the same graph as an earlier one takes that call's program and session: `model_fn` is not called
again, weights are loaded only if the checkpoint changed, and the arrays of this call are fed to its iterator. A
program in use is out of the pool, so interleaved calls never share one.
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import tensorflow as tf

from lightwell.engine.build import Draft, finish
from lightwell.engine.calls import CachedCalls
from lightwell.engine.faster_way import FasterWay, may_stay_in_thread
from lightwell.engine.fingerprint import fingerprint
from lightwell.engine.fuse_batches import BatchLoop, Chunk, loop_over_batches
from lightwell.engine.pace import Pace
from lightwell.engine.program import Program
from lightwell.engine.session import SessionPlan, finish_graph, open_session, reload, start_inputs
from lightwell.engine.step_errors import explained_step_error
from lightwell.inputs.unpack import Inputs

_MOST_KEPT = 4
_ROWS_WORTH_A_LOOP = 100
_MOST_BYTES_A_CALL = 2**22


class WarmProgram:
    """A program with its open session.

    Attributes:
        program: the program.
        extra: what its maker attached to it, such as taps.
        loop: many batches in one call, where that can be.
        way: which way the loop's batches are run.
        batches: how many batches the input of the present run has, if it is known.
        restored: the checkpoint that its weights are of.
    """

    def __init__(self, program: Program, extra: Any, loop: BatchLoop | None = None) -> None:
        self.program = program
        self.extra = extra
        self.loop = loop
        self.way = FasterWay(loop is not None and may_stay_in_thread(program, ""))
        self.batches: int | None = None
        self.restored: str | None = None
        self._session: Any = None
        self._calls: CachedCalls | None = None
        self._loaded: Any = None

    @property
    def is_new(self) -> bool:
        """Whether it has not been run yet."""
        return self._session is None

    def start(self, inputs: Inputs, plan: SessionPlan) -> None:
        """Makes it ready for a run: the weights that are newest, fresh counters, the input from its beginning."""
        checkpoint = plan.find_checkpoint()
        with self.program.graph.as_default():
            if self._session is None:
                finish_graph(self.program)
                self.restored = None
                self._session = open_session(self.program, plan, with_inputs=False, restored=self._was_restored)
                self._calls = CachedCalls(self._session)
            else:
                unchanged = self._loaded is not None and _version(checkpoint) == self._loaded
                taken = reload(self._session, self.program, "" if unchanged else checkpoint, plan.exact)
                self.restored = checkpoint if unchanged else taken
            try:
                self.batches = start_inputs(self._session, _with_arrays_of(self.program.inputs, inputs))
            except tf.errors.OpError as error:
                raise explained_step_error(error, self.program) from None
        self._loaded = _version(self.restored)

    def _was_restored(self, checkpoint: str) -> None:
        self.restored = checkpoint

    def run(self, fetches: Any) -> Any:
        """Runs fetches; nothing stays entered afterwards."""
        if self._calls is None:
            raise RuntimeError("A warm program was run before it was started.")
        try:
            return self._calls.run(fetches)
        except tf.errors.OpError as error:
            raise explained_step_error(error, self.program) from None

    def run_loop(self, batches: int, fetches: Any) -> Any:
        """Goes through so many batches, and fetches what the loop has for them."""
        if self._calls is None or self.loop is None:
            raise RuntimeError("A warm program was run in a loop that it does not have.")
        options = self.way.options
        try:
            if options is None:
                return self._calls.run_with(self.loop.most, batches, fetches)
            return self._session.run(fetches, {self.loop.most: batches}, options)
        except tf.errors.OpError as error:
            raise explained_step_error(error, self.program) from None

    def close(self) -> None:
        """Frees the session."""
        if self._session is not None:
            self._session.close()
        self._session = self._calls = None


class ProgramPool:
    """The warm programs of one Estimator."""

    def __init__(self) -> None:
        self._idle: OrderedDict[Hashable, WarmProgram] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: Hashable) -> WarmProgram | None:
        """The idle program under `key`; it is the caller's until given back."""
        with self._lock:
            return self._idle.pop(key, None)

    def give_back(self, key: Hashable, warm: WarmProgram) -> None:
        """Keeps a program for the next call; the one unused for longest makes room."""
        with self._lock:
            surplus = [self._idle.pop(key)] if key in self._idle else []
            self._idle[key] = warm
            while len(self._idle) > _MOST_KEPT:
                surplus.append(self._idle.popitem(last=False)[1])
        for old in surplus:
            old.close()

    def close(self) -> None:
        """Frees all sessions that are not in use."""
        with self._lock:
            idle, self._idle = list(self._idle.values()), OrderedDict()
        for warm in idle:
            warm.close()


class WarmRun:
    """One run of a warm program: the same steps as a `HookedSession`, without hooks."""

    should_stop = False

    def __init__(
        self,
        pool: ProgramPool,
        key: Hashable,
        warm: WarmProgram,
        inputs: Inputs,
        plan: SessionPlan,
        fuse_steps: Any,
    ) -> None:
        self._pool = pool
        self._key = key
        self._inputs = inputs
        self._plan = plan
        self._pace = Pace(fuse_steps)
        self.warm = warm

    @property
    def restored(self) -> str | None:
        """The checkpoint that its weights are of; None for initial ones."""
        return self.warm.restored

    def start(self) -> None:
        """Loads weights if they changed, and starts the input."""
        self.warm.start(self._inputs, self._plan)

    def step(self, fetches: Any) -> Any:
        """Runs fetches on the next batch."""
        return self.warm.run(fetches)

    def update(self, op: Any, most: float) -> int:
        """Runs the loop, or `op` where there is none, for at most so many batches; returns for how many.

        Raises:
            OutOfRangeError: the input is at its end; the batches before it have been run.
        """
        batches = int(min(self._pace.steps(math.inf), most))
        began = time.monotonic()
        if batches == 1 or self.warm.loop is None:
            self.step(op)
            batches = 1
        else:
            batches = int(self.warm.run_loop(batches, self.warm.loop.done))
        self._took(batches, time.monotonic() - began)
        return batches

    def chunks(self, fetches: Any) -> Iterator[Chunk] | None:
        """Outputs of all batches, several at a time, to the end of the input; None where there is no loop with these
        outputs, or no end that is known.

        The first come singly: whoever wants only those shall not wait for more.
        """
        loop, batches = self.warm.loop, self.warm.batches
        if loop is None or batches is None or not loop.keeps(fetches):
            return None
        return self._chunks(fetches, loop.fetches_for(fetches), batches)

    def _chunks(self, fetches: Any, wanted: Any, left: int) -> Iterator[Chunk]:
        fitting = 1.0
        while left:
            batches = int(max(1, min(self._pace.steps(math.inf), left, fitting)))
            began = time.monotonic()
            chunk = Chunk(fetches, self.warm.run_loop(batches, wanted))
            self._took(batches, time.monotonic() - began)
            fitting = _MOST_BYTES_A_CALL * batches / max(chunk.bytes, 1)
            left -= batches
            yield chunk

    def _took(self, batches: int, seconds: float) -> None:
        self._pace.took(batches, seconds)
        self.warm.way.took(batches, seconds)

    def finish(self, error: BaseException | None = None) -> None:
        """Gives the program back; after an error it is closed, as its state is unknown."""
        if error is None or isinstance(error, GeneratorExit):
            self._pool.give_back(self._key, self.warm)
        else:
            self.warm.close()


def warm_run(
    pool: ProgramPool, draft: Draft, variant: Hashable, attach: Callable[[Program], Any], plan: SessionPlan
) -> WarmRun | Program:
    """A warm run for a draft's input; where that cannot be, the draft finished to a program.

    Args:
        pool: where warm programs wait.
        draft: the input of this call.
        variant: what else must be the same for a program to be used again, such as its taps.
        attach: called with a program that is newly built, before its graph is final; its result is `warm.extra`.
        plan: how to open the session.
    """
    digest = None if plan.target else fingerprint(draft)
    key = (draft.recipe.mode, variant, digest)
    warm = pool.take(key) if digest is not None else None
    if warm is None:
        program = finish(draft)
        if digest is None or not _may_stay_warm(program):
            return program
        extra = attach(program)
        warm = WarmProgram(program, extra, _loop_for(program, extra, draft))
    return WarmRun(pool, key, warm, draft.inputs, plan, draft.recipe.config.fuse_steps)


def _loop_for(program: Program, extra: Any, draft: Draft) -> BatchLoop | None:
    """A loop over the batches, where there may be enough of them to be worth a second copy of the model."""
    if draft.recipe.config.fuse_steps is False:
        return None
    if program.evaluation is not None:
        return loop_over_batches(program.graph, [program.evaluation.update])
    if max((len(array) for _, array in draft.inputs.feeds), default=0) < _ROWS_WORTH_A_LOOP:
        return None
    return loop_over_batches(program.graph, [], [program.spec.predictions, getattr(extra, "fetches", ())])


def _may_stay_warm(program: Program) -> bool:
    """Whether a program can be run again as it is: it brings no hooks of its own, and no queues."""
    has_hooks = program.spec.evaluation_hooks or program.spec.prediction_hooks
    return not has_hooks and not program.graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS)


def _with_arrays_of(own: Inputs, given: Inputs) -> Inputs:
    """A program's own inputs, fed with the arrays of another call; equal graphs meet their arrays in the same order."""
    feeds = [(tensor, array) for (tensor, _), (_, array) in zip(own.feeds, given.feeds, strict=True)]
    return dataclasses.replace(own, feeds=tuple(feeds))


def _version(checkpoint: str | None) -> Any:
    """What tells one checkpoint from another, also from one written anew under the same name."""
    if checkpoint is None:
        return None
    try:
        stat = tf.io.gfile.stat(checkpoint + ".index")
    except tf.errors.NotFoundError:  # deleted by a training that goes on
        return None
    return checkpoint, stat.mtime_nsec, stat.length
