"""Examples in TFRecord files, read by a TFRecordReader and shuffled by a queue inside of input_fn."""

import json
import os
import sys

import tensorflow as tf

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_string("train_dir", "/tmp/train", "Where to write.")
tf.app.flags.DEFINE_integer("batch_size", 4, "Examples in a batch.")


def convert_to(path, count):
    writer = tf.python_io.TFRecordWriter(path)
    for index in range(count):
        feature = {
            "id": tf.train.Feature(int64_list=tf.train.Int64List(value=[index])),
            "x": tf.train.Feature(float_list=tf.train.FloatList(value=[index / 10.0, 1.0])),
        }
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    writer.close()


def read_and_decode(filename_queue):
    reader = tf.TFRecordReader()
    _, serialized = reader.read(filename_queue)
    features = tf.parse_single_example(
        serialized, features={"id": tf.FixedLenFeature([], tf.int64), "x": tf.FixedLenFeature([2], tf.float32)}
    )
    return features["x"], tf.cast(features["id"], tf.int32)


def inputs():
    with tf.name_scope("input"):
        queue = tf.train.string_input_producer([os.path.join(FLAGS.train_dir, "train.tfrecords")], num_epochs=2)
        x, number = read_and_decode(queue)
        xs, numbers = tf.train.shuffle_batch(
            [x, number], batch_size=FLAGS.batch_size, num_threads=1, capacity=100, min_after_dequeue=10
        )
        return {"x": xs, "id": numbers}, tf.cast(numbers, tf.float32) / 10.0


class Ids(tf.train.SessionRunHook):
    def __init__(self):
        self.seen = []

    def before_run(self, run_context):
        graph = tf.get_default_graph()
        return tf.train.SessionRunArgs(graph.get_tensor_by_name("ids:0"))

    def after_run(self, run_context, run_values):
        self.seen.extend(run_values.results.tolist())


def model_fn(features, labels, mode):
    tf.identity(features["id"], name="ids")
    with tf.variable_scope("linear"):
        weights = tf.get_variable("weights", [2, 1], initializer=tf.zeros_initializer())
        output = tf.squeeze(tf.matmul(features["x"], weights), 1)
    loss = tf.reduce_mean(tf.squared_difference(output, labels))
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main(_):
    tf.gfile.MakeDirs(FLAGS.train_dir)
    convert_to(os.path.join(FLAGS.train_dir, "train.tfrecords"), 20)
    hook = Ids()
    estimator = tf.estimator.Estimator(model_fn, FLAGS.train_dir)
    estimator.train(inputs, hooks=[hook])
    weights = estimator.get_variable_value("linear/weights")
    # Two epochs of twenty, in batches of four, until the queue runs dry.
    print(json.dumps({
        "step": int(estimator.get_variable_value("global_step")),
        "each_twice": sorted(hook.seen) == sorted(list(range(20)) * 2),
        "in_order": hook.seen == sorted(hook.seen),
        "near_one": bool(0.5 < float(weights.sum()) < 1.5),
    }))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.app.run()
