"""Notebooks are run cell by cell, and what only Jupyter understands is skipped and named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.test_runner import run

from lightwell.cli.notebooks import NotANotebook, read_notebook


def write(folder: Path, *cells: str, name: str = "work.ipynb") -> Path:
    kinds = [{"cell_type": "markdown", "source": ["# text\n", "!not code"]}]
    kinds += [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    (folder / name).write_text(json.dumps({"cells": kinds, "nbformat": 4}))
    return folder / name


CELLS = (
    "%matplotlib inline\nimport os\n!pip install something\nfiles = !ls\nif files is None:\n    %timeit print('never')",
    "%%bash\nrm -rf nothing\nls",
    "%%writefile made_here.py\nVALUE = 41\n",
    "%%time\nimport made_here\ntext = '''\n!kept % too\n'''\nlist(\n    [7\n% 2])",
    "from IPython.display import HTML, display as show\nshow(HTML('<b>bold</b>'))\ndisplay('plain', 3)\nos.getpid?",
    "get_ipython().run_line_magic('matplotlib', 'inline')\nos.environ['MPLBACKEND']",
    "print(text.strip(), made_here.VALUE, __name__);",
    "made_here.VALUE + 1",
)


def test_cells_run_in_order_and_jupyter_lines_are_named(tmp_path: Path) -> None:
    write(tmp_path, *CELLS)
    code, out, err = run("work.ipynb", cwd=tmp_path)
    assert code == 0, err
    assert out.splitlines() == ["[1]", "<b>bold</b>", "plain", "3", "'Agg'", "!kept % too 41 __main__", "42"]
    assert err.splitlines() == [
        f"lightwell run: work.ipynb, cell {place}: skipped {text}"
        for place, text in (
            ("1, line 1", "%matplotlib inline"),
            ("1, line 3", "!pip install something"),
            ("1, line 4", "!ls"),
            ("1, line 6", "%timeit print('never')"),
            ("2, line 1", "%%bash and the 2 lines below it"),
            ("4, line 1", "%%time"),
            ("5, line 4", "os.getpid?"),
        )
    ]


IPYTHON = {
    "__init__.py": "version_info = (9, 0)\n",
    "core/__init__.py": "",
    "core/display.py": "class HTML:\n    def __init__(self, data):\n        self.data = data\n",
    "display.py": "from IPython.core.display import HTML\n\ndef display(*objects):\n    print(*objects)\n",
}


def test_what_is_shown_is_the_same_where_ipython_is_installed(tmp_path: Path) -> None:
    """Without a shell, its own `display` prints that there is an object."""
    for name, text in IPYTHON.items():
        (tmp_path / "IPython" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "IPython" / name).write_text(text)
    write(tmp_path, "import os", CELLS[4], "import IPython\nIPython.version_info")
    code, out, err = run("work.ipynb", cwd=tmp_path, path=str(tmp_path))
    assert code == 0, err
    assert out.splitlines() == ["<b>bold</b>", "plain", "3", "(9, 0)"]


def test_a_traceback_names_the_cell_and_shows_the_line(tmp_path: Path) -> None:
    write(tmp_path, "x = 1", "def divide(by):\n    return x / by\n\n", "divide(1)\ndivide(0)")
    code, out, err = run("work.ipynb", cwd=tmp_path)
    assert (code, out) == (1, "")
    assert f'File "{tmp_path}/work.ipynb, cell 3", line 2, in <module>\n    divide(0)\n' in err
    assert f'File "{tmp_path}/work.ipynb, cell 2", line 2, in divide\n    return x / by\n' in err
    assert err.rstrip().endswith("ZeroDivisionError: division by zero")
    assert "lightwell/cli" not in err


def test_a_notebook_says_which_tensorflow_it_means(tmp_path: Path) -> None:
    file = write(tmp_path, "%tensorflow_version 1.x\nimport tensorflow as tf")
    assert read_notebook(str(file)).tensorflow == "1"


def test_a_place_in_the_whole_is_a_place_in_a_cell(tmp_path: Path) -> None:
    notebook = read_notebook(str(write(tmp_path, "a\nb", "", "c\nd\ne")))
    assert [notebook.location_of(line) for line in range(1, 7)] == [(1, 1), (1, 2), (2, 1), (3, 1), (3, 2), (3, 3)]


def test_an_old_notebook_has_worksheets(tmp_path: Path) -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1\n", "print(x)"]}]}], "nbformat": 3}
    (tmp_path / "old.ipynb").write_text(json.dumps(old))
    assert read_notebook(str(tmp_path / "old.ipynb")).source == "x = 1\nprint(x)"


def test_a_file_that_is_no_notebook(tmp_path: Path) -> None:
    (tmp_path / "bad.ipynb").write_text("{}")
    with pytest.raises(NotANotebook, match="is not a notebook: KeyError"):
        read_notebook(str(tmp_path / "bad.ipynb"))
    code, _, err = run("bad.ipynb", cwd=tmp_path)
    assert code == 2
    assert err.startswith("lightwell run: ")
    assert "is not a notebook" in err


def test_a_command_that_goes_on_in_the_next_line(tmp_path: Path) -> None:
    cells = (
        "!python train.py \\\n  --steps=(5 \\\n  --text=\"'''\nx = 1",
        "if x:\n    !gsutil cp \\\n        a b\nprint('x', x)",
        "%pip install a \\\n  b",
    )
    write(tmp_path, *cells)
    code, out, err = run("work.ipynb", cwd=tmp_path)
    assert (code, out) == (0, "x 1\n"), err
    assert [line.partition(": skipped ")[2] for line in err.splitlines()] == [
        "!python train.py \\ --steps=(5 \\ --text=\"'''",
        "!gsutil cp \\ a b",
        "%pip install a \\ b",
    ]


def test_a_cell_imports_what_an_earlier_one_wrote_where_it_runs(tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    write(tmp_path / "notebooks", "%%writefile made_there.py\nVALUE = 42", "import made_there\nmade_there.VALUE")
    code, out, err = run("notebooks/work.ipynb", cwd=tmp_path)
    assert (code, out) == (0, "42\n"), err


def test_the_statement_behind_a_timing_runs(tmp_path: Path) -> None:
    text = 'text = """\n%time stays\n"""\nprint(text.strip())'
    write(tmp_path, "%time x = sum([1,\n    2])", "if x:\n    %time print('x', x)", text, "%time\nprint('alone')")
    code, out, err = run("work.ipynb", cwd=tmp_path)
    assert (code, out) == (0, "x 3\n%time stays\nalone\n"), err
