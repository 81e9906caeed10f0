"""Sources are found on disk as Python would find them, without importing anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from lightwell.cli.module_sources import module_sources


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "pkg/__init__.py",
        "pkg/mod.py",
        "pkg/mod/ignored.txt",
        "loose/deep/leaf.py",
        "both/__init__.py",
        "both.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("raise SystemExit('nobody may run this')")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def found(name: str, folder: Path) -> list[tuple[str, str, str]]:
    return [
        (source.name, str(Path(source.file).relative_to(folder)), source.package) for source in module_sources(name)
    ]


def test_packages_and_modules(folder: Path) -> None:
    assert found("pkg.mod", folder) == [("pkg", "pkg/__init__.py", "pkg"), ("pkg.mod", "pkg/mod.py", "pkg")]
    assert found("pkg.mod.function", folder) == found("pkg.mod", folder)


def test_folders_without_init_lead_on(folder: Path) -> None:
    assert found("loose.deep.leaf", folder) == [("loose.deep.leaf", "loose/deep/leaf.py", "loose.deep")]


def test_a_package_goes_before_a_module_of_its_name(folder: Path) -> None:
    assert found("both", folder) == [("both", "both/__init__.py", "both")]


def test_what_is_not_there_is_not_found(folder: Path) -> None:
    assert found("no_such_module.x", folder) == []
    assert found("pkg.absent", folder) == [("pkg", "pkg/__init__.py", "pkg")]
