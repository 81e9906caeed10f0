"""The pieces of work that Lightwell and tf.estimator share, registered on the worker of either."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.workers import data
from benchmarks.workers import estimator_models as models
from benchmarks.workers.estimator_models import Api
from benchmarks.workers.protocol import Measure, Plan, Worker, measured_steps, seconds_per_call

BIG_ROWS = 1_000_000  # x 784 floats: 3.1 GB
WARM_STEPS = 250  # past the first of every kind of step: logged, summarised, and neither
WARM_STEPS_CNN = 20


def register(worker: Worker, api: Api) -> None:
    """Adds every shared piece."""
    pieces = {
        "mlp": train_mlp,
        "mlp_hook": train_mlp_with_hook,
        "cnn": train_cnn,
        "wide": train_wide_and_deep,
        "ready_wide": train_ready_wide_and_deep,
        "ready_dnn": train_ready_dnn,
        "predict_batches": lambda api, plan: predict_batches(api, plan, data.BATCH),
        "predict_batches_256": lambda api, plan: predict_batches(api, plan, 256),
        "predict_rows": predict_rows,
        "predict_loop": predict_loop,
        "predict_loop_vouched": predict_loop,
        "first_step": lambda api, plan: first_step(api, plan.scaled(data.PREDICT_ROWS, 500)),
        "first_step_3gb": lambda api, plan: first_step(api, plan.scaled(BIG_ROWS, 2_000)),
        "evaluate": evaluate,
    }

    def bound(piece: Callable[[Api, Plan], Measure]) -> Callable[[Plan], Measure]:
        return lambda plan: piece(api, plan)

    for row, piece in pieces.items():
        worker.piece(row)(bound(piece))


def train_rate(
    api: Api,
    model_fn: Any,
    input_fn: Any,
    steps: int,
    *,
    warm: int = WARM_STEPS,
    make_hooks: Callable[[], Sequence[Any]] = list,
) -> float:
    """Trains a new model of a `model_fn` and returns its steps per second after `warm` steps."""
    return rate_of(api, lambda folder: api.Estimator(model_fn, folder), input_fn, steps, warm, make_hooks)


def rate_of(
    api: Api,
    make: Callable[[str], Any],
    input_fn: Any,
    steps: int,
    warm: int = WARM_STEPS,
    make_hooks: Callable[[], Sequence[Any]] = list,
) -> float:
    """Trains the Estimator that `make` makes in a folder, and returns its steps per second after `warm` steps."""
    times: list[float] = []
    with tempfile.TemporaryDirectory() as model_dir:
        hooks = [*make_hooks(), api.stamp([warm, warm + steps], times)]
        make(model_dir).train(input_fn, hooks=hooks, steps=warm + steps)
    return steps / (times[1] - times[0])


def trained(api: Api, model_fn: Any, input_fn: Any, steps: int = 1) -> Any:
    """An Estimator with a checkpoint, in a temporary directory that the bench removes after the run."""
    estimator = api.Estimator(model_fn, tempfile.mkdtemp())
    estimator.train(input_fn, steps=steps)
    return estimator


def train_mlp(api: Api, plan: Plan) -> Measure:
    input_fn = models.digits_input(api, data.TRAIN_ROWS)
    return measured_steps(lambda steps: train_rate(api, models.mlp(api), input_fn, steps), plan, guess=100)


def train_mlp_with_hook(api: Api, plan: Plan) -> Measure:
    input_fn = models.digits_input(api, data.TRAIN_ROWS)

    def run(steps: int) -> float:
        return train_rate(api, models.mlp(api), input_fn, steps, make_hooks=lambda: [models.fetching_hook(api)])

    return measured_steps(run, plan, guess=100)


def train_cnn(api: Api, plan: Plan) -> Measure:
    input_fn = models.digits_input(api, data.TRAIN_ROWS)

    def run(steps: int) -> float:
        return train_rate(api, models.cnn(api), input_fn, steps, warm=WARM_STEPS_CNN)

    return measured_steps(run, plan, guess=10, multiple=10)


def train_wide_and_deep(api: Api, plan: Plan) -> Measure:
    input_fn = models.training_input(api, data.clicks(plan.scaled(20_000, 1_000)), batch=256)
    return measured_steps(lambda steps: train_rate(api, models.wide_and_deep(api), input_fn, steps), plan, guess=50)


def train_ready_wide_and_deep(api: Api, plan: Plan) -> Measure:
    input_fn = models.training_input(api, data.clicks(plan.scaled(20_000, 1_000)), batch=256)
    make = models.ready_wide_and_deep(api)
    return measured_steps(lambda steps: rate_of(api, make, input_fn, steps), plan, guess=50)


def train_ready_dnn(api: Api, plan: Plan, warm: int = WARM_STEPS) -> Measure:
    input_fn, make = models.digits_input(api, data.TRAIN_ROWS), models.ready_dnn(api)
    return measured_steps(lambda steps: rate_of(api, make, input_fn, steps, warm), plan, guess=100)


def predict_batches(api: Api, plan: Plan, batch: int) -> Measure:
    return _predictions(api, plan, batch, by_row=False)


def predict_rows(api: Api, plan: Plan) -> Measure:
    return _predictions(api, plan, data.BATCH, by_row=True)


def predict_loop(api: Api, plan: Plan) -> Measure:
    call = one_row_call(api)
    call()
    return lambda: {"seconds": seconds_per_call(call, plan.seconds)}


def one_row_call(api: Api) -> Callable[[], Any]:
    """`predict()` of one row, ready to be called again and again."""
    estimator = trained(api, models.mlp(api), models.digits_input(api, data.TRAIN_ROWS))
    input_fn = models.ordered_input(api, {"x": data.digits(1)[0]})
    return lambda: list(estimator.predict(input_fn))


def first_step(api: Api, rows: int) -> Measure:
    input_fn = models.digits_input(api, rows)

    def measure() -> dict[str, Any]:
        times: list[float] = []
        with tempfile.TemporaryDirectory() as model_dir:
            estimator = api.Estimator(models.mlp(api), model_dir)
            started = time.perf_counter()
            estimator.train(input_fn, hooks=[api.stamp([1], times)], steps=1)
        return {"seconds": times[0] - started}

    return measure


def evaluate(api: Api, plan: Plan) -> Measure:
    call, rows = evaluation_call(api, plan)
    call()
    return lambda: {"per_second": rows / seconds_per_call(call, plan.seconds)}


def evaluation_call(api: Api, plan: Plan) -> tuple[Callable[[], Any], int]:
    """`evaluate()` of all rows, ready to be called again and again; and how many rows that is."""
    rows = plan.scaled(data.PREDICT_ROWS, 500)
    pixels, labels = data.digits(rows)
    estimator = trained(api, models.mlp(api), models.digits_input(api, data.TRAIN_ROWS))
    input_fn = models.ordered_input(api, ({"x": pixels}, labels))
    return lambda: estimator.evaluate(input_fn), rows


def _predictions(api: Api, plan: Plan, batch: int, *, by_row: bool) -> Measure:
    rows = plan.scaled(data.PREDICT_ROWS, 500)
    estimator = trained(api, models.mlp(api), models.digits_input(api, data.TRAIN_ROWS))
    input_fn = models.ordered_input(api, {"x": data.digits(rows)[0]}, batch)

    def call() -> None:
        for _ in estimator.predict(input_fn, yield_single_examples=by_row):
            pass

    call()
    return lambda: {"per_second": rows / seconds_per_call(call, plan.seconds)}
