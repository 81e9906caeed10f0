"""`tf.contrib.tensorboard.plugins.projector` writes the file that TensorBoard reads, also without that package."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf

from lightwell import tf1
from lightwell.compat.tf1.contrib import import_below


def test_a_configuration_is_written(tmp_path: Path) -> None:
    projector = import_below("tensorboard", ["plugins"], ["projector"]).projector
    assert tf1.contrib.tensorboard.plugins.projector.ProjectorConfig is projector.ProjectorConfig
    config = projector.ProjectorConfig(model_checkpoint_path="model.ckpt-1")
    embedding = config.embeddings.add()
    embedding.tensor_name, embedding.metadata_path = "emb", "metadata.tsv"
    embedding.sprite.image_path = "sprite.png"
    embedding.sprite.single_image_dim.extend([28, 28])
    with tf.Graph().as_default():
        writer = tf.compat.v1.summary.FileWriter(str(tmp_path / "a"))
    projector.visualize_embeddings(writer, config)
    projector.visualize_embeddings(str(tmp_path / "b"), config)
    text = (tmp_path / "a" / "projector_config.pbtxt").read_text()
    assert text == (tmp_path / "b" / projector.PROJECTOR_FILENAME).read_text()
    # As TensorFlow 1.15.5 writes it.
    assert text == (
        'model_checkpoint_path: "model.ckpt-1"\nembeddings {\n  tensor_name: "emb"\n  metadata_path: "metadata.tsv"\n'
        '  sprite {\n    image_path: "sprite.png"\n    single_image_dim: 28\n    single_image_dim: 28\n  }\n}\n'
    )


def test_a_writer_without_a_folder() -> None:
    projector = tf1.contrib.tensorboard.plugins.projector

    class Homeless:
        def get_logdir(self) -> None:
            return None

    with pytest.raises(ValueError, match=r"has no folder\. Make it with one: tf\.summary\.FileWriter\(folder\)"):
        projector.visualize_embeddings(Homeless(), projector.ProjectorConfig())
