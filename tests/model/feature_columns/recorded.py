"""The recordings of feature columns on TensorFlow 2.15.1."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[2] / "data" / "oracle-2.15.1"
MODEL_DIR = FOLDER / "feature_columns_model_dir"


@functools.cache
def facts() -> dict[str, Any]:
    """Names, shapes and refusals."""
    return _checked(json.loads((FOLDER / "feature_columns.json").read_text()))


@functools.cache
def resumed() -> dict[str, Any]:
    """What the trained model gave, and how it trained on."""
    return _checked(json.loads((FOLDER / "feature_columns_resume.json").read_text()))


@functools.cache
def numbers() -> dict[str, Any]:
    """Outputs and gradients, `way|case|what|name` -> array."""
    with np.load(FOLDER / "feature_columns.npz") as stored:
        return {key: stored[key] for key in stored.files}


def _checked(content: dict[str, Any]) -> dict[str, Any]:
    if content["tensorflow"] != "2.15.1":
        raise ValueError(f"expected recordings of TensorFlow 2.15.1, found {content['tensorflow']}")
    return content
