"""The export verbs of `tf.estimator.Estimator`, until they are written: each says what to do instead."""

from __future__ import annotations

from typing import Any, NoReturn

from lightwell.errors import NotWritten
from lightwell.estimator.tracebacks import brief
from lightwell.inputs.call import check_input_fn

_INSTEAD = (
    "Export is not written yet: restore estimator.latest_checkpoint() into a graph of yours and save that with "
    "tf.compat.v1.saved_model, or predict in this process with estimator.predictor()."
)


class Exports:
    """The export verbs."""

    @brief
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
            UsageError: ops stand in the way; the text names each, with the line that made it.
        """
        from lightwell.estimator import verbs

        if callable(input_fn):
            check_input_fn(input_fn)
        return verbs.to_keras(self._model(), input_fn, checkpoint_path)

    def _model(self) -> Any:
        """All that a verb needs to know."""
        raise NotImplementedError

    def export_saved_model(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Any,
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        experimental_mode: str = "infer",
    ) -> NoReturn:
        """Writes a SavedModel for serving. Not written yet.

        Raises:
            NotWritten: always.
        """
        raise NotWritten(f"{type(self).__name__}.export_saved_model: {_INSTEAD}")

    def export_savedmodel(self, *args: Any, **kwargs: Any) -> NoReturn:
        """The old name of `export_saved_model`. Not written yet.

        Raises:
            NotWritten: always.
        """
        raise NotWritten(f"{type(self).__name__}.export_savedmodel: {_INSTEAD}")

    def experimental_export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: Any,
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
    ) -> NoReturn:
        """Writes a SavedModel with several modes. Not written yet.

        Raises:
            NotWritten: always.
        """
        raise NotWritten(f"{type(self).__name__}.experimental_export_all_saved_models: {_INSTEAD}")
