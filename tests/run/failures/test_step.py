"""What goes wrong while a model runs is told by the user's own line, in few lines, as an error of TensorFlow's."""

from __future__ import annotations

import ast
import pickle
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.run.failures import failing
from tests.run.failures.failing import line_of, model

import lightwell as lw

v1 = tf.compat.v1
Invalid, NotFound = tf.errors.InvalidArgumentError, tf.errors.NotFoundError


def train(directory: Path, middle: Any = lambda x: x, input_fn: Any = tiny.data, steps: int = 50, **how: Any) -> Any:
    return tiny.estimator(directory, model(middle), **how).train(input_fn, steps=steps)


def evaluate(directory: Path, middle: Any) -> Any:
    return tiny.estimator(directory, model(middle)).evaluate(tiny.once)


def predict(directory: Path, middle: Any) -> Any:
    return list(tiny.estimator(directory, model(middle)).predict(tiny.once))


@dataclass(frozen=True)
class Failure:
    """Something that fails while it runs: the class of the error, TensorFlow's sentence, and what else it must say."""

    make: Callable[[Path], Any]
    kind: type[BaseException]
    reason: str
    line: str
    also: tuple[str, ...] = ()


INDEX = "indices[2] = 3 is not in [0, 3)"
INPUTS = "Inputs: variable 'table' [3] float32, 'rows' [?] int32."
NO_SOFT = v1.ConfigProto(allow_soft_placement=False)
AS_IT_IS = v1.ConfigProto()
AS_IT_IS.graph_options.rewrite_options.disable_meta_optimizer = True  # which would try to allocate it, too, for long
FAILURES: dict[str, Failure] = {
    "fused training": Failure(
        lambda d: train(d, failing.lookup),
        Invalid,
        INDEX,
        "lookup",
        ("The op 'Gather' (ResourceGather) failed in training, batch 1; made in model_fn here:", INPUTS),
    ),
    "training step by step": Failure(
        lambda d: train(d, failing.lookup, fuse_steps=False), Invalid, INDEX, "lookup", ("failed in training", INPUTS)
    ),
    "training with a hook that sees each step": Failure(
        lambda d: tiny.estimator(d, model(failing.lookup)).train(tiny.data, [v1.train.SessionRunHook()], 5),
        Invalid,
        INDEX,
        "lookup",
        (INPUTS,),
    ),
    "in the middle of a call": Failure(
        lambda d: train(d, failing.late_lookup),
        Invalid,
        "indices[2] = 30 is not in [0, 30)",
        "late lookup",
        ("batch 24",),
    ),
    "evaluation": Failure(
        lambda d: evaluate(d, failing.lookup), Invalid, INDEX, "lookup", ("failed in evaluation", INPUTS)
    ),
    "evaluation with hooks": Failure(
        lambda d: tiny.estimator(d, model(failing.lookup)).evaluate(tiny.once, hooks=[v1.train.SessionRunHook()]),
        Invalid,
        INDEX,
        "lookup",
        ("failed in evaluation",),
    ),
    "prediction": Failure(lambda d: predict(d, failing.lookup), Invalid, INDEX, "lookup", ("failed in prediction",)),
    "a predictor": Failure(
        lambda d: tiny.estimator(d, model(failing.lookup)).predictor({"x": tiny.X})({"x": tiny.X}),
        Invalid,
        INDEX,
        "lookup",
        ("failed in prediction",),
    ),
    "a layer": Failure(
        lambda d: train(d, failing.in_a_layer),
        Invalid,
        "Incompatible shapes: [4,2] vs. [5,1]",
        "layer",
        ("Layer: layers/stretched.", "'stretched/BiasAdd' [?, 2] float32"),
    ),
    "a branch": Failure(
        lambda d: train(d, failing.branch), Invalid, "indices[0] = 5 is not in [0, 3)", "branch", ("'Gather'",)
    ),
    "a tf.function": Failure(
        lambda d: train(d, failing.function), Invalid, INDEX, "function", ("inside 'StatefulPartitionedCall'",)
    ),
    "a gradient function": Failure(
        lambda d: train(d, failing.own_gradient),
        Invalid,
        "bad gradient : Tensor had ",
        "own gradient",
        ("The gradient of 'IdentityN' (IdentityN), op 'gradients/IdentityN_grad/CheckNumerics', failed in training",),
    ),
    "a gradient": Failure(
        lambda d: train(d, failing.gradient_of),
        Invalid,
        "Incompatible shapes: [4] vs. [5]",
        "gradient of",
        ("The gradient of 'total' (AddV2), op 'gradients/total_grad/BroadcastGradientArgs', failed in training",),
    ),
    "a placeholder": Failure(
        lambda d: train(d, failing.unfed),
        Invalid,
        "You must feed a value for placeholder tensor 'rate' with dtype float",
        "unfed",
        ("feed_dict", "tf.compat.v1.placeholder_with_default"),
    ),
    "a device": Failure(
        lambda d: train(d, failing.on_missing_device, session_config=NO_SOFT),
        Invalid,
        "Cannot assign a device for operation ",
        "device",
        ("available devices are [ /job:localhost/replica:0/task:0/device:CPU:0", "Take that tf.device away, or let"),
    ),
    "a vocabulary": Failure(
        lambda d: train(d, failing.vocabulary),
        NotFound,
        "/nowhere/words.txt; No such file or directory",
        "vocabulary",
        ("Check the path; relative ones start from ",),
    ),
    "a variable too large": Failure(
        lambda d: train(d, failing.huge, session_config=AS_IT_IS),
        Invalid,
        "Cannot parse tensor from proto",
        "huge",
        ("The initial value of variable 'huge'", "[4398046511104], 16,384.0 GiB of float32. Make it smaller"),
    ),
    "a function of the dataset": Failure(
        lambda d: train(d, input_fn=failing.mapped),
        Invalid,
        "in the map : Tensor had ",
        "map",
        ("The input, in op 'CheckNumerics' (CheckNumerics) of a function of the dataset, failed", "made in input_fn"),
    ),
    "a generator": Failure(
        lambda d: train(d, input_fn=failing.generated),
        tf.errors.UnknownError,
        "RuntimeError: the generator broke",
        "generator",
        ("raised by Python here:",),
    ),
    "a file": Failure(
        lambda d: train(d, input_fn=failing.of_a_missing_file),
        NotFound,
        "/nowhere/rows.tfrecord; No such file or directory",
        "file",
        ("made in input_fn here:", "Check the path"),
    ),
    "rows of unequal length": Failure(
        lambda d: train(d, input_fn=failing.of_unequal_rows),
        Invalid,
        "Cannot ",
        "batch",
        ("made in input_fn here:", "have to be mended in input_fn"),
    ),
}


