"""Conversions of a SavedModel into other forms, each checked against it."""
