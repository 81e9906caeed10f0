"""Every canned model in both faces: trains, evaluates, predicts, exports, resumes, weighs, names classes, is open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.contracts import ready_made
from tests.estimator.canned.cases import DEEP, FEATURES, LABELS, WIDE, receiver_fn

import lightwell as lw
import lightwell.compat.v1.estimator as v1_face
import lightwell.estimator as v2_face

FACES = {"v1": v1_face, "v2": v2_face}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "Baseline": {},
    "Linear": {"feature_columns": WIDE},
    "DNN": {"feature_columns": DEEP, "hidden_units": [4, 3]},
    "DNNLinearCombined": {
        "linear_feature_columns": WIDE,
        "dnn_feature_columns": DEEP,
        "dnn_hidden_units": [4, 3],
    },
}
LOGITS = {
    "Baseline": "layers/baseline/logits",
    "Linear": "layers/linear/linear_model",
    "DNN": "layers/dnn/logits",
    "DNNLinearCombined": "layers/dnn/logits",
}
WEIGHT = {
    "Baseline": "baseline/bias",
    "Linear": "linear/linear_model/age/weights",
    "DNN": "dnn/logits/kernel",
    "DNNLinearCombined": "dnn/logits/kernel",
}
SLOW = [pytest.mark.slow]
# A minute and more for all: the fullest model is usual work. `test_recorded` has every model of both faces go on from a
# checkpoint, be evaluated, predict and export, too.
EACH = [
    pytest.param(face, model, marks=[] if (face, model) == ("v2", "DNNLinearCombined") else SLOW)
    for face in FACES
    for model in ARGUMENTS
]


def data(labels: str, repeat: int | None = None) -> Callable[[], Any]:
    """Batches of eight."""
    return lambda: tf.data.Dataset.from_tensor_slices((FEATURES, LABELS[labels])).repeat(repeat).batch(8)


def classifier(face: str, model: str, model_dir: Path, **more: Any) -> Any:
    return getattr(FACES[face], f"{model}Classifier")(model_dir=str(model_dir), **{**ARGUMENTS[model], **more})


@pytest.mark.parametrize(("face", "model"), EACH)
def test_the_life_of_a_classifier(face: str, model: str, tmp_path: Path) -> None:
    est = classifier(
        face, model, tmp_path / "model", label_vocabulary=["no", "yes"], weight_column="weight", n_classes=2
    )
    seen: list[Any] = []
    watch = lw.Watch(LOGITS[model], f"gradients/weights/{WEIGHT[model]}*", every=1, do=lambda w: seen.append(w))
    est.train(data("words"), steps=3, hooks=[watch])
    assert len(seen) == 3
    first = est.evaluate(data("words", 1))
    again = classifier(
        face, model, tmp_path / "model", label_vocabulary=["no", "yes"], weight_column="weight", n_classes=2
    )
    again.train(data("words"), steps=2)
    second = again.evaluate(data("words", 1))
    assert (first["global_step"], second["global_step"]) == (3, 5)
    assert second["loss"] != first["loss"]
    (row,) = list(again.predict(data("words", 1), taps=[LOGITS[model]]))[:1]
    assert row["classes"].tolist() in ([b"no"], [b"yes"])
    np.testing.assert_allclose(row["probabilities"].sum(), 1, rtol=1e-5)
    if model != "DNNLinearCombined":
        np.testing.assert_allclose(row[LOGITS[model]], row["logits"], rtol=1e-6)
    told = str(again.describe(data("words")).to_dict())
    assert LOGITS[model].removeprefix("layers/") in told
    folder = again.export_saved_model(str(tmp_path / "export"), receiver_fn(FACES[face]))
    served = tf.saved_model.load(folder.decode())
    assert {"serving_default", "predict", "classification", "regression"} == set(served.signatures)
    example = tf.train.Example()
    for key, value in FEATURES.items():
        _put(example.features.feature[key], value[0])
    given = served.signatures["predict"](examples=tf.constant([example.SerializeToString()]))
    np.testing.assert_allclose(given["logits"][0], row["logits"], rtol=1e-5, atol=1e-6)


def _put(feature: Any, values: Any) -> None:
    if values.dtype.kind == "f":
        feature.float_list.value.extend(values)
    elif values.dtype.kind == "i":
        feature.int64_list.value.extend(values)
    else:
        feature.bytes_list.value.extend(word.encode() for word in values if word)


USUAL_FORMS = (("keras", "v2"), ("class", "v1"))
KERAS_FORMS: dict[str, Callable[[], Any]] = {
    "keras": lambda: __import__("keras").optimizers.Adam(0.01),
    "keras with clipping": lambda: __import__("keras").optimizers.SGD(0.01, clipnorm=1.0),
    "v1": lambda: tf.compat.v1.train.MomentumOptimizer(0.01, 0.9),
    "class": lambda: tf.compat.v1.train.AdamOptimizer,
    "function": lambda: lambda: tf.compat.v1.train.AdamOptimizer(0.01),
    "schedule": lambda: (
        lambda: tf.compat.v1.train.GradientDescentOptimizer(
            tf.compat.v1.train.exponential_decay(0.1, tf.compat.v1.train.get_global_step(), 2, 0.5)
        )
    ),
    "keras schedule": lambda: __import__("keras").optimizers.SGD(
        __import__("keras").optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
    ),
}


@pytest.mark.parametrize(
    ("form", "face"),
    [
        pytest.param(form, face, marks=[] if (form, face) in USUAL_FORMS else SLOW)
        for form in KERAS_FORMS
        for face in FACES
    ],
)
def test_any_optimizer_trains_and_resumes(face: str, form: str, tmp_path: Path) -> None:
    optimizer = KERAS_FORMS[form]()
    losses = []
    for _ in range(2):
        est = FACES[face].DNNLinearCombinedRegressor(
            model_dir=str(tmp_path),
            linear_optimizer=optimizer if form != "keras with clipping" else "SGD",
            dnn_optimizer=optimizer if callable(optimizer) or "keras" not in form else KERAS_FORMS[form](),
            **ready_made.ARGUMENTS["DNNLinearCombined"],
        )
        est.train(data("number"), steps=3)
        losses.append(est.evaluate(data("number", 1))["loss"])
    assert losses[1] != losses[0]
    assert est.get_variable_value("global_step") == 6


def test_keras_optimizers_keep_their_state_where_the_original_did(tmp_path: Path) -> None:
    keras = pytest.importorskip("keras")
    est = lw.DNNRegressor([3], DEEP, model_dir=str(tmp_path), optimizer=keras.optimizers.Adam(0.01))
    est.train(data("number"), steps=1)
    assert "training/Adam/dnn/logits/kernel/m" in est.get_variable_names()
    assert "dnn/logits/kernel" in est.weights
    assert "training/Adam/dnn/logits/kernel/m" in est.weights.slots


def test_warm_start_takes_a_new_vocabulary(tmp_path: Path) -> None:
    names = {"old": ["rome", "oslo"], "new": ["lima", "oslo", "rome"]}
    files = {}
    for age, words in names.items():
        files[age] = tmp_path / f"{age}.txt"
        files[age].write_text("\n".join(words))

    def model(age: str, **more: Any) -> Any:
        words = tf.feature_column.categorical_column_with_vocabulary_file("city", str(files[age]), len(names[age]))
        return lw.LinearRegressor([words], model_dir=str(tmp_path / f"model_{age}"), **more)

    old = model("old")
    old.train(data("number"), steps=4)
    info = tf.compat.v1.train.VocabInfo(str(files["new"]), 3, 0, str(files["old"]), 2)
    settings = lw.WarmStartSettings(
        old.model_dir, var_name_to_vocab_info={"linear/linear_model/city/weights": info}, vars_to_warm_start=".*city.*"
    )
    new = model("new", warm_start_from=settings, optimizer=lambda: tf.compat.v1.train.GradientDescentOptimizer(0.0))
    new.train(data("number"), steps=1)
    before = old.get_variable_value("linear/linear_model/city/weights")
    np.testing.assert_allclose(new.get_variable_value("linear/linear_model/city/weights")[[2, 1]], before)


def test_shared_embeddings_are_read_and_trained(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        city, twin = (
            tf.feature_column.categorical_column_with_vocabulary_list(k, ["rome", "oslo"]) for k in ("city", "twin")
        )
        shared = tf.feature_column.shared_embeddings([city, twin], 2)

    def rows() -> Any:
        features = {"city": FEATURES["city"], "twin": FEATURES["city"][::-1], "age": FEATURES["age"]}
        return tf.data.Dataset.from_tensor_slices((features, LABELS["number"])).repeat().batch(8)

    est = lw.DNNRegressor([3], [*shared, tf.feature_column.numeric_column("age")], model_dir=str(tmp_path))
    est.train(rows, steps=1)
    before = est.get_variable_value("city_twin_shared_embedding")
    est.train(rows, steps=3)
    assert not np.array_equal(before, est.get_variable_value("city_twin_shared_embedding"))
    row = next(est.predict(rows, taps="layers/dnn/input_from_feature_columns/*"))
    assert any("shared_embedding" in path for path in row)


def test_dropout_and_partitioners(tmp_path: Path) -> None:
    halves = tf.compat.v1.fixed_size_partitioner(2)
    est = v1_face.DNNClassifier(
        [8], DEEP, str(tmp_path), 2, None, None, "Adagrad", tf.nn.relu, 0.5, halves, batch_norm=True
    )
    est.train(data("two"), steps=2)
    first, second = (est.evaluate(data("two", 1)) for _ in range(2))
    assert first == second, "nothing is dropped in evaluation"


def test_logit_fns_in_a_model_fn_of_your_own(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
        experimental = v1_face.experimental
        deep = experimental.dnn_logit_fn_builder(1, [3], DEEP, tf.nn.relu, None, None, False)
        wide = experimental.linear_logit_fn_builder(1, WIDE)
        logits = experimental.call_logit_fn(deep, features, mode, params, config)
        logits += experimental.call_logit_fn(wide, features, mode, params, config)
        return lw.RegressionHead().create_estimator_spec(
            features, mode, logits, labels, optimizer=tf.compat.v1.train.AdamOptimizer()
        )

    est = lw.Estimator(model_fn, str(tmp_path))
    est.train(data("number"), steps=2)
    assert {"hiddenlayer_0/kernel", "linear_model/age/weights"} <= set(est.get_variable_names())
    with pytest.raises(ValueError, match=r"units must be an int. Given type: <class 'float'>, 1.5"):
        v1_face.experimental.linear_logit_fn_builder(1.5, WIDE)
    with pytest.raises(ValueError, match=r"logit_fn should return a Tensor or a dictionary .* returned: 3 \(int\)"):
        lw.estimator.experimental.call_logit_fn(lambda features: 3, {}, "train", {}, None)


def test_more_metrics_and_forwarded_features(tmp_path: Path) -> None:
    est = lw.LinearRegressor(WIDE, model_dir=str(tmp_path / "model"))
    est.train(data("number"), steps=2)

    def spread(labels: Any, predictions: Any) -> Any:
        return {"rmse": tf.compat.v1.metrics.root_mean_squared_error(labels, predictions["predictions"])}

    result = lw.add_metrics(est, spread).evaluate(data("number", 1))
    np.testing.assert_allclose(result["rmse"] ** 2, result["average_loss"], rtol=1e-4)
    with pytest.raises(ValueError, match=r"has following not expected args: \['truth'\]. It may take any of"):
        lw.add_metrics(est, lambda truth: {})
    kept = lw.forward_features(est, ["level", "age"])
    rows = list(kept.predict(data("number", 1)))
    np.testing.assert_array_equal([row["level"] for row in rows], FEATURES["level"])
    folder = lw.forward_features(est, "age").export_saved_model(str(tmp_path / "export"), receiver_fn(lw.estimator))
    assert "age" in tf.saved_model.load(folder.decode()).signatures["predict"].structured_outputs
    with pytest.raises(ValueError, match=r"'years' is not in features: \['age', 'city'"):
        next(lw.forward_features(est, "years").predict(data("number", 1)))
    with pytest.raises(TypeError, match=r"keys should be either a string or a list of strings. Given: 3"):
        lw.forward_features(est, 3)  # type: ignore[arg-type]
