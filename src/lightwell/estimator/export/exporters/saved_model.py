"""The base class of our exporters: exports a checkpoint through the public `estimator.export_saved_model`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.estimator.export.exporters.base import Exporter


class SavedModelExporter(Exporter):
    """Exports at each call.

    Args:
        name: the folder of its exports, below `model_dir/export`.
        serving_input_receiver_fn: returns a `ServingInputReceiver`: what a server feeds, and its features.
        assets_extra: files to export with the model: name in `assets.extra/` to the path of the file.
        as_text: whether to write the SavedModel as text.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
    ) -> None:
        self._name = name
        self._serving_input_receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text

    @property
    def name(self) -> str:
        """The folder of its exports, below `model_dir/export`."""
        return self._name

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: str | None,
        eval_result: Mapping[str, Any] | None,
        is_the_final_export: bool,
    ) -> Any:
        """Exports the checkpoint; see `Exporter.export`."""
        tf.io.gfile.makedirs(export_path)
        return estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )
