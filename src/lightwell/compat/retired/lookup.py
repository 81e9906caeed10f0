"""Cells of `tf.contrib.lookup`."""

from __future__ import annotations

from collections.abc import Mapping

CELLS: Mapping[str, str] = {"": "!Use tf.lookup: StaticHashTable, StaticVocabularyTable, TextFileInitializer."}
