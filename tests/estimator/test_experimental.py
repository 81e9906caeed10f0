"""`tf.estimator.experimental` is a page of the v2 face."""

from __future__ import annotations

import pytest

import lightwell.estimator.experimental


def test_a_name_of_the_other_face_says_so_or_says_what_to_use() -> None:
    with pytest.raises(AttributeError, match=r"other face: tf\.compat\.v1\.estimator\.experimental\.KMeans\."):
        _ = lightwell.estimator.experimental.KMeans
