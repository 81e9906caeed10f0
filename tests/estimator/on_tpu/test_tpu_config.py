"""Settings of TPU hardware: what is refused, in the words of tf.estimator 2.15.1."""

from __future__ import annotations

from typing import Any

import pytest

from lightwell.compat.v1.estimator import tpu


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            {"iterations_per_loop": 0},
            "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer .*got 0",
        ),
        ({"iterations_per_loop": "soon"}, "Invalid TPUConfig `iterations_per_loop` value. .*got 'soon'"),
        ({"iterations_per_loop": "0h"}, "such as 3600s, 60m or 1h"),
        ({"num_shards": -1}, "TPUConfig num_shards must be positive, got -1"),
        ({"num_cores_per_replica": 3}, "num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64, 128; got 3"),
        ({"initial_infeed_sleep_secs": -1}, "TPUConfig initial_infeed_sleep_secs must be positive, got -1"),
        ({"input_partition_dims": [[1, 2]]}, "input_partition_dims is only supported in PER_HOST_V2 mode"),
    ],
)
def test_refused(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        tpu.TPUConfig(**settings)


def test_accepted() -> None:
    assert tpu.TPUConfig(iterations_per_loop="60m").iterations_per_loop == "60m"
    given = tpu.TPUConfig(
        per_host_input_for_training=tpu.InputPipelineConfig.PER_HOST_V2, input_partition_dims=[[1, 2]]
    )
    assert given.per_host_input_for_training == 3
