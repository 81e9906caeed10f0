"""Programs of the TPU face on a CPU, and what becomes of them. The same code for both sides.

`SCENES` maps a name to a function of (module of `tf.compat.v1.estimator`, model_dir) that gives plain values.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
Scene = Callable[[Any, Path], Any]
SCENES: dict[str, Scene] = {}

X = np.random.RandomState(0).rand(40, 4).astype(np.float32)
Y = np.arange(40) % 3


def scene(function: Scene) -> Scene:
    """Makes a scene of a function, under its name."""
    SCENES[function.__name__] = function
    return function


def rows(params: Any) -> Any:
    """Batches without end, of the size that `params` names."""
    dataset = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
    return dataset.repeat().batch(params["batch_size"], drop_remainder=True)


class Program:
    """A linear classifier that notes how it is called."""

    def __init__(self, api: Any, *, as_dict: bool = False, with_host_call: bool = False) -> None:
        self.tpu = api.tpu
        self.as_dict = as_dict
        self.with_host_call = with_host_call
        self.calls: list[Any] = []
        self.on_host: list[Any] = []

    def input_fn(self, params: Any) -> Any:
        """The data."""
        self.calls.append(["input_fn", dict(sorted(params.items()))])
        return rows(params)

    def model_fn(self, features: Any, labels: Any, mode: str, params: Any) -> Any:
        """The model."""
        self.calls.append(["model_fn", mode, dict(sorted(params.items())), features["x"].shape.as_list()])
        weights = v1.get_variable("weights", [4, 3], initializer=v1.ones_initializer())
        logits = tf.matmul(features["x"], weights)
        if mode == "infer":
            return self.tpu.TPUEstimatorSpec(mode, predictions={"logits": logits})
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        step = v1.train.get_global_step()
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step) if mode == "train" else None

        def metric_fn(labels: Any, logits: Any) -> Any:
            self.calls.append(["metric_fn", mode])
            return {"accuracy": v1.metrics.accuracy(labels, tf.argmax(logits, 1))}

        def host_fn(step: Any, loss: Any) -> Any:
            self.calls.append(["host_fn", mode])
            return tf.numpy_function(self._note, [step, loss], tf.float32)

        def scaffold_fn() -> Any:
            self.calls.append(["scaffold_fn", mode])
            return v1.train.Scaffold()

        tensors = {"labels": labels, "logits": logits} if self.as_dict else [labels, logits]
        host_call = (host_fn, [tf.reshape(step, [1]), tf.reshape(loss, [1])]) if self.with_host_call else None
        return self.tpu.TPUEstimatorSpec(
            mode,
            loss=loss,
            train_op=train_op,
            eval_metrics=(metric_fn, tensors),
            scaffold_fn=scaffold_fn,
            host_call=host_call,
        )

    def _note(self, step: Any, loss: Any) -> Any:
        self.on_host.append([int(step[0]), float(loss[0])])
        return np.float32(0)

    def estimator(self, model_dir: Path, **settings: Any) -> Any:
        """The Estimator."""
        config = self.tpu.RunConfig(
            model_dir=str(model_dir), tf_random_seed=1, tpu_config=self.tpu.TPUConfig(iterations_per_loop=5)
        )
        given = {"use_tpu": False, "train_batch_size": 8, "eval_batch_size": 4, "predict_batch_size": 2, **settings}
        return self.tpu.TPUEstimator(model_fn=self.model_fn, config=config, **given)

    def life(self, estimator: Any) -> Any:
        """Trains, evaluates and predicts; all that came of it."""
        estimator.train(self.input_fn, steps=12)
        metrics = estimator.evaluate(self.input_fn, steps=3)
        predictions = estimator.predict(self.input_fn)
        return {
            "metrics": {name: float(value) for name, value in metrics.items()},
            "predictions": [next(predictions)["logits"].tolist() for _ in range(3)],
            "weights": estimator.get_variable_value("weights").tolist(),
            "calls": self.calls,
            "on_host": self.on_host,
            "params": estimator.params,
        }


@scene
def whole_life(api: Any, model_dir: Path) -> Any:
    program = Program(api)
    return program.life(program.estimator(model_dir, params={"rate": 0.5}))


@scene
def tensors_by_name(api: Any, model_dir: Path) -> Any:
    program = Program(api, as_dict=True)
    return program.life(program.estimator(model_dir))


@scene
def host_call(api: Any, model_dir: Path) -> Any:
    program = Program(api, with_host_call=True)
    return program.life(program.estimator(model_dir))


@scene
def no_batch_size(api: Any, model_dir: Path) -> Any:
    program = Program(api)
    estimator = program.estimator(model_dir, train_batch_size=None)
    estimator.train(lambda params: rows({**params, "batch_size": 5}), steps=2)
    return program.calls


@scene
def train_and_evaluate_by_hand(api: Any, model_dir: Path) -> Any:
    program = Program(api)
    estimator = program.estimator(model_dir)
    losses = []
    for _ in range(3):
        estimator.train(program.input_fn, steps=4)
        losses.append(float(estimator.evaluate(program.input_fn, steps=2)["loss"]))
    return losses


@scene
def settings(api: Any, model_dir: Path) -> Any:
    config = api.tpu.RunConfig(model_dir=str(model_dir), save_checkpoints_steps=7)
    changed = config.replace(tpu_config=api.tpu.TPUConfig(num_shards=2), keep_checkpoint_max=3)
    return {
        "tpu": list(api.tpu.TPUConfig()),
        "fields": list(api.tpu.TPUConfig._fields),
        "per shard": api.tpu.TPUConfig(per_host_input_for_training=False).per_host_input_for_training,
        "pipelines": [getattr(api.tpu.InputPipelineConfig, name) for name in ("PER_SHARD_V1", "PER_HOST_V2", "SLICED")],
        "replaced": [changed.tpu_config.num_shards, changed.keep_checkpoint_max, changed.save_checkpoints_steps],
        "unchanged": [config.tpu_config.num_shards, config.keep_checkpoint_max],
        "masters": [config.master, config.evaluation_master, config.cluster],
        "master given": [
            api.tpu.RunConfig(master="grpc://here").master,
            api.tpu.RunConfig(master="grpc://here").evaluation_master,
            api.tpu.RunConfig(master="a", evaluation_master="b").evaluation_master,
        ],
        "spec fields": list(api.tpu.TPUEstimatorSpec._fields),
    }
