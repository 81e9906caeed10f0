"""Checkpoints: files on disk, found, checked, read and compared."""
