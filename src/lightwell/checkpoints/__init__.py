"""Checkpoints: files on disk, found, checked, read and compared."""

from lightwell.checkpoints.warm_start import VocabInfo as VocabInfo
from lightwell.checkpoints.warm_start import WarmStartSettings as WarmStartSettings
