"""`TPUConfig` and `InputPipelineConfig`: settings of TPU hardware, validated and stored, without effect elsewhere."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from lightwell.errors import UsageError, WrongType

_CORES = (1, 2, 4, 8, 16, 32, 64, 128)


class InputPipelineConfig:
    """How `input_fn` is called on TPU hosts: the values of `TPUConfig(per_host_input_for_training=...)`."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class _Fields(NamedTuple):
    iterations_per_loop: Any
    num_shards: int | None
    num_cores_per_replica: int | None
    per_host_input_for_training: int
    tpu_job_name: str | None
    initial_infeed_sleep_secs: int | None
    input_partition_dims: Any
    eval_training_input_configuration: int
    experimental_host_call_every_n_steps: int
    experimental_allow_per_host_v2_parallel_get_next: bool
    experimental_feed_hook: Any


class TPUConfig(_Fields):
    """Settings of TPU hardware, part of `tpu.RunConfig`.

    On CPU and GPU none of them changes what is computed. Steps are fused by themselves, as far as hooks allow, whatever
    `iterations_per_loop` says; see `RunConfig(fuse_steps=...)`.

    Args:
        iterations_per_loop: steps between two returns to Python on a TPU: a number, or a time such as "60m".
        num_shards: replicas of the model.
        num_cores_per_replica: cores for one replica.
        per_host_input_for_training: an `InputPipelineConfig` value; True is `PER_HOST_V1`, False `PER_SHARD_V1`.
        tpu_job_name: the name of the TPU job in a cluster.
        initial_infeed_sleep_secs: how long the feeding thread waits first.
        input_partition_dims: how inputs are cut over the cores of a replica; only with `PER_HOST_V2`.
        eval_training_input_configuration: how `input_fn` is called for evaluation.
        experimental_host_call_every_n_steps: how often a host call runs.
        experimental_allow_per_host_v2_parallel_get_next: see TensorFlow's guide to TPUs.
        experimental_feed_hook: see TensorFlow's guide to TPUs.

    Raises:
        UsageError: a setting is out of range.
    """

    __slots__ = ()

    def __new__(
        cls,
        iterations_per_loop: Any = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: Any = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: Any = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
        experimental_allow_per_host_v2_parallel_get_next: bool = False,
        experimental_feed_hook: Any = None,
    ) -> TPUConfig:
        _check_iterations(iterations_per_loop)
        for name, value in (("num_shards", num_shards), ("initial_infeed_sleep_secs", initial_infeed_sleep_secs)):
            if value is not None and value < 1:
                raise UsageError(f"TPUConfig {name} must be positive, got {value}")
        if num_cores_per_replica is not None and num_cores_per_replica not in _CORES:
            allowed = ", ".join(map(str, _CORES))
            raise UsageError(f"num_cores_per_replica must be {allowed}; got {num_cores_per_replica}")
        kinds = {True: InputPipelineConfig.PER_HOST_V1, False: InputPipelineConfig.PER_SHARD_V1}
        is_named = isinstance(per_host_input_for_training, bool)
        pipeline = kinds[per_host_input_for_training] if is_named else per_host_input_for_training
        if input_partition_dims is not None and not isinstance(input_partition_dims, list | tuple):
            raise WrongType(f"TPUConfig: input_partition_dims must be a list, got {input_partition_dims!r}.")
        if input_partition_dims is not None and len(input_partition_dims) not in (1, 2):
            raise UsageError(
                "TPUConfig: input_partition_dims must be a list/tuple with one or two elements, one for features and "
                f"one for labels; got {input_partition_dims!r}."
            )
        if input_partition_dims is not None and pipeline != InputPipelineConfig.PER_HOST_V2:
            raise UsageError(
                "TPUConfig: input_partition_dims is only supported in PER_HOST_V2 mode; "
                f"per_host_input_for_training is {per_host_input_for_training!r}."
            )
        of_evaluation = (InputPipelineConfig.PER_HOST_V1, InputPipelineConfig.SLICED)
        if eval_training_input_configuration not in of_evaluation:
            raise UsageError(
                "TPUConfig: eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
                f"{eval_training_input_configuration!r}."
            )
        return super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            pipeline,
            tpu_job_name,
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
            experimental_allow_per_host_v2_parallel_get_next,
            experimental_feed_hook,
        )


def _check_iterations(value: Any) -> None:
    is_count = isinstance(value, int) and value >= 1
    is_time = isinstance(value, str) and re.fullmatch(r"[1-9][0-9]*[smh]", value) is not None
    if not is_count and not is_time:
        raise UsageError(
            "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or time-based value "
            f"`<N><s|m|h>`, such as 3600s, 60m or 1h; got {value!r}."
        )
