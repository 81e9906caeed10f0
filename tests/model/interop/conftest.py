"""Which tests belong to the Keras at hand: `tf.keras` is Keras 3, or `tf_keras` where TF_USE_LEGACY_KERAS=1."""

from __future__ import annotations

from tests.model.interop.builds import LEGACY

collect_ignore_glob = ["test_keras3_*.py"] if LEGACY else ["test_legacy_*.py"]
