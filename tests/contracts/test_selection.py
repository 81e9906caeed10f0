"""Which tests are run when: `make test` takes one case of every table, `make test-changed` what reaches a change."""

from __future__ import annotations

import pytest
from tests.changed import ROOT, select_tests
from tests.thorough import LIST, brief_selection


def test_one_case_of_every_table_and_no_whole_programs() -> None:
    nodes = [
        "a.py::test_x[1]",
        "a.py::test_x[2]",
        "a.py::test_y",
        "b.py::test_x[1]",
        "tests/docs/test_speed.py::test_z",
        "tests/programs/test_styles.py::test_one_of_each_style",
    ]
    assert brief_selection(nodes) == [True, False, True, True, False, True]


def test_what_is_listed_as_long_is_there_and_left_out() -> None:
    listed = LIST.read_text().split()
    assert len(listed) == len(set(listed))
    assert not any(brief_selection(listed))
    sources = {one: (ROOT / one.partition("::")[0]).read_text() for one in listed}
    missing = [one for one, source in sources.items() if f"def {one.rpartition('::')[2]}(" not in source]
    assert missing == []


@pytest.mark.parametrize(
    ("changed", "chosen", "left_out"),
    [
        (
            "src/lightwell/compat/contrib/seq2seq/__init__.py",
            "tests/compat/contrib/test_seq2seq.py",
            "tests/inside/captures/test_store.py",
        ),
        (
            "src/lightwell/estimator/canned/sdca.py",
            "tests/estimator/canned/test_sdca.py",
            "tests/run/engine/test_training.py",
        ),
        ("src/lightwell/cli/doctor.py", "tests/cli/test_doctor.py", "tests/model/layers/test_contract.py"),
        ("src/lightwell/run/engine/runner.py", "tests/estimator/test_core.py", "tests/base/test_printable.py"),
        ("docs/speed.md", "tests/docs/test_speed.py", "tests/estimator/test_core.py"),
        ("tests/data/oracle-2.15.1/estimator_names.json", "tests/compat/test_names.py", "tests/cli/test_doctor.py"),
        ("tests/data/public_surface.json", "tests/contracts/test_public_surface.py", "tests/cli/test_doctor.py"),
    ],
)
def test_a_change_chooses_the_tests_that_reach_it(changed: str, chosen: str, left_out: str) -> None:
    files = select_tests([changed])
    assert chosen in files
    assert left_out not in files


def test_the_settings_of_the_project_choose_all() -> None:
    assert len(select_tests(["pyproject.toml"])) > 300
