"""Checkpoints: files on disk, listed, validated, read and compared."""

from lightwell.run.checkpoints.warm_start import VocabInfo as VocabInfo
from lightwell.run.checkpoints.warm_start import WarmStartSettings as WarmStartSettings
