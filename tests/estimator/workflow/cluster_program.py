"""Small programs that train on a cluster, and a parent that starts, kills and starts again their tasks.

Run as a script, it reads commands from its standard input, one in a line: `start TYPE INDEX`, `kill TYPE INDEX`; each
is answered in a line of its standard output, and so is the end of a task: `ended TYPE INDEX CODE`. TensorFlow is
loaded once; tasks are forks, which begin where the program does. What a task writes is in `LOGS/TYPE-INDEX.log`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw
from lightwell.compat.contrib.distribute import DistributeConfig
from lightwell.compat.v1 import estimator as v1_face

WEIGHTS = np.array([[1.0], [2.0], [-1.0]], np.float32)


def data() -> Any:
    x = np.random.RandomState(0).randn(64, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x @ WEIGHTS + 0.5))


def model_fn(features: Any, labels: Any, mode: str, config: Any, params: Any) -> Any:
    zeros = tf.compat.v1.zeros_initializer()
    weights = tf.compat.v1.get_variable("weights", [3, 1], initializer=zeros)
    bias = tf.compat.v1.get_variable("bias", [1], initializer=zeros)
    loss = tf.reduce_mean(tf.square(tf.matmul(features["x"], weights) + bias - labels))
    optimizer: Any = tf.compat.v1.train.AdagradOptimizer(0.5)
    hooks = []
    if params["together"] and mode == "train":
        optimizer = tf.compat.v1.train.SyncReplicasOptimizer(optimizer, 2, total_num_replicas=2)
        hooks = [optimizer.make_session_run_hook(config.is_chief)]
    step = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return lw.EstimatorSpec(mode, loss=loss, train_op=step, training_hooks=hooks)


class Slow(tf.compat.v1.train.SessionRunHook):
    """Takes its time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def after_run(self, run_context: Any, run_values: Any) -> None:
        time.sleep(self._seconds)


