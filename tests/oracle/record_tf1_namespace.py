"""Record which names `import tensorflow as tf` offered in TensorFlow 1.15.

Run with an environment that holds tensorflow 1.15.5 (Python 3.7); writes tests/data/oracle-1.15.5/namespace.json.
"""

import json
import os
import types

import tensorflow as tf

OUT = os.path.join(os.path.dirname(__file__), "..", "data", "oracle-1.15.5", "namespace.json")
# tf.keras is Keras's own; tf.contrib is gone and has its own table; the rest are not namespaces of the API.
LEFT_OUT = {"keras", "contrib", "compat", "raw_ops", "pywrap_tensorflow", "mock", "tf_decorator"}
NOISE = {"absolute_import", "division", "print_function", "pywrap_tensorflow", "python", "core", "tools", "examples"}


def walk(module, path, found):
    names = [name for name in dir(module) if not name.startswith("_") and name not in NOISE]
    found[path] = sorted(names)
    for name in names:
        value = getattr(module, name)
        if (
            name not in LEFT_OUT
            and isinstance(value, types.ModuleType)
            and ".api" in value.__name__.replace("_api", ".api")
        ):
            walk(value, (path + "." + name).lstrip("."), found)
    return found


if __name__ == "__main__":
    if not os.path.isdir(os.path.dirname(OUT)):
        os.makedirs(os.path.dirname(OUT))
    record = {
        "tensorflow": tf.__version__,
        "names": walk(tf, "", {}),
        "contrib": sorted(n for n in dir(tf.contrib) if n[0] != "_"),
    }
    with open(OUT, "w") as out:
        json.dump(record, out, indent=0, sort_keys=True)
        out.write("\n")
