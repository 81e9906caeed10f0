"""`tf.contrib.learn.datasets`: small data sets from local files."""

from __future__ import annotations

from lightwell.compat.contrib.learn.datasets import base, mnist
from lightwell.compat.contrib.learn.datasets.base import load_boston, load_iris

__all__ = ["base", "load_boston", "load_iris", "mnist"]
