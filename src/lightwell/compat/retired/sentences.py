"""Sentences and targets that cells of several namespaces share."""

from __future__ import annotations

V1 = "lightwell.compat.v1.estimator"
TRAIN = "tensorflow:compat.v1.train"
IN_SLIM = "The package tf_slim carries it on, with the same variable names: pip install 'lightwell[contrib]'."
ADDONS = "!Its last home was the package tensorflow_addons, which is no longer maintained: copy the few lines you need."
PROBABILITY = "!Install the package tensorflow_probability, which carries it on."
