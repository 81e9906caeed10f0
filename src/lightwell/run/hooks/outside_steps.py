"""Which hooks may run ops of the model outside of its steps: in `end`, when the session opens, around a checkpoint.

Fused steps draw random numbers from copies of the model's random ops. A hook that runs such an op by itself draws from
the original, which has not advanced with the steps. So where a model draws random numbers, steps are fused only with
hooks that run no op of a step. Bytecode shows which hooks never read their session: without it a hook that only prints
in `end` would make every step of a model with dropout run singly.
"""

from __future__ import annotations

import dis
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_hooks
from lightwell.run.hooks.base import ScheduledHook, SessionRunHook

_v1 = tf.compat.v1.train
_SavingListener: Any = _v1.CheckpointSaverListener
# TensorFlow's own that read only the global step; the first two depending on their settings.
_KNOWN = (
    *(_v1.CheckpointSaverHook, _v1.LoggingTensorHook),
    *(_v1.StepCounterHook, _v1.StopAtStepHook, _v1.SummarySaverHook, _v1.NanTensorHook, _v1.GlobalStepWaiterHook),
)


def runs_outside_steps(hook: Any) -> bool:
    """Whether a hook may run ops of the model in a call of its own."""
    hook = getattr(hook, "wrapped", hook)
    listeners = private_hooks.hook_state(hook, "listeners") if isinstance(hook, _v1.CheckpointSaverHook) else ()
    if any(_is_of_the_user(listener) and _overrides(listener, _SavingListener) for listener in listeners or ()):
        return True
    if type(hook) is _v1.LoggingTensorHook and private_hooks.hook_state(hook, "log_at_end"):
        return True
    if type(hook) in _KNOWN or (isinstance(hook, ScheduledHook) and not _is_of_the_user(hook)):
        return False
    return _overrides(hook, SessionRunHook, "end", "after_create_session")


def _is_of_the_user(one: Any) -> bool:
    return not type(one).__module__.startswith("lightwell.")


def _overrides(one: Any, base: Any, *names: str) -> bool:
    """Whether an object has a method of its own that uses its session argument."""
    names = names or ("before_save", "after_save", "end")
    own = getattr(one, "__dict__", {})
    return any(
        name in own or (getattr(type(one), name, None) is not getattr(base, name) and _uses_session(one, name))
        for name in names
    )


def _uses_session(one: Any, name: str) -> bool:
    """Whether a method reads the session among its arguments; what is no plain method may do anything."""
    method = getattr(type(one), name, None)
    code = getattr(method, "__code__", None)
    if code is None or code.co_argcount < 2:
        return True
    session = code.co_varnames[1]
    shared = session in code.co_cellvars
    return shared or any(step.argval == session or step.argval == "locals" for step in dis.get_instructions(code))
