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

from lightwell.base.lazy import alias, lazy_names
from lightwell.base.public_names import PAGES, ROWS

if TYPE_CHECKING:  # what editors and type checkers see of the names that are looked up on first use
    from lightwell.base.keys import ModeKeys as ModeKeys
    from lightwell.estimator.core import Estimator as Estimator
    from lightwell.estimator.workflow.specs import EvalSpec as EvalSpec
    from lightwell.estimator.workflow.specs import TrainSpec as TrainSpec
    from lightwell.estimator.workflow.train_and_evaluate import train_and_evaluate as train_and_evaluate
    from lightwell.model.spec import EstimatorSpec as EstimatorSpec
    from lightwell.run.checkpoints.warm_start import WarmStartSettings as WarmStartSettings
    from lightwell.run.config import RunConfig as RunConfig

__version__ = "0.1.0"

if importlib.util.find_spec("tensorflow") is None:
    raise ImportError(
        "Lightwell needs TensorFlow 2.16 or newer, and none is installed. Install one build of it:\n"
        '  pip install "lightwell[cpu]"         CPU only\n'
        '  pip install "lightwell[tensorflow]"  the standard build\n'
        '  pip install "lightwell[cuda]"        with NVIDIA libraries'
    )

_OWN_NAMES = {
    "EarlyStopping": "lightwell.estimator.workflow.early_stopping:EarlyStopping",
    "KeepBest": "lightwell.estimator.workflow.keep_best:KeepBest",
    "ScheduledHook": "lightwell.run.hooks.base:ScheduledHook",
    "Watch": "lightwell.inside.watches.watch:Watch",
    "add": "lightwell.inside.edits.kinds:add",
    "apply": "lightwell.inside.edits.kinds:apply",
    "clip": "lightwell.inside.edits.kinds:clip",
    "compat": "lightwell.compat",
    "errors": "lightwell.errors",
    "estimator": "lightwell.estimator",
    "export": "lightwell.estimator.export",
    "feature_columns": "lightwell.model.feature_columns",
    "forward_features": "lightwell.estimator.canned.forward_features:forward_features",
    "from_saved_model": "lightwell.estimator.reopened.core:from_saved_model",
    "histogram": "lightwell.inside.paths.reductions:histogram",
    "install": "lightwell.compat.install:install",
    "keras_objects": "lightwell.estimator.export.keras_model.custom_layers:KERAS_OBJECTS",
    "layers": "lightwell.model.layers",
    "minimize": "lightwell.model.optimizers:minimize",
    "model_to_estimator": "lightwell.estimator.from_keras.convert:model_to_estimator",
    "noise": "lightwell.inside.edits.kinds:noise",
    "open_capture": "lightwell.inside.captures.store:open_capture",
    "rates": "lightwell.inside.weights.freezing:rates",
    "replace": "lightwell.inside.edits.kinds:replace",
    "rnn_cell": "lightwell.model.rnn_cell",
    "scale": "lightwell.inside.edits.kinds:scale",
    "stats": "lightwell.inside.paths.reductions:stats",
    "stop_when": "lightwell.inside.watches.watch:stop_when",
    "tf1": "lightwell.compat.tf1",
    "uninstall": "lightwell.compat.install:uninstall",
    "zero": "lightwell.inside.edits.kinds:zero",
}
_ESTIMATOR_NAMES = {row.name: row for row in ROWS[""] if "v2" in row.faces}

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {**{name: row.target for name, row in _ESTIMATOR_NAMES.items() if not row.absent}, **_OWN_NAMES},
    absent={name: row.absent for name, row in _ESTIMATOR_NAMES.items() if row.absent},
)
alias(f"{__name__}.export", PAGES[f"{__name__}.export"])  # a page without a file of its own
