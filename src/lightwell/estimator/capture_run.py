"""The run of the verb `capture`, which writes rows to disk.

It builds the program, looks up which rows of the same capture are on disk, and runs the model over each gap once. A run
starts at the batch before the gap, which is compared with the rows on disk.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.base.log import logger
from lightwell.errors import UsageError
from lightwell.estimator.input_warnings import warn_of_missing_batches
from lightwell.estimator.verbs import ModelDefinition
from lightwell.inside.captures.batches import Batches
from lightwell.inside.captures.folder import Folder, Gap
from lightwell.inside.captures.identity import (
    digest_of_arrays,
    digest_of_checkpoint,
    digest_of_input,
    digest_of_program,
)
from lightwell.inside.captures.keys import check_key, check_unique
from lightwell.inside.captures.manifest import Manifest
from lightwell.inside.captures.plan import TooMuch
from lightwell.inside.captures.recorder import Limits, Recorder
from lightwell.inside.captures.same_capture import check_same_capture, difference
from lightwell.inside.captures.statistics import write_statistics
from lightwell.inside.captures.store import Capture, open_capture
from lightwell.inside.captures.taps import CaptureTaps
from lightwell.inside.captures.writer import other_rows
from lightwell.inside.edits.base import Edit
from lightwell.inside.edits.changes import Changes
from lightwell.inside.edits.edit_numbers import EditVariables
from lightwell.inside.paths.reductions import Reduction
from lightwell.inside.paths.request import as_list
from lightwell.inside.watches.hook_paths import with_paths
from lightwell.inside.watches.over_data import OverData, over_data
from lightwell.inside.watches.watch import Watch
from lightwell.run.checkpoints.index import step_of
from lightwell.run.engine.build import draft, finish
from lightwell.run.engine.program import Program
from lightwell.run.engine.runner import END_OF_INPUT, Runner
from lightwell.run.engine.session_source import ColdSource
from lightwell.run.engine.step_outputs import StepOutputs
from lightwell.run.inputs.call import changed
from lightwell.run.loops.task import Task

WHERE = "capture(taps=...)"


@dataclass(frozen=True)
class CaptureRequest:
    """The arguments of `Estimator.capture`."""

    input_fn: Callable[..., Any]
    taps: Any
    to: Any
    key: str | None
    steps: int | None
    hooks: Sequence[Any]
    checkpoint_path: Any
    shard_bytes: int
    budget: int | None
    beyond: str
    text: bool
    overwrite: bool
    edits: Sequence[Edit]


def capture(model: ModelDefinition, request: CaptureRequest) -> Capture:
    """Captures the missing rows, and opens the whole capture."""
    folder = Folder(request.to, is_replaced=request.overwrite)
    with folder.locked():
        folder.check_is_ours()
        folder.remove_unfinished()
        _CaptureRun(model, request, folder).run()
    store = open_capture(folder.path)
    return store if request.key is None else _with_key(folder, store, _key_path(request.key))


def _with_key(folder: Folder, store: Capture, key: str) -> Capture:
    """Makes a path the key of a capture, if it identifies its rows."""
    manifest = folder.read_manifest()
    if manifest is None or manifest.key == key or manifest.statistics:
        return store
    check_unique(store, key)
    folder.write_manifest(replace(manifest, key=key))
    return open_capture(folder.path)


def _key_path(key: str) -> str:
    return key if key.partition("/")[0] in ("features", "labels") else f"features/{key}"


@dataclass(frozen=True, eq=False)
class _BuiltModel:
    """A program with its taps.

    Attributes:
        program: the program.
        hooks: the hooks of the run.
        tapped: the tapped values of each batch.
        batches: a tensor with the number of batches that are left, or None.
        is_late: whether the input starts at the requested batch; else at its beginning.
        of_input: a digest of the input from its beginning.
        of_arrays: a digest of its arrays; computed in a thread while the model is built.
        of_program: a digest of the tapped part of the program.
    """

    program: Program
    hooks: Sequence[Any]
    tapped: CaptureTaps
    batches: Any
    is_late: bool
    of_input: str
    of_arrays: Future[str]
    of_program: str


class _CaptureRun:
    """One call of `capture`."""

    def __init__(self, model: ModelDefinition, request: CaptureRequest, folder: Folder) -> None:
        self._model, self._request, self._folder = model, request, folder
        self._checkpoint = model.checkpoint_for(request.checkpoint_path, "capture")
        taps = as_list(request.taps)
        _check_taps(taps)
        self._taps = taps if request.key is None else [*taps, _key_path(request.key)]
        self._mode = ModeKeys.EVAL if any(map(_wants_labels, self._taps)) else ModeKeys.PREDICT

    def run(self) -> None:
        """Captures the missing rows."""
        first = self._build(0)
        if self._request.key is not None:
            check_key(first.tapped.kinds, _key_path(self._request.key))
        manifest, gaps = self._missing_part(first)
        unused: _BuiltModel | None = first
        if manifest.shards and manifest.shards[0].first_batch == 0:
            self._compare_first(first, manifest)
            unused = None
        if manifest.is_complete:
            logger.info("capture: %s is complete already, with %d rows.", self._folder.path, manifest.rows)
            return
        for gap in gaps:
            built = unused if unused is not None and not gap.first else self._build(max(gap.first - 1, 0))
            unused = None
            try:
                manifest = self._fill(built, manifest, gap, lambda partial: _settled(partial, first))
            except TooMuch as too_much:
                self._keep_statistics(str(too_much), _settled(manifest, first))
                return
        self._folder.write_manifest(replace(_settled(manifest, first), is_complete=True))
        if not manifest.rows:
            warn_of_missing_batches("capture", 0)

    def _missing_part(self, built: _BuiltModel) -> tuple[Manifest, list[Gap]]:
        known = self._folder.read_manifest()
        fresh = Manifest(
            {
                "checkpoint": digest_of_checkpoint(self._checkpoint),
                "program": built.of_program,
                "input": built.of_input,
                "arrays": "",
                "settings": f"shard_bytes={self._request.shard_bytes} steps={self._request.steps} "
                f"budget={self._request.budget} beyond={self._request.beyond} text={self._request.text}",
            },
            "" if self._checkpoint is None else os.path.basename(self._checkpoint),
            None if self._checkpoint is None else step_of(self._checkpoint),
            built.tapped.kinds,
        )
        if known is None:
            return fresh, [Gap(0, None, 0, None)]
        check_same_capture(known, _settled(fresh, built), self._folder.path)
        if known.statistics and known.is_complete:
            return (known, []) if self._folder.has_sound_statistics(known) else (fresh, [Gap(0, None, 0, None)])
        return self._folder.sound_part(known)

    def _compare_first(self, built: _BuiltModel, manifest: Manifest) -> None:
        """Runs the first batch, to check that the input yields the same rows as before."""
        differences: list[str] = []

        def take(batches: Batches) -> bool:
            first = replace(batches.part(0, 1), every=manifest.every)
            differences.append(difference(self._folder, manifest, manifest.shards[0], first))
            return False

        self._run(built, lambda run: _stream_batches(run, built.tapped, None, take))
        if differences != [""]:
            raise other_rows(self._folder.path, differences[0] if differences else "it gives none")

    def _fill(
        self, built: _BuiltModel, manifest: Manifest, gap: Gap, settle: Callable[[Manifest], Manifest]
    ) -> Manifest:
        request = self._request
        limits = Limits(request.shard_bytes, request.budget, request.beyond, request.steps, request.text)
        with Recorder(self._folder, manifest, gap, limits, settle) as recorder:
            before = max(gap.first - 1, 0)

            def know(left: int | None) -> None:
                total = None if left is None else left + (before if built.is_late else 0)
                steps = [one for one in (total, request.steps) if one is not None]
                recorder.batches = min(steps, default=None)

            late = gap if built.is_late and before > 0 else None
            self._run(built, lambda run: _stream_batches(run, built.tapped, late, recorder.take), know)
        return recorder.manifest

    def _run(
        self,
        built: _BuiltModel,
        go: Callable[[Runner], None],
        know: Callable[[int | None], None] = lambda batches: None,
        keep: Any = None,
    ) -> None:
        """Runs the model over its input.

        Args:
            built: the model.
            go: runs the steps.
            know: called before the first step with the number of batches, or None if unknown.
            keep: the outputs to fetch in each step; None for the tapped values.
        """
        plan = self._model.plan(
            lambda: self._checkpoint, self._model.config.evaluation_master, exact=bool(self._request.checkpoint_path)
        )
        run = Runner(
            built.program,
            Task((), {}, outputs=built.tapped.fetches if keep is None else keep),
            built.hooks,
            plan,
            self._model.config.fuse_steps,
            jit_compile=self._model.config.jit_compile,
            source=ColdSource(self._model.sessions),
        )
        try:
            run.start()
            left = None if built.batches is None else int(run.fetch(built.batches))
            if left == tf.data.INFINITE_CARDINALITY and self._request.steps is None:
                raise UsageError(
                    "capture: the input has no end (it repeats without one), and nor would the capture. Let input_fn "
                    "give the data once, or say after how many batches to end: capture(..., steps=100)."
                )
            know(None if left is None or left < 0 else left)
            go(run)
        except BaseException as error:
            run.finish(error)
            raise
        run.finish()

    def _keep_statistics(self, reason: str, manifest: Manifest) -> None:
        """Writes statistics in place of rows that exceed the budget."""
        logger.warning("capture: %s", reason)
        numbers = [kind.path for kind in manifest.kinds if kind.is_fixed and kind.dtype != "string"]
        if not numbers:
            raise UsageError(f"capture: {reason} But no tap holds numbers in fixed sizes; use beyond='sample'.")
        statistics = OverData()
        built = self._build(0, [Watch(over_data(numbers), every=1, to=statistics, name=WHERE)])
        self._run(built, Runner.run_to_end, keep={})
        checksum = write_statistics(self._folder, statistics.result())
        complete = replace(
            manifest, statistics=True, statistics_checksum=checksum, is_complete=True, ended_early=reason
        )
        self._folder.write_manifest(complete)

    def _build(self, skip: int, watches: Sequence[Watch] = ()) -> _BuiltModel:
        """Builds the program; if its input is a dataset, without the first `skip` batches."""
        seen: dict[str, Any] = {}

        def late(result: Any) -> Any:
            if not isinstance(result, tf.data.Dataset):
                return result
            result = result.skip(skip) if skip else result
            seen["batches"] = result.cardinality()
            return result

        input_fn = changed(self._request.input_fn, late)
        changes = Changes(self._request.edits, self._mode, "capture(edits=...)", EditVariables())
        drafted = draft(self._model.recipe(self._mode, input_fn, self._checkpoint is None, changes.gate))
        of_input = "" if skip else digest_of_input(drafted.graph, drafted.inputs)
        of_arrays = _in_thread(digest_of_arrays, [] if skip else [slot.array for slot in drafted.inputs.arrays])
        names = frozenset(op.name for op in drafted.graph.get_operations())
        program = changes.finished(finish(drafted))
        spec = program.spec
        numbers = [slot.array for slot in program.inputs.arrays[len(drafted.inputs.arrays) :]]  # of the edits
        hooks = [
            *watches,
            *self._request.hooks,
            *changes.observers(program),
            *(spec.evaluation_hooks if self._mode == ModeKeys.EVAL else spec.prediction_hooks),
        ]
        tapped = CaptureTaps(program, self._taps, WHERE)
        program = with_paths(program, hooks, os.path.join(self._model.model_dir, "capture"))
        of_program = digest_of_program(program.graph, tapped.fetches.values(), names)
        of_program += f" edited by {digest_of_arrays(numbers)}" if self._request.edits else ""
        return _BuiltModel(
            program,
            hooks,
            tapped,
            seen.get("batches"),
            "batches" in seen,
            of_input,
            of_arrays,
            of_program,
        )


def _in_thread(work: Callable[..., str], *args: Any) -> Future[str]:
    """Starts `work` in a thread of its own."""
    executor = ThreadPoolExecutor(1, "lightwell-digest")
    result = executor.submit(work, *args)
    executor.shutdown(wait=False)
    return result


def _settled(manifest: Manifest, built: _BuiltModel) -> Manifest:
    """The manifest with the digest of the input's arrays."""
    if manifest.identity["arrays"]:
        return manifest
    return replace(manifest, identity={**manifest.identity, "arrays": built.of_arrays.result()})


