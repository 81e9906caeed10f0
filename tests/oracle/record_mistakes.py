"""Record what tf.estimator 2.15.1 raises for the wrong uses in tests/parity/mistakes: type, message and key phrase.

Run from the root of the project with an environment of tensorflow 2.15.1 and pandas:
`python -m tests.oracle.record_mistakes [FAMILY ...]`; without a name, all of them. Writes
mistakes/FAMILY.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests.parity import recordings
from tests.parity.mistakes import FAMILIES, Mistake, noted, raised_by
from tests.parity.mistakes.phrases import MISLEADING, phrase_of


def _recorded(mistake: Mistake, model_dir: Path) -> dict[str, Any]:
    """What a mistake raises. The phrase of a text that tf.estimator wrote for users is None if none was chosen."""
    found = noted(raised_by(mistake, tf.estimator, model_dir))
    if "message" not in found:
        return found
    phrase = phrase_of(found["message"])
    is_for_users = found.pop("written") and not any(words in found["message"] for words in MISLEADING)
    return {**found, "phrase": phrase} if is_for_users or phrase else found


if __name__ == "__main__":
    for family in sys.argv[1:] or FAMILIES:
        with tempfile.TemporaryDirectory() as folder:
            raised = {
                name: _recorded(mistake, Path(folder) / str(number))
                for number, (name, mistake) in enumerate(FAMILIES[family].items())
            }
        recordings.save_json(f"mistakes/{family}", tf.__version__, {"raised": raised})
        for name, found in raised.items():
            if found.get("phrase", "") is None:
                print(f"{name}: choose a phrase for {found['message']!r} in tests/parity/mistakes/phrases.py")
