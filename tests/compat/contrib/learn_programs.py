"""Programs of `tf.contrib.learn`, played by TensorFlow 1.15.5 and by `lightwell.tf1`; each tells what came of it.

A hook gives variables numbers of their names before the first step, so that nothing hangs on random draws.
"""

from __future__ import annotations

import itertools
import zlib
from typing import Any

import numpy as np

_DRAWS = np.random.RandomState(0)
X = _DRAWS.normal(size=[30, 4]).astype(np.float32)
CLASSES = _DRAWS.randint(0, 3, 30)
YES = (CLASSES > 0).astype(np.int64)
NUMBERS = _DRAWS.normal(size=30).astype(np.float32)
WEIGHTS = np.arange(30).astype(np.float32)
WORDS = np.array(["a", "b", "c", "a", "b"] * 6)


def number_for(name: str, shape: Any) -> Any:
    """Numbers that depend on nothing but a variable's name and shape."""
    return np.random.RandomState(zlib.crc32(name.encode()) % 2**31).normal(0.0, 0.5, shape)


def _loads(tf: Any) -> Any:
    class Loads(tf.train.SessionRunHook):  # type: ignore[misc, name-defined]
        def after_create_session(self, session: Any, coord: Any) -> None:
            for variable in tf.trainable_variables():
                name = variable.op.name.replace("/part_0", "")
                variable.load(number_for(name, variable.shape.as_list()).astype(np.float32), session)

    return Loads()


def _config(tf: Any) -> Any:
    return tf.contrib.learn.RunConfig(tf_random_seed=1)


def _columns(tf: Any) -> Any:
    return tf.contrib.learn.infer_real_valued_columns_from_input(X)


def _variables(model: Any) -> Any:
    return {
        name: np.round(np.asarray(model.get_variable_value(name), np.float64), 6).tolist()
        for name in sorted(model.get_variable_names())
    }


def _told(tf: Any, model: Any, labels: Any, **given: Any) -> Any:
    """Trains, evaluates, predicts."""
    model.fit(X, labels, steps=5, batch_size=7, monitors=[_loads(tf)], **given)
    every = model.predict(X, batch_size=8, as_iterable=False)
    rows = list(itertools.islice(model.predict(X), 3))
    verbs = [one for one in ("predict_classes", "predict_proba", "predict_scores") if hasattr(model, one)]
    return {
        "variables": _variables(model),
        "evaluated": model.evaluate(X, labels, batch_size=10),
        "two steps": model.evaluate(X, labels, batch_size=10, steps=2, name="two"),
        "rows": rows,
        "some": {one: list(itertools.islice(getattr(model, one)(X), 4)) for one in verbs},
        "one batch": len(every) == 8,
    }


def dnn_classifier(tf: Any) -> Any:
    learn = tf.contrib.learn
    return _told(tf, learn.DNNClassifier([5, 3], _columns(tf), n_classes=3, config=_config(tf)), CLASSES)


def dnn_of_two_classes(tf: Any) -> Any:
    model = tf.contrib.learn.DNNClassifier(
        hidden_units=[5],
        feature_columns=_columns(tf),
        optimizer=tf.train.GradientDescentOptimizer(0.1),
        activation_fn=tf.nn.tanh,
        gradient_clip_norm=0.5,
        enable_centered_bias=True,
        config=_config(tf),
    )
    return _told(tf, model, YES)


def dnn_regressor(tf: Any) -> Any:
    model = tf.contrib.learn.DNNRegressor([5], _columns(tf), enable_centered_bias=True, config=_config(tf))
    return _told(tf, model, NUMBERS)


def linear_classifier(tf: Any) -> Any:
    return _told(tf, tf.contrib.learn.LinearClassifier(_columns(tf), config=_config(tf)), YES)


