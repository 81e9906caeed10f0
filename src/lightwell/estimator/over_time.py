"""The verbs over checkpoints: `over_checkpoints`, a model at each of them, and `compare`, two of them side by side.

Takes a `Model` and what was asked for; gives a `Timeline` or a `Comparison`. `over_checkpoints` builds one program and
restores weights into it, one checkpoint after the other.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lightwell.across.comparison import Comparison, LayerChange
from lightwell.across.gathering import Decisions, LayerSums, drift_of
from lightwell.across.timeline import Timeline, timeline_of
from lightwell.captures.tapped import ToRows
from lightwell.checkpoints.index import checked_path, exists, newest_first, step_of
from lightwell.checkpoints.reader import open_checkpoint, variable_value
from lightwell.edits.base import Edit
from lightwell.edits.changes import Changes
from lightwell.edits.held import InVariables
from lightwell.errors import UsageError
from lightwell.estimator.held_run import HeldRun
from lightwell.estimator.verbs import Model, predict
from lightwell.hooks.show_progress import counted
from lightwell.keys import GLOBAL_STEP, ModeKeys
from lightwell.sight.describe import Description, from_variables
from lightwell.sight.kept_description import read_description
from lightwell.sight.on_disk import OnDisk
from lightwell.sight.optimizer_state import split_names
from lightwell.sight.over_data import OverData, over_data
from lightwell.sight.reductions import stats_of
from lightwell.sight.request import as_list
from lightwell.sight.sections.variables import WEIGHTS
from lightwell.sight.views import WeightsView
from lightwell.sight.watch import Watch

_OVER = "over_checkpoints"


def over_checkpoints(
    model: Model,
    input_fn: Callable[..., Any] | None,
    *,
    taps: Any,
    values: Any,
    metrics: bool,
    weights: Any,
    steps: int | None,
    checkpoints: Sequence[Any] | None,
    edits: Sequence[Edit],
) -> Timeline:
    """What a model was at each of its checkpoints."""
    chosen = _chosen(model, checkpoints)
    wanted = [] if weights is None else _weight_names(chosen[-1], as_list(weights))
    seen: list[dict[str, Any]] = []
    with contextlib.ExitStack() as stack:
        look: Callable[[str], dict[str, Any]] = lambda checkpoint: {}  # noqa: E731
        if input_fn is not None:
            look = stack.enter_context(_looking(model, input_fn, taps, values, metrics, steps, edits))
        told = stack.enter_context(counted(_OVER, "checkpoints", len(chosen)))
        for checkpoint in chosen:
            of_weights = {f"weights/{name}": stats_of(variable_value(checkpoint, name)) for name in wanted}
            seen.append({**look(checkpoint), **of_weights})
            told()
    return timeline_of(chosen, [_step(checkpoint) for checkpoint in chosen], seen)


@contextlib.contextmanager
def _looking(
    model: Model,
    input_fn: Callable[..., Any],
    taps: Any,
    values: Any,
    metrics: bool,
    steps: int | None,
    edits: Sequence[Edit],
) -> Iterator[Callable[[str], dict[str, Any]]]:
    """A function that runs the model with the weights of a checkpoint, and gives what was seen."""
    statistics, rows = OverData(), ToRows()
    watches = [] if taps is None else [Watch(over_data(taps), every=1, to=statistics, name=f"{_OVER}(taps=...)")]
    watches += [] if values is None else [Watch(*as_list(values), every=1, to=rows, name=f"{_OVER}(values=...)")]
    mode = ModeKeys.EVAL if metrics else ModeKeys.PREDICT
    changes = Changes(edits, mode, f"{_OVER}(edits=...)", InVariables())
    held = HeldRun(model, mode, input_fn, steps, watches, None, changes, _OVER)

    def look(checkpoint: str) -> dict[str, Any]:
        statistics.start("", "")
        rows.begin()
        found = held.run(checkpoint, exact=True)
        named = {f"metrics/{name}": value for name, value in found.items() if name != GLOBAL_STEP}
        kept = {path: np.concatenate(values) for path, values in rows.values.items()}
        return {**named, **statistics.result(), **kept}

    try:
        yield look
    finally:
        held.close()


def compare(
    model: Model,
    first: Any,
    second: Any,
    input_fn: Callable[..., Any],
    taps: Any,
    key: str | None,
    steps: int | None,
) -> Comparison:
    """Two checkpoints, run over the same data side by side."""
    prefixes = [_one_checkpoint(model, given) for given in (first, second)]
    same_input = [f"features/{key}" if key is not None and not key.startswith("features") else key or "features"]
    tapped = [one if not isinstance(one, str) or "/" in one else f"layers/{one}" for one in as_list(taps)]
    runs = [predict(model, input_fn, None, (), prefix, False, [*tapped, *same_input]) for prefix in prefixes]
    sums: dict[str, LayerSums] = {}
    decisions, count = Decisions(), 0
    with contextlib.ExitStack() as stack:
        for run in runs:
            stack.callback(run.close)  # type: ignore[attr-defined]
        is_done = stack.enter_context(counted("compare", "batches", steps))
        for one, other in itertools.islice(itertools.zip_longest(*runs), steps):
            if one is None or other is None:
                raise _other_input(f"one of them ended after {count:,} examples")
            inputs = {path: value for path, value in one.items() if path.partition("/")[0] == "features"}
            _check_same_input(inputs, other)
            for path in [path for path in one if path.startswith("layers/")]:
                sums.setdefault(path, LayerSums()).take(one[path], other[path])
            told = [
                {name: value for name, value in row.items() if name.partition("/")[0] not in ("layers", "features")}
                for row in (one, other)
            ]
            size = len(next(iter(told[0].values()), ()))
            keys = np.asarray(inputs[same_input[0]]).reshape(-1) if key is not None else np.arange(count, count + size)
            decisions.take(told[0], told[1], keys)
            count += size
            is_done()
    return Comparison(
        os.path.basename(prefixes[0]),
        os.path.basename(prefixes[1]),
        tuple(_layers(model, prefixes, sums)),
        count,
        None if decisions.path is None else f"predictions/{decisions.path}",
        tuple(decisions.changed),
        decisions.mean_change,
    )


def _layers(model: Model, prefixes: Sequence[str], sums: Mapping[str, LayerSums]) -> Iterator[LayerChange]:
    """Layers with weights or outputs, then the weights that belong to none."""
    description = _description(model, prefixes[1])
    owned: set[str] = set()
    for layer in description.layers:
        names = [weight.name for weight in layer.weights]
        owned.update(names)
        paths = [path for path in sums if path == layer.path or path.startswith((f"{layer.path}[", f"{layer.path}:"))]
        drift = drift_of(prefixes[0], prefixes[1], names)
        if drift is None and not paths:
            continue
        yield sums[paths[0]].change(paths[0], drift) if paths else LayerChange(layer.path, drift)
        yield from (sums[path].change(path, None) for path in paths[1:])
    known = {layer.path for layer in description.layers}
    for path, one in sums.items():
        if not any(path == base or path.startswith((f"{base}[", f"{base}:")) for base in known):
            yield one.change(path, None)
    for name in split_names(open_checkpoint(prefixes[1]).get_variable_to_shape_map())[0]:
        if name not in owned:
            yield LayerChange(f"weights/{name}", drift_of(prefixes[0], prefixes[1], [name]))


def _description(model: Model, prefix: str) -> Description:
    kept = read_description(model.model_dir)
    if kept is not None:
        return kept
    reader = open_checkpoint(prefix)
    return from_variables(reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map())


def _check_same_input(inputs: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    for path, value in inputs.items():
        same = (
            value.shape == other[path].shape and np.array_equal(value, other[path])
            if isinstance(value, np.ndarray)
            else True
        )
        if not same:
            raise _other_input(f"{path!r} differs")


def _other_input(how: str) -> UsageError:
    return UsageError(
        f"compare: input_fn gave other examples the second time ({how}), so there is nothing to compare. Let it give "
        "the same in the same order: seed its shuffling, or leave that out."
    )


def _chosen(model: Model, given: Sequence[Any] | None) -> list[str]:
    """The checkpoints to look at, by their steps; an edited one after the one it was made of."""
    if given is not None:
        found = [_one_checkpoint(model, one) for one in given]
    else:
        found = [prefix for prefix in newest_first(model.model_dir) if exists(prefix)][::-1]
    if not found:
        raise UsageError(f"{_OVER}: Couldn't find trained model at {model.model_dir}: it has no checkpoint.")
    # `model.ckpt-100` before `model.ckpt-edit1-100`, also where the edit was reverted and the former is the newer one.
    return sorted(dict.fromkeys(found), key=lambda prefix: (_step(prefix), len(prefix), prefix))


def _one_checkpoint(model: Model, given: Any) -> str:
    """A checkpoint by its path, its name, or its step."""
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        of_step = [prefix for prefix in newest_first(model.model_dir) if step_of(prefix) == given]
        given = of_step[0] if of_step else os.path.join(model.model_dir, f"model.ckpt-{given}")
    elif not os.path.dirname(os.fspath(given)):
        given = os.path.join(model.model_dir, os.fspath(given))
    return checked_path(given, "checkpoint")


def _step(prefix: str) -> int:
    told = step_of(prefix)
    return int(variable_value(prefix, GLOBAL_STEP)) if told is None else told


def _weight_names(prefix: str, asked: Sequence[str]) -> list[str]:
    """The weights of a checkpoint that paths and globs mean; unknown ones are refused as `est.weights` does."""
    names = split_names(open_checkpoint(prefix).get_variable_to_shape_map())
    known = {one.path: one for one in WEIGHTS.kept(OnDisk(Description(), *names))}
    found: list[str] = []
    for path in asked:
        full = path if path.startswith("weights/") else f"weights/{path}"
        meant = WEIGHTS.meant_by(full, known)
        if not meant:
            WeightsView(lambda: prefix)[path]
        found += [variable for one in meant for variable in one.variables]
    return list(dict.fromkeys(found))
