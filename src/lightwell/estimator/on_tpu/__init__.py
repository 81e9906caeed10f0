"""The TPU face of the Estimator, on CPU and GPU: programs written for `TPUEstimator` with `use_tpu=False`."""
