"""Where an error differs from the recorded one on purpose: pattern of mistakes -> (what is caught here, why).

What is caught is the name of a type, or `nothing`. Most of them: there the value goes unnoticed, or a step fails in the
depths of TensorFlow; here it is refused where it is given, by its name.
"""

from __future__ import annotations

NOTHING, VALUE, TYPE = "nothing", "ValueError", "TypeError"
DIFFERENT: dict[str, tuple[str, str]] = {
    # Verbs and specs
    "train: input_fn gives None": (VALUE, "there the model fails on the None; here the input_fn is named"),
    "train: a spec for no mode, without train_op": (VALUE, "there the session fails; here the missing field is named"),
    "predict: a spec for no mode, without predictions": (VALUE, "likewise"),
    "(train|evaluate|predict): a spec for no mode, without loss": (VALUE, "likewise"),
    "(train|evaluate|predict): a variable of another shape": (
        "InvalidArgumentError",
        "there a weight of another shape goes unnoticed where no op of the model minds it",
    ),
    "spec: _replace of an unknown field": (VALUE, "there a misspelt field is dropped without a word"),
    "config: replace, experimental_distribute is .*": (TYPE, "the constructor refuses it there as well"),
    # Workflow, export, hooks
    ".*Exporter: exports_to_keep is 0.5": (TYPE, "there the fraction fails when exports are deleted, after training"),
    "raw receivers of a dict under a number": (VALUE, "there an array is refused; here the key, which is no text"),
    "export: empty export_outputs": (VALUE, "there a SavedModel is written that nobody can call"),
    "export: the receiver_fn is None": (NOTHING, "here the features of the last training are fed"),
    "InMemoryEvaluatorHook: input_fn is .*": (TYPE, "there it fails in the first evaluation"),
    "warm start: (a pattern that fits nothing|variables that are not there)": (
        VALUE,
        "there training starts from nothing without a word",
    ),
    # Heads
    "(MultiClassHead|.*Classifier): n_classes is (2.5|text)": (
        VALUE,
        "there an op of TensorFlow is asked to compare it",
    ),
    "(.*Head: label_dimension|MultiLabelHead: n_classes) is 2.5": (VALUE, "there it fails in the shapes of a model"),
    ".*: label_vocabulary is of numbers": (VALUE, "there it fails when labels are looked up in it"),
    "BinaryClassHead: label_vocabulary is empty": (VALUE, "there every label fails"),
    "RegressionHead: inverse_link_fn is a number": (TYPE, "there it fails when predictions are made"),
    "MultiHead: heads of one name": (VALUE, "there one of them is lost without a word"),
    ".* head: an unknown mode": (VALUE, "there it counts as training; here the mode is named"),
    "(binary|regression|Poisson|logistic) head: labels are (unknown )?words": (
        VALUE,
        "there the cast of strings fails in the step; here the labels are named",
    ),
    "regression head, in a graph: labels are (unknown )?words": (VALUE, "likewise"),
    ".*(Classifier|Regressor)( of TensorFlow 1)?: labels of text": (VALUE, "likewise"),
    "(Linear|DNN).*(Classifier|Regressor): the feature is text": (VALUE, "likewise for features"),
    "multi-label (with words )?head: labels are ((unknown )?words|truth values)": (VALUE, "the shape is told first"),
    "multi-label (with words )?head: labels are (out of range|far below zero)": (VALUE, "likewise"),
    "multi-label with words head: labels are sparse unknown words": (
        VALUE,
        "there an op fails; here the word is named",
    ),
    "binary with words head: labels are .* rows( of three)?": (VALUE, "the shape is told first"),
    ".* head, in a graph: labels are of rank 1 while it runs": (
        NOTHING,
        "here the last dimension may be missing then as well",
    ),
    ".* head, in a graph: weights are of three columns": (VALUE, "there the step fails, with the same words"),
    "head: a loss_fn of another shape": (VALUE, "likewise"),
    ".*: weights are words": (VALUE, "likewise for weights"),
    # Ready-made models
    "DNNLinearCombined: columns without hidden units": (VALUE, "there once training begins, with the same words"),
    "DNNRegressor: label_dimension is 2.5": (VALUE, "there the layer of the logits speaks of its units"),
    ".*: (linear_|dnn_)?optimizer is a Keras class": (NOTHING, "today's Keras optimizers train"),
    ".*: (linear_|dnn_)?feature_columns is one column": (NOTHING, "one column needs no list"),
    ".*: (linear_)?sparse_combiner is .*": (VALUE, "there it is noticed once a column has categories"),
    ".*: (dnn_)?hidden_units is of 0": (VALUE, "there a layer without units is trained"),
    # Arrays and frames, recurrent and clustering models, the rest
    "(numpy|pandas)_input_fn: batch_size is None": (TYPE, "there an op of a queue is asked to convert it"),
    "(numpy|pandas)_input_fn: batch_size is (0|-1)": (VALUE, "there the index of an empty list fails, in a thread"),
    "(numpy|pandas)_input_fn: queue_capacity is 0": (VALUE, "there a division by zero"),
    "RNNClassifier: no columns": (VALUE, "as for other models without columns"),
    "RNNClassifier: (units of text|empty units)": (VALUE, "there a layer compares them; or there is no layer"),
    "RNNClassifier: return_sequences and a head of no sequence": (VALUE, "there an index fails in the step"),
    "KMeans: num_clusters(=0| is text)": (VALUE, "there an assertion without a name fails in the step"),
    "KMeans: retries of -1": (NOTHING, "there k-means++ needs a seed; here it does without"),
    "KMeans: feature_columns of text": (VALUE, "there they are not looked at for features that are an array"),
    "LinearSDCA: an L(1 below zero|2 of 0)": (VALUE, "there the step fails, with the same words"),
    "a model that fails: eval_dir of a number": (NOTHING, "a number is as good a name as any"),
}
