"""`tf.compat.v1.layers.experimental`: switches that once chose how layer objects are named and shared.

Owns two names that old programs call. Layers here always keep their own variables once built and can be called in any
variable scope, which is what the Keras style asked for; so the switches change nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def keras_style_scope() -> Iterator[None]:
    """Does nothing inside the `with` block beyond what layers always do."""
    yield


def set_keras_style() -> None:
    """Does nothing beyond what layers always do."""
