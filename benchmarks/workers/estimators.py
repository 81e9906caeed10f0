"""The rows that Lightwell and tf.estimator 2.15 share: one text of models, inputs and measurements for both.

An `Api` says where the names come from; `register` adds the rows to a worker. Python 3.9 has to read it.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks.workers import data, protocol
from benchmarks.workers.big_models import TOUCHED_MB, big_models
from benchmarks.workers.protocol import Figures, Measure, Plan, Worker, measure_calls, measure_steps, time_of

WARM_STEPS = 250  # past the first of every kind of step: logged, summarised, and neither


@dataclass(frozen=True)
class Api:
    """Where an Estimator program finds its names."""

    tf: Any
    layers: Any  # `dense`, `conv2d`, `max_pooling2d`, `dropout` in the spelling of TF 1
    estimator: Any  # the names of `tf.estimator`
    stamp: Callable[[Sequence[int], list[float]], Any]  # makes a hook that marks the time after each of these steps
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the `RunConfig` of every Estimator

    def Estimator(self, model_fn: Any, model_dir: str, **settings: Any) -> Any:
        return self.estimator.Estimator(model_fn, model_dir, self.estimator.RunConfig(**{**self.settings, **settings}))


def register(worker: Worker, api: Api) -> None:
    rows: dict[str, Callable[[Api, Plan], Measure]] = {
        "mlp": partial(train, model=mlp(api)),
        "mlp_hook": partial(train, model=mlp(api), make_hooks=lambda: [_fetching_hook(api.tf.compat.v1)]),
        "cnn": partial(train, model=cnn(api), warm=20, multiple=10),
        "wide": partial(train, model=wide_and_deep(api), arrays=data.clicks, batch=256),
        "ready_wide": partial(train, make=_ready_wide_and_deep, arrays=data.clicks, batch=256),
        "ready_dnn": partial(train, make=ready_dnn),
        "predict_batches": predict,
        "predict_batches_256": partial(predict, batch=256),
        "predict_rows": partial(predict, by_row=True),
        "predict_loop": lambda api, plan: measure_calls(one_row_call(api), plan),
        "predict_loop_vouched": lambda api, plan: measure_calls(one_row_call(api), plan),
        "first_step": lambda api, plan: first_step(api, plan.scaled(data.PREDICT_ROWS, 500)),
        "first_step_3gb": lambda api, plan: first_step(api, plan.scaled(1_000_000, 2_000)),
        "evaluate": evaluate,
        "train_and_evaluate": evaluated_training,
        "session": short_session,
    }
    for name in big_models(is_quick=True):
        rows |= {f"big_{name}{what}": partial(train_big, name) for what in ("", "_start", "_memory")}
    for key, prepare in rows.items():
        worker.row(key)(partial(prepare, api))


def mlp(api: Api, hidden: Sequence[int] = (128,), optimizer: Any = None) -> Any:
    """A multi-layer perceptron for ten classes, trained by Adam unless told otherwise."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        net = features["x"]
        for units in hidden:
            net = api.layers.dense(net, units, activation=api.tf.nn.relu)
        return _classifier(api, api.layers.dense(net, data.CLASSES), labels, mode, optimizer)

    return model_fn


def cnn(api: Api) -> Any:
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


