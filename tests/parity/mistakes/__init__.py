"""Wrong uses of every public name: what each raises is recorded from tf.estimator 2.15 and compared, type and phrase.

`MISTAKES` maps a description to a function of (estimator module, model_dir). The same code for both sides.
"""

from __future__ import annotations

from tests.parity.mistakes import canned, configs, exporting, heads, hooks, small, specs, verbs, workflows
from tests.parity.mistakes.base import NOTHING, Mistake, noted, raised_by

__all__ = ["FAMILIES", "MISTAKES", "NOTHING", "Mistake", "noted", "raised_by"]
FAMILIES: dict[str, dict[str, Mistake]] = {
    "verbs": verbs.MISTAKES,
    "specs": specs.MISTAKES,
    "configs": configs.MISTAKES,
    "workflows": workflows.MISTAKES,
    "exporting": exporting.MISTAKES,
    "hooks": hooks.MISTAKES,
    "heads": heads.MISTAKES,
    "canned": canned.MISTAKES,
    "small": small.MISTAKES,
}
MISTAKES: dict[str, Mistake] = {name: mistake for family in FAMILIES.values() for name, mistake in family.items()}
