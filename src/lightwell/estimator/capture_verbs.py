"""The verbs that store and compare values of a model: `capture`, `over_checkpoints`, `compare`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lightwell.errors import UsageError
from lightwell.estimator.arguments import check_place, checked_steps, warn_of_one_device
from lightwell.estimator.tracebacks import with_short_traceback
from lightwell.model.spec import checked_hooks
from lightwell.run.inputs.call import check_input_fn

if TYPE_CHECKING:
    from lightwell.inside.captures.store import Capture
    from lightwell.inside.studies.comparison import Comparison
    from lightwell.inside.studies.timeline import Timeline

_MAX_SHARD_BYTES = 2**30


class CaptureVerbs:
    """`capture`, `over_checkpoints`, `compare`."""

    @with_short_traceback
    def capture(
        self,
        input_fn: Callable[..., Any],
        taps: Any,
        to: Any,
        *,
        key: str | None = None,
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: Any = None,
        shard_bytes: int | str = "64MB",
        budget: int | str | None = None,
        beyond: str = "sample",
        text: bool = True,
        overwrite: bool = False,
        edits: Sequence[Any] | None = None,
    ) -> Capture:
        """Keeps tapped values of a whole data set on disk, a row for each example, as Arrow files.

        Only what the taps need is computed; memory stays the same however long the data are. Called again after it was
        killed, it goes on at the first row that is missing; called again when it is complete, it checks the first batch
        and opens what is there. For that, the input must give the same rows each time.

        Args:
            input_fn: gives the data, once; see `train`. With `labels` among the taps the model is built for evaluation,
                else for prediction.
            taps: paths, globs, layer classes, predicates: `["layers/*", "labels", "features/id"]`. Each value must have
                a row for each example.
            to: the folder.
            key: the feature that identifies an example, `"id"`; rows of several captures join by it.
            steps: how many batches to take; None for all.
            hooks: `SessionRunHook`s around each batch.
            checkpoint_path: a checkpoint to use instead of the newest.
            shard_bytes: how big a file is to be. What is lost by a kill is at most that much; less is in memory.
            budget: the most that all files may take, as in `"2GB"`. The first batch tells what they would take.
            beyond: what to do if that is more: `"sample"` keeps one example of so many; `"statistics"` keeps mean, std,
                min, max and zeros per unit over all examples, and no rows. Either says so.
            text: strings that are UTF-8 are kept as text; False for bytes.
            overwrite: replace what is in the folder.
            edits: changes of values on their way, as in `predict(edits=...)`: what is kept is what comes of them.

        Returns:
            The capture, open: `store["layers/dense"]` is a memory-mapped array.

        Raises:
            PathError: a path names nothing.
            UsageError: the folder holds another capture, the key is not unique, a value has no rows.
            CaptureError: the disk is full; or the input gives other rows than those that are there.

        Example:
            ``store = est.capture(input_fn, taps=["layers/*", "labels"], to="acts/", key="id")``
        """
        from lightwell.estimator.capture_run import CaptureRequest, capture
        from lightwell.inside.captures.kinds import check_arrow
        from lightwell.inside.captures.sizes import bytes_of
        from lightwell.inside.edits.changes import checked_edits

        estimator: Any = self
        check_arrow()
        check_input_fn(input_fn)
        batches = checked_steps("capture", steps)
        check_place("capture", estimator.config.eval_distribute, estimator.config)
        if beyond not in ("sample", "statistics"):
            raise UsageError(f'capture: beyond must be "sample" or "statistics", got {beyond!r}.')
        if beyond != "sample" and budget is None:
            raise UsageError(f'capture: beyond={beyond!r} is what to do beyond a budget; give one, as budget="2GB".')
        shard = bytes_of(shard_bytes, "capture: shard_bytes")
        if shard > _MAX_SHARD_BYTES:
            raise UsageError(f"capture: shard_bytes={shard_bytes!r} is more than 1 GB, which has to fit into memory.")
        request = CaptureRequest(
            input_fn,
            taps,
            to,
            key,
            batches,
            checked_hooks(hooks, "capture: hooks"),
            checkpoint_path,
            shard,
            None if budget is None else bytes_of(budget, "capture: budget"),
            beyond,
            text,
            overwrite,
            checked_edits(edits, "capture(edits=...)"),
        )
        warn_of_one_device("capture", estimator.config)
        return capture(estimator._lightwell_model(), request)

    @with_short_traceback
    def over_checkpoints(
        self,
        input_fn: Callable[..., Any] | None = None,
        *,
        taps: Any = None,
        values: Any = None,
        metrics: bool = True,
        weights: Any = None,
        steps: int | None = None,
        checkpoints: Sequence[Any] | None = None,
        edits: Sequence[Any] | None = None,
    ) -> Timeline:
        """What the model was at each of its checkpoints, as arrays along the steps.

        The model is built once; only the weights are restored for each.

        Args:
            input_fn: gives the data, the same each time; None looks at weights alone.
            taps: paths whose statistics per unit over the data are wanted, as in `evaluate(taps=...)`.
            values: paths whose values are wanted themselves, for a few examples: an array [checkpoints, examples, ...].
            metrics: evaluate at each checkpoint; False runs prediction, for which no labels are needed.
            weights: names or globs of weights whose statistics are wanted: `["dense/kernel", "conv*"]`.
            steps: how many batches to look at; None for all.
            checkpoints: paths, names or steps; None for all that `model_dir` keeps.
            edits: changes of values on their way, the same at each checkpoint, as in `evaluate(edits=...)`.

        Returns:
            A `Timeline`: `.steps`, and by path `["metrics/accuracy"]`, `["layers/dense"].mean`,
            `["weights/dense/kernel"].norm`. It prints as a table, renders in a notebook, and plots.

        Example:
            ``est.over_checkpoints(input_fn, taps=["layers/*"], weights=["*/kernel"]).plot()``
        """
        from lightwell.estimator.checkpoint_studies import over_checkpoints
        from lightwell.inside.edits.changes import checked_edits

        estimator: Any = self
        if input_fn is None and (taps is not None or values is not None):
            raise UsageError("over_checkpoints: taps= and values= are computed from data; give an input_fn.")
        if input_fn is None and edits is not None:
            raise UsageError("over_checkpoints: edits= change values that are computed from data; give an input_fn.")
        if input_fn is None and steps is not None:
            raise UsageError("over_checkpoints: steps= are batches of data to look at; give an input_fn.")
        if input_fn is None and weights is None:
            raise UsageError('over_checkpoints: nothing to look at; give an input_fn, or weights=["*/kernel"].')
        if input_fn is not None:
            check_input_fn(input_fn)
        batches = checked_steps("over_checkpoints", steps)
        check_place("over_checkpoints", estimator.config.eval_distribute, estimator.config)
        if input_fn is not None and not metrics:
            warn_of_one_device("over_checkpoints(metrics=False)", estimator.config)
        return over_checkpoints(
            estimator._lightwell_model(),
            input_fn,
            taps=taps,
            values=values,
            metrics=metrics,
            weights=weights,
            steps=batches,
            checkpoints=checkpoints,
            edits=checked_edits(edits, "over_checkpoints(edits=...)"),
        )

    @with_short_traceback
    def compare(
        self,
        first: Any,
        second: Any,
        input_fn: Callable[..., Any],
        *,
        taps: Any = "layers/*",
        key: str | None = None,
        steps: int | None = None,
    ) -> Comparison:
        """Two checkpoints side by side: how far each layer's weights moved, how alike its outputs are, units that died,
        and the examples that are predicted otherwise.

        Args:
            first: a checkpoint: its path, its name, or its step.
            second: another.
            input_fn: gives the data; the same each time, which is checked.
            taps: the layers whose outputs are compared.
            key: the feature that identifies an example; else its number in the input does.
            steps: how many batches to look at; None for all.

        Returns:
            A `Comparison`: it prints as a table, renders in a notebook, and plots.

        Example:
            ``print(est.compare(1000, 2000, input_fn, key="id"))``
        """
        from lightwell.estimator.checkpoint_studies import compare

        estimator: Any = self
        check_input_fn(input_fn)
        batches = checked_steps("compare", steps)
        check_place("compare", estimator.config.eval_distribute, estimator.config)
        warn_of_one_device("compare", estimator.config)
        return compare(estimator._lightwell_model(), first, second, input_fn, taps, key, batches)
