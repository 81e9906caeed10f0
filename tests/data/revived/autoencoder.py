"""A denoising autoencoder by hand: InteractiveSession, feed_dict, tf.Print, collections of losses, restore into a new graph."""

import json
import os
import sys

import numpy as np
import tensorflow as tf

folder = sys.argv[1]
os.makedirs(folder)


def weight_variable(shape, seed):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.1, seed=seed), name="weights")


def build():
    x = tf.placeholder(tf.float32, [None, 10], name="x")
    keep_prob = tf.placeholder_with_default(1.0, [], name="keep_prob")
    net = x
    for number, (units, activation) in enumerate([(6, tf.nn.relu), (3, None), (6, tf.nn.relu), (10, tf.nn.sigmoid)]):
        with tf.variable_scope("layer%d" % number):
            w = weight_variable([int(net.get_shape()[1]), units], number + 1)
            b = tf.Variable(tf.constant(0.1, shape=[units]), name="biases")
            net = tf.nn.xw_plus_b(tf.nn.dropout(net, keep_prob, seed=number), w, b)
            net = activation(net) if activation else tf.identity(net, name="code")
            tf.add_to_collection("losses", 0.001 * tf.nn.l2_loss(w))
    error = tf.reduce_mean(tf.pow(x - net, 2))
    tf.add_to_collection("losses", error)
    return x, keep_prob, net, tf.add_n(tf.get_collection("losses"), name="total_loss")


x, keep_prob, output, loss = build()
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.round(output), tf.round(x)), "float"))
train_step = tf.train.AdamOptimizer(1e-2).minimize(loss)
sess = tf.InteractiveSession()
tf.global_variables_initializer().run()
data = (np.random.RandomState(1).uniform(0, 1, [20, 10]) > 0.5).astype(np.float32)
losses = []
for i in range(30):
    train_step.run(feed_dict={x: data, keep_prob: 1.0})
    if i % 10 == 0:
        losses.append(float(loss.eval({x: data})))
found = float(accuracy.eval(feed_dict={x: data}))
saver = tf.train.Saver()
path = saver.save(sess, os.path.join(folder, "auto"))
code = sess.run("layer1/code:0", {"x:0": data[:2]})
sess.close()

tf.reset_default_graph()
restored = tf.train.import_meta_graph(path + ".meta")
with tf.Session() as session:
    restored.restore(session, path)
    again = session.run("layer1/code:0", {"x:0": data[:2]})
    trainable = [v.op.name for v in tf.trainable_variables()]
print(json.dumps({"losses": losses, "accuracy": found, "same": bool(np.allclose(code, again)), "code": code.tolist(), "names": trainable}))
