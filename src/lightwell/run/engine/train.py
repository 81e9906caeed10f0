"""Training: steps up to a goal, and what happens when they are interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.interrupts import Terminated, leave_by_sigterm, sigterm_raises, sigterm_waits
from lightwell.base.log import logger
from lightwell.run.config import RunConfig
from lightwell.run.devices.gpus import device_summary
from lightwell.run.devices.member import TrainingOver
from lightwell.run.devices.synchronized_steps import has_joint_statistics
from lightwell.run.engine.program import Program
from lightwell.run.engine.runner import Runner
from lightwell.run.engine.session import SessionPlan
from lightwell.run.failures.nan import explain_nan
from lightwell.run.hooks.defaults import checkpoint_hook, training_hooks
from lightwell.run.hooks.save_checkpoint import SaveCheckpoint
from lightwell.run.hooks.save_with_chief import SaveWithChief
from lightwell.run.hooks.stop_at_step import StopAtStep
from lightwell.run.loops.task import Task

_JOINT_STEPS = 1000


@dataclass(frozen=True)
class Goal:
    """How far to train: so many more steps, up to a step, or (both None) to the end of the data."""

    steps: int | None = None
    max_steps: int | None = None


@dataclass(frozen=True, eq=False)
class TrainOutcome:
    """What a training came to: the last step, its loss (None if no step ran), and whether the data ended it."""

    global_step: int
    loss: Any
    data_ended: bool = False


def task_of_training(program: Program) -> Task:
    """Steps of a training: the counter and the loss come with each."""
    spec = program.spec
    return Task((spec.train_op,), [spec.train_op, spec.loss], program.step_after, spec.loss)


def train(
    program: Program,
    *,
    goal: Goal,
    hooks: Sequence[Any],
    listeners: Sequence[Any],
    model_dir: str,
    config: RunConfig,
    plan: SessionPlan,
) -> TrainOutcome:
    """Runs a training program to its goal.

    Raises:
        NanLossDuringTrainingError: the loss is NaN.
        ModelDirError: checkpoints cannot be written.
    """
    together = plan.member is not None and plan.member.is_synchronized
    joint = together and has_joint_statistics(program.graph)
    if joint:
        config = _saving_by_steps(config)
    spec, saver = program.spec, None
    if config.is_chief:
        saver = checkpoint_hook(
            spec,
            config,
            model_dir,
            hooks,
            listeners=listeners,
            resumed_from=lambda: run.restored,
            edits=program.live_edits,
        )
    stop = None
    if goal.steps or goal.max_steps:
        stop = StopAtStep(goal.steps, goal.max_steps, may_stand_still=bool(config.master))
    chain = training_hooks(
        spec,
        config,
        model_dir,
        hooks,
        saver=saver,
        listeners=listeners,
        stop=stop,
        explain_nan=lambda session: explain_nan(program, session, model_dir),
    )
    if joint and not config.is_chief and config.save_checkpoints_steps:
        chain = [SaveWithChief(model_dir, config.task_id, spec.scaffold, int(config.save_checkpoints_steps)), *chain]
    devices = device_summary(plan.config)
    if devices is not None:
        logger.info("Training on %s.", devices)
    run = Runner(program, task_of_training(program), chain, plan, config.fuse_steps, jit_compile=config.jit_compile)
    with sigterm_raises():
        try:
            run.start()
            run.run_to_end()
        except (KeyboardInterrupt, Terminated) as interrupt:
            with sigterm_waits():
                try:
                    if not joint:
                        _save_before_leaving(run, saver, interrupt)
                finally:
                    run.finish(interrupt)
            if isinstance(interrupt, Terminated):
                leave_by_sigterm()
            raise
        except TrainingOver as over:
            run.finish(over)
            logger.info("This process stops training. %s", over)
            return TrainOutcome(run.count, run.loss)
        except BaseException as error:
            run.finish(error)
            raise
        with sigterm_waits():
            run.finish()
    return TrainOutcome(run.count, run.loss, data_ended=not run.stop_was_requested)


def _saving_by_steps(config: RunConfig) -> RunConfig:
    """Checkpoints in which all processes take part come after a number of steps: their clocks are not the same."""
    if not config.save_checkpoints_secs:
        return config
    logger.warning(
        "train: save_checkpoints_secs=%s: this model has statistics that are averaged over all processes when they are "
        "saved, which all must do at the same step. Checkpoints are written every %d steps; set "
        "RunConfig(save_checkpoints_steps=...) to choose.",
        config.save_checkpoints_secs,
        _JOINT_STEPS,
    )
    return config.replace(save_checkpoints_steps=_JOINT_STEPS)


def _save_before_leaving(run: Runner, saver: SaveCheckpoint | None, interrupt: BaseException) -> None:
    if saver is None or run.session is None:
        return
    why = "SIGTERM" if isinstance(interrupt, Terminated) else "Ctrl-C"
    logger.warning("%s: saving a checkpoint before leaving.", why)
    with run.session.graph.as_default():
        step = int(run.session.run(tf.compat.v1.train.get_global_step()))
        if step != saver.saved_step or saver.has_unsaved_edits:
            saver.save(run.session, step, is_leaving=True)
