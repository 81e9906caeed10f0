"""Is this the capture that is there already: of the same things, and of the same rows?

Of rows, what came from the input must be equal, what was computed close: sums may be rounded differently on another
machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lightwell.errors import UsageError
from lightwell.inside.captures.batches import Batches
from lightwell.inside.captures.folder import Folder
from lightwell.inside.captures.kinds import Kind, from_arrow, to_arrow
from lightwell.inside.captures.manifest import Manifest, Shard
from lightwell.inside.captures.shard_writer import ROW

_OF_THE_INPUT = ("features", "labels")


def difference(folder: Folder, manifest: Manifest, shard: Shard, batch: Batches) -> str:
    """How a batch differs from the rows of a shard that are of the same numbers; empty where it does not.

    The key alone decides, if there is one.
    """
    import pyarrow as pa

    rows, values = batch.rows, batch.selected_values()
    with pa.memory_map(folder.file(shard.file)) as source:
        stored_rows = _rows_between(pa.ipc.open_file(source), batch.first_row, batch.first_row + batch.examples)
        if not np.array_equal(stored_rows.column(ROW).to_numpy(), rows):
            return f"there are {len(rows)} rows from example {batch.first_row} on, where {len(stored_rows)} were"
        kinds = [manifest.kind(manifest.key)] if manifest.key is not None else manifest.kinds
        for kind in kinds:
            encoded = to_arrow(kind, values[kind.path], kind.path in manifest.text)
            if not _is_same(kind, stored_rows.column(kind.path), encoded):
                return f"{kind.path!r} is another from example {batch.first_row} on"
    return ""


def check_same_capture(known: Manifest, fresh: Manifest, folder: str) -> None:
    """Refuses to go on with a capture of something else.

    Raises:
        UsageError: the text says what differs.
    """
    differs = {word for word, digest in fresh.identity.items() if known.identity.get(word) != digest}
    if not known.identity["arrays"]:  # not known
        differs -= {"arrays"}
    if not fresh.identity["checkpoint"]:
        differs |= {"checkpoint"}
    ours, theirs = [kind.path for kind in fresh.kinds], [kind.path for kind in known.kinds]
    if ours != theirs:  # where labels are among them, the input is another one for that alone
        differs = (differs | {"program"}) - {"input", "arrays"}
    if not differs:
        return
    differences = {
        "checkpoint": f"of the checkpoint {known.checkpoint or 'with initial weights'}, and now it is "
        f"{fresh.checkpoint or 'initial weights, drawn anew each time'}",
        "program": "of other values, or the model computes them otherwise",
        "input": "of another input",
        "arrays": "of other data",
        "settings": f"with other settings: {known.identity.get('settings')}, and now {fresh.identity['settings']}",
    }
    if ours != theirs:
        differences["program"] = f"of {theirs}, and now {ours} are asked for"
    words = "; ".join(text for word, text in differences.items() if word in differs)
    raise UsageError(
        f"capture: {folder!r} holds another capture: {words}. Name another folder, or let it be replaced: "
        "capture(..., overwrite=True)."
    )


def _rows_between(file: Any, first: int, end: int) -> Any:
    """The rows of the examples from `first` up to `end`: those of one batch, which are in one piece of the file."""
    pieces = map(file.get_batch, range(file.num_record_batches))
    matches = [piece for piece in pieces if piece.num_rows and piece.column(ROW)[-1].as_py() >= first]
    piece = matches[0] if matches else file.get_batch(0)
    start, stop = np.searchsorted(piece.column(ROW).to_numpy(), [first, end])
    return piece.slice(start, stop - start)


def _is_same(kind: Kind, stored: Any, encoded: Any) -> bool:
    storage = stored.storage if hasattr(stored, "storage") else stored
    if storage.equals(encoded):
        return True
    is_exact = kind.path.partition("/")[0] in _OF_THE_INPUT or kind.dtype in ("string", "bool")
    one, other = (from_arrow(kind, part) for part in (storage, encoded))
    if is_exact or one is None or other is None or one.shape != other.shape:
        return is_exact and one is not None and other is not None and one.dtype.kind == "f" and _equal(one, other)
    return bool(np.allclose(one, other, rtol=1e-2, atol=1e-3, equal_nan=True))


def _equal(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other, equal_nan=True))
