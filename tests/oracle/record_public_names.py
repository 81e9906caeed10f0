"""Record which public names one release of TensorFlow offers: names only, by walking the installed package.

Run with an environment that holds that release (1.4, 1.8, 1.12, 1.15, 2.4, 2.15 were; Python 3.6 or newer), then put
the recordings together with `make_name_table.py`:

    python tests/oracle/record_public_names.py /tmp/names-1.15.json

In TensorFlow 2 the names are those of `tf`; those of `tf.compat.v1` are below `compat.v1`.
"""

import importlib
import json
import pkgutil
import sys
import types

import tensorflow as tf

# Not namespaces of the API: sources, and lists of kernels that nobody calls by name.
SOURCES = {"python", "core", "compiler", "tools", "tsl", "include", "examples"}
LEFT_OUT = {"raw_ops", "pywrap_tensorflow", "mock"}
FUTURE = {"absolute_import", "division", "print_function", "unicode_literals", "annotations"}
DEEPEST = 6
BEFORE_PAGES = tf.__version__.startswith(("1.4", "1.5"))  # later releases generate a page per namespace


def is_api(value, owner):
    """Whether a module is a namespace of the API, and no library or source that a page has imported."""
    if not isinstance(value, types.ModuleType):
        return False
    name = value.__name__
    if name.startswith(("keras", "tensorflow_estimator")):
        return "api" in name.split(".") or "_v2" in name or "_v1" in name or "_api" in name or "_tf_keras" in name
    if not name.startswith("tensorflow"):
        return False
    if BEFORE_PAGES:  # a namespace was the source that defines it, emptied of what was not documented
        return owner.count(".") < 2
    return ".python." not in name or "keras.api" in name or "estimator.api" in name


def attribute(module, name):
    try:
        return getattr(module, name)
    except Exception:  # a lazy part whose own needs are not installed
        return None


def names_of(module):
    names = [name for name in dir(module) if not name.startswith("_") and name not in FUTURE]
    return [name for name in names if not foreign(attribute(module, name))]


def foreign(value):
    """Whether a value is a module of another package, which a source of the namespace imports for itself."""
    return isinstance(value, types.ModuleType) and not value.__name__.startswith(
        ("tensorflow", "keras", "tensorflow_estimator")
    )


def walk(module, path, found, depth=0):
    names = [name for name in names_of(module) if not (depth == 0 and name in SOURCES)]
    found[path] = sorted(names)
    for name in names:
        value = attribute(module, name)
        below = (path + "." + name).lstrip(".")
        if name in LEFT_OUT or below == "contrib" or below.startswith(("compat.v1.compat", "compat.v2")):
            continue
        if depth < DEEPEST and is_api(value, path) and ("." + name + ".") not in ("." + path + "."):
            walk(value, below, found, depth + 1)
    return found


def walk_contrib(found):
    """Every namespace of `tf.contrib`: its `__all__`-like public names, without modules of sources."""
    contrib = tf.contrib
    names = sorted(name for name in dir(contrib) if not name.startswith("_") and name not in FUTURE)
    packages = sorted(info.name for info in pkgutil.iter_modules(contrib.__path__) if info.ispkg)
    for name in packages:
        try:
            importlib.import_module("tensorflow.contrib." + name)
        except Exception as error:
            print("cannot import tf.contrib." + name, type(error).__name__, str(error)[:80])
    found["contrib"] = sorted({name for name in (*names, *packages) if not foreign(attribute(contrib, name))})
    for name in found["contrib"]:
        value = attribute(contrib, name)
        if isinstance(value, types.ModuleType):
            walk_package(value, "contrib." + name, found, 0)


def walk_package(module, path, found, depth):
    """A namespace of `tf.contrib`, and the modules in it that list their public names."""
    listed = getattr(module, "__all__", None)
    names = [name for name in (listed or dir(module)) if not name.startswith("_") and name not in FUTURE]
    kept = set()
    for name in names:
        value = attribute(module, name)
        if value is None or foreign(value) or name in ("python", "ops", "proto"):
            continue
        if isinstance(value, types.ModuleType):
            parts = value.__name__.split(".")
            own = parts[:3] == ["tensorflow", "contrib", path.split(".")[1]] and parts[-1] == name
            if not own or not hasattr(value, "__all__"):
                continue
            if depth < 2:
                walk_package(value, path + "." + name, found, depth + 1)
        elif not listed and not str(getattr(value, "__module__", "tensorflow.contrib")).startswith(
            "tensorflow.contrib"
        ):
            continue  # what a source of the namespace imports for itself
        kept.add(name)
    if kept:
        found[path] = sorted(kept)


if __name__ == "__main__":
    found = walk(tf, "", {})
    if tf.__version__.startswith("2"):
        walk(tf.compat.v1, "compat.v1", found)
    elif hasattr(tf, "contrib"):
        walk_contrib(found)
    if "keras" not in found and hasattr(tf, "keras"):
        walk(tf.keras, "keras", found)
    with open(sys.argv[1], "w") as out:
        json.dump({"tensorflow": tf.__version__, "names": found}, out, indent=0, sort_keys=True)
    print(tf.__version__, len(found), "namespaces", sum(map(len, found.values())), "names")