def linear_of_three_classes(tf: Any) -> Any:
    model = tf.contrib.learn.LinearClassifier(
        _columns(tf), n_classes=3, gradient_clip_norm=1.0, config=_config(tf), optimizer="SGD"
    )
    try:
        return _told(tf, model, CLASSES)
    except TypeError:  # 1.15.5 takes no names here
        model = tf.contrib.learn.LinearClassifier(
            _columns(tf),
            n_classes=3,
            gradient_clip_norm=1.0,
            config=_config(tf),
            optimizer=tf.train.GradientDescentOptimizer(0.1),
        )
        return _told(tf, model, CLASSES)


def linear_regressor(tf: Any) -> Any:
    return _told(tf, tf.contrib.learn.LinearRegressor(_columns(tf), config=_config(tf)), NUMBERS)


def combined_classifier(tf: Any) -> Any:
    model = tf.contrib.learn.DNNLinearCombinedClassifier(
        linear_feature_columns=_columns(tf),
        dnn_feature_columns=_columns(tf),
        dnn_hidden_units=[4],
        config=_config(tf),
    )
    return _told(tf, model, YES)


def combined_regressor(tf: Any) -> Any:
    model = tf.contrib.learn.DNNLinearCombinedRegressor(
        linear_feature_columns=_columns(tf),
        dnn_feature_columns=_columns(tf),
        dnn_hidden_units=[4],
        fix_global_step_increment_bug=True,
        config=_config(tf),
    )
    return _told(tf, model, NUMBERS)


def _words_and_weights(tf: Any) -> Any:
    indices = [[row, 0] for row in range(30)]
    features = {
        "x": tf.constant(X),
        "word": tf.SparseTensor(indices, tf.constant(WORDS), [30, 1]),
        "weight": tf.constant(WEIGHTS),
    }
    return features, tf.constant(YES[:, None])


def columns_and_weights(tf: Any) -> Any:
    layers = tf.contrib.layers
    word = layers.sparse_column_with_keys("word", ["a", "b", "c"])
    model = tf.contrib.learn.DNNLinearCombinedClassifier(
        linear_feature_columns=[word, layers.real_valued_column("x", 4)],
        dnn_feature_columns=[layers.embedding_column(word, 2), layers.real_valued_column("x", 4)],
        dnn_hidden_units=[3],
        weight_column_name="weight",
        config=_config(tf),
    )
    model.fit(input_fn=lambda: _words_and_weights(tf), steps=4, monitors=[_loads(tf)])
    return {
        "variables": _variables(model),
        "evaluated": model.evaluate(input_fn=lambda: _words_and_weights(tf), steps=2),
        "probabilities": list(
            itertools.islice(model.predict(input_fn=lambda: _words_and_weights(tf), outputs=["probabilities"]), 3)
        ),
    }


def _with_head(tf: Any, head: Any, labels: Any) -> Any:
    model = tf.contrib.learn.DNNEstimator(head, [4], _columns(tf), config=_config(tf))
    model.fit(X, labels, steps=3, batch_size=10, monitors=[_loads(tf)])
    return {
        "variables": _variables(model),
        "evaluated": model.evaluate(X, labels, batch_size=30),
        "rows": list(itertools.islice(model.predict(X), 2)),
    }


def many_labels(tf: Any) -> Any:
    labels = np.stack([YES, 1 - YES, CLASSES > 1], 1).astype(np.int64)
    return _with_head(tf, tf.contrib.learn.multi_label_head(3, metric_class_ids=[0, 2]), labels)


def counts(tf: Any) -> Any:
    return _with_head(tf, tf.contrib.learn.poisson_regression_head(), CLASSES.astype(np.float32)[:, None])


def margin(tf: Any) -> Any:
    return _with_head(tf, tf.contrib.learn.binary_svm_head(), YES[:, None])


def classes_with_metrics(tf: Any) -> Any:
    return _with_head(tf, tf.contrib.learn.multi_class_head(3, metric_class_ids=[1, 2]), CLASSES)


def thresholds(tf: Any) -> Any:
    head = tf.contrib.learn.multi_class_head(2, thresholds=[0.3, 0.6], head_name="mine")
    return _with_head(tf, head, YES)


