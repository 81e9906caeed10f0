"""Cells outside any graph."""

from __future__ import annotations

import numpy as np
from tests.model.rnn_cell.scopes import step, unroll

from lightwell import rnn_cell as rc


def test_cells_run_eagerly() -> None:
    cell = rc.MultiRNNCell([rc.LSTMCell(3), rc.ResidualWrapper(rc.GRUCell(3))])
    first, _ = step(cell)
    second, _ = step(cell)
    outputs, _ = unroll(cell)
    assert first.shape == (2, 3)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, outputs[:, 0], rtol=1e-6)
    assert len(cell.variables) == 6
