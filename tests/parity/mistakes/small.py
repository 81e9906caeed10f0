"""Functions that make input_fns and specs of parsed examples, recurrent and clustering models, Keras and TPU names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity.hook_scenes import batches
from tests.parity.mistakes.base import Mistake, data, model_to_estimator, old

v1 = tf.compat.v1
fc = tf.feature_column
MISTAKES: dict[str, Mistake] = {}
_X = {"x": np.ones([4, 2])}
ARRAYS: dict[str, dict[str, Any]] = {
    "x": {
        "None": None,
        "a number": 1,
        "a list": [1],
        "text": "a",
        "an empty dict": {},
        "a dict with a list": {"a": [1, 2]},
        "a dict with None": {"a": None},
        "of two lengths": {"a": np.ones(4), "b": np.ones(3)},
        "an array": np.ones([4, 2]),
        "a dict of dicts": {"a": {"b": np.ones(4)}},
    },
    "y": {
        "a number": 1,
        "a list": [1, 2, 3, 4],
        "an empty dict": {},
        "a dict with a name of x": {"x": np.ones(4)},
        "of another length": np.ones(3),
        "a dict of another length": {"y": np.ones(3)},
        "text": "a",
    },
    "batch_size": {"None": None, "0": 0, "-1": -1, "text": "a", "1.5": 1.5},
    "num_epochs": {"0": 0, "-1": -1, "text": "a", "None": None},
    "shuffle": {"None": None, "text": "a", "a number": 1},
    "queue_capacity": {"None": None, "0": 0, "-1": -1, "text": "a"},
    "num_threads": {"None": None, "0": 0, "-1": -1, "text": "a", "2": 2},
}


def _read(input_fn: Any) -> None:
    """One batch, as a session of TensorFlow 1 reads it."""
    given = input_fn()
    with v1.train.SingularMonitoredSession() as session:
        session.run(given)


def _numpy(**arguments: Any) -> Mistake:
    usual = {"x": _X, "y": np.ones(4), "batch_size": 2, "shuffle": False}

    def run(lib: Any, model_dir: Path) -> None:
        with tf.Graph().as_default():
            _read(old(lib).inputs.numpy_input_fn(**{**usual, **arguments}))

    return run


def _pandas(**arguments: Any) -> Mistake:
    def run(lib: Any, model_dir: Path) -> None:
        import pandas as pd

        made = {name: value(pd) if callable(value) else value for name, value in arguments.items()}
        usual = {"x": pd.DataFrame({"a": [1, 2, 3]}), "y": pd.Series([1, 2, 3]), "batch_size": 2, "shuffle": False}
        with tf.Graph().as_default():
            _read(old(lib).inputs.pandas_input_fn(**{**usual, **made}))

    return run


for _argument, _values in ARRAYS.items():
    for _what, _value in _values.items():
        MISTAKES[f"numpy_input_fn: {_argument} is {_what}"] = _numpy(**{_argument: _value})
        if _argument not in ("x", "y"):
            MISTAKES[f"pandas_input_fn: {_argument} is {_what}"] = _pandas(**{_argument: _value})
FRAMES: dict[str, dict[str, Any]] = {
    "x is None": {"x": None},
    "x is an array": {"x": np.ones([3, 2])},
    "x is a dict": {"x": {"a": np.ones(3)}},
    "x is a series": {"x": lambda pd: pd.Series([1, 2, 3])},
    "y is an array": {"y": np.ones(3)},
    "y is a number": {"y": 1},
    "y of another index": {"y": lambda pd: pd.Series([1, 2, 3], index=[5, 6, 7])},
    "y of another length": {"y": lambda pd: pd.Series([1, 2])},
    "y is a frame": {"y": lambda pd: pd.DataFrame({"b": [1, 2, 3], "c": [1, 2, 3]})},
    "x has the target": {"x": lambda pd: pd.DataFrame({"target": [1, 2, 3]})},
    "target_column is None": {"target_column": None},
    "target_column is a column of x": {"target_column": "a"},
}
MISTAKES |= {f"pandas_input_fn: {what}": _pandas(**arguments) for what, arguments in FRAMES.items()}

_COLUMN = fc.numeric_column("x")
PARSED: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "no columns": ((None, "y"), {}),
    "columns that are a number": ((1, "y"), {}),
    "columns of text": ((["x"], "y"), {}),
    "a label_key of None": (([_COLUMN], None), {}),
    "a label_key of a column": (([_COLUMN], "x"), {}),
    "a label_dtype of no type": (([_COLUMN], "y"), {"label_dtype": "other"}),
    "a label_default of another type": (([_COLUMN], "y"), {"label_default": "a"}),
    "a label_default of text for text": (([_COLUMN], "y"), {"label_dtype": tf.string, "label_default": "a"}),
    "a weight_column that is a number": (([_COLUMN], "y"), {"weight_column": 1}),
    "a weight_column that is a category": (
        ([_COLUMN], "y"),
        {"weight_column": fc.categorical_column_with_identity("w", 2)},
    ),
    "a weight_column that is the label": (([_COLUMN], "y"), {"weight_column": "y"}),
    "a weight_column that is a feature": (([_COLUMN], "y"), {"weight_column": "x"}),
}


def _parsed(kind: str, arguments: tuple[Any, ...], more: dict[str, Any]) -> Mistake:
    return lambda lib, model_dir: getattr(lib, kind)(*arguments, **more)


for _kind in ("classifier_parse_example_spec", "regressor_parse_example_spec"):
    for _what, (_given, _more) in PARSED.items():
        MISTAKES[f"{_kind}: {_what}"] = _parsed(_kind, _given, _more)
MISTAKES |= {
    f"regressor_parse_example_spec: label_dimension is {what}": _parsed(
        "regressor_parse_example_spec", ([_COLUMN], "y"), {"label_dimension": value}
    )
    for what, value in {"0": 0, "-1": -1, "text": "a", "None": None}.items()
}

_SEQUENCE = fc.sequence_numeric_column("s")
RNN: dict[str, dict[str, Any]] = {
    "no columns": {"sequence_feature_columns": None},
    "empty columns": {"sequence_feature_columns": []},
    "a column of no sequence": {"sequence_feature_columns": [_COLUMN]},
    "a sequence in the context": {"context_feature_columns": [_SEQUENCE]},
    "neither units nor rnn_cell_fn": {"units": None},
    "units and rnn_cell_fn": {"rnn_cell_fn": lambda: None},
    "cell_type and rnn_cell_fn": {"units": None, "cell_type": "lstm", "rnn_cell_fn": lambda: None},
    "an unknown cell_type": {"cell_type": "other"},
    "a cell_type that is a number": {"cell_type": 1},
    "units that are a number": {"units": 1},
    "units of text": {"units": ["a"]},
    "units of 0": {"units": [0]},
    "empty units": {"units": []},
    "an rnn_cell_fn that gives None": {"units": None, "rnn_cell_fn": lambda: None},
    "an rnn_cell_fn that is a number": {"units": None, "rnn_cell_fn": 1},
    "n_classes=1": {"n_classes": 1},
    "an unknown optimizer": {"optimizer": "Other"},
    "an unknown loss_reduction": {"loss_reduction": "other"},
    "return_sequences and a head of no sequence": {"return_sequences": True},
}


def _rnn(arguments: dict[str, Any]) -> Mistake:
    def run(lib: Any, model_dir: Path) -> None:
        usual = {"sequence_feature_columns": [_SEQUENCE], "units": [2], "model_dir": str(model_dir)}
        made = lib.experimental.RNNClassifier(**{**usual, **arguments})

        def input_fn() -> Any:
            sequence = tf.sparse.from_dense(np.ones([4, 3], np.float32))
            features = {"s": sequence, "x": tf.ones([4, 1])}
            return tf.data.Dataset.from_tensors((features, np.array([[0], [1], [0], [1]]))).repeat()

        made.train(input_fn, steps=1)

    return run


MISTAKES |= {f"RNNClassifier: {what}": _rnn(arguments) for what, arguments in RNN.items()}
KMEANS: dict[str, dict[str, Any]] = {
    "num_clusters=0": {"num_clusters": 0},
    "num_clusters is text": {"num_clusters": "a"},
    "more clusters than rows": {"num_clusters": 9},
    "an unknown distance_metric": {"distance_metric": "other"},
    "an unknown initial_clusters": {"initial_clusters": "other"},
    "initial_clusters of another shape": {"initial_clusters": np.ones([2, 5], np.float32)},
    "initial_clusters is a number": {"initial_clusters": 1},
    "retries of -1": {"kmeans_plus_plus_num_retries": -1, "initial_clusters": "kmeans_plus_plus"},
    "feature_columns of text": {"feature_columns": ["x"]},
}


def _kmeans(arguments: dict[str, Any]) -> Mistake:
    def run(lib: Any, model_dir: Path) -> None:
        usual = {"num_clusters": 2, "model_dir": str(model_dir), "use_mini_batch": False}
        rows = np.arange(8, dtype=np.float32).reshape(4, 2)
        old(lib).experimental.KMeans(**{**usual, **arguments}).train(
            lambda: tf.data.Dataset.from_tensors(rows).repeat(3)
        )

    return run


MISTAKES |= {f"KMeans: {what}": _kmeans(arguments) for what, arguments in KMEANS.items()}
SDCA: dict[str, dict[str, Any]] = {
    "loss partitions of 0": {"num_loss_partitions": 0},
    "no id": {"example_id_column": None},
    "an L1 below zero": {"symmetric_l1_regularization": -1.0},
    "an L2 of 0": {"symmetric_l2_regularization": 0.0},
    "shards of 0": {"num_table_shards": 0},
}
MISTAKES |= {
    f"LinearSDCA: {what}": lambda lib, model_dir, given=given: lib.experimental.LinearSDCA(
        **{"example_id_column": "id", **given}
    )
    for what, given in SDCA.items()
}

TPU: dict[str, Callable[[Any], Any]] = {
    "TPUConfig: iterations_per_loop=0": lambda tpu: tpu.TPUConfig(iterations_per_loop=0),
    "TPUConfig: iterations_per_loop is text": lambda tpu: tpu.TPUConfig(iterations_per_loop="a"),
    "TPUConfig: num_shards=0": lambda tpu: tpu.TPUConfig(num_shards=0),
    "TPUConfig: num_shards=-1": lambda tpu: tpu.TPUConfig(num_shards=-1),
    "TPUConfig: num_cores_per_replica=0": lambda tpu: tpu.TPUConfig(num_cores_per_replica=0),
    "TPUConfig: num_cores_per_replica=3": lambda tpu: tpu.TPUConfig(num_cores_per_replica=3),
    "TPUConfig: an unknown per_host_input": lambda tpu: tpu.TPUConfig(per_host_input_for_training=9),
    "TPUConfig: input_partition_dims without cores": lambda tpu: tpu.TPUConfig(input_partition_dims=[[1, 2]]),
    "TPUConfig: input_partition_dims of three": lambda tpu: tpu.TPUConfig(
        num_cores_per_replica=2, input_partition_dims=[[1, 2], None, None]
    ),
    "TPUConfig: input_partition_dims that is a number": lambda tpu: tpu.TPUConfig(
        num_cores_per_replica=2, input_partition_dims=1
    ),
    "TPUConfig: an unknown eval_training_input": lambda tpu: tpu.TPUConfig(eval_training_input_configuration=9),
    "TPUConfig: a sleep of -1": lambda tpu: tpu.TPUConfig(initial_infeed_sleep_secs=-1),
    "tpu.RunConfig: cluster and master": lambda tpu: tpu.RunConfig(cluster=1, master="a"),
    "tpu.RunConfig: an unknown setting": lambda tpu: tpu.RunConfig(other=1),
    "tpu.RunConfig: save_checkpoints_steps=0": lambda tpu: tpu.RunConfig(save_checkpoints_steps=0),
    "TPUEstimator: no model_fn": lambda tpu: tpu.TPUEstimator(config=tpu.RunConfig(), use_tpu=False),
    "TPUEstimator: no config": lambda tpu: tpu.TPUEstimator(lambda features: None),
    "TPUEstimator: config is a number": lambda tpu: tpu.TPUEstimator(lambda features: None, config=1),
    "TPUEstimator: config of another class": lambda tpu: tpu.TPUEstimator(lambda features: None, config={}),
    "TPUEstimator: params with batch_size": lambda tpu: tpu.TPUEstimator(
        lambda features, params: None, config=tpu.RunConfig(), params={"batch_size": 1}, use_tpu=False
    ),
    "TPUEstimator: params are a list": lambda tpu: tpu.TPUEstimator(
        lambda features, params: None, config=tpu.RunConfig(), params=[1], use_tpu=False
    ),
    "TPUEstimator: a TPU without a batch size": lambda tpu: tpu.TPUEstimator(
        lambda features, params: None, config=tpu.RunConfig(), use_tpu=True
    ),
    "TPUEstimator: train_batch_size=0": lambda tpu: tpu.TPUEstimator(
        lambda features, params: None, config=tpu.RunConfig(), use_tpu=True, train_batch_size=0
    ),
    "TPUEstimator: train_batch_size is text": lambda tpu: tpu.TPUEstimator(
        lambda features, params: None, config=tpu.RunConfig(), use_tpu=True, train_batch_size="a"
    ),
    "TPUEstimator: eval_batch_size=-1": lambda tpu: tpu.TPUEstimator(
        lambda features, params: None, config=tpu.RunConfig(), use_tpu=True, train_batch_size=8, eval_batch_size=-1
    ),
    "TPUEstimator: predict_batch_size=0": lambda tpu: tpu.TPUEstimator(
        lambda features, params: None, config=tpu.RunConfig(), use_tpu=True, train_batch_size=8, predict_batch_size=0
    ),
}
MISTAKES |= {what: lambda lib, model_dir, make=make: make(old(lib).tpu) for what, make in TPU.items()}


def _tpu_spec(**fields: Any) -> Mistake:
    def run(lib: Any, model_dir: Path) -> None:
        with tf.Graph().as_default():
            usual = {"mode": "eval", "loss": tf.constant(1.0), "predictions": {"a": tf.zeros([2])}}
            made = {name: value() if callable(value) else value for name, value in fields.items()}
            old(lib).tpu.TPUEstimatorSpec(**{**usual, **made})

    return run


MISTAKES |= {
    "TPUEstimatorSpec: eval_metrics is a number": _tpu_spec(eval_metrics=1),
    "TPUEstimatorSpec: eval_metrics is a list": _tpu_spec(eval_metrics=[1, 2]),
    "TPUEstimatorSpec: eval_metrics of one": _tpu_spec(eval_metrics=(1,)),
    "TPUEstimatorSpec: eval_metrics without a function": _tpu_spec(eval_metrics=(1, [1])),
    "TPUEstimatorSpec: eval_metrics with a number": _tpu_spec(eval_metrics=(len, 1)),
    "TPUEstimatorSpec: eval_metrics with too many": _tpu_spec(
        eval_metrics=lambda: (lambda a: {}, [tf.zeros([2]), tf.zeros([2])])
    ),
    "TPUEstimatorSpec: host_call is a number": _tpu_spec(host_call=1),
    "TPUEstimatorSpec: host_call without a function": _tpu_spec(host_call=(1, [1])),
    "TPUEstimatorSpec: training_hooks are not hooks": _tpu_spec(mode="train", train_op=tf.no_op, training_hooks=[1]),
    "TPUEstimatorSpec: evaluation_hooks are not hooks": _tpu_spec(evaluation_hooks=[1]),
    "TPUEstimatorSpec: an unknown mode": _tpu_spec(mode="other"),
    "TPUEstimatorSpec: no loss": _tpu_spec(loss=None),
}


def _keras(**arguments: Any) -> Mistake:
    def run(lib: Any, model_dir: Path) -> None:
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        usual = {"keras_model": model, "model_dir": str(model_dir)}
        given = {name: value(model) if callable(value) else value for name, value in arguments.items()}
        if "compiled" in given:
            model.compile(tf.keras.optimizers.SGD(), "mse")
        given.pop("compiled", None)
        made = model_to_estimator(lib)(**{**usual, **given})
        made.train(data(np.ones([4, 2], np.float32), np.ones([4, 1], np.float32)), steps=1)

    return run


KERAS: dict[str, dict[str, Any]] = {
    "neither model nor path": {"keras_model": None},
    "model and path": {"keras_model_path": "a", "compiled": True},
    "a path that is not there": {"keras_model": None, "keras_model_path": "nowhere/model.h5"},
    "not compiled": {},
    "a model that is a number": {"keras_model": 1},
    "a config that is a number": {"compiled": True, "config": 1},
    "checkpoint_format unknown": {"compiled": True, "checkpoint_format": "other"},
    "custom_objects is a list": {"compiled": True, "custom_objects": [1]},
}
MISTAKES |= {f"model_to_estimator: {what}": _keras(**given) for what, given in KERAS.items()}
_VERBS: dict[str, Callable[[Any], Any]] = {
    "train": lambda estimator: estimator.train(batches(), steps=1),
    "get_variable_names": lambda estimator: estimator.get_variable_names(),
    "get_variable_value": lambda estimator: estimator.get_variable_value("a"),
    "latest_checkpoint": lambda estimator: estimator.latest_checkpoint(),
    "eval_dir of a number": lambda estimator: estimator.eval_dir(1),
    "evaluate by a name that is a number": lambda estimator: estimator.evaluate(batches(1), name=1),
}
MISTAKES |= {
    f"a model that fails: {what}": lambda lib, model_dir, call=call: call(
        lib.Estimator(lambda features, labels, mode: 1, str(model_dir))
    )
    for what, call in _VERBS.items()
}
