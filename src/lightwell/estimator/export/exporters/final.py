"""`FinalExporter`: one export, when training is over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightwell.base.log import logger
from lightwell.estimator.export.exporters.saved_model import SavedModelExporter


class FinalExporter(SavedModelExporter):
    """Exports once, at the end of training.

    Args:
        name: the folder of its exports, below `model_dir/export`.
        serving_input_receiver_fn: returns a `ServingInputReceiver`: what a server feeds, and its features.
        assets_extra: files to export with the model: name in `assets.extra/` to the path of the file.
        as_text: whether to write the SavedModel as text.
    """

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: str | None,
        eval_result: Mapping[str, Any] | None,
        is_the_final_export: bool,
    ) -> Any:
        """Exports if training is over; see `Exporter.export`."""
        if not is_the_final_export:
            return None
        logger.info("Performing the final export in the end of training.")
        return super().export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)
