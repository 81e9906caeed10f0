"""The Estimator half of Migrate from Estimator to Keras APIs (TensorFlow 2.9): tf1 names in a model_fn."""
import json

import tensorflow as tf
import tensorflow.compat.v1 as tf1

features = [[1., 1.5], [2., 2.5], [3., 3.5]]
labels = [[0.3], [0.5], [0.7]]
eval_features = [[4., 4.5], [5., 5.5], [6., 6.5]]
eval_labels = [[0.8], [0.9], [1.]]


def _input_fn():
    return tf1.data.Dataset.from_tensor_slices((features, labels)).batch(1)


def _eval_input_fn():
    return tf1.data.Dataset.from_tensor_slices((eval_features, eval_labels)).batch(1)


def _model_fn(features, labels, mode):
    logits = tf1.layers.Dense(1, kernel_initializer=tf1.constant_initializer([[0.2], [-0.1]]))(features)
    predictions = logits
    loss = tf1.losses.mean_squared_error(labels=labels, predictions=predictions)
    optimizer = tf1.train.AdagradOptimizer(0.05)
    train_op = optimizer.minimize(loss, global_step=tf1.train.get_global_step())
    return tf1.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf1.estimator.Estimator(model_fn=_model_fn)
estimator.train(_input_fn)
custom = estimator.evaluate(_eval_input_fn)


# Metrics and optimizers.
def _my_metrics(labels, predictions):
    return {'mse': tf1.metrics.mean_squared_error(labels, predictions['predictions']), 'mean': tf1.metrics.mean(predictions['predictions'])}


def _dict_input_fn():
    return tf1.data.Dataset.from_tensor_slices(({'x': features}, labels)).batch(1).repeat(4)


columns = [tf.feature_column.numeric_column('x', (2,))]
linear = tf1.estimator.LinearRegressor(columns, optimizer=tf1.train.FtrlOptimizer(0.5))
linear = tf1.estimator.add_metrics(linear, _my_metrics)
linear.train(_dict_input_fn)
metrics = linear.evaluate(_dict_input_fn, steps=3)


# A hook.
class LoggerHook(tf1.train.SessionRunHook):
    """Loss and examples per second"""

    def begin(self):
        self._step = -1
        self.lines = []

    def before_run(self, run_context):
        self._step += 1
        return tf1.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        self.lines.append(float(run_values.results))


hook = LoggerHook()


def _hook_model_fn(features, labels, mode):
    dense = tf1.layers.Dense(1, kernel_initializer='zeros')
    loss = tf1.losses.mean_squared_error(labels=labels, predictions=dense(features['x']))
    hook.loss = loss
    train_op = tf1.train.AdagradOptimizer(0.05).minimize(loss, global_step=tf1.train.get_global_step())
    return tf1.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[hook])


hooked = tf1.estimator.Estimator(_hook_model_fn)
hooked.train(_dict_input_fn, max_steps=6)

# Early stopping and TrainSpec.
early = tf1.estimator.LinearRegressor(columns, model_dir='early', config=tf1.estimator.RunConfig(save_checkpoints_steps=2))
early_stopping = tf.estimator.experimental.stop_if_no_decrease_hook(early, 'loss', max_steps_without_decrease=50, run_every_steps=2, run_every_secs=None)
train_spec = tf1.estimator.TrainSpec(_dict_input_fn, max_steps=10, hooks=[early_stopping])
eval_spec = tf1.estimator.EvalSpec(_dict_input_fn, steps=3)
both, _ = tf1.estimator.train_and_evaluate(early, train_spec, eval_spec)
print(json.dumps({'custom': {k: float(v) for k, v in custom.items()}, 'metrics': {k: float(v) for k, v in metrics.items()},
                  'lines': hook.lines, 'both': {k: float(v) for k, v in both.items()}}))
