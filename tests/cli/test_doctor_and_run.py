"""The doctor and a run agree: what the doctor lets pass runs, and what it stops at stops a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_runner import write
from tests.programs import revived, row_programs
from tests.programs.batch import Batch
from tests.programs.cases import CASES

from lightwell.cli.main import main

DATA = Path(__file__).parents[1] / "data"
TF = "import tensorflow as tf\n"
# Programs that run. Those of TensorFlow 2 come first: one of TensorFlow 1 turns eager execution off for the process.
RUN = {
    "two_names": TF
    + "tf.random.set_seed(1)\ntf.estimator.RunConfig\ntf.keras.experimental.CosineDecay\ntf.compat.v1.layers.dense",
    "two_private": "from tensorflow.python.ops import nn, math_ops\nnn.relu, math_ops.add\n"
    "from tensorflow.core.example import example_pb2\nexample_pb2.Example()",
    "two_keras": TF
    + "tf.keras.estimator.model_to_estimator\ntf.compat.v1.keras.layers.DenseFeatures\ntf.keras.layers.Dense(3)",
    "two_star": "from tensorflow.keras.layers import *\nDense(3)\nDropout(0.1)",
    "two_checked": TF
    + "try:\n    tf.no_such_name\nexcept AttributeError:\n    pass\nimport sys\nif hasattr(tf, 'zzz'): tf.zzz()",
    "messages": TF
    + "tf.placeholder(tf.float32)\ntf.train.Example(features=tf.train.Features())\ntf.Summary()\ntf.ConfigProto()",
    "aliases": TF
    + "tf.to_float(1), tf.log(1.0), tf.python_io.TFRecordWriter, tf.Dimension(3), tf.app.run, tf.resource_loader\n"
    "tf.contrib.signal.frame, tf.contrib.linalg.LinearOperatorTriL, tf.contrib.tpu.shard",
    "contrib": "import tensorflow.contrib.slim as slim\nfrom tensorflow.contrib import layers, boosted_trees\n"
    "from tensorflow.contrib.layers.python.layers import utils\nslim.conv2d, layers.fully_connected",
    "guarded": TF
    + "tf.placeholder(tf.int32)\nx = tf.zzz if hasattr(tf, 'zzz') else 1\ny = len([tf.zzz if False else 2])\n"
    + "if 0:\n    tf.zzz",
    "unused": "from tensorflow.contrib.tensorboard.plugins import projector\nimport tensorflow.contrib.gan.python.eval",
    "star": "from tensorflow import *\nplaceholder(float32)",
    "numpy": TF
    + "import numpy as np\ntf.placeholder(tf.int32)\nnp.zeros(2, np.int), np.in1d([1], [1]), np.bool, np.unicode_",
    "flags": TF
    + "tf.flags.DEFINE_string('doctor_flag', 'x', 'y')\ndef main(_):\n    tf.logging.info(tf.flags.FLAGS.doctor_flag)\n"
    "if __name__ == '__main__':\n    tf.app.run()",
    "lists": "d = {'a': 1}\nlist(d.keys())[0]\nx = list(map(int, '12'))\nlen(x), x[0], len(d.keys()), d.values()\n"
    "y = [1, 2, 3]\ny[: len(y) // 2]\nfrom pathlib import Path\n{Path('a') / 'b': 1}[Path('a') / 'b']",
}
# Programs that stop -> what the doctor says stops them.
STOP = {
    "gone": (TF + "tf.random.set_seed(1)\ntf.no_such_name", "tf.no_such_name"),
    "gone_keras": (TF + "tf.random.set_seed(1)\ntf.keras.no_such_name(1)", "tf.keras.no_such_name"),
    "gone_message": ("from tensorflow.core.example import example_pb2\nexample_pb2.NoExample()", "NoExample"),
    "gone_private": ("from tensorflow.python.ops import no_such_ops", "tensorflow.python.ops.no_such_ops"),
    "gone_in_1": (TF + "tf.placeholder(tf.float32)\ntf.pywrap_tensorflow", "tf.pywrap_tensorflow"),
    "gone_contrib": (TF + "tf.contrib.kfac.KfacOptimizer(1)", "tf.contrib.kfac"),
    "gone_import": ("from tensorflow.contrib.layers import feature_columns", "tf.contrib.layers.feature_columns"),
    "gone_below": (
        "from tensorflow.contrib.gan.python import eval as e\ne.no_such_name(1)",
        "tf.contrib.gan.python.eval",
    ),
    "module": ("import no_such_package", "no_such_package"),
}
# Programs of old Python: they stop, and run with --old-python.
OLD = {
    "print": "print 'x'",
    "has_key": "{}.has_key(1)",
    "iteritems": "for each in {1: 2}.iteritems(): pass",
    "xrange": "xrange(3)",
    "map_index": "map(int, '12')[0]",
    "map_length": "x = map(int, '12')\nlen(x)",
    "zip_function": "def f():\n    pairs = zip([1], [2])\n    return pairs[0]\nf()",
    "keys": "{'a': 1}.keys()[0]",
    "keys_sort": "{'a': 1}.keys().sort()",
    "division": "xrange\nfor i in range(4 / 2): pass",
    "half": "xrange\nx = [1, 2]\nx[: len(x) / 2]",
    "mapping": "import collections\nisinstance({}, collections.Mapping)",
    "from_mapping": "from collections import Mapping",
    "argspec": "import inspect\ninspect.getargspec(len if False else lambda a: a)",
    "clock": "import time\ntime.clock()",
    "pickle": "import cPickle\ncPickle.dumps(1)",
    "stringio": "import StringIO\nStringIO.StringIO()",
    "urllib2": "import urllib2\nurllib2.Request('http://a/b')",
    "tabs": "if True:\n\tx = 1\n        y = 2",
    "comma": "try:\n    pass\nexcept ValueError, error:\n    pass",
}


def doctor(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    main(["doctor", "--json", *words])
    return json.loads(capsys.readouterr().out)


def test_small_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sources = {**RUN, **{name: source for name, (source, _) in STOP.items()}, **OLD}
    write(tmp_path, {f"program_{name}.py": f"{source}\n" for name, source in sources.items()})
    today = [name for name in sources if name.startswith("two")]
    order = [*today, *OLD, *(name for name in sources if name not in today and name not in OLD)]
    commands = {name: ["lightwell", "run", f"program_{name}.py"] for name in order}
    commands |= {f"{name} translated": ["lightwell", "run", "--old-python", f"program_{name}.py"] for name in OLD}
    batch = Batch(tmp_path, commands)
    reports = {name: doctor(capsys, f"program_{name}.py") for name in sources}
    outcomes = batch.outcomes()
    wrong = []
    for name, report in reports.items():
        ran = outcomes[name]["code"] == 0
        if ran != (report["stops"] == 0):
            wrong.append(f"{name}: {report['stops']} stops, but a run ends with {outcomes[name]['err'][-300:] or 0}")
        if report["needs_old_python"] != (name in OLD):
            wrong.append(f"{name}: needs_old_python is {report['needs_old_python']}")
    wrong += [
        f"{name}: {outcomes[f'{name} translated']['err'][-300:]}"
        for name in OLD
        if outcomes[f"{name} translated"]["code"]
    ]
    assert not wrong, "\n".join(wrong)
    for name, (_, what) in STOP.items():
        rows = [*reports[name]["names"], *reports[name]["problems"]]
        assert any(what in (row.get("name") or row["what"]) for row in rows), (name, rows)


def test_programs_that_are_known_to_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of tests/programs, which run there in every suite, and end well."""
    monkeypatch.chdir(revived.FOLDER)
    words = [("-m", case.words[1]) if case.words[0] == "-m" else (case.words[0],) for case in revived.CASES]
    words += [(str(path),) for path in (*row_programs.PROGRAMS, *(case.file for case in CASES))]
    assert len(words) > 55
    for each in words:
        report = doctor(capsys, *each)
        stopping = [row["name"] for row in report["names"] if row["state"] == "absent" and not row["checked"]]
        assert report["stops"] == 0, (each, stopping, report["problems"])
