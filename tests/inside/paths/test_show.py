"""A description as text of 80 columns, and as HTML."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

from tests.inside.paths.models import TRAIN

from lightwell.inside.paths.describe import Description, LayerInfo, ValueInfo, WeightInfo, describe
from lightwell.inside.paths.show import short_count
from lightwell.run.engine.program import Program


def _value(path: str, *sizes: int | None) -> ValueInfo:
    return ValueInfo(path, sizes, "float32")


def _layer(name: str, kind: str = "Dense", calls: int = 1, size: int = 0, outputs: int = 1) -> LayerInfo:
    weights = (WeightInfo(f"{name}/kernel", "kernel", (size,), "float32", True),) if size else ()
    return LayerInfo(
        name, kind, tuple(_value(f"layers/{name}[{i}]", None, 8) for i in range(outputs)), (), weights, calls
    )


LONG = "a_scope_with_a_long_name/and_another_inside_of_it/a_layer_whose_name_is_longer_than_the_column_it_stands_in"
DESCRIPTION = Description(
    layers=(
        _layer("encoder/dense", size=1000),
        _layer("encoder", "Functional", size=1000),
        _layer("scope/inner/dense"),
        _layer("twice", calls=2, outputs=2),
        _layer("several", "LSTM", outputs=3),
        _layer(LONG, "AClassWithAVeryLongNameIndeed", size=123_456_789_012),
    ),
    weights=(WeightInfo("w", "w", (1_000_000,), "float32", True), WeightInfo("v", "v", (5,), "float32", False)),
    slots=("w/Adam",),
    features=(_value("features/x", None, 28, 28, 1), ValueInfo("features/tags", None, "string", "sparse")),
    predictions=(_value("predictions/a_name_that_is_much_too_long_to_stand_in_its_column", None),),
)


def test_no_line_is_wider_than_80_columns(everything: Callable[[str], Program]) -> None:
    for description in (DESCRIPTION, describe(everything(TRAIN))):
        lines = str(description).splitlines()
        assert max(map(len, lines)) == 80
        assert lines[0].split() == ["layer", "kind", "output", "params"]
        assert all(line == line.rstrip() for line in lines)


def test_the_table_says_what_there_is() -> None:
    lines = str(DESCRIPTION).splitlines()
    assert lines[2].split() == ["features/x", "float32", "?×28×28×1"]
    assert lines[3].split() == ["features/tags", "sparse", "string", "unknown"]
    # A layer stands before those inside it, and a scope that is no layer has a line of its own.
    assert lines[4].split() == ["encoder", "Functional", "?×8", "1,000"]
    assert lines[5].split() == ["dense", "Dense", "?×8", "1,000"]
    assert lines[5].startswith("  dense")
    assert [line.rstrip() for line in lines[6:8]] == ["scope/", "  inner/"]
    assert lines[8].startswith("    dense")
    assert lines[9].split()[:4] == ["twice", "×2", "Dense", "?×8"]
    assert "LSTM" in lines[10]
    assert "?×8 +2" in lines[10]
    assert lines[13].split()[-1] == "123.5B"
    assert lines[13].count("…") == 2
    assert lines[-2] == "1,000,005 parameters, 5 of them not trained; 1 variable of optimizer state"
    assert lines[-1] == "The path of a layer is layers/ and its name: layers/encoder/dense"


def test_a_description_of_nothing() -> None:
    assert str(Description()).splitlines()[-1] == "0 parameters"
    ElementTree.fromstring(Description()._repr_html_())


def test_html_is_well_formed_and_escaped(everything: Callable[[str], Program]) -> None:
    odd = Description(layers=(_layer("a<b>&\"c'", "K<T>", size=3),), features=(_value("features/<x>", None),))
    for description in (odd, DESCRIPTION, describe(everything(TRAIN))):
        page = ElementTree.fromstring(description._repr_html_())
        rows = page.findall(".//tbody/tr")
        values = (*description.features, *description.predictions, *description.labels)
        assert len(rows) == len(description.layers) + len(values)
        assert all(len(row) == 4 for row in rows)
    codes = [code.text for code in ElementTree.fromstring(odd._repr_html_()).iter("code")]
    assert codes == ["features/<x>", "layers/a<b>&\"c'"]


def test_counts_fit_their_column() -> None:
    assert [short_count(count) for count in (0, 7, 1_234_567, 12_345_678, 2 * 10**12)] == [
        "",
        "7",
        "1,234,567",
        "12.3M",
        "2000.0B",
    ]
