"""Fused training leaves no trace in the graphs that people and tools read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf
from tests import tiny

from lightwell.hooks.plain_graph import plain_graph_def
from lightwell.keys import FUSED_SCOPE

v1 = tf.compat.v1


def test_only_the_fused_copy_is_left_out() -> None:
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="of_the_model")
        assert [node.name for node in plain_graph_def(graph).node] == ["of_the_model"]
        with tf.name_scope(FUSED_SCOPE):
            tf.constant(1.0, name="copy")
        assert [node.name for node in plain_graph_def(graph).node] == ["of_the_model"]
        assert len(graph.get_operations()) == 2


def test_files_hold_the_models_graph_and_the_meta_graph_can_be_loaded(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, steps=12)
    assert FUSED_SCOPE not in (tmp_path / "graph.pbtxt").read_text()
    v1.summary.FileWriterCache.clear()
    for file in tmp_path.glob("events.*"):
        for event in v1.train.summary_iterator(str(file)):
            assert FUSED_SCOPE.encode() not in event.graph_def
            assert FUSED_SCOPE.encode() not in event.meta_graph_def
    checkpoint = made.latest_checkpoint()
    assert FUSED_SCOPE.encode() not in Path(f"{checkpoint}.meta").read_bytes()
    with tf.Graph().as_default(), v1.Session() as session:
        saver = v1.train.import_meta_graph(f"{checkpoint}.meta")
        saver.restore(session, checkpoint)
        values = session.run({variable.op.name: variable for variable in v1.global_variables()})
    assert values["global_step"] == 12
    np.testing.assert_array_equal(values["w"], made.get_variable_value("w"))
