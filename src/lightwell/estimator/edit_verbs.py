"""The verbs that change weights of a trained model: `edit`, `revert`, and `lineage`, which lists the changes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lightwell.base.log import logger
from lightwell.estimator.tracebacks import with_short_traceback

if TYPE_CHECKING:
    from lightwell.inside.weights.lineage import Lineage
    from lightwell.inside.weights.weight_edits import WeightEdits
    from lightwell.run.config import RunConfig


class EditVerbs:
    """`edit`, `lineage`, `revert`."""

    _model_dir: str
    _config: RunConfig
    _lightwell_trained: Callable[[], str]

    @contextlib.contextmanager
    def edit(self, note: str = "") -> Iterator[WeightEdits]:
        """Changes weights of the trained model; leaving the block writes one new checkpoint.

        `train`, `evaluate`, `predict`, new predictors and exports go on from it. It has the step of its parent, which
        stays as it is, and so does the optimizer's state unless it is reset or changed. All or nothing: an error in the
        block, a wrong shape, a full disk or a kill leaves the model as it was.

        Args:
            note: a few words that the lineage keeps.

        Example:
            with est.edit() as w:
                w["dense/kernel"][:, 3] = 0
                w.layers["conv2d"].kernel *= 0.5
                w["embedding"] = array
                w.copy("encoder/*", from_checkpoint="runs/other")
                w.reset_slots("dense/*")

        Raises:
            UsageError: there is no trained model; a shape or a type does not fit.
            PathError: there is no weight of that name.
            ModelInUse: a training runs in `model_dir`; in there, use `step.edit` of a watch.
            ModelDirError: the checkpoint cannot be written.
        """
        from lightwell.inside.edits.stored_values import initial_values, write_changed
        from lightwell.inside.weights.weight_edits import WeightEdits
        from lightwell.run.checkpoints.commit import checked_parent, commit_edit
        from lightwell.run.checkpoints.directory_locks import lock_exclusively
        from lightwell.run.checkpoints.restore import version_of

        parent = checked_parent(self._lightwell_trained())
        with lock_exclusively(self._model_dir, "edit"):
            version = version_of(parent)
        edits = WeightEdits(parent, self._model_dir, initial_values)
        yield edits
        changes = edits.changes()
        if not changes:
            logger.warning("edit: nothing was changed in %s, so no checkpoint was written.", parent)
            return
        values = edits.new_values(changes)
        _warn_of_nonfinite(values)
        _warn_of_averages(edits.averages_left(values))
        edits.checkpoint = commit_edit(
            self._model_dir,
            parent,
            version,
            lambda prefix: write_changed(parent, values, prefix),
            list(changes.values()),
            note,
            self._config.keep_checkpoint_max,
        )
        logger.info("Edited %s into %s.", os.path.basename(parent), edits.checkpoint)

    @with_short_traceback
    def lineage(self) -> Lineage:
        """Where the checkpoints in `model_dir` come from: parent, edits, time and hash of each.

        Returns:
            A `Lineage`, a sequence of `Origin`s, the oldest first. It prints as a table and renders in a notebook.
        """
        from lightwell.inside.weights.lineage import read_lineage

        return read_lineage(self._model_dir)

    @with_short_traceback
    def revert(self, checkpoint: Any = None) -> str:
        """Goes back: the parent of the newest checkpoint, or `checkpoint`, is the newest again. Returns its path.

        The one that is left stays on disk, as long as `keep_checkpoint_max` lets it, and can be gone back to.

        Raises:
            UsageError: no parent is known, or it was deleted.
            ModelInUse: a training runs in `model_dir`.
        """
        from lightwell.run.checkpoints.commit import commit_revert

        path = None if checkpoint is None else os.fspath(checkpoint)
        return commit_revert(self._model_dir, self._lightwell_trained(), path)

    def _lightwell_change(self, path: str, value: Any) -> None:
        """Writes one value: what `est.layers["dense"].kernel = value` does."""
        with EditVerbs.edit(self) as weights:  # a subclass may have an `edit` of its own
            weights[path] = value


def _warn_of_nonfinite(values: Mapping[str, Any]) -> None:
    """Warns of NaN and infinity in weights, which are mostly a mistake."""
    for name, value in values.items():
        if value.dtype.kind in "OSUiub":
            continue
        count = int(np.count_nonzero(~np.isfinite(value)))
        if count:
            logger.warning(
                "edit: %s of %s numbers in %s are NaN or infinite now. est.revert() goes back.",
                f"{count:,}",
                f"{value.size:,}",
                name,
            )


def _warn_of_averages(left: Mapping[str, str]) -> None:
    """Warns where a model that is evaluated with moving averages would not show the edit."""
    for average, weight in left.items():
        logger.warning(
            "edit: %s has a moving average, which stays as it was. If the model is evaluated with averages, set it as "
            "well: w.slots[%r] = w[%r].",
            weight,
            average,
            weight,
        )
