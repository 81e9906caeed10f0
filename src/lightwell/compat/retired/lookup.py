"""Cells of `tf.contrib.lookup`."""

from __future__ import annotations

from collections.abc import Mapping

_TABLES = """
    FastHashSpec HashTable HasherSpec IdTableWithHashBuckets KeyValueTensorInitializer MutableDenseHashTable
    MutableHashTable StrongHashSpec TextFileIdTableInitializer TextFileIndex TextFileInitializer
    TextFileStringTableInitializer index_table_from_file index_table_from_tensor index_to_string
    index_to_string_table_from_file index_to_string_table_from_tensor string_to_index
    string_to_index_table_from_file string_to_index_table_from_tensor
"""
CELLS: Mapping[str, str] = {name: f"lightwell.compat.contrib.lookup:{name}" for name in _TABLES.split()} | {
    "": "!Use tf.lookup: StaticHashTable, StaticVocabularyTable, TextFileInitializer."
}
