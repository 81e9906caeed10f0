"""`Program`: what was built. A graph with handles to everything a run needs; it owns no session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import tensorflow as tf

from lightwell.model.layers.record import LayerBook
from lightwell.model.spec import EstimatorSpec
from lightwell.run.checkpoints.lineage import Change
from lightwell.run.devices.replicas import Replicas
from lightwell.run.inputs.unpack import Inputs


@dataclass(frozen=True, eq=False)
class EvalOps:
    """What an evaluation runs.

    Attributes:
        update: one op that takes a batch into all metrics.
        values: metric name to the tensor with its value, `loss` and `global_step` included.
        reset: sets the metrics to zero, to run before the scaffold's `local_init_op`; None where that does it already.
    """

    update: Any
    values: dict[str, Any]
    reset: Any = None


class TapReader(Protocol):
    """Reads the tapped values of a prediction.

    Attributes:
        fetches: a structure of tensors to fetch with each step.
    """

    fetches: dict[str, Any]

    def rows(self, predictions: Any, fetched: Mapping[str, Any], by_example: bool) -> Iterator[Any]:
        """The rows of one batch, from its predictions and the values of `fetches`."""


@dataclass(frozen=True, eq=False)
class Program:
    """One built mode of a model.

    Attributes:
        graph: the graph; final once a session is open.
        mode: a `ModeKeys` value.
        inputs: the batch's tensors and the ops that initialise their source.
        spec: what `model_fn` returned.
        global_step: the step counter's variable.
        layers: the book of the layer calls in `model_fn`.
        replicas: the model of each replica, where a strategy runs several; `spec` stands for all of them, and `inputs`
            is what the first one got.
        step_after: in training, the global step once `spec.train_op` has run in the same call.
        evaluation: in evaluation, the metrics' ops.
        live_edits: what hooks change in the weights by hand while it runs, each written down here.
        device: where the graph's ops are placed, as `tf.Graph.device` takes it.
        find: turns a path that a hook wrote in place of a tensor into the tensor; None leaves such names to TensorFlow.
        taps: in prediction, reads the tapped values, if there are taps.
    """

    graph: tf.Graph
    mode: str
    inputs: Inputs
    spec: EstimatorSpec
    global_step: Any
    layers: LayerBook
    replicas: Replicas | None = None
    step_after: Any = None
    evaluation: EvalOps | None = None
    live_edits: list[Change] = field(default_factory=list)
    device: Any = None
    find: Callable[[str, str], Any] | None = None
    taps: TapReader | None = None
