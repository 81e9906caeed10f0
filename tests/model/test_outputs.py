"""Export outputs accept what a server can present, and nothing else."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest
import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.model.outputs import ClassificationOutput, ExportOutput, PredictOutput, RegressionOutput

SCORES, CLASSES, NUMBERS = tf.constant([[0.1]]), tf.constant([["a"]]), tf.constant([1])


def test_what_is_given_is_kept() -> None:
    both = ClassificationOutput(SCORES, CLASSES)
    assert (both.scores, both.classes) == (SCORES, CLASSES)
    assert ClassificationOutput(classes=CLASSES).scores is None
    assert RegressionOutput(SCORES).value is SCORES
    assert all(issubclass(kind, ExportOutput) for kind in (ClassificationOutput, RegressionOutput, PredictOutput))


def test_a_single_prediction_gets_a_name_and_a_dict_is_copied() -> None:
    assert PredictOutput(SCORES).outputs == {"output": SCORES}
    given = OrderedDict(b=SCORES, a=NUMBERS)
    made = PredictOutput(given)
    given.clear()
    assert list(made.outputs) == ["b", "a"]


def test_names_of_several_parts_are_joined() -> None:
    assert list(PredictOutput({("head", "logits"): SCORES}).outputs) == ["head/logits"]


def test_signatures_say_what_they_can_be_fed() -> None:
    text = (
        r"Regression signatures can only accept a single tensor input of type tf\.string, got .*tf\.io\.parse_example"
    )
    with pytest.raises(UsageError, match=text):
        RegressionOutput(SCORES).as_signature_def({"x": SCORES})
    with pytest.raises(UsageError, match="Classification signatures can only accept a single tensor"):
        ClassificationOutput(SCORES).as_signature_def({"a": CLASSES, "b": CLASSES})
    with pytest.raises(
        WrongType, match=r"Prediction signatures take the tensors that are fed as a dict by name, got <tf"
    ):
        PredictOutput(SCORES).as_signature_def(SCORES)
    with pytest.raises(NotImplementedError, match="ExportOutput has no as_signature_def: write it there"):
        ExportOutput().as_signature_def({})


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: ClassificationOutput(),
            "Cannot create a ClassificationOutput .*At least one of `scores` and `classes` must be defined, got "
            "neither",
        ),
        (
            lambda: ClassificationOutput(scores=NUMBERS),
            "Classification scores must be a float32 Tensor; got <tf.Tensor.*tf.cast",
        ),
        (lambda: ClassificationOutput(scores=[0.1]), r"scores must be a float32 Tensor; got \[0.1\]"),
        (
            lambda: ClassificationOutput(classes=SCORES),
            "Classification classes must be a string Tensor; got <tf.Tensor.*tf.as_string",
        ),
        (lambda: RegressionOutput(NUMBERS), "RegressionOutput: Regression output value must be a float32 Tensor; got"),
        (lambda: RegressionOutput(1.0), "RegressionOutput: Regression output value must be a float32 Tensor; got 1.0"),
        (lambda: PredictOutput({1: SCORES}), "PredictOutput: Prediction output key must be a string; got 1"),
        (
            lambda: PredictOutput({"a": 1}),
            r"PredictOutput: outputs\['a'\]: Prediction output value must be a Tensor; got 1",
        ),
        (
            lambda: PredictOutput(tf.sparse.from_dense([[1]])),
            r"outputs\['output'\]: .* must be a Tensor; got SparseTensor",
        ),
        (lambda: PredictOutput("a"), r"PredictOutput: outputs\['output'\]: .* must be a Tensor; got 'a'"),
    ],
)
def test_refusals_say_what_came(make: Any, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        make()
