"""What Lightwell needs of TensorFlow's distribution strategies that has no public door; the rule stands in `_tf`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from lightwell._probes import lacking, tell_once
from lightwell._tf import release


def mean_over_replicas(strategy: Any) -> contextlib.AbstractContextManager[Any]:
    """Inside the block, `tf.compat.v1` optimizers step by the mean of the gradients of all replicas, not by their sum.

    So they did under an Estimator, and there only; strategies have a switch for it that is not public.

    Raises:
        NotImplementedError: this TensorFlow has none. Numbers would be others, so nothing is trained.
    """
    found = getattr(strategy, "_scale_loss_for_estimator_enabled", None)
    if found is None:
        raise NotImplementedError(
            f"{release()} has no switch that makes tf.compat.v1 optimizers step by the mean over replicas; a "
            "distribution strategy cannot be used with it. Leave train_distribute out."
        )
    return found()


def note_loss_reduction(reduction: str) -> None:
    """Lets `tf.compat.v1` optimizers know what the loss in the default graph is: of the gradients of a mean, replicas
    take the mean, of those of a sum the sum.

    `tf.compat.v1.losses` notes it; there is no public way to do so for a loss that was computed otherwise.
    """
    import tensorflow as tf

    graph = tf.compat.v1.get_default_graph()
    missing = lacking(graph, ["_last_loss_reduction"])
    if missing:
        tell_once(release(), tuple(missing), "Replicas take the mean of gradients also where the loss is a sum.")
        return
    graph._last_loss_reduction = reduction


def reduction_of(strategy: Any) -> tuple[Any, str]:
    """Where a strategy keeps how it brings values together, for which there is no public door once it is made."""
    return strategy.extended, "_cross_device_ops"


def has_started_server(strategy: Any) -> bool:
    """Whether a strategy of several machines has started the server of this process: it does so when it is made in a
    program with eager execution, and does not tell. TensorFlow refuses a second server, and says why."""
    return bool(getattr(getattr(strategy, "extended", None), "_std_server_started", False))


@contextlib.contextmanager
def outside_strategies() -> Iterator[None]:
    """Inside the block, what is built in the default graph is no strategy's business: variables are what they are.

    The update of a Keras optimizer is a function, in which a replica may not ask the others; by then it need not. There
    is no public way to leave a strategy.

    Raises:
        NotImplementedError: this TensorFlow keeps its strategies elsewhere.
    """
    import tensorflow as tf

    graph = tf.compat.v1.get_default_graph()
    if lacking(graph, ["_distribution_strategy_stack"]):
        raise NotImplementedError(f"{release()} keeps strategies elsewhere: Keras optimizers cannot be used with one.")
    before = graph._distribution_strategy_stack
    graph._distribution_strategy_stack = []
    try:
        yield
    finally:
        graph._distribution_strategy_stack = before
