"""Opening a session for a program: initialised, restored, ready to run.

Takes a `Program` and where its weights come from, gives an open `tf.compat.v1.Session`. The caller closes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.errors import NotInitialised
from lightwell.run.checkpoints.restore import Source, restore
from lightwell.run.devices.member import Member
from lightwell.run.devices.peer_monitor import PeerMonitor, close
from lightwell.run.devices.synchronized_steps import check_same_start
from lightwell.run.engine.forked import check_not_forked
from lightwell.run.engine.program import Program
from lightwell.run.engine.ready_ops import add_ready_ops, first_of
from lightwell.run.failures.step import explained_step_error


@dataclass(frozen=True)
class SessionPlan:
    """How a session is opened.

    Attributes:
        find_checkpoint: called for each new session; what to restore, or None to initialise afresh.
        target: the session target, empty for in-process.
        config: a `tf.compat.v1.ConfigProto`.
        exact: whether it must be that checkpoint, which the user named; else, if it is damaged, an older one will do.
        member: this process as one of a cluster, if it is.
        saves_to: in training, the directory whose checkpoints its saver counts and removes.
    """

    find_checkpoint: Callable[[], Source | None]
    target: str = ""
    config: Any = None
    exact: bool = False
    member: Member | None = None
    saves_to: str = ""


def finish_graph(program: Program) -> None:
    """Completes the scaffold (init ops, saver, summaries) and makes the graph final."""
    add_ready_ops(program)
    program.spec.scaffold.finalize()


def open_session(
    program: Program,
    plan: SessionPlan,
    *,
    prepare: Sequence[Any] = (),
    fetches: Sequence[Any] = (),
    restored: Callable[[str], Any] | None = None,
) -> tuple[Any, Sequence[Any]]:
    """Opens a session, restores or initialises its variables and tables; returns it, and the values of `fetches`.

    Args:
        program: the program.
        plan: how to open it.
        prepare: more to run once in a new session, when all has a value.
        fetches: tensors that depend on no step.
        restored: called with the checkpoint that was restored; not always the plan's, which may be damaged or
            deleted.

    Raises:
        CheckpointMismatch: the checkpoint was written by another model.
        CheckpointUnreadable: no checkpoint can be read.
        ForkedProcess: this process cannot run steps.
        NotInitialised: something stays uninitialised.
    """
    check_not_forked()
    member, monitor = plan.member, None
    if member is not None:
        member.wait_for_servers()
    checkpoint = plan.find_checkpoint()
    session = tf.compat.v1.Session(plan.target, graph=program.graph, config=plan.config)
    try:
        if member is not None and member.is_synchronized:
            monitor = PeerMonitor(member, session)
            check_same_start(session, program.graph, checkpoint, member)
        if member is not None and not member.is_chief and not member.is_synchronized:
            member.wait_for_chief(lambda: _left_early(session, program))
        elif checkpoint is None:
            _initialise(session, program.spec.scaffold)
        else:
            source = _restore(session, program, checkpoint, plan.exact, plan.saves_to)
            if restored is not None:
                restored(source)
        values = _initialise_locals(session, program, prepare, fetches)
    except Exception as error:
        close(session) if plan.target else session.close()
        if monitor is not None:
            monitor.raise_if_ended()
        if not isinstance(error, tf.errors.OpError):
            raise
        raise explained_step_error(error, program) from None
    except BaseException:
        close(session) if plan.target else session.close()
        raise
    finally:
        if monitor is not None:
            monitor.stop()
    return session, values


@contextlib.contextmanager
def restored(program: Program, plan: SessionPlan) -> Iterator[tuple[Any, Any]]:
    """A session with the weights of the plan's checkpoint and no more, and their saver; the graph may still grow."""
    saver = program.spec.scaffold.saver or tf.compat.v1.train.Saver(sharded=True)
    check_not_forked()
    if saver.saver_def is None:  # its build was deferred
        saver.build()
    with tf.compat.v1.Session(plan.target, graph=program.graph, config=plan.config) as session:
        restore(session, saver, plan.find_checkpoint() or "", exact=plan.exact)
        yield session, saver


