"""Weights go from session to session under the names of a checkpoint; see also test_in_memory_evaluator.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1
InMemory = lw.estimator.experimental.InMemoryEvaluatorHook


def evaluated(tmp_path: Path, model_fn: Any) -> Any:
    est = tiny.estimator(tmp_path, model_fn)
    hook = InMemory(est, tiny.once, every_n_iter=2)
    est.train(tiny.data, steps=3, hooks=[hook])
    return hook.metrics, est.evaluate(tiny.once)


def test_variables_in_parts(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        parts = v1.get_variable("table", [9, 2], partitioner=v1.fixed_size_partitioner(3))
        row = v1.nn.embedding_lookup(parts, tf.cast(features["x"], tf.int32), partition_strategy="div")
        loss = tf.reduce_mean(tf.square(tf.reduce_sum(row, 1) - labels))
        train_op = v1.train.AdagradOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    live, of_checkpoint = evaluated(tmp_path, model_fn)
    assert live == of_checkpoint


def test_what_a_saver_of_both_modes_calls_otherwise(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        by_name = {f"renamed/{variable.op.name}": variable for variable in v1.global_variables()}
        by_name["global_step"] = by_name.pop("renamed/global_step")
        return spec._replace(scaffold=v1.train.Scaffold(saver=v1.train.Saver(by_name)))

    live, of_checkpoint = evaluated(tmp_path, model_fn)
    assert live == of_checkpoint


def test_what_neither_training_nor_an_initialiser_gives_is_named(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        if mode == "train":
            return spec
        w = next(variable for variable in v1.global_variables() if variable.op.name == "w")
        saver = v1.train.Saver({"elsewhere": w})
        return spec._replace(scaffold=v1.train.Scaffold(saver=saver))

    with pytest.raises(ValueError, match=r"needs elsewhere, which the training does not have .*Build the same model"):
        evaluated(tmp_path, model_fn)
