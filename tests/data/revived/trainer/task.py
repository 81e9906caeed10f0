"""Files of the cloud template: `python -m trainer.task`."""

import argparse
import json
import os

import numpy as np
import tensorflow as tf

import trainer.input as input_module
import trainer.model as model


def _get_session_config_from_env_var():
    tf_config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if tf_config and "task" in tf_config:
        return tf.ConfigProto(device_filters=["/job:ps"])
    return None


def write(path):
    random = np.random.RandomState(2)
    with open(path, "w") as out:
        for _ in range(40):
            age, gain = random.randint(20, 60), random.uniform()
            out.write("%d,%.3f,nothing,%s\n" % (age, gain, " >50K" if age > 35 and gain > 0.3 else " <=50K"))


def train_and_evaluate(args):
    def train_input():
        return input_module.input_fn(args.train_files, num_epochs=args.num_epochs, batch_size=args.train_batch_size)

    def eval_input():
        return input_module.input_fn(args.train_files, num_epochs=1, batch_size=10, shuffle=False)

    train_spec = tf.estimator.TrainSpec(train_input, max_steps=args.train_steps)
    exporter = tf.estimator.FinalExporter("census", input_module.SERVING_FUNCTIONS[args.export_format])
    eval_spec = tf.estimator.EvalSpec(eval_input, steps=args.eval_steps, exporters=[exporter], name="census-eval")
    run_config = tf.estimator.RunConfig(session_config=_get_session_config_from_env_var()).replace(model_dir=args.job_dir)
    estimator = model.build_estimator(run_config, args.learning_rate)
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    return estimator.evaluate(eval_input)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", help="GCS location to write checkpoints and export models", required=True)
    parser.add_argument("--num-epochs", type=int)
    parser.add_argument("--train-batch-size", type=int, default=8)
    parser.add_argument("--train-steps", type=int, default=15)
    parser.add_argument("--eval-steps", default=4, type=int)
    parser.add_argument("--learning-rate", default=0.5, type=float)
    parser.add_argument("--export-format", choices=["JSON", "CSV"], default="CSV")
    parser.add_argument("--verbosity", choices=["DEBUG", "ERROR", "INFO"], default="ERROR")
    args, _ = parser.parse_known_args()
    tf.logging.set_verbosity(args.verbosity)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = str(tf.logging.__dict__[args.verbosity] / 10)
    if not os.path.isdir(args.job_dir):
        os.makedirs(args.job_dir)
    args.train_files = os.path.join(args.job_dir, "adult.csv")
    write(args.train_files)
    found = train_and_evaluate(args)
    exports = os.listdir(os.path.join(args.job_dir, "export", "census"))
    print(json.dumps({"found": {k: float(v) for k, v in sorted(found.items())}, "exports": len(exports)}))
