"""`model_to_estimator`: an Estimator made of a compiled Keras model."""

from __future__ import annotations

import errno
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.errors import ModelFileError, UsageError, WrongKind, WrongType
from lightwell.estimator.core import Estimator
from lightwell.estimator.from_keras.model_fn import KerasModel, KerasModelFn
from lightwell.foreign import private_keras
from lightwell.model.outputs import ExportOutput
from lightwell.run.config import RunConfig

_FORMATS = ("checkpoint", "saver")
_Arguments = ParamSpec("_Arguments")


def _as_keras_calls_it(
    convert: Callable[_Arguments, Estimator],
) -> Callable[_Arguments, Estimator]:
    """`tf.keras.estimator` of the package `tf_keras` passes a flag that chose between two classes of Estimators."""

    @functools.wraps(convert)
    def without_flag(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> Estimator:
        kwargs.pop("use_v2_estimator", None)
        return convert(*args, **kwargs)

    return without_flag


@_as_keras_calls_it
def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: Any = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: Any = None,
    config: RunConfig | None = None,
    checkpoint_format: str | None = "checkpoint",
    metric_names_map: Mapping[str, str] | None = None,
    export_outputs: Mapping[str, type[ExportOutput]] | None = None,
) -> Estimator:
    """Makes an Estimator of a compiled Keras model.

        est = lw.model_to_estimator(model, model_dir="runs/digits")
        est.train(input_fn, steps=2000)

    Training starts from the weights that the model has now; the model keeps them. Features are matched with the model's
    inputs by position or by name, labels with its outputs; `{"features": ..., "sample_weights": ...}` in the place of
    features weighs the rows. Predictions are keyed by the names of the output layers, metrics by the names that Keras
    reports; `loss` is the mean over batches.

    Args:
        keras_model: a compiled model of Keras 3 or `tf_keras`: functional, Sequential or subclassed.
        keras_model_path: a file that holds such a model, `.keras` or `.h5`, in the place of `keras_model`.
        custom_objects: classes and functions by name, for what the file or the optimizer's settings name.
        model_dir: where the Estimator lives.
        config: a `RunConfig`.
        checkpoint_format: `"checkpoint"` or `"saver"`; both are written alike, variables by name.
        metric_names_map: what Keras calls a metric -> what `evaluate` shall call it; all of them, or None.
        export_outputs: name of an output -> the `ExportOutput` class of a signature with it alone.

    Raises:
        UsageError: arguments that contradict each other; a model that is not compiled.
        WrongType: what is no Keras model.
        ModelFileError: a file that is not there.
    """
    _check_source(keras_model, keras_model_path)
    if checkpoint_format not in (*_FORMATS, None):
        raise UsageError(f'Checkpoint format must be one of "checkpoint" or "saver". Got {checkpoint_format!r}.')
    _check_maps(metric_names_map, export_outputs)
    if keras_model is None:
        logger.info("Loading models from %s", keras_model_path)
        keras_model = _loaded(keras_model_path, custom_objects)
    else:
        logger.info("Using the Keras model provided.")
    model = _described(keras_model, custom_objects or {})
    return Estimator(KerasModelFn(model, metric_names_map, export_outputs), model_dir, config)


def _check_source(model: Any, path: Any) -> None:
    if model is None and path is None:
        raise UsageError(
            "model_to_estimator: Either `keras_model` or `keras_model_path` needs to be provided, got neither. Pass a "
            "compiled Keras model, or the path of a .keras or .h5 file."
        )
    if model is not None and path is not None:
        raise UsageError(
            "model_to_estimator: Please specify either `keras_model` or `keras_model_path`, but not both; got a "
            f"{type(model).__name__} and {path!r}."
        )


def _check_maps(metric_names_map: Any, export_outputs: Any) -> None:
    for name, given in (("metric_names_map", metric_names_map), ("export_outputs", export_outputs)):
        if given is not None and not isinstance(given, Mapping):
            raise WrongType(f"model_to_estimator: {name} must be a dict, got {type(given).__name__} {given!r}.")
    for name, kind in (export_outputs or {}).items():
        if not (inspect.isclass(kind) and issubclass(kind, ExportOutput)):
            raise WrongType(
                f"model_to_estimator: export_outputs[{name!r}] must be a class of tf.estimator.export, like "
                f"PredictOutput (and not one of its objects), got {kind!r}."
            )


def _loaded(path: Any, custom_objects: Mapping[str, Any] | None) -> Any:
    if not tf.io.gfile.exists(path):
        raise ModelFileError(
            errno.ENOENT, f"model_to_estimator: No file or directory found at {path}. Check keras_model_path."
        )
    return tf.keras.models.load_model(path, custom_objects=dict(custom_objects or {}))


def _described(model: Any, custom_objects: Mapping[str, Any]) -> KerasModel:
    """What the model function needs of the model, whichever Keras it is of."""
    keras, legacy = private_keras.keras3(), private_keras.legacy_keras()
    is_legacy = legacy is not None and isinstance(model, legacy.Model)
    if not is_legacy and not (keras is not None and isinstance(model, keras.Model)):
        raise WrongKind(
            f"model_to_estimator: keras_model must be a Keras model, got {type(model).__name__} {model!r}. Put layers "
            "into a keras.Sequential, or call them in a model_fn."
        )
    if not private_keras.is_compiled(model):
        raise UsageError(
            f"model_to_estimator: {model.name!r}: The given keras model has not been compiled yet. It must be "
            "compiled, as the Estimator takes loss, optimizer and metrics from it. Please compile the model with "
            "`model.compile()` before calling `model_to_estimator()`."
        )
    if is_legacy:
        from lightwell.estimator.from_keras.legacy_model import LegacyModel

        return LegacyModel(model, custom_objects)
    from lightwell.estimator.from_keras.keras3_model import Keras3Model

    return Keras3Model(model, custom_objects)
