"""The export verbs of `tf.estimator.Estimator`, until they are written: each says what to do instead."""

from __future__ import annotations

from typing import Any, NoReturn

from lightwell.errors import NotWritten

_INSTEAD = (
    "Export is not written yet: restore estimator.latest_checkpoint() into a graph of yours and save that with "
    "tf.compat.v1.saved_model, or predict in this process with estimator.predictor()."
)


class Exports:
    """The export verbs."""

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
