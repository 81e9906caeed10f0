"""`tf.contrib.learn.RunConfig`: the settings of `tf.estimator`, by their older arguments."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.run import config


class RunConfig(config.RunConfig):
    """How to run a model.

    Args:
        master: without effect: the place in a cluster is read from `TF_CONFIG`.
        num_cores: threads of a session; as many as there are cores if 0.
        log_device_placement: whether to log where operations run.
        gpu_memory_fraction: the share of a GPU's memory to use.
        tf_random_seed: graph-level seed.
        save_summary_steps: steps between two writes of summaries.
        save_checkpoints_secs: seconds between two checkpoints; 600 if 0 and no steps are set.
        save_checkpoints_steps: steps between two checkpoints.
        keep_checkpoint_max: the number of recent checkpoints to keep.
        keep_checkpoint_every_n_hours: hours between checkpoints that are never deleted.
        log_step_count_steps: steps between two log lines.
        protocol: between servers of a cluster.
        evaluation_master: without effect.
        model_dir: the directory of checkpoints and events.
        session_config: a `ConfigProto`, in place of the three settings of sessions above.
        session_creation_timeout_secs: how long a worker waits for its session.
    """

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_secs: Any = 0,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: Any = None,
        session_config: Any = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        settings: dict[str, Any] = {}
        if save_checkpoints_steps is not None:
            settings["save_checkpoints_steps"] = save_checkpoints_steps
        elif save_checkpoints_secs:
            settings["save_checkpoints_secs"] = save_checkpoints_secs
        elif save_checkpoints_secs is None:
            settings["save_checkpoints_secs"] = settings["save_checkpoints_steps"] = None
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            session_config=session_config or _session(num_cores, log_device_placement, gpu_memory_fraction),
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
            **settings,
        )


def _session(num_cores: int, log_device_placement: bool, gpu_memory_fraction: float) -> Any:
    """None where every setting is the usual one: a session of the Estimator has more of them."""
    if not num_cores and not log_device_placement and gpu_memory_fraction == 1:
        return None
    return tf.compat.v1.ConfigProto(
        log_device_placement=log_device_placement,
        inter_op_parallelism_threads=num_cores,
        intra_op_parallelism_threads=num_cores,
        gpu_options=tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction),
    )
