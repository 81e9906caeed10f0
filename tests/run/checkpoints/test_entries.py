"""What the index of a checkpoint tells: parts, and a hash of the content, wherever in its files it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

from lightwell.errors import CheckpointUnreadable
from lightwell.run.checkpoints.entries import content_hash, parts_of

ONES = np.ones([5, 4], np.float32)


def saved(prefix: Path, **values: Any) -> str:
    names, parts, tensors = zip(*((name, part, value) for name, (part, value) in values.items()), strict=True)
    tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=names, shape_and_slices=parts, tensors=tensors)
    return str(prefix)


def test_parts_of_a_whole_and_of_a_piece(tmp_path: Path) -> None:
    tf.raw_ops.SaveV2(
        prefix=str(tmp_path / "c"),
        tensor_names=["table", "table", "table/part_0/Ftrl", "words", *(f"many_{i:04}" for i in range(500))],
        shape_and_slices=["10 4 0,5:0,4", "10 4 5,5:-", "10 4 0,5:0,4", "", *[""] * 500],
        tensors=[ONES, ONES, ONES, np.array([b"a", b"bc"]), *[np.float32(i) for i in range(500)]],
    )
    found = parts_of(str(tmp_path / "c"))
    assert found["table"] == ("10 4 0,5:0,4", "10 4 5,5:-")
    assert found["table/part_0/Ftrl"] == ("10 4 0,5:0,4",)
    assert found["words"] == ("",)
    assert len(found) == 503, "more names than one block of the table holds"
    assert sorted(found) == sorted(tf.train.load_checkpoint(str(tmp_path / "c")).get_variable_to_shape_map())


def test_the_hash_is_that_of_the_content(tmp_path: Path) -> None:
    first = saved(tmp_path / "a", x=("", ONES), y=("", np.int64(3)))
    other_order = saved(tmp_path / "b", y=("", np.int64(3)), x=("", ONES))
    other_value = saved(tmp_path / "c", x=("", 2 * ONES), y=("", np.int64(3)))
    other_name = saved(tmp_path / "d", z=("", ONES), y=("", np.int64(3)))
    assert content_hash(first) == content_hash(other_order)
    assert len({content_hash(one) for one in (first, other_value, other_name)}) == 3


def test_what_is_damaged_says_so(tmp_path: Path) -> None:
    prefix = str(tiny.trained(tmp_path).latest_checkpoint())
    index = Path(f"{prefix}.index")
    whole = index.read_bytes()
    for content in (whole[:-9], whole[:20], b"\xff" * 60 + whole[-8:], b""):
        index.write_bytes(content)
        with pytest.raises(CheckpointUnreadable, match="its index is damaged"):
            parts_of(prefix)
    with pytest.raises(CheckpointUnreadable, match="cannot be read"):
        content_hash(str(tmp_path / "model.ckpt-77"))