def caught(make: Callable[[Path], Any], directory: Path) -> Any:
    with pytest.raises(tf.errors.OpError) as told:
        make(directory)
    return told.value


LONG = "a variable too large"  # gigabytes are made, and then refused


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == LONG else []) for name in FAILURES]
)
def test_it_names_the_line_of_the_user_in_few_lines(name: str, tmp_path: Path) -> None:
    failure = FAILURES[name]
    error = caught(failure.make, tmp_path)
    text = str(error)
    assert isinstance(error, failure.kind)
    assert type(error).__name__ == failure.kind.__name__
    assert text.startswith(failure.reason)
    assert line_of(failure.line) in text, text
    for part in failure.also:
        assert part in text, text
    assert "lightwell/fused" not in text
    assert len(text.splitlines()) <= 10
    assert len(text) < 1200
    assert tf.executing_eagerly()


def test_it_is_an_error_of_tensorflow_with_the_op_that_the_user_made(tmp_path: Path) -> None:
    error = caught(FAILURES["fused training"].make, tmp_path)
    assert (error.op.name, error.node_def.name) == ("Gather", "Gather")
    assert error.op.type == error.node_def.op == "ResourceGather"
    assert error.error_code == tf.errors.INVALID_ARGUMENT
    assert error.message == str(error)


