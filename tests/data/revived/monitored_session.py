"""No Estimator: a graph, a MonitoredTrainingSession with hooks, checkpoints and summaries, then a Session that restores."""

import json
import os
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
checkpoint_dir = sys.argv[1]
data_x = np.linspace(-1, 1, 20).astype(np.float32)[:, None]
data_y = 3 * data_x + 0.5


class LossHook(tf.train.SessionRunHook):
    def begin(self):
        self.step = -1
        self.losses = []

    def before_run(self, run_context):
        self.step += 1
        return tf.train.SessionRunArgs(loss)

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results))


with tf.Graph().as_default():
    global_step = tf.train.get_or_create_global_step()
    x = tf.placeholder(tf.float32, [None, 1], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    w = tf.Variable(tf.zeros([1, 1]), name="w")
    b = tf.Variable(tf.zeros([1]), name="b")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    tf.summary.scalar("loss", loss)
    learning_rate = tf.train.exponential_decay(0.5, global_step, 10, 0.9, staircase=True)
    train_op = tf.train.GradientDescentOptimizer(learning_rate).minimize(loss, global_step=global_step)
    hook = LossHook()
    hooks = [
        tf.train.StopAtStepHook(last_step=25),
        tf.train.NanTensorHook(loss),
        tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=10),
        hook,
    ]
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=checkpoint_dir, hooks=hooks, save_checkpoint_secs=600, save_summaries_steps=5, log_step_count_steps=10
    ) as mon_sess:
        while not mon_sess.should_stop():
            mon_sess.run(train_op, feed_dict={x: data_x, y: data_y})

    saver = tf.train.Saver()
    with tf.Session() as sess:
        saver.restore(sess, tf.train.latest_checkpoint(checkpoint_dir))
        found = sess.run([w, b, global_step])

events = [name for name in os.listdir(checkpoint_dir) if "tfevents" in name]
losses = [
    [event.step, value.simple_value]
    for event in tf.train.summary_iterator(os.path.join(checkpoint_dir, events[0]))
    for value in event.summary.value
    if value.tag == "loss"
]
print(json.dumps({
    "losses": hook.losses[::6], "w": found[0].tolist(), "b": found[1].tolist(), "step": int(found[2]),
    "written": losses, "newest": os.path.basename(tf.train.latest_checkpoint(checkpoint_dir)),
}))
