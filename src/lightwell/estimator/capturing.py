"""The verb `capture`: a run of the model whose one result is rows on disk.

Takes a `Model` and what was asked for; gives an open `Capture`. It builds the program, finds out what is on disk of the
same capture already, and runs the model over what is missing: for each gap once, from the batch before it on, which is
compared with what is there.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import tensorflow as tf

from lightwell.captures.batches import Batches
from lightwell.captures.compared import check_same, difference
from lightwell.captures.folder import Folder, Gap
from lightwell.captures.identity import digest_of_arrays, digest_of_checkpoint, digest_of_input, digest_of_program
from lightwell.captures.keys import check_key, check_unique
from lightwell.captures.manifest import Manifest
from lightwell.captures.plan import TooMuch
from lightwell.captures.recorder import Limits, Recorder
from lightwell.captures.store import Capture, open_capture
from lightwell.captures.summary import keep_statistics
from lightwell.captures.tapped import Tapped
from lightwell.captures.writer import other_rows
from lightwell.checkpoints.index import step_of
from lightwell.edits.base import Edit
from lightwell.edits.changes import Changes
from lightwell.edits.held import InVariables
from lightwell.engine.build import draft, finish
from lightwell.engine.kept import Kept
from lightwell.engine.program import Program
from lightwell.engine.runner import END_OF_INPUT, Runner
from lightwell.engine.sessions import Prepared
from lightwell.errors import UsageError
from lightwell.estimator.endings import tell_of_batches
from lightwell.estimator.verbs import Model
from lightwell.inputs.call import changed
from lightwell.keys import ModeKeys
from lightwell.log import logger
from lightwell.loops.task import Task
from lightwell.sight.finding import with_sight
from lightwell.sight.over_data import OverData, over_data
from lightwell.sight.reductions import Reduction
from lightwell.sight.request import as_list
from lightwell.sight.watch import Watch

WHERE = "capture(taps=...)"


@dataclass(frozen=True)
class Asked:
    """What a user asked `capture` for; see there."""

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


def capture(model: Model, asked: Asked) -> Capture:
    """Captures what is not there yet, and opens all of it."""
    folder = Folder(asked.to, is_replaced=asked.overwrite)
    with folder.locked():
        folder.check_is_ours()
        folder.remove_unfinished()
        _Capturing(model, asked, folder).run()
    store = open_capture(folder.path)
    return store if asked.key is None else _with_key(folder, store, _key_path(asked.key))


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
class _Built:
    """A program with its taps.

    Attributes:
        program: the program.
        hooks: who looks on.
        tapped: what is kept of each batch.
        batches: a tensor with the number of batches that are left, or None.
        is_late: whether the input starts at the batch that was asked for; else at its beginning.
        of_input: a digest of the input, as it is from its beginning.
        of_arrays: a digest of its arrays; made in a thread, while the model is built.
        of_program: a digest of what is computed from it.
    """

    program: Program
    hooks: Sequence[Any]
    tapped: Tapped
    batches: Any
    is_late: bool
    of_input: str
    of_arrays: Future[str]
    of_program: str


class _Capturing:
    """One call of `capture`."""

    def __init__(self, model: Model, asked: Asked, folder: Folder) -> None:
        self._model, self._asked, self._folder = model, asked, folder
        self._checkpoint = model.checkpoint_for(asked.checkpoint_path, "capture")
        taps = as_list(asked.taps)
        _check_taps(taps)
        self._taps = taps if asked.key is None else [*taps, _key_path(asked.key)]
        self._mode = ModeKeys.EVAL if any(map(_wants_labels, self._taps)) else ModeKeys.PREDICT

    def run(self) -> None:
        """Captures what is missing."""
        first = self._built(0)
        if self._asked.key is not None:
            check_key(first.tapped.kinds, _key_path(self._asked.key))
        manifest, gaps = self._what_is_missing(first)
        unused: _Built | None = first
        if manifest.shards and manifest.shards[0].first_batch == 0:
            self._compare_first(first, manifest)
            unused = None
        if manifest.is_complete:
            logger.info("capture: %s is complete already, with %d rows.", self._folder.path, manifest.rows)
            return
        for gap in gaps:
            built = unused if unused is not None and not gap.first else self._built(max(gap.first - 1, 0))
            unused = None
            try:
                manifest = self._fill(built, manifest, gap, lambda made: _settled(made, first))
            except TooMuch as too_much:
                self._keep_statistics(str(too_much), _settled(manifest, first))
                return
        self._folder.write_manifest(replace(_settled(manifest, first), is_complete=True))
        if not manifest.rows:
            tell_of_batches("capture", 0)

    def _what_is_missing(self, built: _Built) -> tuple[Manifest, list[Gap]]:
        known = self._folder.read_manifest()
        fresh = Manifest(
            {
                "checkpoint": digest_of_checkpoint(self._checkpoint),
                "program": built.of_program,
                "input": built.of_input,
                "arrays": "",
                "settings": f"shard_bytes={self._asked.shard_bytes} steps={self._asked.steps} "
                f"budget={self._asked.budget} beyond={self._asked.beyond} text={self._asked.text}",
            },
            "" if self._checkpoint is None else os.path.basename(self._checkpoint),
            None if self._checkpoint is None else step_of(self._checkpoint),
            built.tapped.kinds,
        )
        if known is None:
            return fresh, [Gap(0, None, 0, None)]
        check_same(known, _settled(fresh, built), self._folder.path)
        if known.statistics and known.is_complete:
            return (known, []) if self._folder.has_sound_statistics(known) else (fresh, [Gap(0, None, 0, None)])
        return self._folder.sound_part(known)

    def _compare_first(self, built: _Built, manifest: Manifest) -> None:
        """Runs the first batch, to see that the input gives what it gave."""
        found: list[str] = []

        def take(batches: Batches) -> bool:
            first = replace(batches.part(0, 1), every=manifest.every)
            found.append(difference(self._folder, manifest, manifest.shards[0], first))
            return False

        self._run(built, lambda run: _hand_over(run, built.tapped, None, take))
        if found != [""]:
            raise other_rows(self._folder.path, found[0] if found else "it gives none")

    def _fill(self, built: _Built, manifest: Manifest, gap: Gap, settle: Callable[[Manifest], Manifest]) -> Manifest:
        asked = self._asked
        limits = Limits(asked.shard_bytes, asked.budget, asked.beyond, asked.steps, asked.text)
        with Recorder(self._folder, manifest, gap, limits, settle) as recorder:
            before = max(gap.first - 1, 0)

            def know(left: int | None) -> None:
                total = None if left is None else left + (before if built.is_late else 0)
                steps = [one for one in (total, asked.steps) if one is not None]
                recorder.batches = min(steps, default=None)

            late = gap if built.is_late and before > 0 else None
            self._run(built, lambda run: _hand_over(run, built.tapped, late, recorder.take), know)
        return recorder.manifest

    def _run(
        self,
        built: _Built,
        go: Callable[[Runner], None],
        know: Callable[[int | None], None] = lambda batches: None,
        keep: Any = None,
    ) -> None:
        """Runs the model over its input.

        Args:
            built: the model.
            go: runs the steps.
            know: told before, how many batches there will be, or None.
            keep: what to keep of each step; None for what is tapped.
        """
        plan = self._model.plan(
            lambda: self._checkpoint, self._model.config.evaluation_master, exact=bool(self._asked.checkpoint_path)
        )
        run = Runner(
            built.program,
            Task((), {}, keep=built.tapped.fetches if keep is None else keep),
            built.hooks,
            plan,
            self._model.config.fuse_steps,
            jit_compile=self._model.config.jit_compile,
            sessions=self._model.sessions,
            prepared=Prepared(built.program, built.program.inputs),
        )
        try:
            run.start()
            left = None if built.batches is None else int(run.fetch(built.batches))
            if left == tf.data.INFINITE_CARDINALITY and self._asked.steps is None:
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

    def _keep_statistics(self, words: str, manifest: Manifest) -> None:
        """What takes the place of rows that do not fit."""
        logger.warning("capture: %s", words)
        numbers = [kind.path for kind in manifest.kinds if kind.is_fixed and kind.dtype != "string"]
        if not numbers:
            raise UsageError(f"capture: {words} But no tap holds numbers in fixed sizes; use beyond='sample'.")
        statistics = OverData()
        built = self._built(0, [Watch(over_data(numbers), every=1, to=statistics, name=WHERE)])
        self._run(built, Runner.run_to_end, keep={})
        checksum = keep_statistics(self._folder, statistics.result())
        made = replace(manifest, statistics=True, statistics_checksum=checksum, is_complete=True, ended_early=words)
        self._folder.write_manifest(made)

    def _built(self, skip: int, watches: Sequence[Watch] = ()) -> _Built:
        """Builds the program, its input without so many batches where it is a dataset."""
        seen: dict[str, Any] = {}

        def late(result: Any) -> Any:
            if not isinstance(result, tf.data.Dataset):
                return result
            result = result.skip(skip) if skip else result
            seen["batches"] = result.cardinality()
            return result

        input_fn = changed(self._asked.input_fn, late)
        changes = Changes(self._asked.edits, self._mode, "capture(edits=...)", InVariables())
        drafted = draft(self._model.recipe(self._mode, input_fn, self._checkpoint is None, changes.gate))
        of_input = "" if skip else digest_of_input(drafted.graph, drafted.inputs)
        of_arrays = _beside(digest_of_arrays, [] if skip else [slot.array for slot in drafted.inputs.arrays])
        names = frozenset(op.name for op in drafted.graph.get_operations())
        program = changes.finished(finish(drafted))
        spec = program.spec
        numbers = [slot.array for slot in program.inputs.arrays[len(drafted.inputs.arrays) :]]  # of the edits
        hooks = [
            *watches,
            *self._asked.hooks,
            *changes.observers(program),
            *(spec.evaluation_hooks if self._mode == ModeKeys.EVAL else spec.prediction_hooks),
        ]
        tapped = Tapped(program, self._taps, WHERE)
        program = with_sight(program, hooks, os.path.join(self._model.model_dir, "capture"))
        of_program = digest_of_program(program.graph, tapped.fetches.values(), names)
        of_program += f" edited by {digest_of_arrays(numbers)}" if self._asked.edits else ""
        return _Built(
            program,
            hooks,
            tapped,
            seen.get("batches"),
            "batches" in seen,
            of_input,
            of_arrays,
            of_program,
        )


def _beside(work: Callable[..., str], *args: Any) -> Future[str]:
    """The result of what goes on in a thread from now on."""
    with_thread = ThreadPoolExecutor(1, "lightwell-digest")
    result = with_thread.submit(work, *args)
    with_thread.shutdown(wait=False)
    return result


def _settled(manifest: Manifest, built: _Built) -> Manifest:
    """The manifest with the digest of the input's arrays."""
    if manifest.identity["arrays"]:
        return manifest
    return replace(manifest, identity={**manifest.identity, "arrays": built.of_arrays.result()})


def _hand_over(run: Runner, tapped: Tapped, late: Gap | None, take: Callable[[Batches], bool]) -> None:
    """Runs steps and hands on what is tapped of them, until no more is wanted or the input ends.

    Args:
        run: a run that has started.
        tapped: what was kept of each step.
        late: None where the input is at its beginning, else it is at the last batch before this gap.
        take: is given the batches; says whether it wants more.
    """
    number, row = (0, 0) if late is None else (late.first - 1, None)

    def hand_over(kept: Kept) -> bool:
        nonlocal number, row
        for lengths, values in tapped.found(kept, run.kept_structure):
            if row is None and late is not None:  # how many examples are there is known, not how many in the last batch
                row = late.first_row - int(lengths[0])
            batches = Batches(number, row or 0, lengths, values)
            number, row = number + len(batches), batches.first_row + batches.examples
            if not take(batches):
                return False
        return True

    with contextlib.suppress(*END_OF_INPUT):
        while not run.should_stop and hand_over(
            run.advance()
        ):  # nothing of a call is held here while the next one runs
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
