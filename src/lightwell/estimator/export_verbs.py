"""The export verbs of `Estimator`: a trained model becomes a SavedModel, which servers and other programs load."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from lightwell.base.keys import ModeKeys
from lightwell.base.log import logger
from lightwell.errors import UsageError, WrongKind, WrongType
from lightwell.estimator.tracebacks import with_short_traceback
from lightwell.run.inputs.call import check_input_fn

if TYPE_CHECKING:
    from lightwell.estimator.core import Estimator
    from lightwell.estimator.export.conversions.report import Conversion
    from lightwell.estimator.verbs import ModelDefinition


class ExportVerbs:
    """The export verbs."""

    @with_short_traceback
    def to_keras(self, input_fn: Any = None, checkpoint_path: Any = None) -> Any:
        """A Keras 3 model with this Estimator's weights, whose outputs are those of `predict`.

        Layers (`lightwell.layers`, `tf.compat.v1.layers`, Keras layers) become Keras layers with their names and
        weights, the ops between them operations of Keras. It can be called, saved, and trained on with `fit`. With an
        `input_fn`, its outputs are compared with those of `predict` on the first batch, and the largest difference is
        logged.

        Args:
            input_fn: gives the data; its features become the inputs, by name. Or a dict of `tf.TensorSpec`. None: as
                the last training saw them.
            checkpoint_path: a checkpoint to use instead of the newest.

        Returns:
            A `keras.Model`: a dict of features (or one tensor) to a dict of predictions (or one tensor).

        Raises:
            UsageError: ops cannot be converted; the text names each, with the line that created it.
        """
        from lightwell.estimator.keras_export import to_keras

        if callable(input_fn):
            check_input_fn(input_fn)
        return to_keras(self._lightwell_model(), input_fn, checkpoint_path)

    @with_short_traceback
    def export_saved_model(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        experimental_mode: str = ModeKeys.PREDICT,
        taps: Sequence[Any] | str | None = None,
    ) -> bytes:
        """Writes the model as a SavedModel: its graph, with a signature for each of the spec's `export_outputs`, and
        the weights of the newest checkpoint.

        The folder appears when it is complete. While it is written its name is no number, so that a server that watches
        the directory never loads half a model; what a killed export left is removed by the next.

        Args:
            export_dir_base: where exports of this model go. Each gets a folder of its own there, named by the time in
                seconds; later ones have larger numbers.
            serving_input_receiver_fn: a function without arguments that returns a `ServingInputReceiver`: what is fed,
                and its features. None: the features themselves are fed, by name, in the types and shapes
                that the last training saw, with any number of rows.
            assets_extra: files to copy into the folder `assets.extra`: path there to file. Files that tables of the
                model are filled from are taken along by themselves, into `assets`.
            as_text: write the graph as text, to be read by people.
            checkpoint_path: a checkpoint to use instead of the newest.
            experimental_mode: a `ModeKeys` value: for which mode to build the model. Training and evaluation take a
                function that returns a `SupervisedInputReceiver`.
            taps: paths, such as `"layers/dense"`, that one more signature, `"taps"`, returns beside the predictions,
                each under its path.

        Returns:
            The path of the new folder, as bytes.

        Raises:
            UsageError: there is no trained model, or a function, or what it returned, cannot be used.
            ModelDirError: `export_dir_base` cannot be written.
            PathError: a tap names nothing in this model.
        """
        return self._lightwell_export(
            "export_saved_model",
            export_dir_base,
            {experimental_mode: serving_input_receiver_fn},
            checkpoint_path,
            assets_extra=assets_extra,
            as_text=as_text,
            taps=taps,
        )

    @with_short_traceback
    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """The old name of `export_saved_model`, which see.

        Args:
            export_dir_base: where exports of this model go.
            serving_input_receiver_fn: returns a `ServingInputReceiver`.
            assets_extra: files to copy into the folder `assets.extra`: path there to file.
            as_text: write the graph as text.
            checkpoint_path: a checkpoint to use instead of the newest.
            strip_default_attrs: leave attributes out that have their default value, so that an older TensorFlow, which
                may not know them, can read the graph. `export_saved_model` does.
        """
        logger.warning("This function has been renamed, use `export_saved_model` instead.")
        return self._lightwell_export(
            "export_savedmodel",
            export_dir_base,
            {ModeKeys.PREDICT: serving_input_receiver_fn},
            checkpoint_path,
            assets_extra=assets_extra,
            as_text=as_text,
            strip_default_attrs=strip_default_attrs,
        )

    @with_short_traceback
    def experimental_export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: Mapping[str, Callable[[], Any] | None],
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
    ) -> bytes:
        """Writes one SavedModel with the graphs of several modes, so that it can be trained and evaluated elsewhere.

        Each mode's graph has a tag (`train`, `eval`, `serve`); the weights are shared, and those of the optimizer are
        among them where training is. See `export_saved_model`.

        Args:
            export_dir_base: where exports of this model go.
            input_receiver_fn_map: `ModeKeys` value to receiver function: for `PREDICT` one that returns a
                `ServingInputReceiver`, for `TRAIN` and `EVAL` a `SupervisedInputReceiver`. A mode left out, or None, is
                not exported.
            assets_extra: files to copy into the folder `assets.extra`: path there to file.
            as_text: write the graphs as text.
            checkpoint_path: a checkpoint to use instead of the newest.

        Returns:
            The path of the new folder, as bytes.
        """
        verb = "experimental_export_all_saved_models"
        if not isinstance(input_receiver_fn_map, Mapping):
            raise WrongKind(
                f"{verb}: input_receiver_fn_map must be a dict of receiver function by mode, got "
                f"{type(input_receiver_fn_map).__name__} {input_receiver_fn_map!r}."
            )
        receiver_fns = {mode: fn for mode, fn in input_receiver_fn_map.items() if fn is not None}
        return self._lightwell_export(
            verb, export_dir_base, receiver_fns, checkpoint_path, assets_extra=assets_extra, as_text=as_text
        )

    @with_short_traceback
    def export(
        self,
        to: str = "saved_model",
        path: Any = None,
        rows: Any = None,
        *,
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        checkpoint_path: Any = None,
        signature: str | None = None,
        select_tf_ops: bool = False,
    ) -> Conversion:
        """Exports the model in one call, and checks the result: both are called on the same rows and compared.

        Args:
            to: `"saved_model"`, `"tflite"`, or `"onnx"`, which needs `pip install "lightwell[onnx]"`.
            path: the file to write, for `"saved_model"` the directory of exports; by default in `model_dir/export`.
            rows: what to compare on: arrays by feature, or an `input_fn`, of which the first rows are taken. None:
                made-up rows, which the result says.
            serving_input_receiver_fn: a function that returns a `ServingInputReceiver`. None: the features themselves
                are fed, as the last training saw them.
            checkpoint_path: a checkpoint to use instead of the newest.
            signature: which signature to convert; None for `serving_default`.
            select_tf_ops: for `"tflite"`: whether ops that TFLite does not have may stay TensorFlow's, for runtimes
                that link them in.

        Returns:
            A `Conversion`: `.path`, `.largest_difference`, `.is_close`, and it prints as a report.

        Raises:
            UsageError: the model cannot be converted; the text names the ops that stand in the way.
        """
        from lightwell.estimator import export_run

        return export_run.export(
            cast("Estimator", self),
            to,
            path,
            export_run.check_on(cast("Estimator", self), rows),
            serving_input_receiver_fn,
            checkpoint_path=checkpoint_path,
            signature=signature,
            select_tf_ops=select_tf_ops,
        )

    def _lightwell_export(
        self, verb: str, base: Any, receiver_fns: Mapping[str, Any], checkpoint_path: Any, **options: Any
    ) -> bytes:
        from lightwell.estimator import verbs

        for mode, receiver_fn in receiver_fns.items():
            if receiver_fn is not None and not callable(receiver_fn):
                raise WrongType(
                    f"{verb}: the receiver of mode {mode!r} must be a function that returns it, got "
                    f"{type(receiver_fn).__name__} {receiver_fn!r}. Wrap it: lambda: ..., so that it is made in the "
                    "graph of the export."
                )
            if receiver_fn is None and mode != ModeKeys.PREDICT:
                raise UsageError(
                    f"{verb}: An input_receiver_fn must be defined for mode {mode!r}. Only for serving it can be told "
                    "from the last training; build_raw_supervised_input_receiver_fn makes one."
                )
        folder = verbs.export(self._lightwell_model(), os.fspath(base), receiver_fns, checkpoint_path, verb, options)
        return os.fsencode(folder)

    def _lightwell_model(self) -> ModelDefinition:
        """The functions and settings for a verb."""
        raise NotImplementedError
