"""Private doors of TensorFlow's distribution strategies; the rules are those of `private_tf.py`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from lightwell.foreign.private_tf import release
from lightwell.foreign.probes import missing_attributes, warn_once


def mean_over_replicas(strategy: Any) -> contextlib.AbstractContextManager[Any]:
    """Inside the block, `tf.compat.v1` optimizers step by the mean of the gradients of all replicas, not by their sum.

    `tf.estimator` did so; strategies have a private switch for it.

    Raises:
        NotImplementedError: this TensorFlow lacks the switch, and results would differ.
    """
    scale_loss = getattr(strategy, "_scale_loss_for_estimator_enabled", None)
    if scale_loss is None:
        raise NotImplementedError(
            f"{release()} has no switch that makes tf.compat.v1 optimizers step by the mean over replicas; a "
            "distribution strategy cannot be used with it. Leave train_distribute out."
        )
    return scale_loss()


def note_loss_reduction(reduction: str) -> None:
    """Tells `tf.compat.v1` optimizers whether the loss in the default graph is a mean or a sum: replicas combine their
    gradients in the same way.

    `tf.compat.v1.losses` sets it; there is no public way to set it for other losses.
    """
    import tensorflow as tf

    graph = tf.compat.v1.get_default_graph()
    missing = missing_attributes(graph, ["_last_loss_reduction"])
    if missing:
        warn_once(release(), tuple(missing), "Replicas take the mean of gradients also where the loss is a sum.")
        return
    graph._last_loss_reduction = reduction


def reduction_of(strategy: Any) -> tuple[Any, str]:
    """The object and attribute that store a strategy's cross-device ops; in public, only its constructor sets them."""
    return strategy.extended, "_cross_device_ops"


def has_started_server(strategy: Any) -> bool:
    """Whether a strategy of several machines has started the server of this process.

    It does so when it is created with eager execution, and has no public sign of it. TensorFlow raises for a second
    server.
    """
    return bool(getattr(getattr(strategy, "extended", None), "_std_server_started", False))


@contextlib.contextmanager
def outside_strategies() -> Iterator[None]:
    """Inside the block, the default graph is built outside of any strategy.

    The update of a Keras optimizer is a function, in which replicas cannot communicate and need not. There is no public
    way to leave a strategy.

    Raises:
        NotImplementedError: this TensorFlow stores its strategies elsewhere.
    """
    import tensorflow as tf

    graph = tf.compat.v1.get_default_graph()
    if missing_attributes(graph, ["_distribution_strategy_stack"]):
        raise NotImplementedError(f"{release()} keeps strategies elsewhere: Keras optimizers cannot be used with one.")
    before = graph._distribution_strategy_stack
    graph._distribution_strategy_stack = []
    try:
        yield
    finally:
        graph._distribution_strategy_stack = before
