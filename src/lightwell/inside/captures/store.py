"""`open_capture`: a capture on disk, to be read. Loads neither the model nor its program.

Takes a folder; gives a `Capture`. Files are mapped, not read; nothing in them is code.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lightwell.base.log import logger
from lightwell.errors import CaptureError, PathError, UsageError
from lightwell.inside.captures.column import Column, Part
from lightwell.inside.captures.folder import STATISTICS, Folder
from lightwell.inside.captures.kinds import Kind, check_arrow
from lightwell.inside.captures.manifest import NAME, Manifest
from lightwell.inside.captures.shard_writer import ROW
from lightwell.inside.captures.shards import MappedShard
from lightwell.inside.paths.nearest import nearest_paths

if TYPE_CHECKING:
    from lightwell.inside.captures.join import Joined
    from lightwell.inside.captures.top import Top


def open_capture(path: Any) -> Capture:
    """Opens a capture that `est.capture(..., to=path)` wrote.

    Example:
        ``lw.open_capture("acts/")["layers/dense"][:10]``

    Raises:
        CaptureError: there is none, or its manifest is damaged. Each file of it is checked when a number of it is first
            looked at, once in a process, and this is raised where it is not as it was written.
    """
    check_arrow()
    folder = Folder(path)
    manifest = folder.read_manifest()
    if manifest is None:
        is_there = os.path.isdir(folder.path)
        raise CaptureError(
            f"open_capture: {folder.path!r} {f'has no {NAME}' if is_there else 'does not exist'}; expected a folder "
            "that est.capture(..., to=...) wrote."
        )
    if not manifest.is_complete:
        logger.warning(
            "open_capture: the capture in %s is not complete; it has %d rows so far. Call capture again to go on.",
            folder.path,
            manifest.rows,
        )
    return Capture(folder, manifest)


class Capture:
    """Tapped values of a data set, a row for each example, on disk.

    `store["layers/dense"]` is an array-like over mapped files, `len(store)` the number of rows, `list(store)` the
    paths. It prints as a table, and renders in a notebook.

    Attributes:
        path: the folder.
        key: the path that identifies an example, if one does.
        checkpoint: the name of the checkpoint that the values are of.
        global_step: its step.
        is_complete: whether all of the input is in it.
    """

    def __init__(self, folder: Folder, manifest: Manifest) -> None:
        self._folder, self._manifest = folder, manifest
        self.path = folder.path
        self.key = manifest.key
        self.checkpoint = manifest.checkpoint
        self.global_step = manifest.global_step
        self.is_complete = manifest.is_complete

    @property
    def paths(self) -> list[str]:
        """What was tapped."""
        return [kind.path for kind in self._manifest.kinds]

    @property
    def rows(self) -> Column:
        """The number of each row's example in the input, from 0."""
        return self._column(Kind(ROW, "int64", ()))

    @property
    def keys(self) -> Column:
        """What identifies each row: the values of the key, or the numbers of the examples."""
        return self.rows if self.key is None else self[self.key]

    def __getitem__(self, path: str) -> Column:
        kind = self._manifest.kind(self._full_path(path))
        self._check_rows(path)
        return self._column(kind)

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __contains__(self, path: object) -> bool:
        return path in self.paths

    def __len__(self) -> int:
        return self._manifest.rows

    def table(self, paths: Sequence[str] | str | None = None) -> Any:
        """A `pyarrow.Table` over the mapped files: `row` and the paths, or all."""
        import pyarrow as pa

        self._check_rows("table()")
        chosen = self.paths if paths is None else [paths] if isinstance(paths, str) else list(paths)
        names = [ROW, *map(self._full_path, chosen)]
        for shard in self._shards:
            shard.check()
        batches = [batch for shard in self._shards for batch in shard.batches]
        schema = pa.schema([batches[0].schema.field(name) for name in names] if batches else [])
        return pa.Table.from_batches([batch.select(names) for batch in batches], schema)

    def to_pandas(self, paths: Sequence[str] | str | None = None) -> Any:
        """A pandas frame, indexed by the key, or else by `row`; a vector or a tensor is an array in its cell."""
        chosen = self.paths if paths is None else [paths] if isinstance(paths, str) else list(paths)
        with_key = chosen if self.key is None or self.key in chosen else [*chosen, self.key]
        table, tensors = self.table(with_key), {}
        for kind in self._manifest.kinds:
            if kind.path in table.column_names and kind.is_fixed and kind.shape:
                tensors[kind.path] = list(self[kind.path])
        frame = table.drop_columns(list(tensors)).to_pandas()
        for name in table.column_names:
            if name in tensors:
                frame[name] = tensors[name]
        frame = frame[table.column_names]
        return frame.set_index(self.key if self.key in frame.columns else ROW)

    def dataset(
        self,
        features: Any = None,
        labels: str | None = None,
        batch_size: int = 128,
        *,
        shuffle: bool | int = False,
        repeat: bool = False,
    ) -> Any:
        """A `tf.data.Dataset` of the rows, made where it is called: in an `input_fn`, or eagerly.

        Args:
            features: a path, whose values are the features then, or several, for a dict of them by path; or a dict of
                paths by the names that the features are to have. None: all columns by path, but for the labels.
            labels: the path of the labels; None for none.
            batch_size: how many rows a batch has; the last one may have fewer.
            shuffle: in an order that is another each time; a number seeds it. Rows are mixed in windows of 64 K rows.
            repeat: without an end.

        Example:
            ``probe.train(lambda: store.dataset("layers/dense", "labels", shuffle=True, repeat=True), steps=500)``
        """
        from lightwell.inside.captures.dataset import Rows, dataset_of

        self._check_rows("dataset()")
        return dataset_of(self, Rows(features, labels, batch_size, shuffle, repeat))

    def input_fn(self, features: Any, labels: str | None = None, **settings: Any) -> Callable[[], Any]:
        """The same as a function, to hand to `train`, `evaluate` and `predict`."""
        return functools.partial(self.dataset, features, labels, **settings)

    def stats(self, path: str | None = None) -> Any:
        """Statistics over all rows, per unit: a `UnitStats` of a path, or a dict of them for all paths of numbers.

        Both print as a table, and have one in a notebook.
        """
        from lightwell.inside.captures.statistics import read_statistics, statistics_of
        from lightwell.inside.watches.unit_stats import Statistics

        stored = read_statistics(self._folder, self._manifest) if self._manifest.statistics else None
        if path is not None:
            full_path = self._full_path(path)
            return stored[full_path] if stored is not None else statistics_of(self[full_path])
        if stored is not None:
            return stored
        numbers = [kind for kind in self._manifest.kinds if kind.is_fixed and kind.dtype != "string"]
        return Statistics({kind.path: statistics_of(self[kind.path]) for kind in numbers})

    def top(self, path: str, unit: Any = None, k: int = 10, by: str = "max") -> Top:
        """The examples in which a unit has its largest values.

        Args:
            path: a path of numbers.
            unit: which unit: a number counts along the last dimension (a channel), a tuple names one element. None:
                the norm of an example's whole value.
            k: how many examples.
            by: of the several places that a channel has (`[height, width, channel]`), the `"max"` or the `"mean"`.
        """
        from lightwell.inside.captures.top import top

        return top(self, self._full_path(path), unit, k, by)

    def join(self, other: Capture) -> Joined:
        """The rows that both captures have, by their keys: of two checkpoints, or of two sets of taps."""
        from lightwell.inside.captures.join import join

        return join(self, other)

    def verify(self) -> None:
        """Reads all files and compares their checksums, also of those that have been checked before.

        Raises:
            CaptureError: one is damaged.
        """
        bad = [shard.file for shard in self._manifest.shards if not self._folder.is_sound(shard)]
        if self._manifest.statistics and not self._folder.has_sound_statistics(self._manifest):
            bad.append(STATISTICS)
        if bad:
            raise CaptureError(
                f"{self.path!r}: {', '.join(bad)} is not as it was written. Call capture again with the same "
                "arguments: what is damaged is written again."
            )

    def to_dict(self) -> dict[str, Any]:
        """What there is, as plain data."""
        from lightwell.inside.captures.show import as_dict

        return as_dict(self, self._manifest)

    def __str__(self) -> str:
        from lightwell.inside.captures.show import as_text

        return as_text(self, self._manifest)

    def __repr__(self) -> str:
        return f"Capture({self.path!r}, {len(self):,} rows of {self.paths})"

    def _repr_html_(self) -> str:
        from lightwell.inside.captures.show import as_html

        return as_html(self, self._manifest)

    @functools.cached_property
    def _shards(self) -> list[MappedShard]:
        return [MappedShard(self._folder, shard, [ROW, *self.paths]) for shard in self._manifest.shards]

    def _column(self, kind: Kind) -> Column:
        parts = [
            Part(shard.column(place, kind), shard.check)
            for shard in self._shards
            for place in range(len(shard.batches))
        ]
        return Column(kind, parts)

    def _full_path(self, path: str) -> str:
        known = self.paths
        ends = [one for one in known if one == path or one.endswith(f"/{path}")]
        if path in known or len(ends) == 1:
            return path if path in known else ends[0]
        close = ends or nearest_paths(path, dict.fromkeys(known)) or known
        raise PathError(f"{self.path!r} has no {path!r}; it has {', '.join(map(repr, close[:5]))}.")

    def _check_rows(self, request: str) -> None:
        if self._manifest.statistics:
            raise UsageError(
                f"{self.path!r} holds statistics and no rows, because these did not fit into its budget: {request} is "
                "not there, stats() is. Capture again with a larger budget=, or with beyond='sample'."
            )
