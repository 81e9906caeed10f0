"""What Keras 2 computes, one line for each habit of a program: TensorFlow 2.15.1 ran it, and `lightwell run` does.

Prints one JSON object, habit -> numbers, or the class of the error. Nothing random is in it.
"""

import json

import numpy as np
import tensorflow as tf

K = tf.keras
B = K.backend
y = K.layers
FOUND = {}
X = np.random.RandomState(0).randn(2, 4, 3).astype("float32")
T = tf.constant(X)
IMAGE = tf.constant(X[..., None])
LINE = np.linspace(-4, 4, 17).astype("float32")
P = np.array([[0.1, 0.7, 0.2], [0.3, 0.3, 0.4]], "float32")
L = np.array([[0, 1, 0], [0, 0, 1]], "float32")
CONSTANT = {"kernel_initializer": K.initializers.Constant(0.1)}
RECURRENT = dict(CONSTANT, recurrent_initializer=K.initializers.Constant(0.2))


def record(name, make):
    try:
        FOUND[name] = np.asarray(make(), "float64").round(6).tolist()
    except Exception as error:
        FOUND[name] = type(error).__name__


def stepped(optimizer):
    variable = tf.Variable([1.0, -2.0, 0.5])
    for step in range(5):
        optimizer.apply_gradients([(tf.constant([0.3, -0.1, 1.0]) * (step + 1.0), variable)])
    return variable.numpy()


def _built(layer):
    layer(IMAGE)
    return layer


def _copied(model):
    copy = K.models.clone_model(model)
    copy.set_weights(model.get_weights())
    return copy


def _of_keras():
    inputs = y.Input((3,))
    return B.function([inputs], [y.Dense(2, **CONSTANT)(inputs)])


def _moved(variable):
    B.moving_average_update(variable, tf.ones(2), 0.9)
    return B.get_value(variable)


ARGUMENTS = [
    ("SGD", {}),
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("SGD", {"decay": 0.1}),
    ("SGD", {"lr": 0.2}),
    ("SGD", {"clipnorm": 0.5}),
    ("SGD", {"clipvalue": 0.5}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True}),
    ("Adam", {"decay": 0.1}),
    ("Adam", {"epsilon": None}),
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.9}),
    ("RMSprop", {"centered": True}),
    ("Adagrad", {}),
    ("Adadelta", {}),
    ("Adamax", {}),
    ("Nadam", {}),
    ("Ftrl", {}),
    ("Ftrl", {"l1_regularization_strength": 0.01, "l2_regularization_strength": 0.1}),
]
for kind, arguments in ARGUMENTS:
    record(f"legacy.{kind} {arguments}", lambda k=kind, a=arguments: stepped(getattr(K.optimizers.legacy, k)(**a)))
    if not {"decay", "lr"} & set(arguments) and arguments != {"epsilon": None}:
        record(f"optimizers.{kind} {arguments}", lambda k=kind, a=arguments: stepped(getattr(K.optimizers, k)(**a)))
record("legacy.SGD by position", lambda: stepped(K.optimizers.legacy.SGD(0.1, 0.9, True, "sgd")))
record("legacy.Adam by position", lambda: stepped(K.optimizers.legacy.Adam(0.1, 0.8, 0.9, 1e-3, False, "adam")))
record("experimental.Adam", lambda: stepped(K.optimizers.experimental.Adam(0.1)))

for name in "hard_sigmoid sigmoid relu elu selu softplus softsign tanh exponential linear swish gelu".split():
    record(f"activation {name}", lambda n=name: K.activations.get(n)(tf.constant(LINE)))
record("activations.hard_sigmoid", lambda: K.activations.hard_sigmoid(tf.constant(LINE)))
record("activations.relu alpha", lambda: K.activations.relu(tf.constant(LINE), alpha=0.1, max_value=3.0))
record("Activation hard_sigmoid", lambda: y.Activation("hard_sigmoid")(tf.constant(LINE)))
record("Dense hard_sigmoid", lambda: y.Dense(2, activation="hard_sigmoid", **CONSTANT)(T))

for name in ("LSTM", "GRU"):
    record(name, lambda n=name: getattr(y, n)(2, **RECURRENT)(T))
    record(
        f"{name} of Keras 2",
        lambda n=name: getattr(y, n)(
            np.int64(2), recurrent_activation="hard_sigmoid", implementation=1, time_major=False, **RECURRENT
        )(T),
    )
