"""What a canned model does from a given checkpoint on: the same code for both sides, plain values out."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.estimator.canned.cases import Case

v1 = tf.compat.v1
START, STEPS = 2, 20


def made(api: Any, case: Case, model_dir: Path) -> Any:
    """The model of a case; every step is shown."""
    config = api.RunConfig(model_dir=str(model_dir), save_summary_steps=1, tf_random_seed=3, keep_checkpoint_max=1)
    return case.make(api, config=config)


def first_steps(api: Any, case: Case, model_dir: Path) -> dict[str, Any]:
    """Two steps from a random start; gives all variables."""
    est = made(api, case, model_dir)
    est.train(case.data(case), steps=START)
    return {name: est.get_variable_value(name) for name in est.get_variable_names()}


def next_steps(api: Any, case: Case, model_dir: Path) -> dict[str, Any]:
    """Twenty steps more, an evaluation, predictions and an export."""
    est = made(api, case, model_dir)
    est.train(case.data(case), steps=STEPS)
    losses, tags = shown(model_dir)
    metrics = est.evaluate(case.data(case), steps=4)
    rows = [row for row, _ in zip(est.predict(case.data(case)), range(8), strict=False)]
    folder = est.export_saved_model(str(model_dir / "export"), case.receiver(api))
    return {
        "losses": losses,
        "tags": tags,
        "metrics": {name: float(value) for name, value in metrics.items()},
        "predictions": {key: [_plain(row[key]) for row in rows] for key in sorted(rows[0])},
        "variables": est.get_variable_names(),
        "signatures": _signatures(folder.decode()),
    }


def write_checkpoint(model_dir: Path, variables: dict[str, Any]) -> None:
    """A model_dir with one checkpoint."""
    model_dir.mkdir(parents=True)
    prefix = str(model_dir / "model.ckpt-2")
    names = sorted(variables)
    tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[tf.constant(variables[name]) for name in names],
    )
    (model_dir / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-2"\n')


def losses_of(model_dir: Path) -> list[float]:
    """The losses after the first steps, as summaries show them."""
    return shown(model_dir)[0]


def shown(model_dir: Path) -> tuple[list[float], list[str]]:
    losses, tags = {}, set()
    for path in glob.glob(f"{model_dir}/events*"):
        for event in v1.train.summary_iterator(path):
            for value in event.summary.value:
                tags.add(value.tag)
                if value.tag == "loss" and event.step > START:
                    losses[event.step] = _number(value)
    return [losses[step] for step in sorted(losses)], sorted(tags - {"global_step/sec"})


def _number(value: Any) -> float:
    return float(tf.make_ndarray(value.tensor)) if value.HasField("tensor") else float(value.simple_value)


def _signatures(folder: str) -> dict[str, Any]:
    with tf.Graph().as_default(), v1.Session() as session:
        signatures = v1.saved_model.load(session, ["serve"], folder).signature_def
    return {
        name: [one.method_name, _named(one.inputs), _named(one.outputs)] for name, one in sorted(signatures.items())
    }


def _named(infos: Any) -> list[Any]:
    return [[key, tf.as_dtype(info.dtype).name, _shape(info.tensor_shape)] for key, info in sorted(infos.items())]


def _shape(shape: Any) -> list[int] | str:
    return "unknown" if shape.unknown_rank else [one.size for one in shape.dim]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.decode() if isinstance(value, bytes) else value
