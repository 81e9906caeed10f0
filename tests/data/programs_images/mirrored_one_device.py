"""MirroredStrategy over one device, train_and_evaluate, batch norm across the replica, metrics, LR scaled by replicas (TF 2.2 with compat.v1)."""
import argparse
import json
import os

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def se_block(x, ratio, name):
    with v1.variable_scope(name):
        squeeze = tf.reduce_mean(x, axis=[1, 2])
        excite = v1.layers.dense(squeeze, max(1, x.shape[-1] // ratio), activation=tf.nn.relu, kernel_initializer=v1.glorot_uniform_initializer(seed=1))
        excite = v1.layers.dense(excite, x.shape[-1], activation=tf.nn.sigmoid, kernel_initializer=v1.glorot_uniform_initializer(seed=2))
        return x * tf.reshape(excite, [-1, 1, 1, x.shape[-1]])


def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    x = v1.layers.separable_conv2d(features, 6, 3, padding="same", depthwise_initializer=v1.glorot_uniform_initializer(seed=3), pointwise_initializer=v1.glorot_uniform_initializer(seed=4))
    x = tf.nn.relu(v1.layers.batch_normalization(x, training=training, momentum=0.8))
    x = se_block(x, 2, "se")
    x = v1.layers.flatten(v1.layers.average_pooling2d(x, 2, 2))
    logits = v1.layers.dense(x, 3, kernel_initializer=v1.glorot_uniform_initializer(seed=5), kernel_regularizer=tf.keras.regularizers.l2(1e-3))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"p": tf.nn.softmax(logits)})
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits) + v1.losses.get_regularization_loss()
    metrics = {"accuracy": v1.metrics.accuracy(labels, tf.argmax(logits, 1)), "iou": v1.metrics.mean_iou(labels, tf.argmax(logits, 1), 3)}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    step = v1.train.get_or_create_global_step()
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    rate = v1.train.cosine_decay_restarts(0.05 * replicas, step, 6, t_mul=1.5, m_mul=0.9)
    optimizer = v1.train.MomentumOptimizer(rate, 0.9, use_nesterov=True)
    update_ops = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update_ops):
        train_op = optimizer.minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(batch, repeat, input_context=None):
    rng = np.random.RandomState(0)
    y = np.arange(24) % 3
    x = rng.rand(24, 6, 6, 3).astype(np.float32)
    x[np.arange(24), :, :, y] += 0.7
    dataset = tf.data.Dataset.from_tensor_slices((x, y.astype(np.int64)))
    if input_context:
        dataset = dataset.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return dataset.repeat(repeat).batch(batch).with_options(options).prefetch(tf.data.experimental.AUTOTUNE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model_dir")
    args = parser.parse_args()
    strategy = tf.distribute.MirroredStrategy(devices=["/cpu:0"], cross_device_ops=tf.distribute.ReductionToOneDevice())
    config = tf.estimator.RunConfig(args.model_dir, train_distribute=strategy, eval_distribute=strategy, save_checkpoints_steps=9, session_config=v1.ConfigProto(allow_soft_placement=True))
    estimator = tf.estimator.Estimator(model_fn, config=config, params={})
    result, exports = tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(lambda input_context=None: input_fn(8, None, input_context), max_steps=18),
        tf.estimator.EvalSpec(lambda: input_fn(8, 1), steps=3, throttle_secs=0, name="held"))
    rows = [p["p"].tolist() for p in estimator.predict(lambda: input_fn(8, 1))][:2]
    print(json.dumps({"result": {k: float(v) for k, v in result.items()}, "exports": exports, "rows": rows, "eval": os.path.basename(estimator.eval_dir("held"))}))


if __name__ == "__main__":
    main()
