"""`tf.contrib.estimator`: what became neither `tf.estimator` nor an argument of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError

_v1 = tf.compat.v1


class _Delegating(tf.compat.v1.train.Optimizer):
    """An optimizer around another, whose slots are the other's."""

    def __init__(self, optimizer: Any, name: str) -> None:
        super().__init__(use_locking=False, name=name)
        self._optimizer = optimizer

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Those of the optimizer inside."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        """A step of the optimizer inside."""
        return self._optimizer.apply_gradients(grads_and_vars, *args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """That of the optimizer inside."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Those of the optimizer inside."""
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        """Those of the optimizer inside."""
        return self._optimizer.variables()


class _Clipping(_Delegating):
    def __init__(self, optimizer: Any, clip_norm: float) -> None:
        super().__init__(optimizer, "TransformGradients")
        self._clip_norm = clip_norm

    def apply_gradients(self, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        """A step with gradients that are together no longer than the bound."""
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = tf.clip_by_global_norm(gradients, self._clip_norm)
        return super().apply_gradients(list(zip(clipped, variables, strict=True)), *args, **kwargs)


class TowerOptimizer(_Delegating):
    """The optimizer itself: with `replicate_model_fn` there is one tower, and nothing to bring together.

    Args:
        optimizer_or_optimizer_fn: an optimizer, or a function that makes one.
    """

    COLLECTION_FOR_GRAPH_STATES = "replicate_model_fn_graph_states"

    def __init__(self, optimizer_or_optimizer_fn: Any) -> None:
        made = optimizer_or_optimizer_fn() if callable(optimizer_or_optimizer_fn) else optimizer_or_optimizer_fn
        super().__init__(made, "TowerOptimizer")

    @staticmethod
    def has_been_used() -> bool:
        """True: there is one tower."""
        return True


def clip_gradients_by_norm(optimizer: Any, clip_norm: float) -> Any:
    """An optimizer whose gradients are together no longer than `clip_norm`."""
    return _Clipping(optimizer, clip_norm)


def replicate_model_fn(
    model_fn: Callable[..., Any], loss_reduction: Any = None, devices: Any = None
) -> Callable[..., Any]:
    """The same `model_fn`: one tower, on the device that TensorFlow chooses.

    Raises:
        UsageError: `devices` names more than one device.
    """
    if devices is not None and len(devices) > 1:
        raise UsageError(
            f"replicate_model_fn: several devices ({', '.join(map(str, devices))}) need a strategy: pass "
            "RunConfig(train_distribute=tf.distribute.MirroredStrategy(devices)) and model_fn as it is."
        )
    return model_fn


def export_all_saved_models(
    estimator: Any,
    export_dir_base: Any,
    input_receiver_fn_map: Any,
    assets_extra: Any = None,
    as_text: bool = False,
    checkpoint_path: Any = None,
) -> Any:
    """`estimator.experimental_export_all_saved_models`."""
    return estimator.experimental_export_all_saved_models(
        export_dir_base,
        input_receiver_fn_map,
        assets_extra=assets_extra,
        as_text=as_text,
        checkpoint_path=checkpoint_path,
    )


def export_saved_model_for_mode(
    estimator: Any,
    export_dir_base: Any,
    input_receiver_fn: Any,
    assets_extra: Any = None,
    as_text: bool = False,
    checkpoint_path: Any = None,
    mode: str = "infer",
) -> Any:
    """`estimator.export_saved_model(..., experimental_mode=mode)`."""
    return estimator.export_saved_model(
        export_dir_base,
        input_receiver_fn,
        assets_extra=assets_extra,
        as_text=as_text,
        checkpoint_path=checkpoint_path,
        experimental_mode=mode,
    )
