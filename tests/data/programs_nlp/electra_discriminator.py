# coding=utf-8
"""ELECTRA in small: a generator fills masks, a discriminator finds what was replaced. TensorFlow 1.15 and 2 with compat.v1."""
import argparse
import collections
import json

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.compat.v1 import estimator as tf_estimator

tf.disable_v2_behavior()


class PretrainingConfig(object):
    def __init__(self, model_dir, **kwargs):
        self.model_dir = model_dir
        self.vocab_size = 24
        self.max_seq_length = 8
        self.hidden = 8
        self.disc_weight = 50.0
        self.gen_weight = 1.0
        self.learning_rate = 5e-3
        self.weight_decay_rate = 0.01
        self.num_train_steps = 12
        self.num_warmup_steps = 3
        self.train_batch_size = 4
        for k, v in kwargs.items():
            if k not in self.__dict__:
                raise ValueError("Unknown hparam " + k)
            self.__dict__[k] = v


Inputs = collections.namedtuple("Inputs", ["input_ids", "input_mask", "masked_lm_positions", "masked_lm_ids", "masked_lm_weights"])


def scatter_update(sequence, updates, positions):
    """Scatter-update a sequence."""
    shape = sequence.shape.as_list()
    batch, length = tf.shape(sequence)[0], shape[1]
    shift = tf.expand_dims(length * tf.range(batch), -1)
    flat_positions = tf.reshape(positions + shift, [-1, 1])
    flat_updates = tf.reshape(updates, [-1])
    updated = tf.scatter_nd(flat_positions, flat_updates, [batch * length])
    updated = tf.reshape(updated, [batch, length])
    mask = tf.reshape(tf.scatter_nd(flat_positions, tf.ones_like(flat_updates, tf.int32), [batch * length]), [batch, length])
    mask = tf.minimum(mask, 1)
    not_first_token = tf.concat([tf.zeros((batch, 1), tf.int32), tf.ones((batch, length - 1), tf.int32)], -1)
    mask *= not_first_token
    return ((1 - mask) * sequence) + (mask * updated), mask


def encoder(ids, mask, hidden, vocab, name):
    init = tf.truncated_normal_initializer(stddev=0.1, seed=7)
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        with tf.variable_scope("embeddings"):
            table = tf.get_variable("word_embeddings", [vocab, hidden], initializer=init)
            positions = tf.get_variable("position_embeddings", [ids.shape[1].value if hasattr(ids.shape[1], "value") else ids.shape[1], hidden], initializer=init)
        x = tf.gather(table, ids) + positions[tf.newaxis]
        for layer in range(2):
            with tf.variable_scope("encoder/layer_%d" % layer):
                q = tf.layers.dense(x, hidden, kernel_initializer=init, name="q")
                k = tf.layers.dense(x, hidden, kernel_initializer=init, name="k")
                scores = tf.matmul(q, k, transpose_b=True) / float(hidden) ** 0.5
                scores -= 10000.0 * (1.0 - tf.cast(mask, tf.float32))[:, None, :]
                x += tf.layers.dense(tf.matmul(tf.nn.softmax(scores), x), hidden, activation=tf.nn.relu, kernel_initializer=init, name="out")
        return x, table


