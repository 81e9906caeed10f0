"""`tf.keras.optimizers.legacy`: the optimizers of Keras 2. Importing this module loads Keras."""

from lightwell.compat.keras2.optimizers import legacy_base, legacy_class

Adadelta = legacy_class("Adadelta")
Adagrad = legacy_class("Adagrad")
Adam = legacy_class("Adam")
Adamax = legacy_class("Adamax")
Ftrl = legacy_class("Ftrl")
Nadam = legacy_class("Nadam")
Optimizer = legacy_base()
RMSprop = legacy_class("RMSprop")
SGD = legacy_class("SGD")