class SlowToSave(tf.compat.v1.train.CheckpointSaverListener):
    """Between the moment at which the step is read and that at which it is saved, others take steps."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        time.sleep(0.1)


def main(model_dir: str, max_steps: int, seconds: float, together: bool, strategy: bool = False) -> None:
    """What a user's program does; `together`, all who train take part in every step, each with all of the data.

    With `strategy`, it says that there are parameter servers by the strategy of TensorFlow 1 for them.
    """
    kind = tf.compat.v1.distribute.experimental.ParameterServerStrategy
    config = lw.RunConfig(
        train_distribute=kind() if strategy else None,
        model_dir=model_dir,
        save_checkpoints_steps=20,
        keep_checkpoint_max=0,
        log_step_count_steps=20,
        experimental_max_worker_delay_secs=0,
    )
    watch = lw.Watch("loss", every=20, do=lambda step: print("WATCHED", step.global_step, flush=True))
    hooks = [watch, *([Slow(seconds)] if seconds else [])]
    if config.task_type == "worker":
        hooks.append(tf.compat.v1.train.GlobalStepWaiterHook(0 if together else 5))
    size = 64 if together else 16

    def read(input_context: Any = None) -> Any:
        told = input_context
        print("CONTEXT", told and (told.num_input_pipelines, told.input_pipeline_id, told.num_replicas_in_sync))
        return data().repeat().batch(size)

    result = lw.train_and_evaluate(
        lw.Estimator(model_fn, config=config, params={"together": together}),
        lw.TrainSpec(read, max_steps=max_steps, hooks=hooks, saving_listeners=[SlowToSave()]),
        lw.EvalSpec(lambda: data().batch(16), steps=None, start_delay_secs=0, throttle_secs=0),
    )
    found = result.eval_result and {name: float(value) for name, value in result.eval_result.items()}
    print("RESULT", json.dumps([config.task_type, config.task_id, found, result.stopped]), flush=True)


def together(model_dir: str, max_steps: int, seconds: float, model: str, verb: str) -> None:
    """All take every step together, under a strategy; `verb` is what the program calls."""
    if verb == "train":
        tf.compat.v1.disable_eager_execution()  # as programs of TensorFlow 1 do: the server is ours to start then
        both = DistributeConfig(tf.compat.v1.distribute.experimental.MultiWorkerMirroredStrategy())
        given: dict[str, Any] = {"experimental_distribute": both}
    else:
        given = {"train_distribute": tf.distribute.MultiWorkerMirroredStrategy()}
    config = lw.RunConfig(
        **given,
        model_dir=model_dir,
        save_checkpoints_steps=3,
        keep_checkpoint_max=0,
        log_step_count_steps=1,
        session_creation_timeout_secs=300,
    )
    paths = "loss", "layers/dense", "weights/dense/kernel", "gradients/weights/dense/kernel", lw.stats("features/x")
    watch = lw.Watch(*paths, every=2, do=look)
    hooks = [watch, *([Slow(seconds)] if seconds else [])]
    if verb == "stop" and not config.is_chief:
        hooks.append(StopAt(4))
    made = lw.Estimator(TOGETHER[model], config=config)
    if verb == "train":
        made.train(own_part, hooks, max_steps=max_steps)
        evaluated = None
    else:
        part = uneven_part if verb == "uneven" else own_part
        spec = lw.TrainSpec(part, max_steps=max_steps, hooks=hooks)
        result = lw.train_and_evaluate(
            made, spec, lw.EvalSpec(lambda: data().batch(16), None, start_delay_secs=0, throttle_secs=0)
        )
        evaluated = result.eval_result and {name: float(value) for name, value in result.eval_result.items()}
    print("RESULT", json.dumps([config.task_type, config.task_id, evaluated]), flush=True)


def look(step: Any) -> None:
    """A watch that tells where it looks, and tries to change what it sees."""
    print("WATCHED", step.global_step, step["gradients/weights/dense/kernel"].shape, flush=True)
    try:
        step.edit("weights/dense/kernel", lambda kernel: kernel + 1)
    except lw.errors.UsageError as error:
        print("REFUSED", error, flush=True)


def own_part(input_context: Any) -> Any:
    """Every second example, in batches of four: together they are the batches of eight that one process would take."""
    told = input_context.num_input_pipelines, input_context.input_pipeline_id, input_context.num_replicas_in_sync
    print("CONTEXT", *told, flush=True)
    return data().shard(told[0], told[1]).repeat().batch(8 // told[0])


def uneven_part(input_context: Any) -> Any:
    """The same, five batches for the first process, three for the second."""
    return own_part(input_context).take(5 - 2 * input_context.input_pipeline_id)


def momentum_model(features: Any, labels: Any, mode: str) -> Any:
    """Layers of ours with statistics of their own, and an optimizer of TensorFlow 1."""
    start = tf.compat.v1.constant_initializer(0.1)
    hidden = lw.layers.dense(features["x"], 4, tf.tanh, kernel_initializer=start)
    out = lw.layers.dense(hidden, 1, kernel_initializer=start)
    loss = tf.compat.v1.losses.mean_squared_error(labels, out)
    train_op = tf.compat.v1.train.MomentumOptimizer(0.05, 0.9).minimize(loss, tf.compat.v1.train.get_global_step())
    return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)


def keras_model(features: Any, labels: Any, mode: str) -> Any:
    """Layers and an optimizer of Keras 3; statistics that are averaged over all when they are saved."""
    import keras

    start = keras.initializers.Constant(0.1)
    hidden = keras.layers.Dense(4, activation="tanh", kernel_initializer=start)(features["x"])
    out = keras.layers.Dense(1, kernel_initializer=start)(hidden)
    seen = lw.layers.batch_normalization(features["x"], momentum=0.5, training=mode == "train", trainable=False)
    loss = tf.reduce_mean(tf.square(labels - out)) + 0.0 * tf.reduce_sum(seen)
    updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        train_op = tf.group(lw.minimize(keras.optimizers.Adam(0.05), loss), *updates)
    return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)


TOGETHER = {"momentum": momentum_model, "keras": keras_model}


def wide_data() -> Any:
    """Words and numbers; the answer depends on a pair of words, which only their cross can tell."""
    draw = np.random.RandomState(1)
    left, right = draw.choice(list("abcd"), 512), draw.choice(list("wxyz"), 512)
    features = {"left": left, "right": right, "size": draw.randn(512).astype(np.float32)}
    labels = np.array([(ord(a) + ord(b)) % 2 for a, b in zip(left, right, strict=True)], np.int64)
    return tf.data.Dataset.from_tensor_slices((features, labels))


def wide_model(config: Any) -> Any:
    """A ready-made wide and deep model, its larger weights in two parts."""
    columns = tf.feature_column
    words = [columns.categorical_column_with_vocabulary_list(*pair) for pair in (("left", "abcd"), ("right", "wxyz"))]
    return v1_face.DNNLinearCombinedClassifier(
        linear_feature_columns=[*words, columns.crossed_column(["left", "right"], 500)],
        dnn_feature_columns=[*(columns.embedding_column(word, 4) for word in words), columns.numeric_column("size")],
        dnn_hidden_units=[8],
        linear_optimizer=tf.compat.v1.train.FtrlOptimizer(1.0),
        dnn_optimizer=tf.compat.v1.train.AdagradOptimizer(0.1),
        input_layer_partitioner=tf.compat.v1.fixed_size_partitioner(2),
        config=config,
    )


def mixed_model(features: Any, labels: Any, mode: str) -> Any:
    """Layers of Keras 3 and of ours, a variable in parts, and an optimizer of Keras."""
    import keras

    table = tf.compat.v1.get_variable("table", [4, 6], partitioner=tf.compat.v1.fixed_size_partitioner(2))
    chosen = tf.nn.embedding_lookup(table, tf.strings.unicode_decode(features["left"], "UTF-8").flat_values - ord("a"))
    right = tf.one_hot(tf.strings.unicode_decode(features["right"], "UTF-8").flat_values - ord("w"), 4)
    hidden = keras.layers.Dense(16, activation="relu")(tf.concat([chosen, right], 1))
    logits = lw.layers.dense(hidden, 2)
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    found = {"accuracy": tf.compat.v1.metrics.accuracy(labels, tf.argmax(logits, 1))}
    step = lw.minimize(keras.optimizers.Adam(0.02), loss) if mode == "train" else None
    return lw.EstimatorSpec(mode, loss=loss, train_op=step, eval_metric_ops=found)


SERVED = {"wide": wide_model, "mixed": lambda config: lw.Estimator(mixed_model, config=config)}


def served(model_dir: str, max_steps: int, model: str) -> None:
    """A model on parameter servers, with an evaluator."""
    config = lw.RunConfig(
        model_dir=model_dir, save_checkpoints_steps=100, save_summary_steps=None, experimental_max_worker_delay_secs=0
    )
    result = lw.train_and_evaluate(
        SERVED[model](config),
        lw.TrainSpec(lambda: wide_data().shuffle(512).repeat().batch(64), max_steps=max_steps),
        lw.EvalSpec(lambda: wide_data().batch(512), steps=None, start_delay_secs=0, throttle_secs=1),
    )
    found = result.eval_result and {name: float(value) for name, value in result.eval_result.items()}
    print("RESULT", json.dumps([config.task_type, config.task_id, found, result.stopped]), flush=True)


class StopAt(tf.compat.v1.train.SessionRunHook):
    """A hook of one process that has seen enough."""

    def __init__(self, step: int) -> None:
        self._step = step

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_context.global_step >= self._step:
            run_context.request_stop()


def parent(logs: str, cluster: dict[str, list[str]], *program: Any) -> None:
    """Obeys the commands on standard input, until it ends."""
    pids: dict[tuple[str, int], int] = {}
    left = b""
    while True:
        readable, _, _ = select.select([0], [], [], 0.05)
        if readable:
            got = os.read(0, 4096)
            if not got:
                break
            *lines, left = (left + got).split(b"\n")
            for line in lines:
                verb, kind, index = line.decode().split()
                task = kind, int(index)
                if verb == "start":
                    pids[task] = started(logs, cluster, task, program)
                else:
                    os.kill(pids[task], signal.SIGKILL)
        for task, pid in list(pids.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del pids[task]
                print("ended", *task, os.waitstatus_to_exitcode(status), flush=True)
    for pid in pids.values():
        os.kill(pid, signal.SIGKILL)


def started(logs: str, cluster: dict[str, list[str]], task: tuple[str, int], program: tuple[Any, ...]) -> int:
    pid = os.fork()
    if pid:
        return pid
    log = os.open(os.path.join(logs, f"{task[0]}-{task[1]}.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    place = {"cluster": cluster, "task": {"type": task[0], "index": task[1]}}
    os.environ["TF_CONFIG"] = json.dumps(place)
    code = 1
    try:
        tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.INFO)
        {"main": main, "together": together, "served": served}[program[0]](*program[1:])
        code = 0
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    settings = json.loads(sys.argv[1])
    parent(settings["logs"], settings["cluster"], *settings["program"])
