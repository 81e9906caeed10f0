"""The shape of the package, kept by a test: who imports whom, what stays in one place, and what every part brings."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.contracts.sources import PACKAGE, ROOT, Source, sources

import lightwell
from lightwell.base.public_names import ROWS


def rooms() -> dict[str, list[str]]:
    """The rooms of the table in ARCHITECTURE.md, each with its parts, in the order in which they may import."""
    section = (ROOT / "ARCHITECTURE.md").read_text().partition("## Rooms")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)/` \| `([\w ]*)` \|", section, re.MULTILINE)
    return {room: [room if part == room else f"{room}/{part}" for part in parts.split()] for room, parts in rows}


ROOMS = rooms()
# A module imports only what stands to its left. "" is the package's own page, which points at all but the command line.
ORDER = [
    "errors",
    *(part for room, parts in ROOMS.items() for part in ([room, *parts] if room not in parts else parts)),
]
ORDER.insert(ORDER.index("cli"), "")
# The public pages of single parts: thin, and read by users alone.
PAGES = {"layers", "rnn_cell", "feature_columns", "tf1"}
MOST_NAMES = 16
MOST_LINES = 400
MOST_LINES_OF_A_PAGE = 20
# Graphs and sessions are the engine's. Who else may make one, and why:
MAY_OPEN: dict[str, str] = {}
# Modules whose tests stand elsewhere than their name says.
TESTED_ELSEWHERE = {
    "base/public_names.py": "tests/compat",
    "base/metric_direction.py": "tests/estimator/test_ablation_verbs.py",
    "base/package.py": "tests/estimator/test_tracebacks.py",
    "foreign/private_keras.py": "tests/model/interop/test_keras3_doors.py",
    "estimator/keras_export.py": "tests/estimator/export/keras_model",
    "run/hooks/save_with_chief.py": "tests/estimator/workflow/test_together.py",
    "run/hooks/synchronized_stop.py": "tests/estimator/workflow/test_together.py",
}
# Parts with one test file for each module. The engine's are named for the behaviour they hold, so that its modules can
# be cut differently without a test having to change.
MIRRORED = ("base", "foreign", "model", "run", "run/inputs", "run/checkpoints", "run/hooks", "estimator")

SOURCES = sources()


def test_the_table_names_every_part_once_and_nothing_else() -> None:
    assert sorted(ORDER) == sorted({source.part for source in SOURCES} - PAGES - {"__main__"} | {""})


def test_a_newcomer_sees_few_names() -> None:
    names = sorted(path.name for path in PACKAGE.iterdir() if path.name != "__pycache__")
    assert len(names) <= MOST_NAMES, names
    assert {path.name for path in PACKAGE.iterdir() if path.is_dir()} - {"__pycache__"} == set(ROOMS)


def test_imports_point_left() -> None:
    wrong = [
        f"{source.name} imports {part!r}"
        for source in SOURCES
        if source.part not in PAGES | {"", "__main__"}
        for part in source.imported_parts()
        if ORDER.index(part) > ORDER.index(source.part)
    ]
    assert not wrong


def test_pages_are_thin() -> None:
    for source in SOURCES:
        if source.part in PAGES:
            assert set(source.imported_parts()) <= {"base/lazy", "base/public_names", f"model/{source.part}"}
            assert source.lines <= MOST_LINES_OF_A_PAGE


def test_the_order_would_notice_a_step_to_the_right(tmp_path: Path) -> None:
    source = Source(tmp_path / "module.py")
    source.path.write_text("import lightwell\ndef late():\n    from lightwell.run.engine.build import build\n")
    assert list(source.imported_parts()) == ["", "run/engine"]


def test_tensorflows_private_modules_have_one_door() -> None:
    behind = ("tensorflow.python", "tensorflow.core")
    private = {s.name: [name for name in s.imports() if name.startswith(behind)] for s in SOURCES}
    assert {name: found for name, found in private.items() if found and not name.startswith("foreign/")} == {}


def test_modules_are_short() -> None:
    assert {source.name: source.lines for source in SOURCES if source.lines > MOST_LINES} == {}


def test_modules_say_what_they_own() -> None:
    assert [source.name for source in SOURCES if not source.docstring] == []


def test_folders_say_what_they_own() -> None:
    # Below compat/v1 folders only spell TensorFlow's dotted names.
    folders = {str(s.path.parent.relative_to(PACKAGE)) for s in SOURCES if not s.name.startswith("compat/v1/")} - {"."}
    assert sorted(folder for folder in folders if not (PACKAGE / folder / "README.md").is_file()) == []
    assert [str(page) for page in PACKAGE.rglob("README.md") if len(page.read_text().splitlines()) > 25] == []


def test_graphs_and_sessions_are_made_in_the_engine() -> None:
    makers = {"tf.Graph", "v1.Graph", "Graph", "tf.compat.v1.Session", "v1.Session", "Session", "tf.Session"}
    made = {s.name: sorted(makers.intersection(s.calls())) for s in SOURCES if s.part != "run/engine"}
    assert {name: calls for name, calls in made.items() if calls and name not in MAY_OPEN} == {}
    assert [name for name in MAY_OPEN if not made.get(name)] == [], "an exception that excuses nothing has to go"


def test_tests_mirror_sources() -> None:
    missing = []
    for source in SOURCES:
        folder, stem = Path(source.name).parent, source.path.stem
        covered = str(folder) in MIRRORED
        if stem == "__init__" or not covered or source.name in TESTED_ELSEWHERE:
            continue
        mirror = Path("tests") / folder / f"test_{stem.lstrip('_')}.py"
        missing += [] if (ROOT / mirror).is_file() else [str(mirror)]
    assert missing == []


def test_tests_mirror_nothing_that_is_gone() -> None:
    idle = []
    for folder in MIRRORED:
        for test in (ROOT / "tests" / folder).glob("test_*.py"):
            stem = test.stem.removeprefix("test_")
            idle += [] if (PACKAGE / folder / f"{stem}.py").is_file() else [test.name]
    assert idle == []


def test_tests_of_the_engine_and_its_hooks_go_through_what_users_call() -> None:
    """A test that holds a mechanism still has to be paid for whenever the mechanism changes."""
    inside = tuple(
        f"lightwell.{part}."
        for part in ("foreign", "run.loops", "run.engine", "run.hooks", "run.inputs", "model.interop", "inside")
    )
    folders = ("run/engine", "run/hooks", "estimator")
    files = [path for folder in folders for path in (ROOT / "tests" / folder).glob("*.py")]
    reached = {str(path): [name for name in Source(path).imports() if name.startswith(inside)] for path in files}
    assert len(reached) > 20
    assert {path: names for path, names in reached.items() if names} == {}


def test_the_public_page_keeps_its_promises() -> None:
    assert lightwell.__all__ == sorted(set(lightwell.__all__))
    for name in lightwell.__all__:
        part = _target_part(name)
        if part is None or (PACKAGE / part).exists() or (PACKAGE / f"{part}.py").exists():
            assert getattr(lightwell, name) is not None
    assert set(lightwell.__all__) <= set(dir(lightwell))


def _target_part(name: str) -> str | None:
    target = next((row.target for row in ROWS[""] if row.name == name), "")
    return target.split(":")[0].split(".")[1] if target.startswith("lightwell.") else None


def test_what_editors_see_is_on_the_public_page() -> None:
    source = Source(PACKAGE / "__init__.py")
    shown = {name.rpartition(".")[2] for name in source.imports() if name.startswith("lightwell.")}
    assert shown - {"PAGES", "ROWS", "alias", "lazy_names"} <= set(lightwell.__all__)


_LOADS_NOTHING = """
import sys
import lightwell
dir(lightwell)
assert "tensorflow" not in sys.modules, "import lightwell loads TensorFlow"
import importlib.util
if importlib.util.find_spec("lightwell.cli"):
    import runpy
    sys.argv = ["lightwell", "--help"]
    try:
        runpy.run_module("lightwell", run_name="__main__", alter_sys=True)
    except SystemExit as leaving:
        assert not leaving.code, leaving.code
    assert "tensorflow" not in sys.modules, "lightwell --help loads TensorFlow"
"""


def test_importing_and_asking_for_help_load_no_tensorflow() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOADS_NOTHING],
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
