"""Cells of `tf.contrib.tpu`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import V1

_TPU = ("InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec")

CELLS: Mapping[str, str] = {name: f"{V1}.tpu:{name}" for name in _TPU} | {
    "CrossShardOptimizer": "tensorflow:compat.v1.tpu.CrossShardOptimizer",
    "bfloat16_scope": "tensorflow:compat.v1.tpu.bfloat16_scope",
}
