"""Saves checkpoints during training: at the start, on its cadence, at the end, and on request.

The hook is a subclass of `CheckpointSaverHook`; files, log lines and listeners' calls are those of TensorFlow's. In
addition it says when it next needs a step, saves where a listener needs a checkpoint, and on an interrupt.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import CHECKPOINT_PREFIX
from lightwell.base.log import logger
from lightwell.base.safe_files import matching_folders, remove_link, remove_tree, replace_file
from lightwell.errors import ModelDirError, disk_error, reason_of
from lightwell.foreign import private_tf
from lightwell.run import events
from lightwell.run.checkpoints.commit import edited_name, is_edited
from lightwell.run.checkpoints.index import is_in, newest_complete, step_of
from lightwell.run.checkpoints.lineage import TRAINING, Change, append_origin, new_origin, origins
from lightwell.run.cluster import LOST_SESSION
from lightwell.run.hooks.base import NEVER, ScheduledHook
from lightwell.run.hooks.checkpoint_work import CheckpointWork
from lightwell.run.hooks.finite_weights import FiniteWeights
from lightwell.run.hooks.name_by_content import rename_by_content
from lightwell.run.hooks.plain_graph import plain_graph_def, plain_meta_graph, text_of

_GRAPH = "graph.pbtxt"
_SHARDS = "_temp"  # how TensorFlow names the folder in which it writes the parts of a checkpoint
_OF_DISKS = (tf.errors.OpError, OSError, ValueError)


class SaveCheckpoint(ScheduledHook, tf.compat.v1.train.CheckpointSaverHook):
    """Saves every `save_steps` steps or `save_secs` seconds.

    Args:
        directory: where checkpoints go.
        scaffold: holds the saver.
        save_secs: seconds between two checkpoints.
        save_steps: steps between two checkpoints.
        listeners: `CheckpointSaverListener`s, called before and after each save.
        save_graph_def: whether to write the graph beside the checkpoints.
        resumed_from: returns the checkpoint that the session was restored from, None for initial weights.
        edits: the edits of weights by hooks, each with its step; a list that grows during the training.
        finite: checks the weights that are saved; None where they are on other machines.
        others_step: whether other processes move the counter, also while a checkpoint is written.
    """

    judges_each_step = True

    def __init__(
        self,
        directory: str,
        scaffold: Any,
        *,
        save_secs: float | None = None,
        save_steps: int | None = None,
        listeners: Sequence[Any] = (),
        save_graph_def: bool = True,
        resumed_from: Callable[[], str | None] = lambda: None,
        edits: Sequence[Change] = (),
        finite: FiniteWeights | None = None,
        others_step: bool = False,
    ) -> None:
        super().__init__(
            checkpoint_dir=directory,
            save_secs=save_secs,
            save_steps=save_steps,
            scaffold=scaffold,
            listeners=list(listeners),
            save_graph_def=save_graph_def,
        )
        self._directory = directory
        self._prefix = os.path.join(directory, CHECKPOINT_PREFIX)
        self._scaffold_with_saver = scaffold
        self._every_steps = save_steps
        self._every_secs = save_secs
        self._checkpoint_listeners = list(listeners)
        self._with_graph = save_graph_def
        self._saved_step = -1
        self._saved_at = 0.0
        self._is_at_start = True
        self._meta_graph = b""
        self._resumed_from = resumed_from
        self._parent: str | None = None
        self._edits, self._edits_saved = edits, 0
        self._finite, self._others_step = finite, others_step

    @property
    def saved_step(self) -> int:
        """The step of the newest checkpoint of this run, -1 before the first."""
        return self._saved_step

    @property
    def has_unsaved_edits(self) -> bool:
        """Whether a hook changed weights by hand that no checkpoint has yet."""
        return len(self._edits) > self._edits_saved

    def begin(self) -> None:
        """Opens the event file, while the graph that a new one gets is the model's alone; calls the listeners."""
        events.open_early(self._directory)
        for listener in self._checkpoint_listeners:
            listener.begin()

    def next_look(self, count: int) -> int:
        """The step of the next checkpoint, on a cadence of steps; and the first step, which shows the stride."""
        due = self._next_listener_save()
        if self._every_steps is not None:
            due = min(due, self._saved_step + int(self._every_steps))
        return count + 1 if self._is_at_start and due < NEVER else max(count + 1, due)

    def next_look_seconds(self) -> float:
        """The time to the next checkpoint, on a cadence of seconds."""
        return math.inf if self._every_secs is None else self._saved_at + self._every_secs - time.time()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Writes the graph, and the first checkpoint."""
        self._is_at_start = True
        global_step = int(session.run(tf.compat.v1.train.get_global_step()))
        graph_def = plain_graph_def(session.graph)
        meta_graph = plain_meta_graph(session.graph, graph_def, self._scaffold_with_saver.saver.to_proto())
        if self._with_graph:
            self._write_graph(graph_def)
            self._meta_graph = meta_graph.SerializeToString()
        events.write_plain_graph(self._directory, graph_def, meta_graph)
        self._parent = self._resumed_from()
        if self._parent is not None and is_in(
            self._parent, self._directory
        ):  # its writer may have been killed before renaming it
            self._parent, _ = self._rename_by_content(self._parent, step_of(self._parent))
        self._edits_saved = len(self._edits)  # edits without a checkpoint are lost with their session
        self.save(session, global_step)

    def before_run(self, run_context: Any) -> None:
        """Fetches nothing: the step counter comes with the context."""

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Saves when the cadence says so."""
        self._is_at_start = False
        if self._is_time(run_context.count) and self.save(run_context.session, run_context.count):
            run_context.request_stop()

    def end(self, session: Any) -> None:
        """Saves the last step, unless it is saved already, and no weight was edited since."""
        last_step = int(session.run(tf.compat.v1.train.get_global_step()))
        if last_step != self._saved_step or self.has_unsaved_edits:
            self.save(session, last_step)
        for listener in self._checkpoint_listeners:
            listener.end(session, last_step)

    def save(self, session: Any, step: int, *, is_leaving: bool = False) -> bool:
        """Saves now; True when a listener requests a stop.

        Args:
            session: the training's.
            step: its global step.
            is_leaving: whether the training was interrupted: `CheckpointWork` listeners are not called.

        Raises:
            ModelDirError: the files cannot be written (a full disk, missing rights).
        """
        logger.info("Calling checkpoint listeners before saving checkpoint %d...", step)
        for listener in self._checkpoint_listeners:
            listener.before_save(session, step)
        logger.info("Saving checkpoints for %d into %s.", step, self._prefix)
        step = self._write(session, step)
        if self._finite is not None and self._saved_step >= 0:  # not the weights that a training starts from
            self._finite.look(session, step)
        self._saved_step, self._saved_at = step, time.time()
        events.mark_checkpoint(self._directory, self._prefix, step)
        logger.info("Calling checkpoint listeners after saving checkpoint %d...", step)
        wants_stop = False
        for listener in self._checkpoint_listeners:
            if is_leaving and isinstance(listener, CheckpointWork):
                continue
            if listener.after_save(session, step):
                logger.info("A CheckpointSaverListener requested that training be stopped. listener: %s", listener)
                wants_stop = True
        return wants_stop

    def _is_time(self, step: int) -> bool:
        if step == self._saved_step:
            return False
        if step >= self._next_listener_save():
            return True
        if self._every_steps is not None:
            return step >= self._saved_step + self._every_steps
        return self._every_secs is not None and time.time() >= self._saved_at + self._every_secs

    def _next_listener_save(self) -> int:
        at_work = (listener for listener in self._checkpoint_listeners if isinstance(listener, CheckpointWork))
        return min((listener.next_save(self._saved_step) for listener in at_work), default=NEVER)

    def _write_graph(self, graph_def: Any) -> None:
        try:
            replace_file(os.path.join(self._directory, _GRAPH), text_of(graph_def))
        except _OF_DISKS as error:
            raise self._unwritten(error, f"The graph could not be written to {self._directory}") from error

    def _write(self, session: Any, step: int) -> int:
        """Writes a checkpoint; returns the step that it holds."""
        try:
            saver = self._scaffold_with_saver.saver
            prefix = self._prefix_at(step)
            remove_link(f"{prefix}-{step}{_SHARDS}")
            path = saver.save(session, prefix, global_step=step, write_meta_graph=False)
            path, holds = self._rename_by_content(path, step)
            if self._with_graph:  # the graph is final: one meta graph serves all checkpoints
                replace_file(f"{path}.meta", self._meta_graph)
            self._record_lineage(path)
            return holds
        except LOST_SESSION:  # a parameter server is gone, the disk is not
            raise
        except _OF_DISKS as error:
            # The unfinished files take the space that is missing.
            _remove_shards(self._directory, step)
            what = f"The checkpoint of step {step} could not be written to {self._directory}"
            raise self._unwritten(error, what) from error

    def _rename_by_content(self, path: str, step: int | None) -> tuple[str, int]:
        """A checkpoint under the name of the step that it holds, and that step."""
        if step is None or not self._others_step:
            return path, step or 0
        counter = private_tf.variable_name(tf.compat.v1.train.get_global_step())
        return rename_by_content(self._scaffold_with_saver.saver, self._directory, path, step, counter)

    def _prefix_at(self, step: int) -> str:
        """The name of the checkpoint of a step, without the step.

        A training that resumes saves the checkpoint it resumed from again, under its name: an edited checkpoint has the
        step of its parent, which must not be overwritten. Nor must one that was saved before a hook edited its weights.
        """
        if step == self._saved_step and self.has_unsaved_edits:
            return os.path.join(self._directory, edited_name(self._directory, step).removesuffix(f"-{step}"))
        if self._is_at_start and self._parent is not None and is_edited(self._parent) and step_of(self._parent) == step:
            return os.path.join(self._directory, os.path.basename(self._parent).removesuffix(f"-{step}"))
        return self._prefix

    def _record_lineage(self, path: str) -> None:
        """Appends to the lineage; a failure is logged, and training continues."""
        edits = self._edits[self._edits_saved :]
        try:
            self._add_to_lineage(path, edits)
        except _OF_DISKS as error:
            logger.warning("The lineage of %s could not be written: %s.", path, reason_of(error))
        self._parent, self._edits_saved = path, self._edits_saved + len(edits)

    def _add_to_lineage(self, path: str, edits: Sequence[Change]) -> None:
        """Adds a line, except for weights that were resumed from and saved again unchanged."""
        origin = new_origin(path, self._parent, TRAINING, edits)
        is_itself = self._parent is not None and os.path.basename(self._parent) == origin.checkpoint
        if is_itself:
            known = origins(self._directory).get(origin.checkpoint)
            if known is None or known.hash != origin.hash:
                append_origin(
                    self._directory, dataclasses.replace(origin, parent=None if known is None else known.parent)
                )
        else:
            append_origin(self._directory, origin)

    def _unwritten(self, error: BaseException, what: str) -> ModelDirError:
        last = newest_complete(self._directory)
        if last is not None:
            safe = (
                f"The last complete one is of step {step_of(last)}. Free space or mend the rights, then start the same "
                "training again: it resumes from there."
            )
        elif self._saved_step >= 0:
            safe = f"None of those written before is there any more; the last was of step {self._saved_step}."
        else:
            what = f"No checkpoint can be written to model_dir {self._directory}"
            safe = "Nothing has been trained yet; choose another model_dir, or mend its rights or space."
        return disk_error(error, f"{what}: {reason_of(error)}. {safe}")


def _remove_shards(directory: str, step: int) -> None:
    """Removes the parts of a checkpoint that TensorFlow began, as far as that can be done."""
    began = re.compile(re.escape(CHECKPOINT_PREFIX) + rf"(-edit\d+)?-{step}{_SHARDS}.*")
    with contextlib.suppress(tf.errors.OpError, OSError):
        for path in matching_folders(directory, began):
            remove_tree(path)
