"""Batches read in a session of the program's own, with a coordinator and queue runners, and in a MonitoredSession."""

import json
import sys

import numpy as np
import tensorflow as tf

x = {"age": np.arange(4) * 1.0, "height": np.arange(32, 36)}
y = np.arange(-32, -28)
seen = []
with tf.Session() as session:
    input_fn = tf.estimator.inputs.numpy_input_fn(x, y, batch_size=3, shuffle=False, num_epochs=1)
    features, target = input_fn()
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coord=coord)
    try:
        while not coord.should_stop():
            ages, heights, labels = session.run([features["age"], features["height"], target])
            seen.append([ages.tolist(), heights.tolist(), labels.tolist()])
    except tf.errors.OutOfRangeError:
        pass
    finally:
        coord.request_stop()
        coord.join(threads)

with tf.Graph().as_default():
    tf.set_random_seed(11)
    features = tf.estimator.inputs.numpy_input_fn(np.arange(6.0), batch_size=2, num_epochs=2, shuffle=True)()
    total = tf.get_variable("total", [], tf.float64, initializer=tf.zeros_initializer())
    count = tf.train.get_or_create_global_step()
    with tf.control_dependencies([tf.assign_add(total, tf.reduce_sum(features))]):
        step = tf.assign_add(count, 1)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=sys.argv[1]) as session:
        while not session.should_stop():
            session.run(step)
reader = tf.train.load_checkpoint(sys.argv[1])
print(
    json.dumps(
        {
            "seen": seen,
            "total": float(reader.get_tensor("total")),
            "steps": int(reader.get_tensor("global_step")),
        }
    )
)
