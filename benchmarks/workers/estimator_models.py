"""The `model_fn`s, `input_fn`s and ready-made models of both: one text, run by Lightwell and by tf.estimator 2.15.

Takes an `Api`, which says where the names come from; gives functions for `Estimator`, or what makes one in a folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.workers import data

ModelFn = Callable[..., Any]
InputFn = Callable[[], Any]
MakeEstimator = Callable[[str], Any]


@dataclass(frozen=True)
class Api:
    """Where an Estimator program finds its names.

    Attributes:
        tf: TensorFlow.
        layers: `dense`, `conv2d`, `max_pooling2d`, `dropout` in the spelling of TF 1.
        estimator: the names of `tf.estimator`.
        stamp: `stamp(steps, times)` makes a hook that appends the time to `times` once each of these steps has run.
        settings: of the `RunConfig` of every Estimator that is made without one.
    """

    tf: Any
    layers: Any
    estimator: Any
    stamp: Callable[[Sequence[int], list[float]], Any]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def Estimator(self, model_fn: ModelFn, model_dir: str, config: Any = None) -> Any:
        """One of the class of that name."""
        return self.estimator.Estimator(model_fn, model_dir, config or self.estimator.RunConfig(**self.settings))

    @property
    def EstimatorSpec(self) -> Any:
        """The class of that name."""
        return self.estimator.EstimatorSpec


def mlp(api: Api, hidden: Sequence[int] = (128,)) -> ModelFn:
    """A multi-layer perceptron for ten classes."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        net = features["x"]
        for units in hidden:
            net = api.layers.dense(net, units, activation=api.tf.nn.relu)
        return _classifier(api, api.layers.dense(net, data.CLASSES), labels, mode)

    return model_fn


def cnn(api: Api) -> ModelFn:
    """Two convolutions with pooling, a wide layer with dropout: the usual first network for digits."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        tf, layers = api.tf, api.layers
        net = tf.reshape(features["x"], [-1, 28, 28, 1])
        for filters in (32, 64):
            net = layers.conv2d(net, filters=filters, kernel_size=[5, 5], padding="same", activation=tf.nn.relu)
            net = layers.max_pooling2d(net, pool_size=[2, 2], strides=2)
        net = layers.dense(tf.reshape(net, [-1, 7 * 7 * 64]), units=1024, activation=tf.nn.relu)
        net = layers.dropout(net, rate=0.4, training=mode == "train")
        return _classifier(api, layers.dense(net, data.CLASSES), labels, mode)

    return model_fn


def wide_and_deep(api: Api) -> ModelFn:
    """A linear model on text columns beside a network on their embeddings and the number columns."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        tf = api.tf
        columns = tf.compat.v1.feature_column
        texts, deep = _click_columns(tf.feature_column)
        net = columns.input_layer(features, deep)
        for units in (64, 32):
            net = api.layers.dense(net, units, activation=tf.nn.relu)
        logits = api.layers.dense(net, 1) + columns.linear_model(features, texts)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels[:, None], logits=logits))
        return api.EstimatorSpec(mode=mode, loss=loss, train_op=_adam(tf, loss))

    return model_fn


def ready_wide_and_deep(api: Api) -> MakeEstimator:
    """The same columns and layers as a ready-made model, with the optimizers that it brings."""
    wide, deep = _click_columns(api.tf.feature_column)
    return lambda model_dir: api.estimator.DNNLinearCombinedClassifier(
        model_dir, linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[64, 32]
    )


def ready_dnn(api: Api) -> MakeEstimator:
    """The perceptron of `mlp` as a ready-made model, with the optimizer that it brings."""
    pixels = api.tf.feature_column.numeric_column("x", shape=[data.FEATURES])
    return lambda model_dir: api.estimator.DNNClassifier(
        [128], [pixels], model_dir, n_classes=data.CLASSES, config=api.estimator.RunConfig(**api.settings)
    )


def training_input(api: Api, arrays: Any, batch: int = data.BATCH) -> InputFn:
    """Endless, shuffled batches."""

    def input_fn() -> Any:
        dataset = api.tf.data.Dataset.from_tensor_slices(arrays)
        return dataset.repeat().shuffle(data.SHUFFLE).batch(batch).prefetch(2)

    return input_fn


def ordered_input(api: Api, arrays: Any, batch: int = data.BATCH) -> InputFn:
    """The data once, in order."""
    return lambda: api.tf.data.Dataset.from_tensor_slices(arrays).batch(batch)


def digits_input(api: Api, rows: int, features: int = data.FEATURES, batch: int = data.BATCH) -> InputFn:
    """Training batches of digits."""
    pixels, labels = data.digits(rows, features)
    return training_input(api, ({"x": pixels}, labels), batch)


def fetching_hook(api: Api) -> Any:
    """An old-style hook that looks at a tensor of every step."""
    tf1 = api.tf.compat.v1

    class Fetching(tf1.train.SessionRunHook):  # type: ignore[misc]
        last: Any = None

        def begin(self) -> None:
            self._probe = tf1.get_default_graph().get_tensor_by_name("probe:0")

        def before_run(self, run_context: Any) -> Any:
            return tf1.train.SessionRunArgs(self._probe)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.last = run_values.results

    return Fetching()


def _click_columns(column: Any) -> tuple[list[Any], list[Any]]:
    """The text columns, and their embeddings beside the number columns."""
    half = len(data.TEXT_COLUMNS) // 2
    texts = [column.categorical_column_with_vocabulary_list(name, data.VOCABULARY) for name in data.TEXT_COLUMNS[:half]]
    texts += [column.categorical_column_with_hash_bucket(name, 1000) for name in data.TEXT_COLUMNS[half:]]
    deep = [column.embedding_column(text, 8) for text in texts]
    return texts, [*deep, *(column.numeric_column(name) for name in data.NUMBER_COLUMNS)]


def _classifier(api: Api, logits: Any, labels: Any, mode: str) -> Any:
    tf = api.tf
    classes = tf.argmax(logits, axis=1)
    if mode == "infer":
        return api.EstimatorSpec(
            mode=mode, predictions={"classes": classes, "probabilities": tf.nn.softmax(logits, name="softmax_tensor")}
        )
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    tf.reduce_mean(logits, name="probe")
    if mode == "eval":
        accuracy = tf.compat.v1.metrics.accuracy(labels=labels, predictions=classes)
        return api.EstimatorSpec(mode=mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
    return api.EstimatorSpec(mode=mode, loss=loss, train_op=_adam(tf, loss))


def _adam(tf: Any, loss: Any) -> Any:
    step = tf.compat.v1.train.get_global_step()
    return tf.compat.v1.train.AdamOptimizer(1e-3).minimize(loss, global_step=step)