def reload(
    session: Any,
    run: Callable[[Sequence[Any]], Sequence[Any]],
    program: Program,
    checkpoint: Source | None,
    exact: bool,
    fetches: Sequence[Any],
) -> tuple[str | None, Sequence[Any]]:
    """Prepares an open session for another run: weights from `checkpoint`, fresh local variables, the input at its
    beginning; returns the restored checkpoint, as `open_session` does, and the values of `fetches`.

    Args:
        session: the session.
        run: returns the values of elements in it.
        program: the program.
        checkpoint: where weights come from; empty to leave them as they are, None to draw initial ones again.
        exact: whether it must be that one.
        fetches: tensors that depend on no step.
    """
    try:
        if checkpoint is None:
            _initialise(session, program.spec.scaffold)
        source = _restore(session, program, checkpoint, exact) if checkpoint else None
        _run_local_init(session, program)
        starting = [*program.inputs.initializers, *fetches]
        values = run(starting) if starting else ()
    except tf.errors.OpError as error:
        raise explained_step_error(error, program) from None
    return source, values[len(program.inputs.initializers) :]


def _initialise(session: Any, scaffold: Any) -> None:
    session.run(scaffold.init_op, feed_dict=scaffold.init_feed_dict)
    if scaffold.init_fn:
        scaffold.init_fn(session)  # Scaffold wraps it as a function of the session alone


def _restore(session: Any, program: Program, checkpoint: Source, exact: bool, saves_to: str = "") -> str:
    return restore(session, program.spec.scaffold.saver, checkpoint, exact=exact, saves_to=saves_to)


def _initialise_locals(session: Any, program: Program, prepare: Sequence[Any], fetches: Sequence[Any]) -> Sequence[Any]:
    early, ready = program.spec.scaffold.ready_for_local_init_op, program.spec.scaffold.ready_op
    if early is not ready:
        _check_early(_left_early(session, program))
    logger.info("Running local_init_op.")
    try:
        _run_local_init(session, program)
    except tf.errors.FailedPreconditionError:  # it may have read a variable that has no value
        _check_early(_left_early(session, program))
        raise
    logger.info("Done running local_init_op.")
    try:
        # In one call: TensorFlow prepares each kind of call by going through the whole graph.
        left, _, values = session.run([() if ready is None else ready, list(prepare), list(fetches)])
    except tf.errors.FailedPreconditionError:
        _check_early(_left_early(session, program))
        _check_ready(_names_left(session, ready))
        raise
    if early is ready:
        _check_early(first_of(_names(left), program.graph))
    _check_ready(_names(left))
    return values


def _run_local_init(session: Any, program: Program) -> None:
    if program.evaluation is not None and program.evaluation.reset is not None:
        session.run(program.evaluation.reset)
    local_init_op = program.spec.scaffold.local_init_op
    if not _does_nothing(local_init_op):
        session.run(local_init_op)


def _does_nothing(op: Any) -> bool:
    """Whether an op only waits for others of the kind: there are neither local variables nor tables."""
    return isinstance(op, tf.Operation) and op.type == "NoOp" and all(map(_does_nothing, op.control_inputs))


def _left_early(session: Any, program: Program) -> list[str]:
    """The names of what must have a value before the local variables, and has none: in a cluster, the chief sets it."""
    early, ready = program.spec.scaffold.ready_for_local_init_op, program.spec.scaffold.ready_op
    names = _names_left(session, early)
    return first_of(names, program.graph) if early is ready else names


def _names_left(session: Any, ready_op: Any) -> list[str]:
    """The names that a ready op returns, none if there is no such op."""
    return [] if ready_op is None else _names(session.run(ready_op))


def _names(left: Any) -> list[str]:
    return [] if not getattr(left, "size", 0) else [tf.compat.as_str_any(name) for name in left.ravel()]


def _check_early(names: Sequence[str]) -> None:
    _check_ready(names, " for local_init")


def _check_ready(names: Sequence[str], when: str = "") -> None:
    if names:
        raise NotInitialised(
            f"model_fn: Init operations did not make model ready{when}. Variables not initialized: {', '.join(names)}. "
            "If the Scaffold has an init_op or a saver of its own, it must cover them; a local variable belongs in the "
            "collection LOCAL_VARIABLES."
        )
