"""Features, labels, two hidden layers, their gradients and every weight's change, read from a model function that knows
nothing of it; and an end to the training once a layer has little left to learn."""

import digits

import lightwell as lw

train, _ = digits.load()


def look(step):
    print(step.global_step, {path: value.shape for path, value in step.items()})
    if abs(step["gradients/layers/dense"]).mean() < 3e-4:
        step.stop()


hidden = ["layers/conv2d", "layers/dense"]
slopes = [f"gradients/{path}" for path in hidden]
watch = lw.Watch("features/*", "labels", hidden, slopes, "updates/*", every=50, do=look)
est = lw.Estimator(digits.model_fn, config=lw.RunConfig(tf_random_seed=1), params={"learning_rate": 1e-3})
est.train(lambda: digits.input_fn(train, "train"), steps=2000, hooks=[watch])