class PretrainingModel(object):
    def __init__(self, config, features, is_training):
        self._config = config
        inputs = Inputs(**{k: features[k] for k in Inputs._fields})
        gen, table = encoder(inputs.input_ids, inputs.input_mask, config.hidden // 2, config.vocab_size, "generator")
        with tf.variable_scope("generator_predictions"):
            hidden = tf.gather(gen, inputs.masked_lm_positions, batch_dims=1)
            bias = tf.get_variable("output_bias", shape=[config.vocab_size], initializer=tf.zeros_initializer())
            logits = tf.matmul(tf.reshape(hidden, [-1, config.hidden // 2]), table, transpose_b=True) + bias
            logits = tf.reshape(logits, [-1, 2, config.vocab_size])
            label_log_probs = tf.nn.log_softmax(logits) * tf.one_hot(inputs.masked_lm_ids, config.vocab_size)
            self.gen_loss = -tf.reduce_sum(inputs.masked_lm_weights * tf.reduce_sum(label_log_probs, -1)) / (1e-6 + tf.reduce_sum(inputs.masked_lm_weights))
        sampled = tf.argmax(tf.stop_gradient(logits), -1, output_type=tf.int32)
        updated, masked = scatter_update(inputs.input_ids, sampled, inputs.masked_lm_positions)
        unmasked, _ = scatter_update(inputs.input_ids, inputs.masked_lm_ids, inputs.masked_lm_positions)
        labels = masked * (1 - tf.cast(tf.equal(updated, unmasked), tf.int32))
        disc, _ = encoder(updated, inputs.input_mask, config.hidden, config.vocab_size, "electra")
        with tf.variable_scope("discriminator_predictions"):
            logits = tf.squeeze(tf.layers.dense(disc, units=1, kernel_initializer=tf.truncated_normal_initializer(stddev=0.1, seed=2)), -1)
        weights = tf.cast(inputs.input_mask, tf.float32)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=tf.cast(labels, tf.float32)) * weights
        self.disc_loss = tf.reduce_sum(losses) / (1e-6 + tf.reduce_sum(weights))
        self.total_loss = config.gen_weight * self.gen_loss + config.disc_weight * self.disc_loss
        self.disc_probs, self.disc_labels, self.weights = tf.nn.sigmoid(logits), labels, weights


def create_optimizer(loss, config):
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.polynomial_decay(config.learning_rate, global_step, config.num_train_steps, end_learning_rate=0.0, power=1.0)
    rate *= tf.minimum(1.0, tf.cast(global_step, tf.float32) / tf.cast(max(1, config.num_warmup_steps), tf.float32))
    tvars = tf.trainable_variables()
    rates = {v.name: 0.8 if "embeddings" in v.name else 1.0 for v in tvars}
    grads, _ = tf.clip_by_global_norm(tf.gradients(loss, tvars), clip_norm=1.0)
    updates = []
    for g, v in zip(grads, tvars):
        m = tf.get_variable(v.name[:-2] + "/adam_m", shape=v.shape.as_list(), trainable=False, initializer=tf.zeros_initializer())
        next_m = 0.9 * m + tf.multiply(0.1, g)
        updates += [tf.assign_sub(v, rates[v.name] * rate * (next_m + config.weight_decay_rate * v)), m.assign(next_m)]
    with tf.control_dependencies(updates):
        return tf.assign_add(global_step, 1)


def model_fn_builder(config):
    def model_fn(features, labels, mode, params):
        model = PretrainingModel(config, features, mode == tf_estimator.ModeKeys.TRAIN)
        if mode == tf_estimator.ModeKeys.TRAIN:
            return tf_estimator.tpu.TPUEstimatorSpec(mode=mode, loss=model.total_loss, train_op=create_optimizer(model.total_loss, config),
                                                     training_hooks=[tf.train.LoggingTensorHook({"gen": model.gen_loss}, every_n_iter=100)])

        def metric_fn(d):
            return {"disc_auc": tf.metrics.auc(d["labels"], d["probs"], weights=d["weights"]),
                    "disc_accuracy": tf.metrics.accuracy(d["labels"], tf.cast(tf.round(d["probs"]), tf.int32), weights=d["weights"]),
                    "disc_recall": tf.metrics.recall(d["labels"], tf.greater(d["probs"], 0.3), weights=d["weights"])}

        return tf_estimator.tpu.TPUEstimatorSpec(mode=mode, loss=model.total_loss, eval_metrics=(
            metric_fn, [dict(labels=model.disc_labels, probs=model.disc_probs, weights=model.weights)]))

    return model_fn


def get_input_fn(config, is_training):
    def input_fn(params):
        rng = np.random.RandomState(0)
        ids = rng.randint(2, config.vocab_size, [16, config.max_seq_length]).astype(np.int32)
        positions = np.stack([rng.permutation(np.arange(1, 7))[:2] for _ in range(16)]).astype(np.int32)
        original = np.take_along_axis(ids, positions, 1)
        np.put_along_axis(ids, positions, 1, 1)
        mask = np.ones_like(ids)
        mask[::3, -1] = 0
        d = tf.data.Dataset.from_tensor_slices(dict(input_ids=ids, input_mask=mask, masked_lm_positions=positions, masked_lm_ids=original,
                                                    masked_lm_weights=np.ones([16, 2], np.float32)))
        return (d.repeat() if is_training else d).batch(params["batch_size"], drop_remainder=True)

    return input_fn


def train_or_eval(config):
    is_per_host = tf_estimator.tpu.InputPipelineConfig.PER_HOST_V2
    run_config = tf_estimator.tpu.RunConfig(model_dir=config.model_dir, save_checkpoints_steps=5, tpu_config=tf_estimator.tpu.TPUConfig(
        iterations_per_loop=5, num_shards=1, per_host_input_for_training=is_per_host))
    estimator = tf_estimator.tpu.TPUEstimator(use_tpu=False, model_fn=model_fn_builder(config), config=run_config,
                                              train_batch_size=config.train_batch_size, eval_batch_size=4)
    estimator.train(input_fn=get_input_fn(config, True), max_steps=config.num_train_steps)
    return estimator.evaluate(input_fn=get_input_fn(config, False), steps=4)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model-dir", required=True)
    parser.add_argument("--hparams", default="{}", help="JSON dict of model hyperparameters.")
    args = parser.parse_args()
    tf.logging.set_verbosity(tf.logging.ERROR)
    result = train_or_eval(PretrainingConfig(args.model_dir, **json.loads(args.hparams)))
    print(json.dumps({k: float(v) for k, v in result.items()}))


if __name__ == "__main__":
    main()