def own_model(tf: Any) -> Any:
    learn = tf.contrib.learn

    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
        weight = tf.get_variable("weight", [4, 1])
        scores = tf.matmul(features, weight)[:, 0] * params["scale"]
        loss = train_op = None
        if mode != learn.ModeKeys.INFER:
            loss = tf.reduce_mean(tf.square(scores - labels))
        if mode == learn.ModeKeys.TRAIN:
            train_op = tf.contrib.layers.optimize_loss(
                loss, tf.contrib.framework.get_global_step(), learning_rate=0.1, optimizer="SGD"
            )
        return {"scores": scores, "double": scores * 2}, loss, train_op

    model = learn.Estimator(
        model_fn,
        params={"scale": 0.5},
        config=_config(tf),
        feature_engineering_fn=lambda features, labels: (features * 2.0, labels),
    )
    model.fit(X, NUMBERS, batch_size=8, max_steps=6, monitors=[_loads(tf)])
    model.fit(X, NUMBERS, batch_size=8, max_steps=6)
    model.partial_fit(X, NUMBERS, batch_size=8)
    spec = learn.MetricSpec(tf.contrib.metrics.streaming_mean_absolute_error, prediction_key="scores")
    rows = list(model.predict(X[:3], outputs=["double"]))
    batches = model.predict(X[:5], batch_size=2, iterate_batches=True)
    return {
        "variables": _variables(model),
        "evaluated": model.evaluate(
            X, NUMBERS, batch_size=9, metrics={"off": spec, ("mean", "double"): lambda p, y: tf.metrics.mean(p)}
        )
        if tf.__version__ > "2"
        else {
            **model.evaluate(X, NUMBERS, batch_size=9, metrics={"off": spec}),
            **model.evaluate(X, NUMBERS, batch_size=9, metrics={("mean", "double"): lambda p, y: tf.metrics.mean(p)}),
        },
        "rows": rows,
        "sizes": [len(batch["scores"]) for batch in batches],
        "arrays": model.predict(X[:3], as_iterable=False),
    }


def model_fn_ops(tf: Any) -> Any:
    learn = tf.contrib.learn

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        shared = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
        loss = (
            tf.reduce_mean(tf.square(shared - tf.cast(labels, tf.float32)), name="off") if labels is not None else None
        )
        train_op = None
        if mode == "train":
            train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        metrics = {"twice": tf.metrics.mean(loss * 2)} if mode == "eval" else None
        return learn.ModelFnOps(
            mode, predictions=features[:, 0] * shared, loss=loss, train_op=train_op, eval_metric_ops=metrics
        )

    config = learn.RunConfig(tf_random_seed=1, save_checkpoints_secs=None, save_checkpoints_steps=2)
    model = learn.Estimator(model_fn, config=config)
    seen: list[Any] = []

    class Told(learn.monitors.EveryN):  # type: ignore[misc, name-defined]
        def every_n_step_begin(self, step: int) -> Any:
            seen.append(["begin", step])
            return ["off:0", "off"]

        def every_n_step_end(self, step: int, outputs: Any) -> Any:
            seen.append(["end", step, float(outputs["off"]), float(outputs["off:0"])])
            return False

        def every_n_post_step(self, step: int, session: Any) -> None:
            seen.append(["post", step])

    captured = learn.monitors.CaptureVariable("weight:0", every_n=2)
    validation = learn.monitors.ValidationMonitor(X, YES, every_n_steps=2, check_interval_secs=0)
    monitors = [Told(3, 2), captured, validation, learn.monitors.StepCounter(), learn.monitors.NanLoss("off:0")]
    monitors += [learn.monitors.PrintTensor(["off"], every_n=5), learn.monitors.LoggingTrainable(every_n=5)]
    model.fit(X, YES, steps=10, batch_size=30, monitors=monitors)
    early = learn.monitors.ValidationMonitor(
        X, 1 - YES * 50, every_n_steps=2, early_stopping_rounds=4, check_interval_secs=0
    )
    before = model.get_variable_value("weight")
    model.fit(X, YES, steps=30, batch_size=30, monitors=[early])
    model.fit(X, YES, steps=9, batch_size=30, monitors=[learn.monitors.StopAtStep(num_steps=2)])
    same = learn.SKCompat(model)
    return {
        "seen": seen,
        "captured": {str(step): value for step, value in captured.values.items()},
        "validated": [validation.best_step, validation.best_metrics, validation.early_stopped],
        "stopped": [early.best_step, early.early_stopped, early.best_value],
        "before": before,
        "step": model.get_variable_value("global_step"),
        "evaluated": model.evaluate(X, YES),
        "sklearn": [same.predict(X[:3]), same.score(X, YES), same.fit(X, YES, steps=2) is same],
    }


