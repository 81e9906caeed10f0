"""`tf.contrib.summary` and `tf.contrib.deprecated`: events files with the tags of TensorFlow 1.15.5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf
from tests import tiny

import lightwell as lw
from lightwell import tf1

v1 = tf.compat.v1
summary = tf1.contrib.summary


def events(folder: Path) -> list[tuple[int, str, str]]:
    """Step, tag and kind of every summary."""
    found = []
    for path in sorted(folder.glob("events*.v2")):
        for event in v1.train.summary_iterator(str(path)):
            found += [(event.step, value.tag, value.WhichOneof("value")) for value in event.summary.value]
    return sorted(found)


def test_tags_and_kinds(tmp_path: Path) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.get_or_create_global_step()
        with summary.create_file_writer(str(tmp_path)).as_default() as writer:
            summary.scalar("not_recorded", tf.constant(2.0))
            with summary.always_record_summaries():
                with tf.name_scope("sc"):
                    summary.scalar("a", tf.constant(2.0))
                    summary.scalar("b", tf.constant(2.0), family="fam")
                summary.scalar("b", tf.constant(2.0), family="fam", step=7)
                summary.histogram("h", tf.constant([2.0]))
                summary.image("i", tf.zeros([1, 2, 2, 3]))
                summary.audio("s", tf.zeros([1, 4, 1]), 8, 1)
                summary.generic("g", tf.constant([1, 2]))
                with summary.never_record_summaries():
                    summary.scalar("never", tf.constant(2.0))
            session.run(step.initializer)
            summary.initialize(session=session)
            session.run(summary.all_summary_ops())
            session.run(summary.flush())
            session.run(writer.close())
    assert events(tmp_path) == [
        (0, "fam/sc/fam/b", "simple_value"),
        (0, "g", "tensor"),
        (0, "h", "histo"),
        (0, "i/image/0", "image"),
        (0, "s/audio", "audio"),
        (0, "sc/a", "simple_value"),
        (7, "fam/fam/b", "simple_value"),
    ]


def test_in_a_model_every_other_step(tmp_path: Path) -> None:
    """As programs for TPUs wrote them in a host call: the operations are part of the step."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        with (
            summary.create_file_writer(str(tmp_path / "host"), flush_millis=10).as_default(),
            summary.record_summaries_every_n_global_steps(2),
        ):
            summary.scalar("loss", spec.loss, step=v1.train.get_global_step())
            train_op = tf.group(spec.train_op, *summary.all_summary_ops(), summary.flush())
        return spec._replace(train_op=train_op)

    lw.Estimator(model_fn, str(tmp_path / "model")).train(tiny.data, steps=6)
    found = events(tmp_path / "host")
    assert {tag for _, tag, _ in found} == {"loss"}
    assert 2 <= len(found) <= 4
    assert not [step for step, _, _ in found if step % 2 and step - 1 not in range(0, 7, 2)]


def test_eagerly_and_without_a_folder(tmp_path: Path) -> None:
    with summary.create_file_writer(str(tmp_path)).as_default(), summary.always_record_summaries():
        summary.scalar("x", 1.5, step=3)
        assert summary.all_summary_ops() is None
    assert events(tmp_path) == [(3, "x", "simple_value")]
    with summary.create_file_writer(None).as_default(), summary.always_record_summaries():
        summary.scalar("x", 1.5, step=3)
    assert summary.eval_dir("m", "test") == "m/eval_test"


def test_summaries_before_1_0() -> None:
    deprecated = tf1.contrib.deprecated
    with tf.Graph().as_default(), v1.Session() as session:
        assert deprecated.merge_all_summaries() is None
        deprecated.scalar_summary("loss", 2.0)
        deprecated.histogram_summary("h", [1.0, 2.0])
        deprecated.image_summary("i", tf.zeros([1, 2, 2, 1]), max_images=1)
        deprecated.audio_summary("s", tf.zeros([1, 3]), 8.0)
        merged = v1.Summary.FromString(session.run(deprecated.merge_all_summaries()))
    assert sorted(value.tag for value in merged.value) == ["h", "i/image", "loss", "s/audio/0"]
