"""Fused training leaves no trace in the graphs that people and tools read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf
from tests import tiny
from tests.run.engine.fused_runs import Calls

v1 = tf.compat.v1


def test_files_hold_the_models_graph_and_the_meta_graph_can_be_loaded(tmp_path: Path) -> None:
    calls, made = Calls(), tiny.estimator(tmp_path / "fused")
    made.train(tiny.data, steps=12, hooks=[calls])
    assert max(calls.steps) > 1, "it was fused"
    tiny.trained(tmp_path / "single", steps=12, fuse_steps=False)
    names = {kind: _names(tmp_path / kind) for kind in ("single", "fused")}
    assert len(names["single"]) == 3
    assert names["fused"] == names["single"]
    checkpoint = made.latest_checkpoint()
    with tf.Graph().as_default(), v1.Session() as session:
        saver = v1.train.import_meta_graph(f"{checkpoint}.meta")
        saver.restore(session, checkpoint)
        values = session.run({variable.op.name: variable for variable in v1.global_variables()})
    assert values["global_step"] == 12
    np.testing.assert_array_equal(values["w"], made.get_variable_value("w"))


def _names(directory: Path) -> dict[str, set[str]]:
    """The names of the nodes in each of the graphs that a training leaves."""
    v1.summary.FileWriterCache.clear()
    found = {"meta": v1.MetaGraphDef.FromString((directory / "model.ckpt-12.meta").read_bytes()).graph_def}
    for file in directory.glob("events.*"):
        for event in v1.train.summary_iterator(str(file)):
            if event.graph_def:
                found["event"] = v1.GraphDef.FromString(event.graph_def)
            if event.meta_graph_def:
                found["meta event"] = v1.MetaGraphDef.FromString(event.meta_graph_def).graph_def
    return {kind: {node.name for node in graph.node} for kind, graph in found.items()}
