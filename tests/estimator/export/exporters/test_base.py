"""`Exporter` is derived from: two members make one."""

from __future__ import annotations

from typing import Any

import pytest

import lightwell as lw
import lightwell.compat.v1.estimator as v1
from lightwell.compat.private import private_page


def test_two_members_make_one() -> None:
    class Copies(lw.Exporter):
        @property
        def name(self) -> str:
            return "copies"

        def export(self, estimator: Any, export_path: Any, checkpoint_path: Any, eval_result: Any, final: bool) -> str:
            return f"{export_path}/{checkpoint_path}"

    assert Copies().name == "copies"
    assert Copies().export(None, "a", "b", {}, False) == "a/b"
    assert all(issubclass(kind, lw.Exporter) for kind in (lw.LatestExporter, lw.FinalExporter, lw.BestExporter))


def test_one_without_export_says_so() -> None:
    class Nothing(lw.Exporter):
        pass

    with pytest.raises(NotImplementedError, match=r"Nothing has no `export`: write export\(self, estimator, "):
        Nothing().export(None, "", "", {}, False)


def test_old_ways_to_them_lead_to_the_same() -> None:
    assert v1.BestExporter is lw.BestExporter
    page = private_page("exporter")
    assert page is not None
    assert page.absent == {}
    assert page.targets["_SavedModelExporter"] == "lightwell.estimator.export.exporters.saved_model:SavedModelExporter"
