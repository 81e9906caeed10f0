"""The graph beside the checkpoints, as text: what protocol buffers write of it, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf
from google.protobuf import text_format
from tests import tiny

v1 = tf.compat.v1


def test_as_protocol_buffers_write_it(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        tf.constant([b"plain", b'with "quotes"', b"line\nbreak", "Maß".encode(), b"\xff\x00"])
        tf.constant([1.5, float("nan"), float("-inf"), 1e-12, 0.1])
        with tf.device("/device:CPU:0"):
            return tiny.linear(features, labels, mode, {})

    tiny.estimator(tmp_path, model_fn).train(lambda: tiny.data().map(lambda x, y: (x, y)), steps=1)
    meta = v1.MetaGraphDef.FromString((tmp_path / "model.ckpt-0.meta").read_bytes())
    assert meta.graph_def.library.function, "the input's"
    assert (tmp_path / "graph.pbtxt").read_text() == text_format.MessageToString(meta.graph_def)
