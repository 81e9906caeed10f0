"""Create an Estimator from a Keras model (TensorFlow 2.5 tutorial): model_to_estimator, a dict of outputs in datasets."""
import json
import tempfile

import numpy as np
import tensorflow as tf

print('TensorFlow', tf.__version__)
model = tf.keras.models.Sequential([
    tf.keras.layers.Dense(16, activation='relu', input_shape=(4,), kernel_initializer=tf.keras.initializers.Constant(0.1)),
    tf.keras.layers.Dropout(0.0),
    tf.keras.layers.Dense(3, kernel_initializer='zeros'),
])
model.compile(loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), optimizer=tf.keras.optimizers.SGD(0.1), metrics=['accuracy'])
model.summary()


def input_fn():
    random = np.random.RandomState(1)
    kinds = random.randint(0, 3, 60)
    table = random.normal(0, 0.2, (60, 4)) + kinds[:, None] * 0.5
    dataset = tf.data.Dataset.from_tensor_slices((table.astype('float32'), kinds))
    dataset = dataset.map(lambda features, labels: ({'dense_input': features}, labels))
    return dataset.batch(20).repeat()


for features_batch, labels_batch in input_fn().take(1):
    print(features_batch['dense_input'].shape, labels_batch.shape)

model_dir = tempfile.mkdtemp()
keras_estimator = tf.keras.estimator.model_to_estimator(keras_model=model, model_dir=model_dir)
keras_estimator.train(input_fn=input_fn, steps=50)
eval_result = keras_estimator.evaluate(input_fn=input_fn, steps=3)
print('Eval result: {}'.format(eval_result))
rows = [next(keras_estimator.predict(lambda: input_fn().take(1))) for _ in range(1)]
print(json.dumps({'eval': {k: float(v) for k, v in eval_result.items()}, 'row': {k: v.tolist() for k, v in rows[0].items()}}))
