"""Two ways to run the same program: `fused` (as many steps to a call of the runtime as nobody looks at) and `single`;
and `COMPILED`, which is as good as `fused` but for the last digits.

A face stands where a scene expects an estimator module: it is `lightwell`, with another default of `fuse_steps`.
"""

from __future__ import annotations

import functools
from typing import Any

import lightwell as lw


class Face:
    """`lightwell` whose `RunConfig`s say `fuse_steps`, and what else is `settings`."""

    def __init__(self, fuse_steps: Any, **settings: Any) -> None:
        self.RunConfig = functools.partial(lw.RunConfig, fuse_steps=fuse_steps, **settings)

    def __getattr__(self, name: str) -> Any:
        return getattr(lw, name)


FUSED, SINGLE = Face("auto"), Face(False)
COMPILED = Face("auto", jit_compile=True)
FACES = {"fused": FUSED, "single": SINGLE}
