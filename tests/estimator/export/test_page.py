"""`tf.estimator.export` is a page of the v2 face."""

from __future__ import annotations

import lightwell.estimator
import lightwell.estimator.export
from lightwell.model import outputs


def test_the_page_gives_the_output_classes() -> None:
    assert lightwell.estimator.export.PredictOutput is outputs.PredictOutput
    assert "ClassificationOutput" in lightwell.estimator.export.__all__
    assert "export" in dir(lightwell.estimator)