def logistic_regressor(tf: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = tf.get_variable("weight", [4, 1])
        shares = tf.sigmoid(tf.matmul(features, weight))
        truth = tf.cast(tf.reshape(labels, [-1, 1]), tf.float32)
        loss = tf.reduce_mean(tf.square(shares - truth))
        return shares, loss, tf.train.GradientDescentOptimizer(0.5).minimize(loss, tf.train.get_global_step())

    model = tf.contrib.learn.LogisticRegressor(model_fn, thresholds=[0.4], config=_config(tf))
    model.fit(X, YES[:, None], steps=4, batch_size=10, monitors=[_loads(tf)])
    return model.evaluate(X, YES[:, None], batch_size=10)


def kmeans(tf: Any) -> Any:
    def input_fn() -> Any:
        return tf.constant(X), None

    model = tf.contrib.learn.KMeansClustering(3, initial_clusters=X[:3], use_mini_batch=False, config=_config(tf))
    model.fit(input_fn=input_fn, steps=3)
    transformed = model.transform(input_fn=input_fn)
    return {
        "clusters": model.clusters(),
        "score": model.score(input_fn=input_fn, steps=1),
        "indices": list(itertools.islice(model.predict_cluster_idx(input_fn=input_fn), 8)),
        "transformed": transformed[:4],
        "evaluated": model.evaluate(input_fn=input_fn, steps=1),
        "names": [name for name in model.get_variable_names() if "cluster" in name],
    }


def order_of_batches(tf: Any) -> Any:
    seen: list[Any] = []

    def model_fn(features: Any, labels: Any) -> Any:
        def note(values: Any, classes: Any) -> Any:
            seen.append([values["a"][:, 0].tolist(), classes.tolist(), list(values["b"].shape)])
            return np.float32(0)

        noted = tf.py_func(
            lambda a, b, y: note({"a": a, "b": b}, y), [features["a"], features["b"], labels], tf.float32
        )
        noted.set_shape([])
        weight = tf.get_variable("weight", [])
        loss = weight * 0.0 + noted
        return features, loss, tf.train.GradientDescentOptimizer(0.5).minimize(loss, tf.train.get_global_step())

    model = tf.contrib.learn.Estimator(model_fn, config=_config(tf))
    arrays = {"a": np.arange(6.0)[:, None], "b": np.zeros([6, 2, 3])}
    model.fit(arrays, np.arange(6), steps=5, batch_size=4)
    model.fit(arrays, np.arange(6)[:, None], steps=2)
    model.evaluate(arrays, np.arange(6), batch_size=4)
    return seen


PROGRAMS: dict[str, Any] = {
    one.__name__: one
    for one in (
        dnn_classifier,
        dnn_of_two_classes,
        dnn_regressor,
        linear_classifier,
        linear_of_three_classes,
        linear_regressor,
        combined_classifier,
        combined_regressor,
        columns_and_weights,
        many_labels,
        counts,
        margin,
        classes_with_metrics,
        thresholds,
        own_model,
        model_fn_ops,
        logistic_regressor,
        kmeans,
        order_of_batches,
    )
}
