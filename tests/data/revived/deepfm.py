"""DeepFM over libsvm-like lines: first order, FM and deep part over one embedding, batch norm, AUC, tf.app.flags, export."""

import json
import os

import numpy as np
import tensorflow as tf

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_string("model_dir", "", "model check point dir")
tf.app.flags.DEFINE_integer("feature_size", 30, "Number of features")
tf.app.flags.DEFINE_integer("field_size", 4, "Number of fields")
tf.app.flags.DEFINE_integer("embedding_size", 3, "Embedding size")
tf.app.flags.DEFINE_string("deep_layers", "8,4", "deep layers")
tf.app.flags.DEFINE_string("dropout", "1.0,1.0", "keep rates")
tf.app.flags.DEFINE_string("optimizer", "Adam", "optimizer type {Adam, Adagrad, GD, Momentum}")
tf.app.flags.DEFINE_float("l2_reg", 0.001, "L2 regularization")
tf.app.flags.DEFINE_boolean("batch_norm", True, "perform batch normaization (True or False)")


def write_libsvm(path):
    random = np.random.RandomState(1)
    with open(path, "w") as out:
        for _ in range(40):
            ids = [10 * 0 + random.randint(7), 7 + random.randint(7), 14 + random.randint(7), 21 + random.randint(9)]
            label = int(ids[0] + ids[1] > 13)
            out.write("%d %s\n" % (label, " ".join("%d:%.2f" % (one, random.uniform(0.5, 1.5)) for one in ids)))


def input_fn(filenames, batch_size=8, num_epochs=1, perform_shuffle=False):
    def decode_libsvm(line):
        columns = tf.string_split([line], " ")
        labels = tf.string_to_number(columns.values[0], out_type=tf.float32)
        splits = tf.string_split(columns.values[1:], ":")
        id_vals = tf.reshape(splits.values, splits.dense_shape)
        feat_ids, feat_vals = tf.split(id_vals, num_or_size_splits=2, axis=1)
        feat_ids = tf.string_to_number(feat_ids, out_type=tf.int32)
        feat_vals = tf.string_to_number(feat_vals, out_type=tf.float32)
        return {"feat_ids": feat_ids, "feat_vals": feat_vals}, labels

    dataset = tf.data.TextLineDataset(filenames).map(decode_libsvm, num_parallel_calls=2).prefetch(100)
    if perform_shuffle:
        dataset = dataset.shuffle(buffer_size=256)
    dataset = dataset.repeat(num_epochs).batch(batch_size)
    iterator = dataset.make_one_shot_iterator()
    batch_features, batch_labels = iterator.get_next()
    return batch_features, batch_labels


def batch_norm_layer(x, train_phase, scope_bn):
    return tf.layers.batch_normalization(x, momentum=0.9, training=train_phase, name=scope_bn)


