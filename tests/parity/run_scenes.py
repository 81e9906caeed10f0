"""All scenes that are recorded whole and run both ways, fused and single: recording to scenes."""

from __future__ import annotations

from tests.parity import counter_scenes, draw_scenes, failing_scenes, fresh_scenes, hook_kind_scenes
from tests.parity.draw_scenes import Scene

RECORDINGS: dict[str, dict[str, Scene]] = {
    "draws": draw_scenes.SCENES,
    "counters": counter_scenes.SCENES,
    "failures": failing_scenes.SCENES,
    "fresh": fresh_scenes.SCENES,
    "hook_kinds": hook_kind_scenes.SCENES,
}
# Programs that leave an order open: recording to scenes of which several runs are recorded.
OPEN_RECORDINGS: dict[str, dict[str, Scene]] = {"open_order": counter_scenes.OPEN_SCENES}