record(
    "Bidirectional of Keras 2",
    lambda: y.Bidirectional(y.LSTM(2, recurrent_activation="hard_sigmoid", **RECURRENT))(T),
)
record("SimpleRNN", lambda: y.SimpleRNN(2, **RECURRENT)(T))
record("ConvLSTM2D", lambda: y.ConvLSTM2D(2, 2, **RECURRENT)(tf.constant(X.reshape(1, 2, 4, 3, 1))))
record("BatchNormalization axis", lambda: y.BatchNormalization(axis=[2])(T, training=True))
record("BatchNormalization fused", lambda: K.Sequential([y.BatchNormalization()])(T, training=True))
record("LeakyReLU alpha", lambda: y.LeakyReLU(alpha=0.1)(tf.constant(LINE)))
record("ThresholdedReLU", lambda: y.ThresholdedReLU(1.0)(tf.constant(LINE)))
record("LocallyConnected1D", lambda: y.LocallyConnected1D(2, 3, **CONSTANT)(T))
record("LocallyConnected1D strides", lambda: y.LocallyConnected1D(2, 2, strides=2, **CONSTANT)(T))
record("LocallyConnected2D", lambda: y.LocallyConnected2D(2, (2, 2), activation="relu", **CONSTANT)(IMAGE))
record("LocallyConnected2D weights", lambda: _built(y.LocallyConnected2D(2, 2)).get_weights()[0].shape)
record("Dense numpy", lambda: y.Dense(np.int64(2), **CONSTANT)(T))
record("Dense float", lambda: y.Dense(4 / 2, **CONSTANT)(T))
record("Dense weights", lambda: y.Dense(2, weights=[np.ones((3, 2)), np.array([1.0, 2.0])])(T))
record("Dense input_dim", lambda: K.Sequential([y.Dense(2, input_dim=3, **CONSTANT)])(T[:, 0]))
record(
    "batch_input_shape", lambda: K.Sequential([y.Dense(2, batch_input_shape=(None, 3), **CONSTANT)]).output_shape[1:]
)
record(
    "Embedding weights",
    lambda: y.Embedding(3, 2, weights=[np.arange(6).reshape(3, 2)], input_length=2, trainable=False)(
        tf.constant([[0, 2]])
    ),
)
record("Conv2D numpy", lambda: y.Conv2D(np.int32(2), (np.int64(2), 2), **CONSTANT)(IMAGE))
record("Reshape numpy", lambda: y.Reshape((np.int64(12),))(T))
record("Dropout numpy", lambda: y.Dropout(np.float32(0.5))(T))
record("preprocessing.Rescaling", lambda: y.experimental.preprocessing.Rescaling(0.5)(T))
record("EinsumDense", lambda: y.experimental.EinsumDense("abc,cd->abd", (4, 2), **CONSTANT)(T))
record("dot", lambda: y.dot([T, T], axes=2, normalize=True))
record("UpSampling2D", lambda: y.UpSampling2D(2, interpolation="bilinear")(IMAGE))


class Scaled(y.Layer):
    def build(self, input_shape):
        shape = input_shape.as_list()
        self.kernel = self.add_weight("kernel", (shape[-1], 2), None, "ones")
        self.bias = self.add_weight("bias", shape=[int(input_shape[-1])], initializer="ones", dtype=tf.float32)
        self.step = self.add_weight(
            "step", (), tf.int64, "zeros", trainable=False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
        )
        super().build(input_shape)

    def call(self, inputs):
        return tf.matmul(inputs + self.bias, self.kernel)

    def compute_output_shape(self, input_shape):
        return tf.TensorShape(input_shape[:-1]).concatenate(2)


record("own layer", lambda: Scaled()(T[:, 0]))
record("own layer shape", lambda: Scaled().compute_output_shape(tf.TensorShape([5, 3])).as_list())


def functional(last=lambda outputs: y.Lambda(lambda one: tf.concat([one, K.backend.square(one)], -1))(outputs)):
    inputs = y.Input((3,))
    both = tf.concat([inputs, tf.nn.relu(inputs)], axis=1)
    hidden = y.Dense(4, **CONSTANT)(tf.expand_dims(both, 1))
    summed = tf.reduce_sum(hidden, axis=[1], name="summed") + tf.cast(tf.shape(inputs)[0], tf.float32)
    first, second = tf.split(summed, 2, axis=1)
    outputs = tf.reshape(tf.multiply(first, 2.0) - second, [-1, np.int64(2)])
    outputs = last(outputs)
    return K.Model(inputs, [outputs, tf.reduce_max(outputs[:, 1:], -1)])


record("functional", lambda: functional()(T[:, 0])[0])
record("functional, second output", lambda: functional()(T[:, 0])[1])
record("functional dtype", lambda: [functional().outputs[0].dtype == tf.float32, y.Input((3,)).dtype.is_floating])
record("functional shape", lambda: functional().outputs[0].get_shape().as_list()[1:])
record("functional int_shape", lambda: B.int_shape(functional().outputs[0])[1:])
record("functional copied", lambda: _copied(functional(last=tf.square))(T[:, 0])[0])
record("output_shape", lambda: functional().layers[3].output_shape[1:])
record("get_output_at", lambda: functional().layers[3].get_output_at(0).shape[1:])


