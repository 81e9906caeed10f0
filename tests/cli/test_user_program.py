"""Which TensorFlow a program's files mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from lightwell.cli.program_folders import program_folders
from lightwell.cli.user_program import UserProgram, main_source_of, read_program
from lightwell.compat.tf1.spelling import Version

TF1 = "import tensorflow as tf\ntf.placeholder(1)\n"
TF2 = "import tensorflow as tf\ntf.random.set_seed(1)\n"
NEUTRAL = "import tensorflow as tf\ntf.estimator\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def look(folder: Path, forced: Version | None = None) -> UserProgram:
    return read_program(str(folder / "main.py"), "", program_folders(str(folder)), forced)


@pytest.mark.parametrize(
    ("source", "version"), [(TF1, Version.TF1), (TF2, Version.TF2), (NEUTRAL, Version.TF2), ("", Version.TF2)]
)
def test_the_main_source_decides(folder: Path, source: str, version: Version) -> None:
    write(folder, {"main.py": source})
    assert look(folder).version is version


def test_one_reachable_module_spelled_tf1_makes_the_program_tf1(folder: Path) -> None:
    files = {
        "main.py": NEUTRAL + "import models.net\n",
        "models/__init__.py": "",
        "models/net.py": "from . import blocks\n",
        "models/blocks.py": "from .deep.core import thing\n",
        "models/deep/core.py": TF1,
        "unused.py": TF2,
    }
    write(folder, files)
    program = look(folder)
    assert program.version is Version.TF1
    assert program.version_of(str(folder / "main.py")) is Version.TF1, "neutral modules follow the program"
    assert program.version_of(str(folder / "unused.py")) is Version.TF2, "a module's own spelling goes first"


def test_relative_imports_from_above_are_followed(folder: Path) -> None:
    files = {
        "main.py": "from pkg.sub import mod",
        "pkg/__init__.py": "",
        "pkg/sub/__init__.py": "",
        "pkg/sub/mod.py": "from ..other import x",
        "pkg/other.py": TF1,
    }
    write(folder, files)
    assert look(folder).version is Version.TF1


def test_modules_that_nothing_leads_to_do_not_decide(folder: Path) -> None:
    write(folder, {"main.py": NEUTRAL + "import helper", "helper.py": "", "stray.py": TF1})
    program = look(folder)
    assert program.version is Version.TF2
    assert program.version_of(str(folder / "stray.py")) is Version.TF1


def test_imports_in_a_circle_end(folder: Path) -> None:
    write(folder, {"main.py": "import a", "a.py": "import b\nimport main", "b.py": "import a\n" + TF1})
    assert look(folder).version is Version.TF1


def test_force_beats_every_source(folder: Path) -> None:
    write(folder, {"main.py": TF1})
    program = look(folder, Version.TF2)
    assert (program.version, program.forced) == (Version.TF2, True)
    assert program.version_of(str(folder / "main.py")) is Version.TF2


def test_the_source_behind_a_module_is_found_without_importing(folder: Path) -> None:
    files = {"pkg/__init__.py": "raise SystemExit", "pkg/train.py": "", "pkg/tool/__init__.py": ""}
    write(folder, {**files, "pkg/tool/__main__.py": "", "plain/run.py": ""})
    own = program_folders(str(folder))
    assert main_source_of("pkg.train", own) == (str(folder / "pkg/train.py"), "pkg")
    assert main_source_of("pkg.tool", own) == (str(folder / "pkg/tool/__main__.py"), "pkg.tool")
    assert main_source_of("plain.run", own) == (str(folder / "plain/run.py"), "plain")
    assert main_source_of("pkg.absent", own) is None
    assert main_source_of("json.tool", own) is None