def model_fn(features, labels, mode, params):
    field_size, feature_size, embedding_size = params["field_size"], params["feature_size"], params["embedding_size"]
    layers = list(map(int, params["deep_layers"].split(",")))
    dropout = list(map(float, params["dropout"].split(",")))
    fm_b = tf.get_variable(name="fm_bias", shape=[1], initializer=tf.constant_initializer(0.0))
    fm_w = tf.get_variable(name="fm_w", shape=[feature_size], initializer=tf.glorot_normal_initializer(seed=1))
    fm_v = tf.get_variable(name="fm_v", shape=[feature_size, embedding_size], initializer=tf.glorot_normal_initializer(seed=2))
    feat_ids = tf.reshape(features["feat_ids"], shape=[-1, field_size])
    feat_vals = tf.reshape(features["feat_vals"], shape=[-1, field_size])

    with tf.variable_scope("First-order"):
        feat_wgts = tf.nn.embedding_lookup(fm_w, feat_ids)
        y_w = tf.reduce_sum(tf.multiply(feat_wgts, feat_vals), 1)
    with tf.variable_scope("Second-order"):
        embeddings = tf.nn.embedding_lookup(fm_v, feat_ids)
        embeddings = tf.multiply(embeddings, tf.reshape(feat_vals, shape=[-1, field_size, 1]))
        sum_square = tf.square(tf.reduce_sum(embeddings, 1))
        square_sum = tf.reduce_sum(tf.square(embeddings), 1)
        y_v = 0.5 * tf.reduce_sum(tf.subtract(sum_square, square_sum), 1)
    with tf.variable_scope("Deep-part"):
        train_phase = mode == tf.estimator.ModeKeys.TRAIN
        deep_inputs = tf.reshape(embeddings, shape=[-1, field_size * embedding_size])
        for i in range(len(layers)):
            deep_inputs = tf.layers.dense(
                deep_inputs, layers[i], tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=3 + i), name="mlp%d" % i
            )
            if FLAGS.batch_norm:
                deep_inputs = batch_norm_layer(deep_inputs, train_phase=train_phase, scope_bn="bn_%d" % i)
            if mode == tf.estimator.ModeKeys.TRAIN:
                deep_inputs = tf.nn.dropout(deep_inputs, keep_prob=dropout[i])
        y_deep = tf.layers.dense(deep_inputs, 1, kernel_initializer=tf.glorot_uniform_initializer(seed=8), name="deep_out")
        y_d = tf.reshape(y_deep, shape=[-1])
    with tf.variable_scope("DeepFM-out"):
        y_bias = fm_b * tf.ones_like(y_d, dtype=tf.float32)
        y = y_bias + y_w + y_v + y_d
        pred = tf.sigmoid(y)

    predictions = {"prob": pred}
    key = tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    export_outputs = {key: tf.estimator.export.PredictOutput(predictions)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions, export_outputs=export_outputs)
    loss = (
        tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=y, labels=labels))
        + FLAGS.l2_reg * tf.nn.l2_loss(fm_w) + FLAGS.l2_reg * tf.nn.l2_loss(fm_v)
    )
    eval_metric_ops = {"auc": tf.metrics.auc(labels, pred)}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions, loss=loss, eval_metric_ops=eval_metric_ops)
    optimizers = {
        "Adam": lambda: tf.train.AdamOptimizer(0.02, beta1=0.9, beta2=0.999, epsilon=1e-8),
        "Adagrad": lambda: tf.train.AdagradOptimizer(0.02, initial_accumulator_value=1e-8),
        "Momentum": lambda: tf.train.MomentumOptimizer(0.02, momentum=0.95),
        "GD": lambda: tf.train.GradientDescentOptimizer(0.02),
    }
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update_ops):
        train_op = optimizers[FLAGS.optimizer]().minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train_op)


def main(_):
    tf.gfile.MakeDirs(FLAGS.model_dir)
    path = os.path.join(FLAGS.model_dir, "tr.libsvm")
    write_libsvm(path)
    model_params = {
        "field_size": FLAGS.field_size, "feature_size": FLAGS.feature_size, "embedding_size": FLAGS.embedding_size,
        "deep_layers": FLAGS.deep_layers, "dropout": FLAGS.dropout,
    }
    config = tf.estimator.RunConfig().replace(
        session_config=tf.ConfigProto(device_count={"GPU": 0, "CPU": 2}), log_step_count_steps=100, save_summary_steps=100
    )
    model = tf.estimator.Estimator(model_fn=model_fn, model_dir=os.path.join(FLAGS.model_dir, "ckpt"), params=model_params, config=config)
    train_spec = tf.estimator.TrainSpec(input_fn=lambda: input_fn([path], num_epochs=5), max_steps=25)
    eval_spec = tf.estimator.EvalSpec(input_fn=lambda: input_fn([path]), steps=None, start_delay_secs=0, throttle_secs=0)
    tf.estimator.train_and_evaluate(model, train_spec, eval_spec)
    preds = list(model.predict(input_fn=lambda: input_fn([path]), predict_keys="prob"))
    feature_spec = {
        "feat_ids": tf.placeholder(dtype=tf.int64, shape=[None, FLAGS.field_size], name="feat_ids"),
        "feat_vals": tf.placeholder(dtype=tf.float32, shape=[None, FLAGS.field_size], name="feat_vals"),
    }
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn(feature_spec)
    exported = model.export_savedmodel(os.path.join(FLAGS.model_dir, "servable"), serving)
    metrics = model.evaluate(lambda: input_fn([path]))
    print(json.dumps({
        "metrics": {k: float(v) for k, v in metrics.items()}, "prob": [float(p["prob"]) for p in preds[:5]],
        "exported": sorted(os.listdir(tf.compat.as_text(exported))), "mean": model.get_variable_value("Deep-part/bn_0/moving_mean").tolist(),
    }))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.app.run()