def stateful():
    model = K.Sequential([y.LSTM(2, stateful=True, batch_input_shape=(2, 4, 3), **RECURRENT)])
    model.predict(X, verbose=0)
    model.reset_states()
    return model.predict(X, verbose=0)


record("reset_states", stateful)
record("l1_l2", lambda: K.regularizers.l1_l2()(tf.constant(LINE)))
record("l2 of l", lambda: K.regularizers.l2(l=0.1)(tf.constant(LINE)))
record("l1 of l", lambda: K.regularizers.l1(l=0.1)(tf.constant(LINE)))

for name in (
    "mean_squared_error mean_absolute_error mean_absolute_percentage_error mean_squared_logarithmic_error "
    "squared_hinge hinge logcosh log_cosh categorical_crossentropy binary_crossentropy kullback_leibler_divergence "
    "kl_divergence kld poisson mse mae mape msle MSE MAE MAPE MSLE KLD"
).split():
    record(f"losses.{name}", lambda n=name: getattr(K.losses, n)(tf.constant(L), tf.constant(P)))
    record(f"losses.get {name}", lambda n=name: K.losses.get(n)(tf.constant(L), tf.constant(P)))
    record(f"metrics.{name}", lambda n=name: getattr(K.metrics, n)(tf.constant(L), tf.constant(P)))
record(
    "losses of other ranks", lambda: K.losses.mean_squared_error(tf.constant([1.0, 2.0]), tf.constant([[1.0], [3.0]]))
)
for name in ("AUTO", "SUM", "NONE", "SUM_OVER_BATCH_SIZE"):
    record(
        f"Reduction.{name}",
        lambda n=name: K.losses.MeanSquaredError(reduction=getattr(K.losses.Reduction, n))(L, P),
    )


def measured(metric, *batches):
    for batch in batches:
        metric.update_state(*batch)
    found = np.asarray(metric.result())
    metric.reset_states()
    return found


record("MeanTensor", lambda: measured(K.metrics.MeanTensor(), (L,), (P,)))
record("MeanRelativeError", lambda: measured(K.metrics.MeanRelativeError(normalizer=P), (L, P)))
record("Mean", lambda: measured(K.metrics.Mean(), (L,)))
record("initializers", lambda: K.initializers.get("zeros")((2, 2)))
record("to_categorical", lambda: K.utils.to_categorical(y=[1, 0, 2], dtype="int32"))
record("to_ordinal", lambda: K.utils.to_ordinal([1, 0, 2]))

FUNCTIONS = {
    "in_train_phase": lambda: B.in_train_phase(T, T * 2, training=False),
    "in_train_phase of functions": lambda: B.in_train_phase(lambda: T, lambda: T * 2, training=True),
    "in_test_phase": lambda: B.in_test_phase(T, T * 2, training=False),
    "learning_phase": B.learning_phase,
    "normalize_batch_in_training": lambda: B.normalize_batch_in_training(T, tf.ones(3), tf.zeros(3), [0, 1])[0],
    "local_conv1d": lambda: B.local_conv1d(T, tf.ones((3, 6, 2)), (2,), (1,)),
    "local_conv2d": lambda: B.local_conv2d(IMAGE, tf.ones((6, 4, 2)), (2, 2), (1, 1), (3, 2)),
    "random_binomial": lambda: B.random_binomial((2,), p=1.0),
    "print_tensor": lambda: B.print_tensor(T, "printed"),
    "hard_sigmoid": lambda: B.hard_sigmoid(T),
    "relu": lambda: B.relu(T, alpha=0.1),
    "function": lambda: _of_keras()([X[:, 0]])[0],
    "batch_dot": lambda: B.batch_dot(T, T, axes=[2, 2]),
    "categorical_crossentropy": lambda: B.categorical_crossentropy(tf.constant(L), tf.constant(P)),
    "moving_average_update": lambda: _moved(B.variable([2.0, 3.0])),
    "rnn": lambda: B.rnn(lambda value, states: (value + states[0], [value + states[0]]), T, [tf.zeros((2, 3))])[1],
    "foldl": lambda: B.foldl(lambda left, right: left + right, T),
    "resize_images": lambda: B.resize_images(IMAGE, 2, 2, "channels_last"),
    "pool2d": lambda: B.pool2d(IMAGE, (2, 2)),
    "switch": lambda: B.switch(tf.constant(True), T, T * 2),
}
for name, make in FUNCTIONS.items():
    record(f"backend.{name}", make)
print(json.dumps(FOUND))
