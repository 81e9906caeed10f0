"""`Exporter`: the base class of exporters, which `train_and_evaluate` calls after each evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Exporter:
    """Exports a model while it trains. Derive from it and bring `name` and `export`."""

    @property
    def name(self) -> str | None:
        """The folder of its exports, below `model_dir/export`. Exporters of one `EvalSpec` have different names."""
        return None

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: str | None,
        eval_result: Mapping[str, Any] | None,
        is_the_final_export: bool,
    ) -> Any:
        """Exports the model, or decides not to.

        Args:
            estimator: the `Estimator`.
            export_path: the folder for exports.
            checkpoint_path: the checkpoint that was evaluated.
            eval_result: what `Estimator.evaluate` returned for it.
            is_the_final_export: whether training is over.

        Returns:
            The path of the export, or None if there is none.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no `export`: write export(self, estimator, export_path, checkpoint_path, "
            "eval_result, is_the_final_export), which returns where the export is, or None."
        )
