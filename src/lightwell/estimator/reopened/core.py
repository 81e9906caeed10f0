"""`from_saved_model`: a SavedModel as an Estimator, which predicts, evaluates and goes on training."""

from __future__ import annotations

from typing import Any

from lightwell.estimator.core import Estimator
from lightwell.estimator.export.conversions.report import Conversion
from lightwell.estimator.export.reading import read_saved_model
from lightwell.estimator.export.receiver_fns import build_raw_serving_input_receiver_fn
from lightwell.estimator.reopened.model_fn import SavedModelFn
from lightwell.inside.watches.predictor import Predictor
from lightwell.run.checkpoints.index import newest_usable
from lightwell.run.config import RunConfig


def from_saved_model(
    saved_model_dir: Any, model_dir: Any = None, *, config: RunConfig | None = None, signature: str | None = None
) -> SavedModelEstimator:
    """Opens a SavedModel as an Estimator.

    It predicts with the SavedModel's serving graph. It evaluates and trains if the SavedModel has graphs for that, as
    `Estimator.experimental_export_all_saved_models` writes them.

    Args:
        saved_model_dir: the folder of a SavedModel: the one with `saved_model.pb` in it.
        model_dir: where further training keeps its checkpoints; a temporary directory if it is not set. If it has one,
            the weights are taken from there and not from the SavedModel.
        config: a `RunConfig`.
        signature: by which signature to predict; None for `serving_default`.

    Raises:
        UsageError: the folder holds no SavedModel.
    """
    return SavedModelEstimator(saved_model_dir, model_dir, config, signature)


class SavedModelEstimator(Estimator):
    """The Estimator of a SavedModel; see `from_saved_model`."""

    def __init__(
        self, saved_model_dir: Any, model_dir: Any = None, config: RunConfig | None = None, signature: str | None = None
    ) -> None:
        self._files = read_saved_model(saved_model_dir, "from_saved_model")
        self._saved_model_fn = SavedModelFn(self._files, signature)
        super().__init__(self._saved_model_fn, model_dir, config)
        self._lightwell_input_scope = self._files.free_scope("input_fn")

    def latest_checkpoint(self) -> str | None:
        """The newest checkpoint in `model_dir`; before there is one, that of the SavedModel."""
        return newest_usable(self._model_dir) or self._files.weights

    def predictor(self, inputs: Any = None, checkpoint_path: Any = None) -> Predictor:
        """As `Estimator.predictor`; without `inputs`, the structure is that of the SavedModel's signature."""
        return super().predictor(self._saved_model_fn.specs() if inputs is None else inputs, checkpoint_path)

    def export(self, to: str = "saved_model", path: Any = None, rows: Any = None, **given: Any) -> Conversion:
        """As `Estimator.export`; without a receiver function, the inputs are those of the SavedModel's signature."""
        receiver_fn = given.pop("serving_input_receiver_fn", None)
        if receiver_fn is None:
            receiver_fn = build_raw_serving_input_receiver_fn(self._saved_model_fn.specs())
        return super().export(to, path, rows, serving_input_receiver_fn=receiver_fn, **given)

    def _create_and_assert_global_step(self, graph: Any) -> None:
        """None: the graph of the SavedModel brings it."""

    def __repr__(self) -> str:
        return f"<Estimator of the SavedModel {self._files.directory}, model_dir={self._model_dir!r}>"
