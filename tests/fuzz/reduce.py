"""A failing program made small, while the same kind of difference stays."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator

from tests.fuzz.alone import TAIL, WAYS, Alone
from tests.fuzz.explained import explained
from tests.fuzz.parts import Part, source_of
from tests.fuzz.run import Bench
from tests.fuzz.spec import Call, Spec
from tests.fuzz.ways import Found, differences, run_in
from tests.fuzz.write import written

_SIMPLEST = {
    "source": Part("source", "slices"),
    "batches": Part("batches", "batched", {"size": 3}),
    "handed": Part("handed", "as_dataset"),
    "loss": Part("loss", "squares"),
    "rate": Part("rate", "constant_rate", {"value": 0.05}),
    "optimizer": Part("optimizer", "plain"),
    "step": Part("step", "minimized"),
}
_QUIET = {
    "tf_random_seed": 1,
    "save_summary_steps": 100,
    "save_checkpoints_steps": 1000,
    "keep_checkpoint_max": 5,
    "log_step_count_steps": None,
    "exact": False,
}


def _without(parts: tuple, place: int) -> tuple:  # type: ignore[type-arg]
    return (*parts[:place], *parts[place + 1 :])


def _with(parts: tuple, place: int, other: object) -> tuple:  # type: ignore[type-arg]
    return (*parts[:place], other, *parts[place + 1 :])


def _smaller(part: Part) -> Iterator[Part]:
    for name, how in part.what.draws.items():
        if name in part.args:
            for value in how.smaller(part.args[name]):
                yield dataclasses.replace(part, args={**part.args, name: value})


def smaller(spec: Spec) -> Iterator[Spec]:
    """Programs that are a little simpler, the boldest changes first."""
    change = dataclasses.replace
    for place in range(len(spec.calls) - 1, -1, -1):
        if len(spec.calls) > 1:
            yield change(spec, calls=_without(spec.calls, place))
    for name in ("blocks", "stages", "metrics"):
        parts = getattr(spec, name)
        if len(parts) > 1:
            yield change(spec, **{name: ()})
        for place in range(len(parts)):
            yield change(spec, **{name: _without(parts, place)})
    for mode in spec.hooks:
        yield change(spec, hooks={other: found for other, found in spec.hooks.items() if other != mode})
    for place, call in enumerate(spec.calls):
        for which in range(len(call.hooks)):
            yield change(spec, calls=_with(spec.calls, place, Call(call.what, _without(call.hooks, which))))
    for name, simple in _SIMPLEST.items():
        if getattr(spec, name) != simple:
            yield change(spec, **{name: simple})
    for name, value in _QUIET.items():
        if spec.config[name] != value:
            yield change(spec, config={**spec.config, name: value})
    if not spec.control_flow_v2:
        yield change(spec, control_flow_v2=True)
    if spec.repeat != -1:
        yield change(spec, repeat=-1)
    needed = {feature for block in spec.blocks for feature in block.what.needs}
    for extra in spec.data["extras"]:
        if extra not in needed:
            yield change(spec, data={**spec.data, "extras": [e for e in spec.data["extras"] if e != extra]})
    for name, least in (("rows", 9), ("width", 2)):
        if spec.data[name] > least:
            yield change(spec, data={**spec.data, name: least})
    for place, call in enumerate(spec.calls):
        for part in _smaller(call.what):
            yield change(spec, calls=_with(spec.calls, place, Call(part, call.hooks)))
        for which, hook in enumerate(call.hooks):
            for part in _smaller(hook):
                hooks = _with(call.hooks, which, part)
                yield change(spec, calls=_with(spec.calls, place, Call(call.what, hooks)))
    for place, block in enumerate(spec.blocks):
        for part in _smaller(block):
            yield change(spec, blocks=_with(spec.blocks, place, part))
    for name in ("step", "optimizer", "rate", "batches", "handed"):
        for part in _smaller(getattr(spec, name)):
            yield change(spec, **{name: part})


def reduced(bench: Bench, spec: Spec, found: Found, seconds: float, told: Callable[[str], None]) -> Spec:
    """The smallest program that was found to have the same difference, in so much time."""
    ways = list(dict.fromkeys([found.against, found.way]))

    def still(tried: Spec) -> bool:
        again = differences(tried, run_in(bench, tried, ways))
        # One that is known may be of the same kind, and would be what is left in the end.
        return any(
            one.way == found.way
            and one.difference.kind == found.difference.kind
            and explained(tried, one.way, one.difference) is None
            for one in again
        )

    end, tries = time.monotonic() + seconds, 0
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for tried in smaller(spec):
            if time.monotonic() > end:
                told(f"seed {spec.seed}: out of time after {tries} tries")
                return spec
            tries += 1
            if still(tried):
                spec, is_smaller = tried, True
                break
    told(f"seed {spec.seed}: reduced in {tries} tries")
    return spec


def alone(spec: Spec, found: Found) -> str:
    """A program that shows the difference by itself."""
    way = WAYS.get(found.way)
    what = (
        f"Seed {spec.seed}, {found.way} against {found.against}: {found.difference.kind} at {found.difference.where}."
    )
    flow = "" if spec.control_flow_v2 else "v1.disable_control_flow_v2()"
    text = written(spec, what.replace('"', "'")).replace("import sys\n", "import sys\nimport tempfile\n")
    tail = TAIL.format(way=f", {way}" if way else "", flow=flow or "v1.enable_control_flow_v2()")
    return text + "\n\n" + source_of(Alone) + "\n" + tail
