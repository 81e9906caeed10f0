"""The session of a training: steps with hooks around those that hooks look at, and none around the others.

A run goes one of two ways, decided before its first step and kept to the end, because the ops of a step hold state of
their own (the generators of random ops), which must advance in one place:

- fused: all steps run in the loop that `fuse.py` adds to the graph, many in one call while nobody looks, a single one
  when somebody does;
- one by one: all steps run as the model built them. A hook that must see every step asks for it, or a graph that
  cannot be fused.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.engine.calls import CachedCalls
from lightwell.engine.fuse import FusedLoop, fuse
from lightwell.engine.fuse_limits import why_not_fused
from lightwell.engine.hooked_session import LOST_SESSION, HookedSession
from lightwell.engine.pace import Pace
from lightwell.engine.program import Program
from lightwell.engine.session import SessionPlan
from lightwell.errors import HookError
from lightwell.hooks.base import SessionRunArgs
from lightwell.hooks.chain import Request
from lightwell.hooks.context import RunContext
from lightwell.log import logger


class TrainSession(HookedSession):
    """Runs the steps of a training program.

    Use it as `start()`, then `advance()` until `should_stop`, then `finish(error)`.

    Args:
        fuse_steps: `RunConfig.fuse_steps`.
    """

    def __init__(self, program: Program, hooks: Sequence[Any], plan: SessionPlan, fuse_steps: Any) -> None:
        super().__init__(program, hooks, plan)
        self._fuse_steps = fuse_steps
        self._args = SessionRunArgs([program.spec.train_op, program.spec.loss])
        self._single = {"loss": program.spec.loss, "global_step": program.step_after, "train_op": program.spec.train_op}
        self._loop: FusedLoop | None = None
        self._pace = Pace()
        self._global_step: int | None = None
        self._loss: Any = None

    @property
    def global_step(self) -> int | None:
        """The step counter as of the last step that ran."""
        return self._global_step

    @property
    def loss(self) -> Any:
        """The loss of the last step that ran, None before the first."""
        return self._loss

    def advance(self) -> None:
        """Runs at least one step: up to the next one that a hook must see, or that one."""
        self._insisting(self._advance)

    def _complete_graph(self) -> None:
        reason = why_not_fused(self._program, self._hooks.unscheduled, self._plan.target, self._fuse_steps)
        if reason is not None:
            logger.debug("Training steps run one by one: %s.", reason)
            return
        self._loop = fuse(self._program, self._hooks.looks_at())

    def _session_opened(self) -> None:
        self._global_step = int(self._session.run(self._program.global_step))
        if self._loop is not None:
            self._session.run(self._loop.prepare)
            self._calls = CachedCalls(self._session, self._loop.translated)
        self._pace = Pace(self._fuse_steps if isinstance(self._fuse_steps, int) and self._fuse_steps else None)

    def _advance(self) -> None:
        step = self._step_before()
        look = self._hooks.next_look(step)
        if self._loop is None or look <= step + 1:
            self._look_step()
        else:
            self._quiet_steps(self._loop, look - 1)

    def _quiet_steps(self, loop: FusedLoop, until: int) -> None:
        """Runs steps that nobody looks at, up to the global step `until`, a NaN, or the end of the call's time."""
        most = self._pace.steps(self._hooks.next_look_seconds())
        feeds = {loop.most: most, loop.until: min(until, 2**62)}
        started = time.perf_counter()
        try:
            done, loss, step = self._session.run([loop.result.done, loop.result.loss, loop.result.global_step], feeds)
        except LOST_SESSION:
            raise
        except tf.errors.OpError:
            self._take_over_progress(loop)
            raise
        self._pace.took(int(done), time.perf_counter() - started)
        self._global_step = int(step)
        if math.isnan(loss):
            self._show_nan(loss)
        self._loss = loss

    def _take_over_progress(self, loop: FusedLoop) -> None:
        """After a step that failed: those before it have happened."""
        saved = loop.saved
        done, loss, step = self._session.run([saved.done, saved.loss, saved.global_step])
        if done:
            self._global_step, self._loss = int(step), loss

    def _show_nan(self, loss: Any) -> None:
        context = RunContext(self._args, self._session, self._view, self._global_step)
        context.loss_value = loss
        self._hooks.after_run(context, Request(), {}, tf.compat.v1.RunMetadata())
        self._stop_requested = self._stop_requested or context.stop_requested

    def _look_step(self) -> None:
        """Runs one step with the hooks that are due around it."""
        context = RunContext(self._args, self._session, self._view, self._step_before())
        request = self._hooks.before_run(context)
        if self._loop is not None:
            _check_feeds(request, self._loop)
        results, metadata = self._run({"step": self._single, "hooks": request.asked}, request.feeds, request.options)
        context.global_step = int(results["step"]["global_step"])
        context.loss_value = results["step"]["loss"]
        self._hooks.after_run(context, request, results["hooks"], metadata)
        # Only a step that all hooks saw through counts: a lost session repeats it.
        self._global_step, self._loss = context.global_step, context.loss_value
        self._stop_requested = self._stop_requested or context.stop_requested

    def _step_before(self) -> int:
        if self._global_step is None:
            raise RuntimeError("A step was asked for before the session was started.")
        return self._global_step


def _check_feeds(request: Request, loop: FusedLoop) -> None:
    for key in request.feeds:
        if getattr(key, "name", key) not in loop.feedable:
            raise HookError(
                f"A scheduled hook feeds {getattr(key, 'name', key)!r}. Steps are fused, and only placeholders can be "
                "fed; derive the hook from tf.compat.v1.train.SessionRunHook to feed any tensor."
            )
