"""`LatestExporter`: an export after each evaluation; old ones are deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lightwell.estimator.export.exporters.saved_model import SavedModelExporter
from lightwell.estimator.export.exporters.versions import check_exports_to_keep, delete_all_but_newest


class LatestExporter(SavedModelExporter):
    """Exports after each evaluation.

    Args:
        name: the folder of its exports, below `model_dir/export`.
        serving_input_receiver_fn: returns a `ServingInputReceiver`: what a server feeds, and its features.
        assets_extra: files to export with the model: name in `assets.extra/` to the path of the file.
        as_text: whether to write the SavedModel as text.
        exports_to_keep: how many of the newest exports to keep; None for all. Other folders are not touched.

    Raises:
        UsageError: `exports_to_keep` is not positive.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        check_exports_to_keep("LatestExporter", exports_to_keep)
        self._exports_to_keep = exports_to_keep

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: str | None,
        eval_result: Mapping[str, Any] | None,
        is_the_final_export: bool,
    ) -> Any:
        """Exports, and deletes exports that are too old; see `Exporter.export`."""
        path = super().export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)
        delete_all_but_newest(export_path, self._exports_to_keep)
        return path
