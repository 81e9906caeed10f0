"""What is reached behind the public names of TensorFlow's hooks is still there."""

from __future__ import annotations

from pathlib import Path

import tensorflow as tf

from lightwell.foreign import private_hooks

v1 = tf.compat.v1


def test_listeners_can_be_added_to_a_users_own_hook(tmp_path: Path) -> None:
    heard: list[str] = []

    class Listener(v1.train.CheckpointSaverListener):
        def begin(self) -> None:
            heard.append("begin")

    with tf.Graph().as_default():
        v1.train.create_global_step()
        hook = v1.train.CheckpointSaverHook(str(tmp_path), save_steps=1, saver=v1.train.Saver())
        private_hooks.add_listeners(hook, [Listener()])
        hook.begin()
    assert heard == ["begin"]
