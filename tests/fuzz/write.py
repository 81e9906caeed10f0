"""The source of a program, of its description: what runs in every way, and what a failure is handed over as."""

from __future__ import annotations

from tests.fuzz import runtime
from tests.fuzz.hooks import Listening
from tests.fuzz.parts import Part, source_of
from tests.fuzz.spec import Spec

HEAD = '''"""{what}"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

try:
    import lightwell

    lightwell.install()
except ImportError:  # tf.estimator of TensorFlow 2.15
    pass
import tensorflow as tf

v1 = tf.compat.v1
'''

MODEL = """
def model_fn(features, labels, mode, params):
    lab = LAB
    at = At(lab, features, labels, mode, params)
    h = at.features["x"] * lab.closure["factor"]
{blocks}
    h = tf.identity(h, name="seen_h")
    h = v1.layers.dense(h, 1, kernel_initializer=at.init(11), name="out")
    loss = {loss}
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, at.predictions, prediction_hooks={predict_hooks})
    for more in at.losses:
        loss += more
    loss = tf.identity(loss, name="seen_loss")
    if mode == "eval":
{metrics}
        return tf.estimator.EstimatorSpec(
            mode, at.predictions, loss, eval_metric_ops=at.metrics, evaluation_hooks={evaluate_hooks})
    optimizer = {optimizer}
    with tf.control_dependencies([*v1.get_collection(v1.GraphKeys.UPDATE_OPS), *at.before_step]):
        train_op = {step}
    for make in at.after_step:
        with tf.control_dependencies([train_op]):
            train_op = make()
    return tf.estimator.EstimatorSpec(mode, at.predictions, loss, train_op, training_hooks={train_hooks},
        scaffold=at.own())
"""

CANNED = """
def estimator(lab, model_dir, **settings):
    config = lab.config(**{config})
    return {canned}
"""

OWN = """
def estimator(lab, model_dir, **settings):
    config = lab.config(**{config})
    return tf.estimator.Estimator(model_fn, model_dir, config, {{"rate": 1.0}}, **settings)
"""

REST = """
DATA = {data}


def _input(lab, repeat):
    ds = {source}
{stages}
    if repeat != 1:
        ds = ds.repeat(repeat)
    ds = {batches}
    return {handed}


def begin(lab, is_first):
    global LAB, train_input, eval_input, predict_input
    LAB = lab
    train_input, eval_input, predict_input = [lambda r=r: _input(lab, r) for r in ({repeat}, 1, 1)]
    if is_first:
        lay_out(lab)


def serving():
    features, _ = arrays(**DATA)
    given = {{n: v1.placeholder(tf.as_dtype(tf.string if v.dtype.kind == "S" else v.dtype), [None, *v.shape[1:]], n)
             for n, v in features.items()}}
    return tf.estimator.export.ServingInputReceiver({served}, given)


def serving_rows():
    return {{name: values[:3] for name, values in arrays(**DATA)[0].items()}}


def calls(lab):
    return [
{calls}
    ]


SETTLED = {settled}  # hooks of every training
CANNED = {is_canned}
KEPT = {kept}  # calls that change Python objects, which a later process must do as well
"""

_OF_PYTHON = ("change_closure", "warm_start_elsewhere", "another_estimator")


def _listed(hooks: tuple[Part, ...]) -> str:
    return "[" + ", ".join(hook.call("lab") for hook in hooks) + "]"


def _indented(lines: list[str], by: int) -> str:
    return "\n".join(" " * by + line for line in lines)


def written(spec: Spec, what: str = "") -> str:
    """The program, as a module that a `Lab` runs."""
    needed: list[object] = [runtime.At, runtime.arrays, runtime.write, runtime.lay_out, Listening]
    for one in spec.parts():
        for made in (*one.what.uses, one.what.function):
            if made not in needed:
                needed.append(made)
    sources = "\n\n".join(source_of(made) for made in needed)
    model = (
        ""
        if spec.canned
        else MODEL.format(
            blocks=_indented([f"h = {block.call('at', 'h')}" for block in spec.blocks], 4),
            loss=spec.loss.call("at", "h"),
            metrics=_indented([metric.call("at") for metric in spec.metrics] or ["pass"], 8),
            optimizer=spec.optimizer.call(spec.rate.call()),
            step=spec.step.call("at", "loss", "optimizer"),
            **{f"{mode}_hooks": _listed(spec.hooks.get(mode, ())) for mode in ("train", "evaluate", "predict")},
        )
    )
    rest = REST.format(
        data=spec.data,
        source=spec.source.call("lab", "DATA"),
        stages=_indented([f"ds = {stage.call('lab', 'ds')}" for stage in spec.stages], 4),
        batches=spec.batches.call("lab", "ds"),
        handed=spec.handed.call("lab", "ds", "DATA"),
        settled="[Settled()]" if "settled" in spec.tags() else "[]",
        is_canned=bool(spec.canned),
        repeat=spec.repeat,
        served='given["x"]' if "bare" in spec.tags() else "given",
        calls=_indented([f"lambda: {_call(call)}," for call in spec.calls], 8),
        kept=[call.what.kind in _OF_PYTHON for call in spec.calls],
    )
    if spec.canned:
        made = spec.canned[0].call("lab", "DATA", "model_dir=model_dir", "config=config")[:-1] + ", **settings)"
        model = CANNED.format(config=spec.config, canned=made)
    else:
        model += OWN.format(config=spec.config)
    return HEAD.format(what=what or f"Seed {spec.seed}.") + "\n\n" + sources + "\n" + model + "\n" + rest


def _call(call: object) -> str:
    what, hooks = call.what, call.hooks  # type: ignore[attr-defined]
    return what.call("lab", _listed(hooks)) if "hooks" in what.what.tags else what.call("lab")
