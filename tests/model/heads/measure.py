"""What a head does with a case: outside of graphs, in specs of the three modes, and on top of a trained model.

The same code makes the recording (with `tf.estimator`) and the comparison (with `lightwell`); `lib` is either.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.model.heads.cases import WIDTH, Case, X, labels_of, logits_of, sparse

v1 = tf.compat.v1
HALVES = (slice(0, 4), slice(4, 8))
PENALTIES = (0.25, 0.5)
STEPS = 20
_LOSS = "loss of the spec"


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, dict):
        return {"/".join(key) if isinstance(key, tuple) else key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.8g}")
    return plain(value.tolist()) if isinstance(value, np.ndarray) else value


def outside(lib: Any, case: Case) -> dict[str, Any]:
    """Loss, predictions and metrics with values at hand."""
    head = case.head(lib)
    logits, penalties = logits_of(case, head.logits_dimension), PENALTIES if case.regularized else None
    losses, metrics = [], head.metrics(regularization_losses=penalties)
    for rows in HALVES:
        features = {name: tf.constant(value[rows]) for name, value in case.features.items()}
        labels = labels_of(case, rows)
        losses.append(head.loss(labels, logits[rows], features=features, regularization_losses=penalties).numpy())
        metrics = head.update_metrics(metrics, features, logits[rows], labels, regularization_losses=penalties)
    return plain(
        {
            "is": [head.name, head.logits_dimension, head.loss_reduction],
            "losses": losses,
            "metrics": [[name, metric.result().numpy()] for name, metric in metrics.items()],
            "predictions": {key: value.numpy() for key, value in head.predictions(logits[HALVES[0]]).items()},
        }
    )


def specs(lib: Any, case: Case) -> dict[str, Any]:
    """What the specs of the three modes hold, each made in a graph of its own."""
    return {mode: _spec(lib, case, mode) for mode in ("train", "eval", "infer")}


def _spec(lib: Any, case: Case, mode: str) -> dict[str, Any]:
    with tf.Graph().as_default():
        v1.train.create_global_step()
        head, rows = case.head(lib), HALVES[0]
        spec = head.create_estimator_spec(
            {name: tf.constant(value[rows]) for name, value in case.features.items()},
            mode,
            v1.placeholder_with_default(
                logits_of(case, head.logits_dimension)[rows], [None, *case.extra, head.logits_dimension]
            ),
            labels_of(case, rows) if mode != "infer" else None,
            train_op_fn=(lambda loss: tf.no_op()) if mode == "train" else None,
            regularization_losses=[tf.constant(one) for one in PENALTIES] if case.regularized else None,
        )
        with v1.Session() as session:
            session.run([v1.local_variables_initializer(), v1.tables_initializer()])
            found: dict[str, Any] = {"predictions": session.run(spec.predictions), "names": _named(spec.predictions)}
            if mode != "infer":
                found["loss"] = session.run(spec.loss)
            if mode == "eval":
                session.run([update for _, update in spec.eval_metric_ops.values()])
                found["metrics"] = [[name, session.run(value)] for name, (value, _) in spec.eval_metric_ops.items()]
            if mode == "train":
                found["summaries"] = _scalars(session)
            if mode == "infer":
                found["exports"] = {name: _export(output) for name, output in spec.export_outputs.items()}
        return plain(found)


def old_losses(lib: Any, case: Case) -> list[Any]:
    """What `create_loss` of a head of TensorFlow 1 gives."""
    with tf.Graph().as_default(), v1.Session() as session:
        head, rows = case.head(lib), HALVES[0]
        features = {name: tf.constant(value[rows]) for name, value in case.features.items()}
        logits = tf.constant(logits_of(case, head.logits_dimension)[rows])
        made = head.create_loss(features, "train", logits, labels_of(case, rows))
        session.run(v1.tables_initializer())
        found: list[Any] = plain(session.run([tf.convert_to_tensor(value) for value in made]))
        return found


def _named(predictions: Any) -> list[str]:
    """Names by which programs look up predictions in the graph."""
    return sorted(t.name for t in predictions.values() if t.name.endswith(("/probabilities:0", "/logistic:0")))


def _scalars(session: Any) -> dict[str, float]:
    merged = v1.summary.merge_all()
    written = v1.Summary.FromString(session.run(merged))
    return {value.tag: value.simple_value for value in sorted(written.value, key=lambda value: value.tag)}


def _export(output: Any) -> list[Any]:
    fields = {
        key: getattr(output, key) for key in ("scores", "classes", "value") if getattr(output, key, None) is not None
    }
    fields |= getattr(output, "outputs", {})
    shapes = {key: [tensor.dtype.name, tensor.shape.as_list()] for key, tensor in fields.items()}
    return [type(output).__name__, shapes]


def trained(lib: Any, case: Case, optimizer: str, model_dir: Path) -> dict[str, Any]:
    """Twenty steps of a linear model below the head, its evaluation and its predictions."""
    losses: list[float] = []
    estimator = lib.Estimator(
        model_fn(lib, case, optimizer), str(model_dir), lib.RunConfig(tf_random_seed=1, save_summary_steps=10**9)
    )
    estimator.train(lambda: dataset(case).repeat(), steps=STEPS, hooks=[_Losses(losses)])
    evaluated = estimator.evaluate(lambda: dataset(case))
    rows = list(estimator.predict(lambda: dataset(case).map(lambda features, _: features)))
    variables = {name: estimator.get_variable_value(name) for name in ("weights", "bias", "global_step")}
    return plain(
        {
            "losses": losses,
            "evaluated": sorted([name, value] for name, value in evaluated.items()),
            "rows": rows[:2],
            "variables": variables,
            "names": sorted(name for name in estimator.get_variable_names() if optimizer != "adam" or "/" not in name),
        }
    )


def dataset(case: Case) -> Any:
    """Batches of four of a case's features and labels."""
    features = {"x": X, **case.features}
    labels = sparse(case.labels) if isinstance(case.labels, list) else case.labels
    return tf.data.Dataset.from_tensor_slices((features, labels)).batch(4)


