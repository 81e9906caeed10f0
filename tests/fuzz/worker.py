"""A process that runs programs, one after the other: `python -m tests.fuzz.worker`, a request in each line.

Runs with Lightwell where it can be imported, with tf.estimator otherwise (`FUZZ_ORIGINAL=1`).
"""

from __future__ import annotations

import gc
import importlib.util
import json
import logging
import os
import sys
import traceback
from typing import Any

_answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what a program prints is no answer

import tensorflow as tf  # noqa: E402

lw: Any = None
if not os.environ.get("FUZZ_ORIGINAL"):
    import lightwell as lw

    lw.install()

from tests.fuzz.lab import Lab, _Lines  # noqa: E402

v1 = tf.compat.v1


def _with_one_order() -> None:
    """Has the original's SummarySaverHook read the step before the op that writes it.

    It fetches the step with the step that is run, in no order: where the read comes late, its next summary is a step
    early (seed 50702: after step 16 at 18 or at 19, by the run). Lightwell's reads before, always. So does this one, in
    a run of its own: one of the things that the original may do, and the same in each of its runs.
    """
    hook = v1.train.SummarySaverHook
    before, after = hook.before_run, hook.after_run

    def before_run(self: Any, context: Any) -> Any:
        self._read_before = context.session.run(self._global_step_tensor)
        return before(self, context)

    def after_run(self: Any, context: Any, values: Any) -> None:
        values.results["global_step"] = self._read_before
        after(self, context, values)

    hook.before_run, hook.after_run = before_run, after_run


if lw is None:
    _with_one_order()


def _loaded(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("fuzz_program", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _failure(error: BaseException) -> dict[str, Any]:
    told = traceback.format_exception(type(error), error, error.__traceback__)
    return {
        "error": type(error).__name__,
        "kinds": [kind.__name__ for kind in type(error).__mro__],
        "text": str(error)[:300],
        "told": "".join(told)[-3000:],
    }


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Runs some calls of a program; what was seen, in order."""
    lab = Lab(request["folder"], request["way"], lw)
    lines = _Lines(lab)
    logger = logging.getLogger("tensorflow")
    logger.handlers[:] = [lines]  # and no other, which would take time
    logger.setLevel(logging.INFO)
    logger.propagate = False
    v1.reset_default_graph()
    try:
        program = lab.program = _loaded(request["program"])
        if request.get("control_flow_v2", True):
            v1.enable_control_flow_v2()
        else:
            v1.disable_control_flow_v2()
        program.begin(lab, request["first"] == 0)
        for place, call in enumerate(program.calls(lab)):
            if place < request["first"]:
                # What an earlier process did to Python objects is done again, what it did to files is there.
                if program.KEPT[place]:
                    call()
                continue
            if place >= request["last"]:
                break
            lab.see("call", place)
            try:
                call()
            except Exception as error:
                lab.see("failed", _failure(error))
            lab.look_around()
        if request["is_last"]:
            lab.see("events", 0)
            lab.records[-1][1] = lab.events()
    finally:
        logger.removeHandler(lines)
        v1.summary.FileWriterCache.clear()  # another process may read what this one wrote
        lab._est = None
    return {"records": lab.records, "notes": lab.notes}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answered = answer(request)
        except BaseException as error:
            answered = {"broken": _failure(error)}
        gc.collect()
        try:
            v1.reset_default_graph()
        except AssertionError:  # the original did not leave a graph: another process for the next program
            answered["bye"] = True
        _answers.write(json.dumps(answered) + "\n")
        _answers.flush()


if __name__ == "__main__":
    main()
