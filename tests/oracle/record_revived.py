"""Record what the programs of tests/data/revived print on TensorFlow 1.15.5.

Run from the project's root with an environment that holds it (Python 3.7):

    python -m tests.oracle.record_revived [name ...]

Writes revived.json into tests/data/oracle-1.15.5/; with names, only those are recorded anew.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import shutil
import sys
import tempfile
import traceback
from pathlib import Path
from unittest.mock import MagicMock

import tensorflow as tf
from absl import flags
from tests.programs.revived import CASES, FOLDER, words_of

OUT = Path(__file__).parents[1] / "data" / "oracle-1.15.5" / "revived.json"


def run_notebook(path):
    # What only shows: such an environment has none of it.
    for name in ("IPython", "IPython.display", "matplotlib", "matplotlib.pyplot", "matplotlib.pylab"):
        sys.modules.setdefault(name, MagicMock())
    sys.path.insert(0, os.getcwd())
    cells = [
        cell for cell in json.loads(Path(path).read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"
    ]
    names = {"__name__": "__main__"}
    for cell in cells:
        text = "".join(cell["source"])
        magic, _, rest = text.partition("\n")
        if magic.startswith("%%writefile"):
            Path(magic.split()[-1]).write_text(rest)
        elif not magic.startswith(("%%bash", "%%sh", "%%html")):
            exec(compile(_without_magics(text), path, "exec"), names)


def _without_magics(text):
    """A cell without what only Jupyter understands: magics, and lines for a shell, which may go on in the next line."""
    text = re.sub(r"^([ ]*)%time ", r"\1", text, flags=re.MULTILINE)
    return re.sub(r"^([ ]*)[%!](?:.*\\\n)*.*$", r"\1pass", text, flags=re.MULTILINE)


def run(words):
    if words[0] == "-m":
        sys.argv = [words[1], *words[2:]]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words[0].endswith(".ipynb"):
        sys.argv = words
        run_notebook(words[0])
    else:
        sys.argv = words
        sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
        runpy.run_path(words[0], run_name="__main__")


def printed(case, folder):
    """The JSON on the program's last line."""
    out, modules, path, known = io.StringIO(), set(sys.modules), list(sys.path), set(flags.FLAGS)
    sys.path.insert(0, str(folder))
    try:
        with contextlib.redirect_stdout(out):
            run(words_of(case, str(folder / "runs" / case.name)))
    except SystemExit:
        pass
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]
        for name in set(flags.FLAGS) - known:
            delattr(flags.FLAGS, name)
        flags.FLAGS.unparse_flags()
        tf.compat.v1.reset_default_graph()
    return json.loads(out.getvalue().splitlines()[-1])


def save(programs):
    ordered = {case.name: programs[case.name] for case in CASES if case.name in programs}
    OUT.write_text(json.dumps({"tensorflow": tf.__version__, "programs": ordered}, indent=1) + "\n")


def main():
    asked = sys.argv[1:]
    programs = json.loads(OUT.read_text())["programs"] if asked and OUT.exists() else {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "programs"
        shutil.copytree(str(FOLDER), str(folder))
        os.chdir(str(folder))
        for case in CASES:
            if case.recorded and (not asked or case.name in asked):
                try:
                    programs[case.name] = printed(case, folder)
                    print("recorded", case.name, flush=True)
                except Exception:
                    print("FAILED", case.name, flush=True)
                    traceback.print_exc()
                save(programs)


if __name__ == "__main__":
    main()
