"""The folder of this package, which tells Lightwell's own frames and files from those of a program."""

from __future__ import annotations

import os

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
