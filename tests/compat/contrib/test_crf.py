"""`tf.contrib.crf`: scores, likelihoods and best tags as TensorFlow 1.15.5 gave them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.compat.contrib import crf_cases, same

from lightwell import tf1

RECORDED = same.recorded("crf")


@pytest.mark.parametrize("name", sorted(crf_cases.CASES))
def test_as_recorded(name: str) -> None:
    same.assert_same(same.outcome(crf_cases.CASES[name], tf1.contrib), RECORDED["cases"][name], name)


def test_decoding_outside_of_a_graph_as_recorded() -> None:
    same.assert_same(same.plain(crf_cases.facts(tf1.contrib)), RECORDED["facts"], "facts")


def test_the_best_tags_are_the_best_of_all() -> None:
    score, transitions = same.inputs(4, 3, seed=5), same.inputs(3, 3, seed=6)

    def total(tags: tuple[int, ...]) -> float:
        steps = sum(transitions[one, other] for one, other in itertools.pairwise(tags))
        return float(sum(score[place, tag] for place, tag in enumerate(tags)) + steps)

    tags, best = tf1.contrib.crf.viterbi_decode(score, transitions)
    by_trial = max(itertools.product(range(3), repeat=4), key=total)
    assert tuple(tags) == by_trial
    np.testing.assert_allclose(best, total(by_trial), rtol=1e-6)
