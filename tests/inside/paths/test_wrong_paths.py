"""What a user is told who writes a path that names nothing: the right one first, or why there is none in this mode."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf
from tests.inside.paths.models import EVAL, PREDICT, TRAIN

import lightwell as lw
from lightwell.inside.paths.catalogue import Catalogue
from lightwell.inside.paths.select import select
from lightwell.run.engine.program import Program

# What was written -> the first suggestion, in training.
MEANT = {
    # letters
    "layers/con2d": "layers/conv2d",
    "layers/conv2d_2": "layers/conv2d",
    "layers/conv2d1": "layers/conv2d_1",
    "layers/conv2d-1": "layers/conv2d_1",
    "layers/conv2d 1": "layers/conv2d_1",
    "layers/max_pool2d": "layers/max_pooling2d",
    "layers/maxpooling2d": "layers/max_pooling2d",
    "layers/droput": "layers/dropout",
    "layers/hiden": "layers/hidden",
    "features/agee": "features/age",
    "predictions/probabilites": "predictions/probabilities",
    "predictions/class": "predictions/classes",
    "weights/hidden/kernal": "weights/hidden/kernel",
    "collections/my_feature": "collections/my_features",
    "timing/steps": "timing/step",
    "timing/examples": "timing/examples_per_second",
    "learning_rat": "learning_rate",
    # case
    "Layers/Conv2D": "layers/conv2d",
    "layers/Hidden": "layers/hidden",
    "FEATURES/AGE": "features/age",
    "weights/hidden/Kernel": "weights/hidden/kernel",
    "slots/hidden/kernel/adam": "slots/hidden/kernel/Adam",
    # the section left out, or one too few
    "age": "features/age",
    "probabilities": "predictions/probabilities",
    "hidden/kernel": "weights/hidden/kernel",
    "my_features": "collections/my_features",
    "gradients/hidden/kernel": "gradients/weights/hidden/kernel",
    "gradients/hidden": "gradients/layers/hidden",
    "updates/hidden/kernel": "updates/weights/hidden/kernel",
    "layers/lstm_cell": "layers/rnn/lstm_cell[0]",
    # another word for the section, plurals
    "feature/age": "features/age",
    "inputs/age": "features/age",
    "label": "labels",
    "targets": "labels",
    "layer/hidden": "layers/hidden",
    "activations/hidden": "layers/hidden",
    "variables/hidden/kernel": "weights/hidden/kernel",
    "weight/hidden/kernel": "weights/hidden/kernel",
    "gradient/weights/hidden/kernel": "gradients/weights/hidden/kernel",
    "grad(layers/hidden)": "gradients/layers/hidden",
    "losses": "loss",
    "lr": "learning_rate",
    "step": "global_step",
    # the wrong section
    "layers/hidden/kernel": "weights/hidden/kernel",
    "layers/age": "features/age",
    "gradients/layers/hidden/kernel": "gradients/weights/hidden/kernel",
    "features/my_features": "collections/my_features",
    # other notations
    "layers.hidden": "layers/hidden",
    "layers.hidden.kernel": "weights/hidden/kernel",
    "features['age']": "features/age",
    'features["age"]': "features/age",
    "features[age]": "features/age",
    "layers\\hidden": "layers/hidden",
    "/layers/hidden/": "layers/hidden",
    " layers / hidden ": "layers/hidden",
    "layers//hidden": "layers/hidden",
    "weights/hidden/kernel:1": "weights/hidden/kernel",
    "layers/hidden/output": "layers/hidden",
    "layers/hidden/inputs": "layers/hidden/input",
    # numbers of calls and outputs
    "layers/hidden:1": "layers/hidden",
    "layers/hidden[0]": "layers/hidden",
    "layers/shared:2": "layers/shared:0",
    "layers/rnn/lstm_cell[7]": "layers/rnn/lstm_cell[0]",
    # parts of a path, and globs
    "layers": "layers/*",
    "weights": "weights/*",
    "weights/hidden": "weights/hidden/*",
    "layers/encoder": "layers/encoder/dense",
    "slots/hidden/kernel": "slots/hidden/kernel/*",
    "layer/conv*": "layers/conv*",
    "layers/Conv*": "layers/conv2d",
    "layers/lstm*": "layers/rnn/lstm_cell[0]",
    # tensors of the graph
    "softmax_tenso": "tensors/softmax_tensor:0",
    "tensors/softmax": "tensors/softmax_tensor:0",
}

# Mode, what was written -> what the text says.
ABSENT = {
    (PREDICT, "labels"): "predict() drops the labels",
    (PREDICT, "label"): "predict() drops the labels",
    (PREDICT, "loss"): "prediction computes no loss",
    (PREDICT, "gradients/weights/hidden/kernel"): "a gradient needs the loss",
    (PREDICT, "grads/layers/*"): "a gradient needs the loss",
    (PREDICT, "updates/weights/hidden/kernel"): "weights change in training only",
    (PREDICT, "metrics/accuracy"): "computed in evaluation only",
    (PREDICT, "slots/hidden/kernel/Adam"): "est.weights.slots",
    (EVAL, "updates/weights/hidden/kernel"): "weights change in training only",
    (EVAL, "learning_rate"): "only training has an optimizer",
    (EVAL, "lr"): "only training has an optimizer",
    (EVAL, "slots/*"): "optimizer state is loaded in training only",
    (TRAIN, "metrics/accuracy"): "computed in evaluation only",
    (TRAIN, "metric/accuracy"): "computed in evaluation only",
}


def _told(program: Program, path: Any) -> str:
    with pytest.raises(lw.errors.PathError) as caught:
        select(Catalogue(program), path, "here")
    return str(caught.value)


@pytest.mark.parametrize("path", MEANT)
def test_the_first_suggestion_is_what_was_meant(path: str, everything: Callable[[str], Program]) -> None:
    text = _told(everything(TRAIN), path)
    assert text.startswith(f"here: {path!r} names nothing in this model. Did you mean ")
    assert re.findall(r"'([^']+)'", text.partition("Did you mean ")[2])[0] == MEANT[path], text


@pytest.mark.parametrize("suggestion", sorted(set(MEANT.values())))
def test_suggestions_are_paths_that_work(suggestion: str, everything: Callable[[str], Program]) -> None:
    assert select(Catalogue(everything(TRAIN)), suggestion, "here")


@pytest.mark.parametrize(("mode", "path"), ABSENT)
def test_what_does_not_exist_in_a_mode_says_why(mode: str, path: str, everything: Callable[[str], Program]) -> None:
    text = _told(everything(mode), path)
    word = {TRAIN: "training", EVAL: "evaluation", PREDICT: "prediction"}[mode]
    assert text.startswith(f"here: there is no {path!r} in {word}: ")
    assert ABSENT[mode, path] in text


def test_what_is_like_nothing_is_answered_with_what_there_is(everything: Callable[[str], Program]) -> None:
    text = _told(everything(TRAIN), "qqqq")
    assert "nothing comes near it" in text
    assert "Its paths begin with features, labels, layers" in text
    assert "'layers/conv2d'" in text
    assert "names nothing" in _told(everything(TRAIN), "")


def test_a_class_and_a_predicate_that_choose_nothing_say_so(everything: Callable[[str], Program]) -> None:
    assert "no layer of this model is a Conv3D" in _told(everything(TRAIN), lw.layers.Conv3D)

    def is_huge(entry: Any) -> bool:
        return False

    text = _told(everything(TRAIN), is_huge)
    assert "the predicate is_huge chose none of the paths" in text
    assert "layers/conv2d" in text


def test_what_is_no_selection_is_refused(everything: Callable[[str], Program]) -> None:
    with pytest.raises(lw.errors.WrongType, match=r"here: a selection is a path, a glob.* got 3"):
        select(Catalogue(everything(TRAIN)), 3, "here")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "features/depth",
            r"'features/depth' cannot be read: it is no tensor but the int 3, which model_fn gets as it is",
        ),
        ("features/sizes", r"it is no tensor but the float 0.5 \('features/sizes/0' and what else is below it\)"),
        ("features/sizes/1", r"it is no tensor but the float 1.5.*only tensors have paths. Give it as tf.constant"),
        ("features/dept", r"names nothing in this model. Did you mean 'features/x'"),
    ],
)
def test_what_the_input_gives_as_a_python_value_has_no_path_and_says_why(
    path: str, text: str, tmp_path_factory: Any
) -> None:
    def model_fn(features: Any, mode: str) -> lw.EstimatorSpec:
        assert features["depth"] == 3, "it arrives as it is"
        return lw.EstimatorSpec(mode, {"y": lw.layers.dense(features["x"], features["depth"])})

    def input_fn() -> Any:
        return {"x": tf.ones([2, 2]), "depth": 3, "sizes": [0.5, 1.5]}

    est = lw.Estimator(model_fn, str(tmp_path_factory.mktemp("plain")))
    with pytest.raises(lw.errors.PathError, match=text):
        next(est.predict(input_fn, taps=[path]))
    with pytest.raises(lw.errors.PathError, match=text):
        next(est.predict(input_fn, edits=[lw.scale(path, 2.0)]))
