"""`tf.contrib.learn.learn_runner`: makes an experiment and runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lightwell.compat.contrib.learn.experiment import Experiment
from lightwell.errors import UsageError, WrongType

_SCHEDULES = ("train_and_evaluate", "continuous_train_and_eval", "local_run", "train", "evaluate", "test")


def run(
    experiment_fn: Callable[..., Any],
    output_dir: Any = None,
    schedule: str | None = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """Makes an `Experiment` and calls one of its methods.

    Args:
        experiment_fn: takes `(run_config, hparams)`, or `output_dir` alone.
        output_dir: the folder of the model, for the latter.
        schedule: the method; `train_and_evaluate` if None.
        run_config: a `RunConfig` with a `model_dir`, for the former.
        hparams: for the former.
    """
    if output_dir is not None and run_config is not None:
        raise UsageError("learn_runner.run: Cannot provide both `output_dir` and `run_config`; pass one of them.")
    if output_dir is None and run_config is None:
        raise UsageError("learn_runner.run: Must set value for `output_dir` or `run_config`.")
    if not callable(experiment_fn):
        raise WrongType(f"learn_runner.run: Experiment builder {experiment_fn!r} is not callable.")
    experiment = experiment_fn(output_dir) if run_config is None else experiment_fn(run_config, hparams)
    if not isinstance(experiment, Experiment):
        raise WrongType(
            f"learn_runner.run: Experiment builder did not return an Experiment instance, got {type(experiment)}."
        )
    chosen = schedule or "train_and_evaluate"
    if chosen not in _SCHEDULES:
        raise UsageError(
            f"learn_runner.run: Schedule references non-existent task {chosen}; there are: {', '.join(_SCHEDULES)}."
        )
    return getattr(experiment, chosen)()