def model_fn(lib: Any, case: Case, optimizer: str) -> Any:
    """A linear model with the case's head on top, trained by `sgd` (a function) or `adam` (of Keras)."""

    def model(features: Any, labels: Any, mode: str) -> Any:
        head = case.head(lib)
        width = int(np.prod([*case.extra, head.logits_dimension]))
        start = np.random.RandomState(3).randn(WIDTH, width).astype(np.float32) * 0.5
        weights = v1.get_variable("weights", initializer=start)
        bias = v1.get_variable("bias", [width], initializer=v1.zeros_initializer())
        logits = tf.reshape(tf.matmul(features["x"], weights) + bias, [-1, *case.extra, head.logits_dimension])
        how = {"sgd": _sgd, "adam": _adam}[optimizer]([weights, bias]) if mode == "train" else {}
        penalties = [0.01 * tf.reduce_sum(tf.square(weights))] if case.regularized else None
        spec = head.create_estimator_spec(features, mode, logits, labels, regularization_losses=penalties, **how)
        v1.add_to_collection(_LOSS, spec.loss)
        return spec

    return model


def _sgd(variables: Any) -> dict[str, Any]:
    def train_op(loss: Any) -> Any:
        return v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=v1.train.get_global_step())

    return {"train_op_fn": train_op}


def _adam(variables: Any) -> dict[str, Any]:
    kinds = tf.keras.optimizers
    optimizer = (kinds.legacy if tf.__version__.startswith("2.15.") else kinds).Adam(0.05)
    optimizer.iterations = v1.train.get_global_step()
    return {"optimizer": optimizer, "trainable_variables": variables}


class _Losses(v1.train.SessionRunHook):
    """Keeps the loss of each step."""

    def __init__(self, kept: list[float]) -> None:
        self.kept = kept

    def begin(self) -> None:
        (self._loss,) = v1.get_collection(_LOSS)

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.kept.append(float(run_values.results))
