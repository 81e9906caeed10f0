"""`TrainSpec` and `EvalSpec` as values: what they are made of, and which exceptions wrong arguments raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity.spies import SpyHook, SpyListener, known_name

v1 = tf.compat.v1
HOOK, LISTENER = SpyHook("H", []), SpyListener("L", [])


def give() -> None:
    """An input_fn."""


def exporter(base: type, given: Any) -> Any:
    class Named(base):  # type: ignore[misc, valid-type]
        @property
        def name(self) -> Any:
            return given

        def export(self, *args: Any, **kwargs: Any) -> Any:
            return None

    return Named()


def _estimator(lib: Any) -> Any:
    return lib.Estimator(lambda features, labels, mode: None, "unused")


Case = Callable[[Any, type], Any]
CASES: dict[str, Case] = {
    "TrainSpec, defaults": lambda lib, base: lib.TrainSpec(give),
    "TrainSpec, all": lambda lib, base: lib.TrainSpec(give, 7, [HOOK], [LISTENER]),
    "TrainSpec, hooks of a generator": lambda lib, base: lib.TrainSpec(give, hooks=(one for one in [HOOK])),
    "TrainSpec, fields": lambda lib, base: lib.TrainSpec._fields,
    "TrainSpec, equal": lambda lib, base: lib.TrainSpec(give, 7) == lib.TrainSpec(give, 7),
    "TrainSpec, not equal": lambda lib, base: lib.TrainSpec(give, 7) == lib.TrainSpec(give, 8),
    "TrainSpec, replaced": lambda lib, base: lib.TrainSpec(give)._replace(max_steps=3),
    "TrainSpec, input_fn with arguments": lambda lib, base: len(lib.TrainSpec(lambda mode, params, config: 1)),
    "EvalSpec, defaults": lambda lib, base: lib.EvalSpec(give),
    "EvalSpec, by position": lambda lib, base: lib.EvalSpec(give, 7, "n", [HOOK], None, 1, 2),
    "EvalSpec, fields": lambda lib, base: lib.EvalSpec._fields,
    "EvalSpec, equal": lambda lib, base: lib.EvalSpec(give, 7) == lib.EvalSpec(give, 7),
    "EvalSpec, equal to a tuple": lambda lib, base: lib.EvalSpec(give) == (give, 100, None, (), (), 120, 600),
    "EvalSpec, replaced": lambda lib, base: lib.EvalSpec(give)._replace(steps=None, name="other"),
    "EvalSpec, one exporter": lambda lib, base: len(lib.EvalSpec(give, exporters=exporter(base, "a")).exporters),
    "EvalSpec, a set of exporters": lambda lib, base: len(
        lib.EvalSpec(give, exporters={exporter(base, "a")}).exporters
    ),
    "EvalSpec, no exporters": lambda lib, base: lib.EvalSpec(give, exporters=[]).exporters,
    "EvalSpec, empty name": lambda lib, base: lib.EvalSpec(give, name="").name,
    "TrainSpec, input_fn is none": lambda lib, base: lib.TrainSpec(None),
    "TrainSpec, input_fn is data": lambda lib, base: lib.TrainSpec(np.ones(3)),
    "TrainSpec, hook is a number": lambda lib, base: lib.TrainSpec(give, hooks=[1]),
    "TrainSpec, hooks is a hook": lambda lib, base: lib.TrainSpec(give, hooks=HOOK),
    "TrainSpec, listener is a number": lambda lib, base: lib.TrainSpec(give, saving_listeners=[1]),
    "TrainSpec, listeners is a listener": lambda lib, base: lib.TrainSpec(give, saving_listeners=LISTENER),
    "EvalSpec, input_fn is none": lambda lib, base: lib.EvalSpec(None),
    "EvalSpec, hook is a number": lambda lib, base: lib.EvalSpec(give, hooks=[1]),
    "EvalSpec, name is a number": lambda lib, base: lib.EvalSpec(give, name=3),
    "EvalSpec, exporters is a number": lambda lib, base: lib.EvalSpec(give, exporters=3),
    "EvalSpec, exporter is none": lambda lib, base: lib.EvalSpec(give, exporters=[None]),
    "EvalSpec, exporters by key": lambda lib, base: lib.EvalSpec(give, exporters={"a": exporter(base, "a")}),
    "EvalSpec, exporters of one name": lambda lib, base: lib.EvalSpec(give, exporters=[exporter(base, "a")] * 2),
    "EvalSpec, exporter without name": lambda lib, base: lib.EvalSpec(give, exporters=exporter(base, "")),
    "EvalSpec, exporter named none": lambda lib, base: lib.EvalSpec(give, exporters=exporter(base, None)),
    "EvalSpec, exporter named 3": lambda lib, base: lib.EvalSpec(give, exporters=exporter(base, 3)),
    "no estimator": lambda lib, base: lib.train_and_evaluate(None, lib.TrainSpec(give), lib.EvalSpec(give)),
    "no train_spec": lambda lib, base: lib.train_and_evaluate(_estimator(lib), None, lib.EvalSpec(give)),
    "no eval_spec": lambda lib, base: lib.train_and_evaluate(_estimator(lib), lib.TrainSpec(give), None),
    "eval_spec left out": lambda lib, base: lib.train_and_evaluate(_estimator(lib), lib.TrainSpec(give)),
    "specs in the wrong order": lambda lib, base: lib.train_and_evaluate(
        _estimator(lib), lib.EvalSpec(give), lib.TrainSpec(give)
    ),
}
for _value in (0, -1, 1.5, "3", np.int64(3)):
    for _spec, _field in (
        ("TrainSpec", "max_steps"),
        ("EvalSpec", "steps"),
        ("EvalSpec", "start_delay_secs"),
        ("EvalSpec", "throttle_secs"),
    ):
        CASES[f"{_spec}, {_field} is {type(_value).__name__} {_value}"] = (
            lambda lib, base, spec=_spec, field=_field, value=_value: getattr(lib, spec)(give, **{field: value})
        )


def outcome(case: Case, lib: Any, base: type) -> str:
    """The value in words, or the name of the exception."""
    try:
        made = case(lib, base)
    except Exception as error:
        return f"raises {known_name(error)}"
    return _shown(tuple(made)) if isinstance(made, tuple) else _shown(made)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    if isinstance(value, np.generic):
        return repr(value.item())
    return (
        repr(value)
        if isinstance(value, str | int | float | bool | None)
        else getattr(value, "__name__", type(value).__name__)
    )