def wide_and_deep(api: Api) -> Any:
    """A linear model on text columns beside a network on their embeddings and the number columns."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        tf, columns = api.tf, api.tf.compat.v1.feature_column
        texts, deep = _click_columns(tf.feature_column)
        net = columns.input_layer(features, deep)
        for units in (64, 32):
            net = api.layers.dense(net, units, activation=tf.nn.relu)
        logits = api.layers.dense(net, 1) + columns.linear_model(features, texts)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels[:, None], logits=logits))
        return train_spec(api, mode, loss)

    return model_fn


def _ready_wide_and_deep(api: Api, model_dir: str) -> Any:
    wide, deep = _click_columns(api.tf.feature_column)
    return api.estimator.DNNLinearCombinedClassifier(
        model_dir, linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[64, 32]
    )


def ready_dnn(api: Api, model_dir: str) -> Any:
    """The perceptron of `mlp` as a ready-made model, with the optimizer that it brings."""
    pixels = api.tf.feature_column.numeric_column("x", shape=[data.FEATURES])
    config = api.estimator.RunConfig(**api.settings)
    return api.estimator.DNNClassifier([128], [pixels], model_dir, n_classes=data.CLASSES, config=config)


def train_spec(api: Api, mode: str, loss: Any, optimizer: Any = None) -> Any:
    train = api.tf.compat.v1.train
    train_op = (optimizer or train.AdamOptimizer(1e-3)).minimize(loss, global_step=train.get_global_step())
    return api.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op)


def _click_columns(column: Any) -> tuple[list[Any], list[Any]]:
    """The text columns, and their embeddings beside the number columns."""
    half = len(data.TEXT_COLUMNS) // 2
    texts = [column.categorical_column_with_vocabulary_list(name, data.VOCABULARY) for name in data.TEXT_COLUMNS[:half]]
    texts += [column.categorical_column_with_hash_bucket(name, 1000) for name in data.TEXT_COLUMNS[half:]]
    deep = [column.embedding_column(text, 8) for text in texts]
    return texts, [*deep, *(column.numeric_column(name) for name in data.NUMBER_COLUMNS)]


def _classifier(api: Api, logits: Any, labels: Any, mode: str, optimizer: Any = None) -> Any:
    tf = api.tf
    classes = tf.argmax(logits, axis=1)
    if mode == "infer":
        probabilities = tf.nn.softmax(logits, name="softmax_tensor")
        return api.estimator.EstimatorSpec(mode=mode, predictions={"classes": classes, "probabilities": probabilities})
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    tf.reduce_mean(logits, name="probe")
    if mode == "eval":
        accuracy = tf.compat.v1.metrics.accuracy(labels=labels, predictions=classes)
        return api.estimator.EstimatorSpec(mode=mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
    return train_spec(api, mode, loss, optimizer)


def _fetching_hook(tf1: Any) -> Any:
    class Fetching(tf1.train.SessionRunHook):  # type: ignore[misc]
        def begin(self) -> None:
            self._probe = tf1.get_default_graph().get_tensor_by_name("probe:0")

        def before_run(self, run_context: Any) -> Any:
            return tf1.train.SessionRunArgs(self._probe)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.last = run_values.results

    return Fetching()


def training_input(api: Api, arrays: Any, batch: int = data.BATCH) -> Any:
    def input_fn() -> Any:
        dataset = api.tf.data.Dataset.from_tensor_slices(arrays)
        return dataset.repeat().shuffle(data.SHUFFLE).batch(batch).prefetch(2)

    return input_fn


def ordered_input(api: Api, arrays: Any, batch: int = data.BATCH) -> Any:
    return lambda: api.tf.data.Dataset.from_tensor_slices(arrays).batch(batch)


def digits(rows: int = data.TRAIN_ROWS, features: int = data.FEATURES) -> Any:
    pixels, labels = data.digits(rows, features)
    return {"x": pixels}, labels


def train(
    api: Api,
    plan: Plan,
    *,
    model: Any = None,
    make: Any = None,
    arrays: Any = None,
    batch: int = data.BATCH,
    warm: int = WARM_STEPS,
    multiple: int = 50,
    make_hooks: Callable[[], Sequence[Any]] = list,
) -> Measure:
    """Steps per second of a new Estimator (of a model_fn, or one that `make` makes) after `warm` steps."""
    input_fn = training_input(api, arrays(plan.scaled(20_000, 1_000)) if arrays else digits(), batch)
    make = make or (lambda api, folder: api.Estimator(model, folder))

    def run(steps: int) -> float:
        begin, end = train_times(api, partial(make, api), input_fn, [warm, warm + steps], make_hooks())
        return steps / (end - begin)

    return measure_steps(run, plan, guess=2 * multiple, multiple=multiple)


def train_times(api: Api, make: Any, input_fn: Any, steps: list[int], hooks: Sequence[Any] = ()) -> list[float]:
    """The seconds from the call of `train`, in a temporary folder, to the end of each of these steps."""
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        estimator, started = make(folder), time.perf_counter()
        estimator.train(input_fn, hooks=[*hooks, api.stamp(steps, times)], steps=steps[-1])
    return [moment - started for moment in times]


def trained(api: Api, model_fn: Any, arrays: Any = None) -> Any:
    """An Estimator with a checkpoint, in a temporary folder that the bench removes after the run."""
    estimator = api.Estimator(model_fn, tempfile.mkdtemp())
    estimator.train(training_input(api, arrays or digits()), steps=1)
    return estimator


def predict_call(estimator: Any, input_fn: Any, **arguments: Any) -> Callable[[], None]:
    arguments.setdefault("yield_single_examples", False)

    def call() -> None:
        for _ in estimator.predict(input_fn, **arguments):
            pass

    return call


def predict(api: Api, plan: Plan, batch: int = data.BATCH, by_row: bool = False) -> Measure:
    rows = plan.scaled(data.PREDICT_ROWS, 500)
    input_fn = ordered_input(api, digits(rows)[0], batch)
    call = predict_call(trained(api, mlp(api)), input_fn, yield_single_examples=by_row)
    return measure_calls(call, plan, rows)


def one_row_call(api: Api) -> Callable[[], Any]:
    return predict_call(trained(api, mlp(api)), ordered_input(api, digits(1)[0]), yield_single_examples=True)


def evaluation_call(api: Api, plan: Plan) -> tuple[Callable[[], Any], int]:
    rows = plan.scaled(data.PREDICT_ROWS, 500)
    return partial(trained(api, mlp(api)).evaluate, ordered_input(api, digits(rows))), rows


def evaluate(api: Api, plan: Plan) -> Measure:
    call, rows = evaluation_call(api, plan)
    return measure_calls(call, plan, rows)


def first_step(api: Api, rows: int) -> Measure:
    """The seconds from the call of `train` to the end of its first step."""
    input_fn, make = training_input(api, digits(rows)), partial(api.Estimator, mlp(api))
    return lambda: {"seconds": train_times(api, make, input_fn, [1])[0]}


def short_session(api: Api, plan: Plan) -> Measure:
    """All verbs as a short program calls them, twice: the time of the processor, whole and by call."""
    rows = plan.scaled(6_000, 100)
    arrays = digits(rows, 32)
    one, all_rows = ordered_input(api, {"x": arrays[0]["x"][:1]}), ordered_input(api, arrays[0])

    def measure() -> Figures:
        spent: dict[str, list[float]] = {}
        estimator = api.Estimator(mlp(api), tempfile.mkdtemp())
        train = partial(estimator.train, training_input(api, arrays))
        calls: list[tuple[str, Callable[[], Any], int]] = [
            ("one_step", partial(train, steps=1), 1),
            ("train", partial(train, steps=plan.scaled(200, 20)), 1),
            ("evaluate", partial(estimator.evaluate, ordered_input(api, arrays)), 3),
            ("predict_row", predict_call(estimator, one, yield_single_examples=True), 3),
            ("predict_batches", predict_call(estimator, all_rows), 3),
        ]
        started, began = time.perf_counter(), time.process_time()
        for name, call, times in calls + calls:
            for _ in range(times):
                before = time.process_time()
                call()
                spent.setdefault(name, []).append(time.process_time() - before)
        whole = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - began}
        first = {f"first_{name}": own[0] for name, own in spent.items()}
        later = {name: statistics.median(own[1:]) for name, own in spent.items()}
        slowest = {f"slowest_{name}": max(own[1:]) for name, own in spent.items()}
        return {**whole, **first, **later, **slowest}

    return measure


def train_big(name: str, api: Api, plan: Plan) -> Measure:
    """Steps, start and peak of memory of a big model, all from one training."""
    big = big_models(plan.is_quick)[name]
    input_fn = training_input(api, big.arrays(), big.batch)
    protocol.touch_memory(plan.scaled(TOUCHED_MB, 1))

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return train_spec(api, mode, big.loss(api.tf, api.layers.dense, features, labels), big.optimizer(api.tf))

    def measure() -> Figures:
        peak_mb, make = protocol.peak_memory(), partial(api.Estimator, model_fn)
        first, begin, end = train_times(api, make, input_fn, [1, big.warm, big.warm + big.steps])
        return {"per_second": big.steps / (end - begin), "seconds": first, "megabytes": peak_mb()}

    return measure


def evaluated_training(api: Api, plan: Plan) -> Measure:
    """`train_and_evaluate`: the share of its time that is neither a training step nor an evaluation step.

    Steps are timed in the middle of each stretch between two checkpoints; an evaluation step is what a batch adds.
    """
    evaluations, between = plan.scaled(20, 3), plan.scaled(60_000 // data.BATCH, 40)  # MNIST, 20 epochs
    batches = plan.scaled(10_000, 640) // data.BATCH
    once = ordered_input(api, digits(batches * data.BATCH))
    starts, margin, times_over = range(0, evaluations * between, between), between // 5, 4
    edges = [edge for start in starts for edge in (start + margin, start + between - margin)]

    def seconds_of_a_batch(estimator: Any) -> float:
        calls = [partial(estimator.evaluate, fn) for fn in (once, lambda: once().repeat(times_over))]
        for call in calls:
            call()
        more = [time_of(calls[1]) - time_of(calls[0]) for _ in range(7)]
        return max(statistics.median(more), 0.0) / ((times_over - 1) * batches)

    def measure() -> Figures:
        times: list[float] = []
        with tempfile.TemporaryDirectory() as folder:
            estimator = api.Estimator(mlp(api), folder, save_checkpoints_steps=between)
            hooks = [api.stamp(edges, times)]
            train = api.estimator.TrainSpec(training_input(api, digits()), evaluations * between, hooks=hooks)
            evaluation = api.estimator.EvalSpec(once, steps=None, throttle_secs=0)
            whole = time_of(lambda: api.estimator.train_and_evaluate(estimator, train, evaluation))
            evaluating = evaluations * batches * seconds_of_a_batch(estimator)
        timed_share = (sum(edges[1::2]) - sum(edges[::2])) / (evaluations * between)
        training = (sum(times[1::2]) - sum(times[::2])) / timed_share
        share = 1 - (training + evaluating) / whole
        return {"share": share, "whole": whole, "training": training, "evaluating": evaluating}

    return measure
