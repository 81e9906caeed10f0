"""Lightwell: the Estimator, alive on today's TensorFlow, with daylight in the middle.

    import lightwell as lw

    est = lw.Estimator(model_fn, model_dir="runs/mnist")
    est.train(input_fn, steps=2000)
    est.evaluate(input_fn)

Importing this package changes nothing outside it and loads TensorFlow only when a name that needs it is used.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from lightwell._lazy import lazy_names
from lightwell._names import ROWS

if TYPE_CHECKING:  # what editors and type checkers see of the names that are looked up on first use
    from lightwell.checkpoints.warm_start import WarmStartSettings as WarmStartSettings
    from lightwell.config import RunConfig as RunConfig
    from lightwell.estimator.core import Estimator as Estimator
    from lightwell.keys import ModeKeys as ModeKeys
    from lightwell.spec import EstimatorSpec as EstimatorSpec
    from lightwell.workflow.specs import EvalSpec as EvalSpec
    from lightwell.workflow.specs import TrainSpec as TrainSpec
    from lightwell.workflow.train_and_evaluate import train_and_evaluate as train_and_evaluate

__version__ = "0.1.0"

if importlib.util.find_spec("tensorflow") is None:
    raise ImportError(
        "Lightwell needs TensorFlow 2.16 or newer, and none is installed. Install one build of it:\n"
        '  pip install "lightwell[cpu]"         CPU only\n'
        '  pip install "lightwell[tensorflow]"  the standard build\n'
        '  pip install "lightwell[cuda]"        with NVIDIA libraries'
    )

_OWN_NAMES = {
    "EarlyStopping": "lightwell.workflow.early_stopping:EarlyStopping",
    "KeepBest": "lightwell.workflow.keep_best:KeepBest",
    "ScheduledHook": "lightwell.hooks.base:ScheduledHook",
    "Watch": "lightwell.sight.watch:Watch",
    "add": "lightwell.edits.kinds:add",
    "apply": "lightwell.edits.kinds:apply",
    "clip": "lightwell.edits.kinds:clip",
    "compat": "lightwell.compat",
    "errors": "lightwell.errors",
    "estimator": "lightwell.estimator",
    "export": "lightwell.export",
    "feature_columns": "lightwell.feature_columns",
    "forward_features": "lightwell.canned.forward_features:forward_features",
    "from_saved_model": "lightwell.reopened.core:from_saved_model",
    "histogram": "lightwell.sight.reductions:histogram",
    "install": "lightwell.compat.install:install",
    "keras_objects": "lightwell.export.keras_model.own_layers:KERAS_OBJECTS",
    "layers": "lightwell.layers",
    "minimize": "lightwell.optimizers:minimize",
    "model_to_estimator": "lightwell.from_keras.convert:model_to_estimator",
    "noise": "lightwell.edits.kinds:noise",
    "open_capture": "lightwell.captures.store:open_capture",
    "rates": "lightwell.sight.holding:rates",
    "replace": "lightwell.edits.kinds:replace",
    "rnn_cell": "lightwell.rnn_cell",
    "scale": "lightwell.edits.kinds:scale",
    "stats": "lightwell.sight.reductions:stats",
    "stop_when": "lightwell.sight.watch:stop_when",
    "tf1": "lightwell.tf1",
    "uninstall": "lightwell.compat.install:uninstall",
    "zero": "lightwell.edits.kinds:zero",
}
_ESTIMATOR_NAMES = {row.name: row for row in ROWS[""] if "v2" in row.faces}

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {**{name: row.target for name, row in _ESTIMATOR_NAMES.items() if not row.absent}, **_OWN_NAMES},
    absent={name: row.absent for name, row in _ESTIMATOR_NAMES.items() if row.absent},
)
