"""The base of heads in TensorFlow 1: a package's own head works on it."""

from __future__ import annotations

from typing import Any

import pytest

from lightwell.heads.old import LossSpec, OldHead, summary_key


class Regression(OldHead):
    """A head as packages write it."""

    name = "regression"
    logits_dimension = 1

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        return LossSpec(logits - labels, [logits - labels], None, labels)


def test_a_head_brings_its_own_members() -> None:
    head = Regression()
    assert (head.name, head.logits_dimension) == ("regression", 1)
    assert head.create_loss({}, "train", 3, 1).training_loss == 2


def test_what_a_head_left_out_is_named() -> None:
    with pytest.raises(
        NotImplementedError, match=r"Regression is a head without `create_estimator_spec`: .* Write it in"
    ):
        Regression().create_estimator_spec({}, "train", 1)
    for member in ("name", "logits_dimension"):
        with pytest.raises(NotImplementedError, match=f"OldHead is a head without `{member}`"):
            getattr(OldHead(), member)
    with pytest.raises(NotImplementedError, match="OldHead is a head without `create_loss`"):
        OldHead().create_loss({}, "train", 1, 1)


def test_names_of_metrics() -> None:
    assert summary_key("my_head", "loss") == "loss/my_head"
    assert summary_key(None, "loss") == "loss"
