"""Subclasses may add, and not override; the error says where the wish belongs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests import tiny

import lightwell as lw
from lightwell.errors import UsageError


def test_a_subclass_may_have_a_constructor_and_methods_of_its_own() -> None:
    class Mine(lw.Estimator):
        def __init__(self, rate: float) -> None:
            super().__init__(tiny.linear, params={"learning_rate": rate})

        def rate(self) -> float:
            return float(self.params["learning_rate"])

    assert Mine(0.5).rate() == 0.5

    class Further(Mine):
        pass

    assert "Further(model_fn=linear" in repr(Further(0.1))


@pytest.mark.parametrize(
    ("member", "way_out"),
    [
        ("_call_model_fn", "declare it in `predictions`, or read it by its path"),
        ("train", "Put what shall happen during training in a SessionRunHook"),
        ("evaluate", "in a hook: evaluate"),
        ("predict", "in a hook: predict"),
        ("_call_input_fn", "Wrap input_fn in a function of your own"),
        ("_train_model", "Put that behaviour in model_fn, input_fn or a hook"),
        ("config", "Put that behaviour in model_fn, input_fn or a hook"),
    ],
)
def test_overriding_is_refused_when_the_class_is_made(member: str, way_out: str) -> None:
    text = rf"Subclasses of Estimator cannot override members of .* Mine does override \['{member}'\]\. .*{way_out}"
    with pytest.raises(UsageError, match=text):
        type("Mine", (lw.Estimator,), {member: lambda self: None, "__qualname__": "Mine"})


def test_several_at_once_are_told_at_once() -> None:
    members: dict[str, Any] = {"train": None, "_call_model_fn": None}
    with pytest.raises(UsageError, match=r"override \['_call_model_fn', 'train'\].*predictions.*SessionRunHook"):
        type("Mine", (lw.Estimator,), members)


def test_private_members_of_a_subclass_get_in_nobodys_way(tmp_path: Path) -> None:
    """Whatever the subclass calls them: parts of Lightwell's own have names that no program uses."""
    ours = {name for kind in lw.Estimator.__mro__ for name in vars(kind) if name.startswith("_lightwell")}
    named = ("_model", "_export", "_change_weight", "_trained_checkpoint", "_newest_checkpoint", "_events")
    members = dict.fromkeys([*named, *(f"_{name.removeprefix('_lightwell_')}" for name in ours)], 0)
    kind = type("Mine", (lw.Estimator,), members)
    made = kind(tiny.linear, str(tmp_path), params={})
    made._sessions = made._input_scope = made._holds_events = "mine"
    made.train(tiny.data, steps=2)
    assert made.evaluate(tiny.once)["global_step"] == 2
    assert len(list(made.predict(tiny.once))) == 8
    made.weights["w"] = 3.0
    assert made.get_variable_value("w") == 3.0
    assert made.export_saved_model(str(tmp_path / "exported"))
    made.close()
    own = {name for one in lw.Estimator.__mro__[:-1] for name in vars(one) if name[0] == "_" and name[:2] != "__"}
    as_in_the_original = {"_assert_members_are_not_overridden", "_create_and_assert_global_step", "_call_model_fn"}
    assert own - ours == as_in_the_original, "a new private member needs a name of ours"


def test_what_only_lightwell_has_may_be_hidden() -> None:
    class Mine(lw.Estimator):
        def describe(self) -> str:  # type: ignore[override]
            return "mine"

    assert Mine(tiny.linear, params={}).describe() == "mine"
