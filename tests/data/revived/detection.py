"""Several heads on one backbone, as detectors have them: class and box losses by tf.losses, anchors, tf.image, export of all."""

import json
import os
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
CLASSES = 3


def backbone(images, is_training, data_format="channels_last"):
    net = images
    for number, filters in enumerate([4, 8]):
        with tf.variable_scope("block%d" % number):
            net = tf.layers.conv2d(
                net, filters, 3, strides=2, padding="same", use_bias=False, data_format=data_format,
                kernel_initializer=tf.variance_scaling_initializer(seed=number + 1),
            )
            net = tf.layers.batch_normalization(net, momentum=0.9, training=is_training, fused=True)
            net = tf.nn.relu6(net)
    return net


def model_fn(features, labels, mode, params):
    images = features if not isinstance(features, dict) else features["images"]
    net = backbone(images, mode == tf.estimator.ModeKeys.TRAIN)
    with tf.variable_scope("heads", initializer=tf.random_normal_initializer(stddev=0.05, seed=9)):
        scores = tf.layers.conv2d(net, CLASSES, 3, padding="same", name="class_predict")
        boxes = tf.layers.conv2d(net, 4, 3, padding="same", name="box_predict")
    scores = tf.reshape(scores, [-1, 16, CLASSES])
    boxes = tf.reshape(boxes, [-1, 16, 4])
    if mode == tf.estimator.ModeKeys.PREDICT:
        best = tf.nn.softmax(scores)[:, :, 1:]
        keep = tf.map_fn(
            lambda pair: tf.concat([tf.image.non_max_suppression(pair[0], pair[1], 3, 0.5), tf.zeros([3], tf.int32)], 0)[:3],
            (boxes, tf.reduce_max(best, 2)), dtype=tf.int32,
        )
        predictions = {"detection_boxes": boxes, "detection_scores": best, "kept": keep}
        return tf.estimator.EstimatorSpec(mode, predictions, export_outputs={
            "serving_default": tf.estimator.export.PredictOutput(predictions),
            "boxes": tf.estimator.export.PredictOutput({"boxes": boxes})})
    class_loss = tf.losses.softmax_cross_entropy(tf.one_hot(labels["classes"], CLASSES), scores, weights=1.0, label_smoothing=0.1)
    positive = tf.to_float(labels["classes"] > 0)
    box_loss = tf.losses.huber_loss(labels["boxes"], boxes, weights=tf.expand_dims(positive, -1), delta=0.5)
    regular = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if "batch_normalization" not in v.name])
    tf.losses.add_loss(1e-3 * regular)
    total = tf.losses.get_total_loss(add_regularization_losses=False)
    global_step = tf.train.get_global_step()
    rate = tf.train.piecewise_constant(global_step, [3, 6], [0.05, 0.02, 0.01])
    optimizer = tf.train.MomentumOptimizer(rate, 0.9, use_nesterov=True)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(total, global_step)
    predicted = tf.argmax(scores, 2)
    metrics = {
        "class_loss": tf.metrics.mean(class_loss), "box_loss": tf.metrics.mean(box_loss),
        "mean_class": tf.metrics.mean_per_class_accuracy(labels["classes"], predicted, CLASSES),
        "iou": tf.metrics.mean_iou(labels["classes"], predicted, CLASSES),
        "recall_at_2": tf.metrics.recall_at_k(tf.reshape(tf.to_int64(labels["classes"]), [-1]), tf.reshape(scores, [-1, CLASSES]), 2),
    }
    return tf.estimator.EstimatorSpec(mode, loss=total, train_op=train_op, eval_metric_ops=metrics)


def input_fn(params):
    random = np.random.RandomState(7)
    images = random.uniform(0, 255, [8, 16, 16, 3]).astype(np.uint8)
    labels = {"classes": random.randint(0, CLASSES, [8, 16]), "boxes": random.uniform(0, 1, [8, 16, 4]).astype(np.float32)}

    def preprocess(image, label):
        image = tf.image.convert_image_dtype(image, tf.float32)
        image = tf.image.resize_bilinear(tf.expand_dims(image, 0), [16, 16], align_corners=True)[0]
        return (image - 0.5) * 2.0, label

    return tf.data.Dataset.from_tensor_slices((images, labels)).map(preprocess).repeat(params["epochs"]).batch(4, drop_remainder=True)


estimator = tf.estimator.Estimator(model_fn, sys.argv[1], params={"epochs": None})
estimator.train(input_fn, steps=8)
evaluator = tf.estimator.Estimator(model_fn, sys.argv[1], params={"epochs": 1})
metrics = evaluator.evaluate(input_fn)
row = next(evaluator.predict(input_fn))
images = tf.placeholder(tf.float32, [None, 16, 16, 3])
receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"images": images})
exported = evaluator.export_savedmodel(os.path.join(sys.argv[1], "export"), receiver, strip_default_attrs=True)
with tf.Session(graph=tf.Graph()) as session:
    loaded = tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING], exported)
    signatures = sorted(loaded.signature_def)
print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()}, "boxes": row["detection_boxes"][:2].tolist(),
                  "kept": row["kept"].tolist(), "signatures": signatures}))
