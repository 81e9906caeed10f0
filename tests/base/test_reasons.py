"""The cause of an error of TensorFlow, told in one sentence."""

from __future__ import annotations

import tensorflow as tf

from lightwell.errors import reason_of

_TWO_ERRORS = """Graph execution error:

Detected at node 'save/RestoreV2' defined at (most recent call last):
    File "train.py", line 3, in <module>
Detected at node 'save/RestoreV2' defined at (most recent call last):
Node: 'save/RestoreV2'
2 root error(s) found.
  (0) DATA_LOSS: Checksum does not match: stored 1 vs. calculated on the restored bytes 2
\t [[{{node save/RestoreV2}}]]
\t [[save/RestoreV2/_3]]
  (1) DATA_LOSS: Checksum does not match: stored 1 vs. calculated on the restored bytes 2
"""


def test_of_several_root_errors_the_first_is_told() -> None:
    error = tf.errors.DataLossError(None, None, _TWO_ERRORS)
    assert reason_of(error) == "Checksum does not match: stored 1 vs. calculated on the restored bytes 2"