def _stream_batches(run: Runner, tapped: CaptureTaps, late: Gap | None, take: Callable[[Batches], bool]) -> None:
    """Runs steps and passes the tapped values on, until `take` returns False or the input ends.

    Args:
        run: a run that has started.
        tapped: the tapped values of each step.
        late: None if the input is at its beginning; else it is at the last batch before this gap.
        take: receives the batches; returns whether to go on.
    """
    number, row = (0, 0) if late is None else (late.first - 1, None)

    def pass_on(outputs: StepOutputs) -> bool:
        nonlocal number, row
        for lengths, values in tapped.batch_values(outputs, run.output_structure):
            if row is None and late is not None:  # the size of the batch before the gap is known only now
                row = late.first_row - int(lengths[0])
            batches = Batches(number, row or 0, lengths, values)
            number, row = number + len(batches), batches.first_row + batches.examples
            if not take(batches):
                return False
        return True

    with contextlib.suppress(*END_OF_INPUT):
        while not run.should_stop and pass_on(
            run.advance()
        ):  # no outputs of a call stay in memory while the next one runs
            pass


def _check_taps(taps: Sequence[Any]) -> None:
    if not taps:
        raise UsageError('capture: nothing to keep; say what, as in capture(input_fn, taps=["layers/*"], to="acts/").')
    for one in taps:
        if isinstance(one, Reduction):
            raise UsageError(
                f"capture: {one.spelled} is a few numbers for a whole batch, and a capture has a row for each example. "
                "Tap the path itself, and call store.stats() afterwards; or evaluate(taps=...) for statistics alone."
            )


def _wants_labels(tap: Any) -> bool:
    if isinstance(tap, str):
        return tap.partition("/")[0] in ("labels", "label", "gradients")
    return isinstance(tap, list | tuple) and any(map(_wants_labels, tap))
