"""The runs of `over_checkpoints`, a model at each checkpoint, and `compare`, two checkpoints on the same data.

`over_checkpoints` builds one program and restores the weights of one checkpoint after the other into it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lightwell.base.keys import GLOBAL_STEP, ModeKeys
from lightwell.errors import UsageError
from lightwell.estimator.repeated_run import RepeatedRun
from lightwell.estimator.verbs import ModelDefinition, predict
from lightwell.inside.captures.taps import ToRows
from lightwell.inside.edits.base import Edit
from lightwell.inside.edits.changes import Changes
from lightwell.inside.edits.edit_numbers import EditVariables
from lightwell.inside.paths.describe import Description, from_variables
from lightwell.inside.paths.on_disk import OnDisk
from lightwell.inside.paths.optimizer_state import split_names
from lightwell.inside.paths.reductions import stats_of
from lightwell.inside.paths.request import as_list
from lightwell.inside.paths.sections.variables import WEIGHTS
from lightwell.inside.paths.stored_description import read_description
from lightwell.inside.studies.comparison import Comparison, LayerChange
from lightwell.inside.studies.sums import Decisions, LayerSums, drift_of
from lightwell.inside.studies.timeline import Timeline, timeline_of
from lightwell.inside.watches.over_data import OverData, over_data
from lightwell.inside.watches.watch import Watch
from lightwell.inside.weights.views import WeightsView
from lightwell.run.checkpoints.index import checked_path, exists, newest_first, step_of
from lightwell.run.checkpoints.reader import open_checkpoint, variable_value
from lightwell.run.hooks.show_progress import counted

_OVER = "over_checkpoints"


def over_checkpoints(
    model: ModelDefinition,
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
    """Values of a model at each of its checkpoints."""
    paths = _checkpoint_paths(model, checkpoints)
    names = [] if weights is None else _weight_names(paths[-1], as_list(weights))
    rows: list[dict[str, Any]] = []
    with contextlib.ExitStack() as stack:
        values_at: Callable[[str], dict[str, Any]] = lambda checkpoint: {}  # noqa: E731
        if input_fn is not None:
            values_at = stack.enter_context(_checkpoint_values(model, input_fn, taps, values, metrics, steps, edits))
        advance = stack.enter_context(counted(_OVER, "checkpoints", len(paths)))
        for checkpoint in paths:
            of_weights = {f"weights/{name}": stats_of(variable_value(checkpoint, name)) for name in names}
            rows.append({**values_at(checkpoint), **of_weights})
            advance()
    return timeline_of(paths, [_step(checkpoint) for checkpoint in paths], rows)


@contextlib.contextmanager
def _checkpoint_values(
    model: ModelDefinition,
    input_fn: Callable[..., Any],
    taps: Any,
    values: Any,
    metrics: bool,
    steps: int | None,
    edits: Sequence[Edit],
) -> Iterator[Callable[[str], dict[str, Any]]]:
    """A function that runs the model with the weights of a checkpoint, and returns metrics and tapped values."""
    statistics, rows = OverData(), ToRows()
    watches = [] if taps is None else [Watch(over_data(taps), every=1, to=statistics, name=f"{_OVER}(taps=...)")]
    watches += [] if values is None else [Watch(*as_list(values), every=1, to=rows, name=f"{_OVER}(values=...)")]
    mode = ModeKeys.EVAL if metrics else ModeKeys.PREDICT
    changes = Changes(edits, mode, f"{_OVER}(edits=...)", EditVariables())
    run = RepeatedRun(model, mode, input_fn, steps, watches, None, changes, _OVER)

    def values_at(checkpoint: str) -> dict[str, Any]:
        statistics.start("", "")
        rows.begin()
        results = run.run(checkpoint, exact=True)
        metric_values = {f"metrics/{name}": value for name, value in results.items() if name != GLOBAL_STEP}
        row_values = {path: np.concatenate(values) for path, values in rows.values.items()}
        return {**metric_values, **statistics.result(), **row_values}

    try:
        yield values_at
    finally:
        run.close()


def compare(
    model: ModelDefinition,
    first: Any,
    second: Any,
    input_fn: Callable[..., Any],
    taps: Any,
    key: str | None,
    steps: int | None,
) -> Comparison:
    """Two checkpoints, run over the same data side by side."""
    prefixes = [_checkpoint_path(model, checkpoint) for checkpoint in (first, second)]
    same_input = [f"features/{key}" if key is not None and not key.startswith("features") else key or "features"]
    tapped = [one if not isinstance(one, str) or "/" in one else f"layers/{one}" for one in as_list(taps)]
    runs = [predict(model, input_fn, None, (), prefix, False, [*tapped, *same_input]) for prefix in prefixes]
    sums: dict[str, LayerSums] = {}
    decisions, count = Decisions(), 0
    with contextlib.ExitStack() as stack:
        for run in runs:
            stack.callback(run.close)  # type: ignore[attr-defined]
        advance = stack.enter_context(counted("compare", "batches", steps))
        for one, other in itertools.islice(itertools.zip_longest(*runs), steps):
            if one is None or other is None:
                raise _input_differs(f"one of them ended after {count:,} examples")
            inputs = {path: value for path, value in one.items() if path.partition("/")[0] == "features"}
            _check_same_input(inputs, other)
            for path in [path for path in one if path.startswith("layers/")]:
                sums.setdefault(path, LayerSums()).take(one[path], other[path])
            predictions = [
                {name: value for name, value in row.items() if name.partition("/")[0] not in ("layers", "features")}
                for row in (one, other)
            ]
            size = len(next(iter(predictions[0].values()), ()))
            keys = np.asarray(inputs[same_input[0]]).reshape(-1) if key is not None else np.arange(count, count + size)
            decisions.take(predictions[0], predictions[1], keys)
            count += size
            advance()
    return Comparison(
        os.path.basename(prefixes[0]),
        os.path.basename(prefixes[1]),
        tuple(_layers(model, prefixes, sums)),
        count,
        None if decisions.path is None else f"predictions/{decisions.path}",
        tuple(decisions.changed),
        decisions.mean_change,
    )


def _layers(model: ModelDefinition, prefixes: Sequence[str], sums: Mapping[str, LayerSums]) -> Iterator[LayerChange]:
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


def _description(model: ModelDefinition, prefix: str) -> Description:
    stored = read_description(model.model_dir)
    if stored is not None:
        return stored
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
            raise _input_differs(f"{path!r} differs")


def _input_differs(how: str) -> UsageError:
    return UsageError(
        f"compare: input_fn gave other examples the second time ({how}), so there is nothing to compare. Let it give "
        "the same in the same order: seed its shuffling, or leave that out."
    )


def _checkpoint_paths(model: ModelDefinition, checkpoints: Sequence[Any] | None) -> list[str]:
    """Paths of the checkpoints, ordered by step; an edited one follows its parent."""
    if checkpoints is not None:
        paths = [_checkpoint_path(model, checkpoint) for checkpoint in checkpoints]
    else:
        paths = [prefix for prefix in newest_first(model.model_dir) if exists(prefix)][::-1]
    if not paths:
        raise UsageError(f"{_OVER}: Couldn't find trained model at {model.model_dir}: it has no checkpoint.")
    # `model.ckpt-100` before `model.ckpt-edit1-100`, also if the edit was reverted and the former is newer.
    return sorted(dict.fromkeys(paths), key=lambda prefix: (_step(prefix), len(prefix), prefix))


def _checkpoint_path(model: ModelDefinition, checkpoint: Any) -> str:
    """A checkpoint by its path, its name, or its step."""
    if isinstance(checkpoint, int | np.integer) and not isinstance(checkpoint, bool):
        of_step = [prefix for prefix in newest_first(model.model_dir) if step_of(prefix) == checkpoint]
        checkpoint = of_step[0] if of_step else os.path.join(model.model_dir, f"model.ckpt-{checkpoint}")
    elif not os.path.dirname(os.fspath(checkpoint)):
        checkpoint = os.path.join(model.model_dir, os.fspath(checkpoint))
    return checked_path(checkpoint, "checkpoint")


def _step(prefix: str) -> int:
    step = step_of(prefix)
    return int(variable_value(prefix, GLOBAL_STEP)) if step is None else step


def _weight_names(prefix: str, patterns: Sequence[str]) -> list[str]:
    """The variables that paths and globs match in a checkpoint; unknown ones are refused as in `est.weights`."""
    names = split_names(open_checkpoint(prefix).get_variable_to_shape_map())
    known = {one.path: one for one in WEIGHTS.stored_values(OnDisk(Description(), *names))}
    variables: list[str] = []
    for path in patterns:
        full = path if path.startswith("weights/") else f"weights/{path}"
        matches = WEIGHTS.resolve(full, known)
        if not matches:
            WeightsView(lambda: prefix)[path]
        variables += [variable for match in matches for variable in match.variables]
    return list(dict.fromkeys(variables))
