"""Values under names that no variable can have: savers write and restore them; without the door it is told."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf

from lightwell.foreign import private_saveables
from lightwell.foreign.private_saveables import add_saveable

v1 = tf.compat.v1


def test_a_saver_writes_and_restores_them(tmp_path: Path) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        held = v1.Variable(b"first", use_resource=True, collections=[], name="held")
        add_saveable(held.handle, [("a:0_b", held.read_value())], lambda values: held.assign(values[0]).op)
        saver = v1.train.Saver()
        session.run(held.initializer)
        prefix = saver.save(session, str(tmp_path / "model"))
        assert [name for name, _ in tf.train.list_variables(prefix)] == ["a:0_b"]
        session.run(held.assign(b"second"))
        saver.restore(session, prefix)
        assert session.run(held.read_value()) == b"first"


def test_without_the_class_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_saveables, "_MODULE", "tensorflow")
    with pytest.raises(NotImplementedError, match=r"has no .*SaveableObject.*: boosted trees cannot be saved"):
        add_saveable(None, [], lambda values: None)
