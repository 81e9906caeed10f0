"""Opening a session for a program: initialised, restored, ready to run.

Takes a `Program` and where its weights come from, gives an open `tf.compat.v1.Session`. The caller closes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.checkpoints.compare import Form, Shape, check_fits
from lightwell.checkpoints.index import newest_first
from lightwell.engine.program import Program
from lightwell.errors import CheckpointUnreadable, NotInitialised, reason_of
from lightwell.inputs.unpack import Inputs
from lightwell.keys import ModeKeys
from lightwell.log import logger

_NO_OLDER = "No older checkpoint can be read; restore them from a backup, or move the directory away."
_ANOTHER = (
    "It was asked for by checkpoint_path; name another one, or leave checkpoint_path out for the newest sound one."
)


@dataclass(frozen=True)
class SessionPlan:
    """How a session is opened.

    Attributes:
        find_checkpoint: called for each new session; the checkpoint to restore, or None to initialise afresh.
        target: the session target, empty for in-process.
        config: a `tf.compat.v1.ConfigProto`.
        exact: whether it must be that checkpoint, which the user named; else, if it is damaged, an older one will do.
    """

    find_checkpoint: Callable[[], str | None]
    target: str = ""
    config: Any = None
    exact: bool = False


def finish_graph(program: Program) -> None:
    """Completes the scaffold (init ops, saver, summaries) and makes the graph final."""
    program.spec.scaffold.finalize()


def open_session(program: Program, plan: SessionPlan, *, with_inputs: bool = True) -> Any:
    """Opens a session, restores or initialises its variables, its tables and, unless told not to, its iterators.

    Raises:
        CheckpointMismatch: the checkpoint was written by another model.
        CheckpointUnreadable: no checkpoint can be read.
        NotInitialised: something stays uninitialised.
    """
    checkpoint = plan.find_checkpoint()
    session = tf.compat.v1.Session(plan.target, graph=program.graph, config=plan.config)
    try:
        if checkpoint is None:
            _initialise(session, program.spec.scaffold)
        else:
            _restore(session, program, checkpoint, plan.exact)
        _initialise_locals(session, program)
        if with_inputs:
            start_inputs(session, program.inputs)
    except BaseException:
        session.close()
        raise
    return session


def reload(session: Any, program: Program, checkpoint: str | None, exact: bool) -> None:
    """Makes an open session ready for another run: weights from `checkpoint`, fresh local variables.

    An empty `checkpoint` keeps the weights as they are; None draws initial ones anew.
    """
    if checkpoint is None:
        _initialise(session, program.spec.scaffold)
    elif checkpoint:
        _restore(session, program, checkpoint, exact)
    _run_local_init(session, program)


def start_inputs(session: Any, inputs: Inputs) -> int | None:
    """Sets the source of the batches going, from its beginning; returns how many batches there are, if it is known."""
    if not inputs.initializers:
        return None
    if inputs.count is None:
        session.run(inputs.initializers, feed_dict=dict(inputs.feeds))
        return None
    _, count = session.run((inputs.initializers, inputs.count), feed_dict=dict(inputs.feeds))
    return int(count) if count >= 0 else None


def _initialise(session: Any, scaffold: Any) -> None:
    session.run(scaffold.init_op, feed_dict=scaffold.init_feed_dict)
    if scaffold.init_fn:
        scaffold.init_fn(session)  # Scaffold hands it on as a function of the session alone


def _restore(session: Any, program: Program, checkpoint: str, exact: bool) -> None:
    """Restores `checkpoint`; one whose data turn out damaged is reported, and unless `exact` an older one taken."""
    candidates = [checkpoint] if exact else _with_older_ones(checkpoint)
    damaged: list[str] = []
    for candidate in candidates:
        check_fits(candidate, wanted_by_restore(program))
        try:
            program.spec.scaffold.saver.restore(session, candidate)
        except (tf.errors.DataLossError, tf.errors.OutOfRangeError) as error:
            damaged.append(f"Checkpoint {candidate} is damaged ({reason_of(error)}).")
            if candidate != candidates[-1]:
                logger.warning("%s Trying an older one.", damaged[-1])
        except ValueError as error:
            # The saver looked for the files of a checkpoint that was there a moment ago.
            raise CheckpointUnreadable(f"Checkpoint {candidate} is gone: {error}") from error
        else:
            _keep_numbering(program, candidate)
            return
    raise CheckpointUnreadable(f"{' '.join(damaged)} {_ANOTHER if exact else _NO_OLDER}")


def _with_older_ones(checkpoint: str) -> list[str]:
    directory = checkpoint.rpartition("/")[0] or "."
    known = list(newest_first(directory))
    return known[known.index(checkpoint) :] if checkpoint in known else [checkpoint]


def _keep_numbering(program: Program, checkpoint: str) -> None:
    """Tells the saver which checkpoints exist, so that in training it counts and removes the old ones too."""
    if program.mode != ModeKeys.TRAIN:
        return
    known = reversed(list(newest_first(checkpoint.rpartition("/")[0] or ".")))
    with_times = [
        (path, tf.io.gfile.stat(path + ".index").mtime_nsec / 1e9)
        for path in known
        if tf.io.gfile.exists(path + ".index")
    ]
    program.spec.scaffold.saver.set_last_checkpoints_with_time(with_times)


def _initialise_locals(session: Any, program: Program) -> None:
    scaffold = program.spec.scaffold
    if scaffold.ready_for_local_init_op is not None:
        _check_ready(session, scaffold.ready_for_local_init_op, " for local_init")
    logger.info("Running local_init_op.")
    _run_local_init(session, program)
    logger.info("Done running local_init_op.")
    if scaffold.ready_op is not None:
        _check_ready(session, scaffold.ready_op, "")


def _run_local_init(session: Any, program: Program) -> None:
    if program.evaluation is not None and program.evaluation.reset is not None:
        session.run(program.evaluation.reset)
    session.run(program.spec.scaffold.local_init_op)


def _check_ready(session: Any, ready_op: Any, when: str) -> None:
    left = session.run(ready_op)
    if getattr(left, "size", 0):
        names = [name.decode() if isinstance(name, bytes) else str(name) for name in left.ravel()]
        raise NotInitialised(
            f"model_fn: Init operations did not make model ready{when}. Variables not initialized: {', '.join(names)}. "
            "If the Scaffold has an init_op or a saver of its own, it must cover them; a local variable belongs in the "
            "collection LOCAL_VARIABLES."
        )


def wanted_by_restore(program: Program) -> Iterator[tuple[str, Form]]:
    """The names, shapes and types that the program's saver will look for in a checkpoint, read off its restore ops.

    Read from the graph and not from the saver, because a saver of the user may rename what it saves.
    """
    saver_def = program.spec.scaffold.saver.saver_def
    for op in _restore_ops(program.graph.get_operation_by_name(saver_def.restore_op_name)):
        names, slices = (tf.get_static_value(tensor) for tensor in op.inputs[1:3])
        if names is None:  # names computed in the graph: nothing to compare with before the restore itself
            continue
        for name, part, value in zip(names, slices, op.outputs, strict=True):
            shape = _full_shape(part.decode()) if part else _assigned_shape(value)
            if shape is not None:
                yield name.decode(), Form(shape, value.dtype.base_dtype)


def _restore_ops(root: tf.Operation) -> list[tf.Operation]:
    seen: set[str] = set()
    found, left = [], [root]
    while left:
        op = left.pop()
        if op.name in seen:
            continue
        seen.add(op.name)
        if op.type == "RestoreV2":
            found.append(op)
        left.extend([*op.control_inputs, *(tensor.op for tensor in op.inputs)])
    return found


def _full_shape(shape_and_slice: str) -> Shape:
    """`"10 4 0,5:0,4"` says: rows 0 to 5 of a variable of shape [10, 4]."""
    return tuple(int(size) for size in shape_and_slice.split(" ")[:-1])


def _assigned_shape(value: Any) -> Shape | None:
    """The static shape of the variable that a restored value is assigned to."""
    left = list(value.consumers())
    for _ in range(8):  # a short way: Identity, a reshape or a cast, then the assignment
        following: list[Any] = []
        for op in left:
            if op.type in ("AssignVariableOp", "Assign"):
                shape = op.inputs[0].op.get_attr("shape")
                return None if shape.unknown_rank else tuple(d.size if d.size >= 0 else None for d in shape.dim)
            if op.type == "Reshape":
                return None
            following.extend(consumer for output in op.outputs for consumer in output.consumers())
        left = following
    return None
