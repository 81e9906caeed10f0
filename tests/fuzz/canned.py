"""Kinds of ready-made models, by both faces. Each function gives an Estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tests.fuzz.parts import FLAG, Whole, one_of, part

v1 = tf.compat.v1
_OPTIMIZERS = one_of("SGD", "Adagrad", "Ftrl", "Adam", "RMSProp")
_FACE = one_of("v2", "v1")


def columns_of(lab: Any, data: Any) -> Any:
    """Columns of all features there are; for linear parts, and for dense ones."""
    fc = tf.feature_column
    x = fc.numeric_column("x", [data["width"]])
    wide, deep = [x], [x]
    if "ids" in data["extras"]:
        ids = fc.categorical_column_with_identity("ids", 6)
        wide.append(ids)
        deep.append(fc.indicator_column(ids))
    if "word" in data["extras"]:
        words = fc.categorical_column_with_vocabulary_file("word", lab.path("vocabulary.txt"), num_oov_buckets=2)
        wide.append(fc.categorical_column_with_hash_bucket("word", 5))
        deep.append(fc.indicator_column(words))
        if "ids" in data["extras"]:
            wide.append(fc.crossed_column(["word", "ids"], 7))
    return wide, deep


def face_of(face: str) -> Any:
    return v1.estimator if face == "v1" else tf.estimator


class Settled(v1.train.SessionRunHook):
    """Initial weights that do not depend on the process."""

    def begin(self) -> None:
        self.set = []
        for place, variable in enumerate(v1.trainable_variables()):
            shape = variable.shape.as_list()
            values = np.random.RandomState(place).uniform(-0.5, 0.5, shape).astype(np.float32)
            self.set.append(variable.assign(values).op)

    def after_create_session(self, session: Any, coord: Any) -> None:
        if session.run(v1.train.get_global_step()) == 0:
            session.run(self.set)


@part("canned", face=_FACE, optimizer=_OPTIMIZERS, uses=(columns_of, face_of), sums=one_of("sum", "sqrtn"))
def linear_regressor(lab: Any, data: Any, face: str, optimizer: str, sums: str, **settings: Any) -> Any:
    wide, _ = columns_of(lab, data)
    return face_of(face).LinearRegressor(wide, optimizer=optimizer, sparse_combiner=sums, **settings)


@part("canned", face=_FACE, optimizer=_OPTIMIZERS, uses=(columns_of, face_of), tags=("classes",))
def linear_classifier(lab: Any, data: Any, face: str, optimizer: str, **settings: Any) -> Any:
    wide, _ = columns_of(lab, data)
    return face_of(face).LinearClassifier(wide, optimizer=optimizer, **settings)


@part("canned", face=_FACE, optimizer=_OPTIMIZERS, uses=(columns_of, face_of, Settled), tags=("settled",), norm=FLAG)
def dnn_regressor(lab: Any, data: Any, face: str, optimizer: str, norm: bool, **settings: Any) -> Any:
    _, deep = columns_of(lab, data)
    return face_of(face).DNNRegressor([4, 3], deep, optimizer=optimizer, batch_norm=norm, **settings)


@part(
    "canned",
    face=_FACE,
    optimizer=_OPTIMIZERS,
    uses=(columns_of, face_of, Settled),
    tags=("settled", "classes"),
    classes=Whole(2, 3),
)
def dnn_classifier(lab: Any, data: Any, face: str, optimizer: str, classes: int, **settings: Any) -> Any:
    _, deep = columns_of(lab, data)
    return face_of(face).DNNClassifier([4, 3], deep, n_classes=classes, optimizer=optimizer, **settings)


@part("canned", face=_FACE, deep=_OPTIMIZERS, uses=(columns_of, face_of, Settled), tags=("settled", "classes"))
def combined_classifier(lab: Any, data: Any, face: str, deep: str, **settings: Any) -> Any:
    wide, dense = columns_of(lab, data)
    return face_of(face).DNNLinearCombinedClassifier(
        linear_feature_columns=wide,
        dnn_feature_columns=dense,
        dnn_hidden_units=[4],
        dnn_optimizer=deep,
        **settings,
    )


@part("canned", face=_FACE, linear=_OPTIMIZERS, uses=(columns_of, face_of, Settled), tags=("settled",))
def combined_regressor(lab: Any, data: Any, face: str, linear: str, **settings: Any) -> Any:
    wide, dense = columns_of(lab, data)
    return face_of(face).DNNLinearCombinedRegressor(
        linear_feature_columns=wide,
        dnn_feature_columns=dense,
        dnn_hidden_units=[3],
        linear_optimizer=linear,
        **settings,
    )


@part("canned", face=_FACE, optimizer=_OPTIMIZERS, uses=(face_of,), tags=("classes", "layerless"), weight=0.5)
def baseline_classifier(lab: Any, data: Any, face: str, optimizer: str, **settings: Any) -> Any:
    return face_of(face).BaselineClassifier(optimizer=optimizer, **settings)


@part("canned", face=_FACE, optimizer=_OPTIMIZERS, uses=(face_of,), tags=("layerless",), weight=0.5)
def baseline_regressor(lab: Any, data: Any, face: str, optimizer: str, **settings: Any) -> Any:
    return face_of(face).BaselineRegressor(optimizer=optimizer, **settings)
