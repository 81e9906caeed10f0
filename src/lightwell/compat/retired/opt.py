"""Cells of `tf.contrib.opt`."""

from __future__ import annotations

from collections.abc import Mapping

_PLACES = {
    "adams": "AdaMaxOptimizer LazyAdamOptimizer NadamOptimizer",
    "lars": "LARSOptimizer",
    "moving_average": "MovingAverageOptimizer",
    "signs": "AddSignOptimizer PowerSignOptimizer",
    "weight_decay": """
        AdamWOptimizer DecoupledWeightDecayExtension MomentumWOptimizer extend_with_decoupled_weight_decay
    """,
}
_ASYNCHRONOUS = "!Train with a strategy of tf.distribute, which averages gradients in every step."
_SCIPY = "!Call scipy.optimize.minimize yourself, with a function that gives the loss and its gradients."
CELLS: Mapping[str, str] = {
    name: f"lightwell.compat.contrib.opt.{file}:{name}" for file, names in _PLACES.items() for name in names.split()
} | {
    "": "!Write it over tf.compat.v1.train.Optimizer, or use one of tf.compat.v1.train or tf.keras.optimizers.",
    "AGNOptimizer": _ASYNCHRONOUS,
    "ElasticAverageOptimizer": _ASYNCHRONOUS,
    "ExternalOptimizerInterface": _SCIPY,
    "ModelAverageOptimizer": _ASYNCHRONOUS,
    "ScipyOptimizerInterface": _SCIPY,
    "clip_gradients_by_global_norm": "!Use tf.clip_by_global_norm.",
}
