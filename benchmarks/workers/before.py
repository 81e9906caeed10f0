"""Lightwell as it was: the checkout that `LIGHTWELL_BEFORE` names, measured by the same pieces as ours.

`make bench BEFORE=../other-checkout` puts it beside ours in every row.
"""

from __future__ import annotations

import os
import runpy
import sys

if __name__ == "__main__":
    source = os.path.join(os.environ["LIGHTWELL_BEFORE"], "src")
    sys.path.insert(0, source)
    os.environ["PYTHONPATH"] = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])  # for processes of its own
    runpy.run_module("benchmarks.workers.ours", run_name="__main__", alter_sys=True)
