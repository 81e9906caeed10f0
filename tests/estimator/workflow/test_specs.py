"""`TrainSpec` and `EvalSpec` as values; what they refuse is in test_error_texts.py and tests/parity."""

from __future__ import annotations

import copy
import pickle

from tests import tiny
from tests.estimator.workflow.runs import Noting

import lightwell as lw
from lightwell.compat.v1 import estimator as v1_estimator


def test_an_eval_spec_unpacks_as_ever() -> None:
    spec = lw.EvalSpec(tiny.once, every_steps=5)
    input_fn, steps, name, hooks, exporters, start_delay_secs, throttle_secs = spec
    assert (steps, name, hooks, exporters, start_delay_secs, throttle_secs) == (100, None, (), (), 120, 600)
    assert input_fn is tiny.once
    assert len(spec) == 7


def test_the_cadence_is_part_of_the_value() -> None:
    spec = lw.EvalSpec(tiny.once, every_steps=5)
    assert spec == lw.EvalSpec(tiny.once, every_steps=5)
    assert spec != lw.EvalSpec(tiny.once, every_steps=6)
    assert spec != lw.EvalSpec(tiny.once)
    assert hash(spec) == hash(lw.EvalSpec(tiny.once, every_steps=5))
    assert repr(spec).endswith("throttle_secs=600, every_steps=5)")
    assert repr(lw.EvalSpec(tiny.once)).endswith("throttle_secs=600)")


def test_a_replaced_one_keeps_the_rest() -> None:
    spec = lw.EvalSpec(tiny.once, every_steps=5, exporters=Noting("x"))
    other = spec._replace(steps=None, name="n")
    assert (other.every_steps, other.steps, other.name, other.exporters) == (5, None, "n", spec.exporters)
    assert spec._replace(every_steps=None, every_checkpoints=2).every_checkpoints == 2
    assert lw.TrainSpec(tiny.data, 5)._replace(max_steps=6) == lw.TrainSpec(tiny.data, 6)


def test_copies_are_equal() -> None:
    for spec in (lw.EvalSpec(tiny.once, 3, "n", every_checkpoints=2), lw.TrainSpec(tiny.data, 3)):
        assert copy.copy(spec) == spec
        assert copy.deepcopy(spec) == spec
        assert pickle.loads(pickle.dumps(spec)) == spec


def test_exporters_of_a_generator_are_kept() -> None:
    """The original went through it once to check, and kept none."""
    assert len(lw.EvalSpec(tiny.once, exporters=(Noting(name) for name in "ab")).exporters) == 2


def test_both_faces_have_the_same() -> None:
    assert v1_estimator.EvalSpec is lw.EvalSpec is lw.estimator.EvalSpec
    assert v1_estimator.train_and_evaluate is lw.train_and_evaluate
