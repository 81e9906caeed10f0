"""PyTorch reads a capture: a tensor over the mapped file, and batches for its loader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.inside.captures import models


@pytest.mark.packages
@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_torch_reads_it(tmp_path: Path) -> None:
    import torch

    est = models.trained(tmp_path / "model")
    store = est.capture(models.data, ["layers/dense", "labels"], tmp_path / "acts", shard_bytes=1_000)
    column = store["layers/dense"]
    first = torch.from_numpy(column.chunks[0])
    np.testing.assert_array_equal(first.numpy(), column[: len(first)])
    assert first.data_ptr() == column.chunks[0].ctypes.data

    class Rows(torch.utils.data.Dataset):  # type: ignore[misc,type-arg]
        def __len__(self) -> int:
            return len(store)

        def __getitem__(self, row: int) -> Any:
            return torch.tensor(column[row]), int(store["labels"][row])

    values, labels = zip(*torch.utils.data.DataLoader(Rows(), batch_size=16), strict=True)
    np.testing.assert_array_equal(torch.cat(values).numpy(), column)
    np.testing.assert_array_equal(torch.cat(labels).numpy(), models.Y)
