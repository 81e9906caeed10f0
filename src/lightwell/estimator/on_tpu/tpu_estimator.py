"""`TPUEstimator` on CPU and GPU: an `Estimator` whose verbs know the batch size of their mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lightwell.base.keys import ModeKeys
from lightwell.errors import UsageError, WrongKind, WrongType
from lightwell.estimator.core import Estimator
from lightwell.estimator.on_tpu.batch_size import BATCH_SIZE, SizedInput, SizedModel
from lightwell.estimator.on_tpu.run_config import RunConfig
from lightwell.run.hooks.count_steps import CountSteps

_RESERVED = (BATCH_SIZE, "context")


class NoTPU(UsageError, RuntimeError):
    """A TPU was requested; Lightwell has none."""


class TPUEstimator(Estimator):
    """An `Estimator` in the form of the TPU programs, run on CPU and GPU.

    `input_fn` and `model_fn` take `params`, and find the batch size of the mode in `params["batch_size"]`; `model_fn`
    may return a `TPUEstimatorSpec`. Everything else is as with `Estimator`: checkpoints, hooks, paths, `predictor()`.

    Args:
        model_fn: the model function; it must take `params`.
        model_dir: where checkpoints and events are kept; `config.model_dir` if None.
        config: a `tpu.RunConfig`.
        params: handed to `model_fn` and `input_fn`, without the keys "batch_size" and "context".
        use_tpu: must be False: there is no TPU that Lightwell could drive. True is refused by the first verb.
        train_batch_size: the batch size for training.
        eval_batch_size: the batch size for evaluation.
        predict_batch_size: the batch size for prediction.
        batch_axis, eval_on_tpu, export_to_tpu, embedding_config_spec, export_saved_model_api_version: settings of TPU
            hardware, without effect.
        export_to_cpu: whether the model is exported for CPU and GPU, as it always is here.
        warm_start_from: see `Estimator`.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: Any = None,
        config: RunConfig | None = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = 1,
    ) -> None:
        if not isinstance(config, RunConfig):
            raise UsageError(
                "TPUEstimator: `config` must be provided with type `tpu_config.RunConfig` "
                f"(tf.compat.v1.estimator.tpu.RunConfig), got {config!r}."
            )
        if isinstance(params, dict) and any(key in params for key in _RESERVED):
            raise UsageError(f"TPUEstimator: {list(_RESERVED)} are reserved keys but existed in params {params}.")
        sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        _check_sizes(sizes, use_tpu)
        if not callable(model_fn):
            raise WrongKind(f"TPUEstimator: model_fn must be a function, got {model_fn!r}.")
        super().__init__(SizedModel(model_fn), model_dir, config, {} if params is None else params, warm_start_from)
        self._uses_tpu = use_tpu
        self._batch_sizes = sizes

    @staticmethod
    def _assert_members_are_not_overridden(self: Any) -> None:
        """The verbs are this class's own, and a subclass's."""

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[Any] | None = None,
        **more: Any,
    ) -> Estimator:
        """Trains; see `Estimator.train`. Examples per second are logged beside steps per second."""
        size, every = self._batch_sizes[ModeKeys.TRAIN], self._config.log_step_count_steps
        if size is not None and every and isinstance(hooks, list | tuple | None):
            hooks = [*(hooks or ()), CountSteps(every, self._model_dir, "examples/sec", size)]
        return super().train(self._sized(ModeKeys.TRAIN, input_fn), hooks, steps, max_steps, saving_listeners, **more)

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: Any = None,
        name: str | None = None,
        taps: Any = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Evaluates; see `Estimator.evaluate`."""
        sized = self._sized(ModeKeys.EVAL, input_fn)
        return super().evaluate(sized, steps, hooks, checkpoint_path, name, taps, **more)

    def predict(
        self,
        input_fn: Callable[..., Any] | None = None,
        predict_keys: Any = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: Any = None,
        yield_single_examples: bool = True,
        taps: Any = None,
        **more: Any,
    ) -> Iterator[Any]:
        """Yields predictions; see `Estimator.predict`."""
        sized = self._sized(ModeKeys.PREDICT, input_fn)
        return super().predict(sized, predict_keys, hooks, checkpoint_path, yield_single_examples, taps, **more)

    def describe(self, input_fn: Callable[..., Any], mode: str = ModeKeys.TRAIN, *, devices: bool = False) -> Any:
        """What the model is made of; see `Estimator.describe`."""
        return super().describe(self._sized(mode, input_fn), mode, devices=devices)

    def _sized(self, mode: str, input_fn: Callable[..., Any] | None) -> Any:
        if self._uses_tpu:
            raise NoTPU(
                "Cannot find any TPU cores in the system: Lightwell runs TPUEstimator on CPU and GPU. Pass "
                "use_tpu=False to TPUEstimator (its default is True)."
            )
        return SizedInput(input_fn, self._batch_sizes[mode]) if callable(input_fn) else input_fn


def _check_sizes(sizes: dict[str, int | None], use_tpu: bool) -> None:
    names = {ModeKeys.TRAIN: "train_batch_size", ModeKeys.EVAL: "eval_batch_size"}
    for mode, size in sizes.items():
        name = names.get(mode, "predict_batch_size")
        if size is None and use_tpu and mode == ModeKeys.TRAIN:
            raise UsageError(f"TPUEstimator: `{name}` cannot be `None`")
        if size is not None and (isinstance(size, bool) or not isinstance(size, int)):
            raise WrongType(f"TPUEstimator: {name} must be int, got {type(size)}: {size!r}.")
        if size is not None and size < 1:
            raise UsageError(f"TPUEstimator: {name} must be positive, got {size}. It is the number of rows in a batch.")