def test_it_can_be_sent_to_another_process(tmp_path: Path) -> None:
    error = caught(FAILURES["fused training"].make, tmp_path)
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, Invalid)
    assert (str(again), again.error_code) == (str(error), error.error_code)


def test_the_advice_is_good(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, model(failing.lookup))
    error = caught(lambda _: made.train(tiny.data, steps=1), tmp_path)
    (call,) = re.findall(r"est\.predict\(input_fn, predict_keys=\[\], taps=(\[.*\])\)", str(error))
    rows = list(made.predict(tiny.once, predict_keys=[], taps=ast.literal_eval(call)))
    assert [row["tensors/rows:0"] for row in rows] == list(tiny.X)


def test_what_tensorflow_said_stays_at_hand_but_is_not_shown(tmp_path: Path) -> None:
    error = caught(FAILURES["in the middle of a call"].make, tmp_path)
    shown = "".join(traceback.format_exception(error))
    assert "During handling" not in shown
    assert "tensorflow/python/client/session.py" not in shown
    original = error.__context__
    assert type(original) is Invalid
    assert any("client/session.py" in frame.filename for frame in traceback.extract_tb(original.__traceback__))


def test_the_end_of_the_data_is_no_error_and_stays_what_it_is(tmp_path: Path) -> None:
    seen: list[BaseException] = []

    class Reads(v1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            try:
                for _ in range(10):
                    run_context.session.run(self.batch)
            except tf.errors.OutOfRangeError as error:
                seen.append(error)

        def begin(self) -> None:
            self.batch = v1.get_default_graph().get_tensor_by_name("IteratorGetNext:0")

    tiny.estimator(tmp_path).train(tiny.once, [Reads()])
    assert len(seen) == 1


def needing_data(features: Any, labels: Any, mode: str) -> Any:
    spec = tiny.linear(features, labels, mode, {})
    return spec._replace(eval_metric_ops={"own": (tf.reduce_mean(labels), tf.no_op())})


@pytest.mark.parametrize("hooks", [None, [v1.train.SessionRunHook()]])
def test_a_metric_that_needs_a_batch_when_there_is_none_left(tmp_path: Path, hooks: Any) -> None:
    made = tiny.estimator(tmp_path, needing_data)
    with pytest.raises(tf.errors.OutOfRangeError) as told:
        made.evaluate(tiny.once, hooks=hooks)
    text = str(told.value)
    assert text.startswith("End of sequence: evaluate has taken all batches into the metrics, and the value of metric ")
    assert "'own' needs one more" in text
    assert "as tf.compat.v1.metrics.mean(x) does it" in text
    assert made.evaluate(tiny.data, steps=2)["own"] == tiny.Y[:4].mean()  # as in tf.estimator


def test_an_evaluation_without_any_batch_has_a_result(tmp_path: Path) -> None:
    result = tiny.estimator(tmp_path).evaluate(lambda: tiny.data(1).take(0))
    assert result == {"loss": 0, "mae": 0, "global_step": 0}


def test_lightwell_errors_from_a_step_are_as_they_were(tmp_path: Path) -> None:
    class Stops(v1.train.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        lw.Estimator(model(lambda x: x), str(tmp_path)).train(tiny.data, [Stops()], steps=1)


def test_an_assertion_inside_a_branch_is_told_in_its_own_words(tmp_path: Path) -> None:
    def checked(features: Any, mode: str) -> Any:
        with tf.control_dependencies([tf.debugging.assert_less(tf.reduce_max(features["x"]), 0.0)]):
            return lw.EstimatorSpec(mode, predictions={"out": tf.identity(features["x"])})

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^assertion failed: .*Condition x < y") as caught:
        list(tiny.estimator(tmp_path, checked).predict(tiny.once))
    assert "test_step.py" in str(caught.value)
