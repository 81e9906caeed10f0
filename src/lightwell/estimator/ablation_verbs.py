"""`Estimator.ablate`: the metrics of a model without each part of a layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lightwell.estimator.arguments import check_place, checked_steps
from lightwell.estimator.tracebacks import with_short_traceback
from lightwell.run.inputs.call import check_input_fn

if TYPE_CHECKING:
    from lightwell.estimator.verbs import ModelDefinition
    from lightwell.inside.edits.ablation import Ablation


class AblationVerbs:
    """The verb `ablate`."""

    @with_short_traceback
    def ablate(
        self,
        input_fn: Callable[..., Any],
        path: Any,
        per: str = "channel",
        metrics: Sequence[str] | str | None = None,
        *,
        units: Sequence[Any] | None = None,
        steps: int | None = None,
        checkpoint_path: Any = None,
    ) -> Ablation:
        """What a model's metrics are without each channel, or unit, of a layer: one evaluation for each, zeroed.

        The model is built once; the metrics are those of `evaluate(input_fn, edits=[lw.zero(path, channel=...)])`.

        Args:
            input_fn: gives the evaluation data; see `train`.
            path: one value: `"layers/conv2d"`.
            per: `"channel"`, an index of the last dimension, or `"unit"`, one number of an example's value.
            metrics: which metrics to keep; None for all that are numbers.
            units: which channels or units to zero; None for all.
            steps: how many batches to look at in each evaluation; None for all.
            checkpoint_path: a checkpoint to use instead of the newest.

        Returns:
            An `Ablation`: it prints as a table, renders in a notebook, has `.worst(k)`, `.plot()`, `.to_pandas()`.
        """
        from lightwell.estimator import ablation_run

        batches = checked_steps("ablate", steps)
        check_input_fn(input_fn)
        model = self._lightwell_model()
        check_place("evaluate", model.config.eval_distribute, model.config)
        return ablation_run.ablate(model, input_fn, path, per, metrics, units, batches, checkpoint_path)

    def _lightwell_model(self) -> ModelDefinition:
        raise NotImplementedError
