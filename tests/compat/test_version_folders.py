"""The filters over exported versions select what the removed package's did."""

from __future__ import annotations

import json
from pathlib import Path as FilePath

from lightwell.compat import version_folders as folders
from lightwell.compat.version_folders import Path

RECORD = json.loads((FilePath(__file__).parents[1] / "data/oracle-2.15.1/version_folders.json").read_text())


def _rule(name: str, n: int) -> folders.Filter:
    newest = folders.largest_export_versions(n)
    if name == "negation":
        return folders.negation(newest)
    if name == "union":
        return folders.union(newest, folders.mod_export_version(n + 1))
    found: folders.Filter = getattr(folders, name)(n)
    return found


def test_every_rule_selects_what_was_recorded() -> None:
    for case in RECORD["cases"]:
        paths = [Path(f"/base/{version}", version) for version in case["versions"]]
        kept = [path.export_version for path in _rule(case["rule"], case["n"])(paths)]
        assert kept == case["kept"], case


def test_unnumbered_folders_are_never_kept() -> None:
    paths = [Path("x", None), Path("y", 3)]
    assert folders.largest_export_versions(5)(paths) == [Path("y", 3)]
    assert folders.mod_export_version(3)(paths) == [Path("y", 3)]
    assert folders.negation(folders.largest_export_versions(1))(paths) == [Path("x", None)]


def test_get_paths_lists_what_the_parser_recognises(tmp_path: FilePath) -> None:
    for name in ("10", "9", "temp-3"):
        (tmp_path / name).mkdir()

    def parse(path: Path) -> Path | None:
        name = FilePath(path.path).name
        return Path(path.path, int(name)) if name.isdigit() else None

    assert [path.export_version for path in folders.get_paths(str(tmp_path), parse)] == [10, 9]
