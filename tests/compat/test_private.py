"""The private modules that projects import: the tables name only what the original had."""

from __future__ import annotations

import json
from pathlib import Path

from lightwell._lazy import resolve
from lightwell.compat.private import PRIVATE_MODULES, children_of, private_page

RECORD = json.loads((Path(__file__).parents[1] / "data/oracle-2.15.1/estimator_names.json").read_text())
# `keras` was an alias that TensorFlow kept for `keras_lib`; `_api` names it no more.
ALIASES = {"keras": "keras_lib"}


def test_every_module_was_a_module_of_the_original() -> None:
    assert {ALIASES.get(path, path) for path in PRIVATE_MODULES} <= set(RECORD["private"])


def test_every_name_was_a_name_of_the_original() -> None:
    public = {name for face in ("v1", "v2") for names in RECORD[face].values() for name in names}
    imported = {"TrainOutput", "fn_args", "estimator_export", "VocabInfo", "ModeKeys"}
    for path, names in PRIVATE_MODULES.items():
        defined = {name for module in RECORD["private"].values() for name in module}
        assert set(names) <= public | imported | defined, path


def test_names_here_resolve_and_the_others_say_what_to_use() -> None:
    for path in PRIVATE_MODULES:
        page = private_page(path)
        assert page is not None
        assert all(hint.endswith((".", ")")) for hint in page.absent.values()), path
        for name, target in page.targets.items():
            assert resolve(target) is not None, (path, name)


def test_the_modules_that_surveyed_projects_import_are_here() -> None:
    for path in (
        "canned.dnn canned.head canned.metric_keys canned.optimizers canned.prediction_keys early_stopping estimator "
        "export.export export.export_output exporter gc head.base_head head.multi_label_head mode_keys model_fn "
        "run_config training util estimator_export"
    ).split():
        assert private_page(path) is not None, path
    assert private_page("canned.timeseries") is None


def test_packages_know_what_is_below_them() -> None:
    assert {"canned", "head", "tpu", "training"} <= set(children_of(""))
    assert children_of("hooks") == ["basic_session_run_hooks", "hooks", "session_run_hook"]
