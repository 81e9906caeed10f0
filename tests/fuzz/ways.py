"""The ways in which a program runs, what each is compared with, and how near they must be."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from tests.fuzz.compare import EXACT, Difference, Digits, compared
from tests.fuzz.run import ORIGINAL, Bench
from tests.fuzz.spec import Spec

ALWAYS = ("single", "fused")
MORE = ("fresh", "watched", "edited", "compiled", "mirrored")
# Ways that have one of their own in the original, which they are compared with.
OF_ORIGINAL = {"mirrored": "original-mirrored"}


def digits_to_original(spec: Spec) -> Digits:
    """Another TensorFlow: kernels differ in the last digits, and training goes on with them."""
    return Digits(1e-3, 1e-4) if "sensitive" in spec.tags() else Digits(5e-5, 5e-6)


def digits_to_single(spec: Spec, way: str) -> Digits:
    if way == "compiled":
        return Digits(1e-3, 1e-4)
    if way in ("watched", "edited") and not spec.config["exact"]:
        return Digits(1e-4, 1e-5)  # what is looked at cannot be merged with what follows
    return EXACT


def fits(spec: Spec, way: str) -> bool:
    """Whether a way is documented to give the same numbers for this program."""
    tags = spec.tags()
    if way == "compiled":
        return "random" not in tags  # compiled steps draw other numbers
    if way == "mirrored":
        return not tags & {"iterator", "queue"}  # a strategy splits datasets, and nothing else
    if way == "edited":
        return "layerless" not in tags
    return True


def ways_of(spec: Spec, asked: str) -> list[str]:
    """The ways a program is run in: two always, two more by its seed, or those asked for."""
    if asked == "all":
        more = list(MORE)
    elif asked:
        return [way for way in asked.split(",") if fits(spec, way)]
    else:
        more = random.Random(spec.seed).sample(MORE, 2)
    return [way for way in (*ALWAYS, *more) if fits(spec, way)]


def needed(ways: list[str]) -> list[str]:
    """The ways of the original that some of Lightwell are compared with."""
    return list(
        dict.fromkeys(
            [
                *([ORIGINAL] if set(ways) - set(OF_ORIGINAL) else []),
                *(OF_ORIGINAL[way] for way in ways if way in OF_ORIGINAL),
            ]
        )
    )


@dataclass(frozen=True)
class Found:
    """A difference, and the way that it was found in."""

    way: str
    against: str
    difference: Difference


def differences(spec: Spec, answers: dict[str, Any]) -> list[Found]:
    """Where the answers of the ways differ: all with single steps, these with the original."""
    found = []
    reference = "single" if "single" in answers else ORIGINAL
    for way, answer in answers.items():
        if way.startswith(ORIGINAL):
            continue
        against = OF_ORIGINAL.get(way, ORIGINAL if way == reference else reference)
        digits = digits_to_original(spec) if against.startswith(ORIGINAL) else digits_to_single(spec, way)
        if against in answers:
            found += [Found(way, against, one) for one in compared(answer, answers[against], digits)]
    return found


def run_in(bench: Bench, spec: Spec, ways: list[str]) -> dict[str, Any]:
    return {way: bench.run(spec, way) for way in ways}
