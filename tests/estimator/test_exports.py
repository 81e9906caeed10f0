"""The export verbs are there and say what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import tiny

from lightwell.errors import LightwellError


@pytest.mark.parametrize("verb", ["export_saved_model", "export_savedmodel", "experimental_export_all_saved_models"])
def test_it_says_what_to_do(verb: str, tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path)
    text = rf"Estimator\.{verb}: Export is not written yet: restore .*latest_checkpoint\(\) .*estimator\.predictor\(\)"
    with pytest.raises(NotImplementedError, match=text) as caught:
        getattr(made, verb)(str(tmp_path), lambda: None)
    assert isinstance(caught.value, LightwellError)
