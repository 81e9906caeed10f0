"""What `train_and_evaluate` and its specs say of mistakes: where, what was expected, what came, what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.contracts.test_error_texts import Mistake
from tests.estimator.workflow.runs import Noting, Watching, estimator, evaluation, train

import lightwell as lw
from lightwell.errors import LightwellError

v1 = tf.compat.v1


def run(directory: Path, eval_spec: Any = None, train_spec: Any = None, made: Any = None, **given: Any) -> Any:
    return lw.train_and_evaluate(
        estimator(directory) if made is None else made, train_spec or train(), eval_spec or evaluation(), **given
    )


def replaced(directory: Path, metrics: Any) -> Any:
    made = estimator(directory)
    made.evaluate = lambda **given: metrics  # type: ignore[method-assign]
    return run(directory, made=made)


def saving_elsewhere(directory: Path) -> Any:
    saver = v1.train.CheckpointSaverHook(str(directory) + "-elsewhere", save_steps=2)
    return run(directory, train_spec=train(hooks=[saver]))


def saving_nothing(directory: Path) -> Any:
    made = tiny.estimator(directory, save_checkpoints_steps=None, save_checkpoints_secs=None)
    return run(directory, made=made)


MISTAKES: dict[str, Mistake] = {
    "eval_spec is None": Mistake(
        lambda d: lw.train_and_evaluate(estimator(d), train(), None),  # type: ignore[arg-type]
        where="train_and_evaluate: `eval_spec`",
        expected=r"must have type `tf\.estimator\.EvalSpec`\. Got: ",
        got="Got: <class 'NoneType'> None",
        do=r"Write EvalSpec\(input_fn, steps=None\)",
    ),
    "eval_spec holds something else": Mistake(
        lambda d: run(d, [evaluation("a"), tiny.once]),
        where="train_and_evaluate: `eval_spec`",
        expected=r"must have type `tf\.estimator\.EvalSpec`\. Got: ",
        got="Got: <class 'function'> <function once",
        do=r"Write EvalSpec\(input_fn, steps=None\)",
    ),
    "no eval_specs": Mistake(
        lambda d: lw.train_and_evaluate(estimator(d), train(), []),
        where="train_and_evaluate: `eval_spec`",
        expected="at least one EvalSpec",
        got="is an empty list",
        do="to train, call train",
    ),
    "specs of one name": Mistake(
        lambda d: run(d, [evaluation("a"), evaluation("b"), evaluation("a")]),
        where="train_and_evaluate: several EvalSpecs",
        expected="must have names of their own",
        got=r"got \['a', 'b', 'a'\]",
        do="Give 'a' another name in one of them",
    ),
    "train_spec is a function": Mistake(
        lambda d: run(d, train_spec=tiny.data),
        where="train_and_evaluate: `train_spec`",
        expected=r"must have type `tf\.estimator\.TrainSpec`",
        got="Got: <class 'function'> <function data",
        do=r"Write TrainSpec\(input_fn, max_steps=\.\.\.\); the order is \(estimator, train_spec, eval_spec\)",
    ),
    "no estimator": Mistake(
        lambda d: run(d, made=tiny.linear),
        where="train_and_evaluate: `estimator`",
        expected=r"must have type `tf\.estimator\.Estimator`",
        got="Got: <class 'function'> <function linear",
        do=r"The order is \(estimator, train_spec, eval_spec\)",
    ),
    "observers is a hook": Mistake(
        lambda d: run(d, observers=[lw.SessionRunHook()]),
        where="train_and_evaluate: observers",
        expected="must be a list of EvaluationObserver",
        got="got <.*SessionRunHook object.*>, SessionRunHook",
        do=r"Hooks of the training belong to TrainSpec\(hooks=\.\.\.\)",
    ),
    "an observer is a class": Mistake(
        lambda d: run(d, observers=[Watching]),
        where="train_and_evaluate: observers",
        expected="must be a list of EvaluationObserver",
        got="got <class .*Watching'>",
        do="a class; make an instance of it",
    ),
    "exporters of one name": Mistake(
        lambda d: evaluation(exporters=[Noting("best"), Noting("best")]),
        where="EvalSpec: `exporters`",
        expected="must have unique names",
        got=r"All exporter names: \['best', 'best'\]",
        do="Give 'best' another name in one of them",
    ),
    "an exporter without a name": Mistake(
        lambda d: evaluation(exporters=[Noting("")]),
        where="EvalSpec: An Exporter",
        expected="cannot have a name that is `None` or empty",
        got=r"All exporter names: \[''\]",
        do="It exports to model_dir/export/<name>",
    ),
    "an exporter that is none": Mistake(
        lambda d: evaluation(exporters=[tiny.data]),
        where="EvalSpec: `exporters`",
        expected="must be an Exporter, an iterable of Exporter, or `None`",
        got="found function <function data",
        do=r"derive one from tf\.estimator\.Exporter",
    ),
    "steps of an evaluation": Mistake(
        lambda d: lw.EvalSpec(tiny.once, steps=0),
        where="EvalSpec:",
        expected="Must specify steps > 0",
        got="given: 0",
        do="Say None to evaluate to the end of the data",
    ),
    "steps in words": Mistake(
        lambda d: lw.EvalSpec(tiny.once, steps="all"),  # type: ignore[arg-type]
        where="EvalSpec: steps",
        expected="must be a number",
        got="got str 'all'",
        do="say None, to evaluate to the end of the data",
    ),
    "max_steps": Mistake(
        lambda d: train(-5),
        where="TrainSpec:",
        expected="Must specify max_steps > 0",
        got="given: -5",
        do="Say None to train to the end of the data",
    ),
    "input_fn is the data": Mistake(
        lambda d: train(input_fn=tiny.data()),
        where="TrainSpec: `input_fn`",
        expected="must be callable",
        got="given: _BatchDataset <_BatchDataset",
        do=r"wrap what you have: TrainSpec\(input_fn=lambda: \.\.\.\)",
    ),
    "a hook of the wrong kind": Mistake(
        lambda d: train(hooks=[tiny.data]),
        where="TrainSpec: hooks",
        expected="All hooks must be `SessionRunHook` instances, given: <function data",
        got="<function data .*> is not a hook",
        do=r"Derive it from tf\.compat\.v1\.train\.SessionRunHook",
    ),
    "a hook without a list": Mistake(
        lambda d: train(hooks=lw.SessionRunHook()),
        where="TrainSpec: hooks",
        expected="must be a list of SessionRunHook",
        got="given: <.*SessionRunHook object",
        do="Put it in a list",
    ),
    "a listener of the wrong kind": Mistake(
        lambda d: train(saving_listeners=[lw.SessionRunHook()]),
        where="TrainSpec: All saving_listeners",
        expected="must be `CheckpointSaverListener` instances",
        got="given: <.*SessionRunHook object",
        do=r"Derive it from tf\.compat\.v1\.train\.CheckpointSaverListener",
    ),
    "a name that is none": Mistake(
        lambda d: evaluation(3),  # type: ignore[arg-type]
        where="EvalSpec: `name`",
        expected="must be string",
        got="given: int 3",
        do="leave it out for the directory eval",
    ),
    "negative seconds": Mistake(
        lambda d: evaluation(throttle_secs=-1),
        where="EvalSpec:",
        expected="Must specify throttle_secs >= 0",
        got="given: -1",
        do="Say 0 for no wait at all",
    ),
    "two cadences": Mistake(
        lambda d: evaluation(every_steps=5, every_checkpoints=2),
        where="EvalSpec:",
        expected="Can not provide both every_steps and every_checkpoints",
        got="given: every_steps=5 and every_checkpoints=2",
        do="Leave one out",
    ),
    "steps and seconds": Mistake(
        lambda d: evaluation(every_steps=5, throttle_secs=60),
        where="EvalSpec:",
        expected="Can not provide both every_steps and throttle_secs",
        got="given: every_steps=5 and throttle_secs=60",
        do="Leave one out: evaluations come by steps, by checkpoints or by seconds",
    ),
    "half a checkpoint": Mistake(
        lambda d: evaluation(every_checkpoints=0.5),
        where="EvalSpec: every_checkpoints",
        expected="must be a whole number",
        got="given: float 0.5",
        do="a whole number",
    ),
    "no steps between evaluations": Mistake(
        lambda d: evaluation(every_steps=0),
        where="EvalSpec:",
        expected="Must specify every_steps > 0",
        got="given: 0",
        do="1 evaluates as often as can be",
    ),
    "a field that is not there": Mistake(
        lambda d: evaluation()._replace(step=3),
        where="EvalSpec",
        expected=r"it has \['input_fn', 'steps', .*'every_checkpoints'\]",
        got=r"has no fields \['step'\]",
        do="it has",
    ),
    "no checkpoints are saved": Mistake(
        saving_nothing,
        where="train:",
        expected="There should be a CheckpointSaverHook",
        got="both are off",
        do="set one of the RunConfig.save_checkpoints_steps or .*checkpoints are what it evaluates",
    ),
    "checkpoints are saved elsewhere": Mistake(
        saving_elsewhere,
        where="train_and_evaluate: There was no new checkpoint after the training",
        expected="Expected a checkpoint of step 2",
        got="Eval status: missing checkpoint.* there is none in model_dir",
        do="It has to save to model_dir",
    ),
    "evaluate was replaced, and gives nothing": Mistake(
        lambda d: replaced(d, {}),
        where="train_and_evaluate: `Estimator.evaluate`",
        expected="should never return empty metrics",
        got="got {}",
        do="return what the original returns",
    ),
    "evaluate was replaced, and gives no step": Mistake(
        lambda d: replaced(d, {"loss": 1.0}),
        where="train_and_evaluate: `Estimator.evaluate`",
        expected="should have `global_step` in result",
        got="Given {'loss': 1.0}",
        do="return what the original returns",
    ),
    "evaluate was replaced, and gives a list": Mistake(
        lambda d: replaced(d, [1.0]),
        where="train_and_evaluate: `Estimator.evaluate`",
        expected="should return dict",
        got=r"Given <class 'list'>: \[1\.0\]",
        do="return what the original returns",
    ),
    "best of a metric that is not there": Mistake(
        lambda d: run(d).best("mea", mode="min"),
        where="best: the metrics of evaluation ''",
        expected="There are: .*loss.*mae",
        got="have no metric 'mea'",
        do="Did you mean 'mae'",
    ),
    "best of a metric, high or low": Mistake(
        lambda d: run(d).best("mae", mode="low"),
        where="best: mode",
        expected="must be 'min', 'max' or 'auto'",
        got="got 'low'",
        do="'min'",
    ),
    "best of an evaluation that is not there": Mistake(
        lambda d: run(d, evaluation("test")).best(name="tset"),
        where="best: no evaluation",
        expected=r"there are \['test'\]",
        got="is called 'tset'",
        do="there are",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_it_says_all_four(name: str, tmp_path: Path) -> None:
    mistake = MISTAKES[name]
    with pytest.raises(LightwellError) as caught:
        mistake.make(tmp_path / "model")
    text = str(caught.value)
    for part in ("where", "expected", "got", "do"):
        assert caught.match(getattr(mistake, part)), (part, text)
