"""Damage of a capture: no number that is not as it was written comes out; each kind of damage is one clear error."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import xxhash
from tests.inside.captures import models

import lightwell as lw
from lightwell.errors import CaptureError, LightwellError, UsageError
from lightwell.inside.captures import shards as shards_module

TAPS = ["layers/conv2d", "layers/dense", "labels", "features/id"]


@pytest.fixture(scope="module")
def est(tmp_path_factory: pytest.TempPathFactory) -> lw.Estimator:
    return models.trained(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def whole(est: lw.Estimator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("acts") / "whole"
    est.capture(models.data, TAPS, folder, key="id", shard_bytes=6_000)
    assert len(list(folder.glob("shard-*"))) > 2
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "acts"))


def values(folder: Path) -> dict[str, Any]:
    store = lw.open_capture(folder)
    return {path: np.asarray(store[path]) for path in store} | {"rows": np.asarray(store.rows)}


def mutated(content: bytes, draw: random.Random) -> bytes:
    """With bits turned, bytes set to zero or to others, some taken out, or the end cut off."""
    made, place = bytearray(content), draw.randrange(len(content))
    size = draw.randrange(1, 100)
    kind = draw.randrange(5)
    if kind == 0:
        made[place] ^= 1 << draw.randrange(8)
    elif kind == 1:
        made[place : place + size] = bytes(len(made[place : place + size]))
    elif kind == 2:
        made[place : place + size] = draw.randbytes(len(made[place : place + size]))
    elif kind == 3:
        del made[place : place + size]
    else:
        del made[place:]
    return bytes(made)


def test_no_damaged_number_comes_out(folder: Path) -> None:
    draw = random.Random(8)
    files = sorted(folder.glob("shard-*"))
    for _ in range(345):
        file = draw.choice(files)
        content = file.read_bytes()
        damaged = mutated(content, draw)
        if damaged == content:
            continue
        file.write_bytes(damaged)
        with pytest.raises(CaptureError, match=rf"{file.name} is damaged: .* Call capture again with the same"):
            values(folder)
        file.write_bytes(content)


WAYS: dict[str, Callable[[lw.Capture], Any]] = {
    "a column": lambda store: np.asarray(store["layers/conv2d"]),
    "an example": lambda store: store["layers/dense"][-1],
    "a slice": lambda store: store["layers/dense"][50:],
    "gathered": lambda store: store["layers/dense"][[0, 99]],
    "text": lambda store: store["features/id"][-1],
    "one by one": lambda store: list(store["labels"]),
    "chunks": lambda store: store["labels"].chunks[-1],
    "rows": lambda store: store.rows[-1],
    "keys": lambda store: store.keys[-1],
    "a table": lambda store: store.table("labels"),
    "a frame": lambda store: store.to_pandas("labels"),
    "top": lambda store: store.top("layers/dense", unit=1),
    "statistics": lambda store: store.stats("layers/dense"),
    "a join": lambda store: store.join(store),
}


@pytest.mark.parametrize("way", list(WAYS))
def test_whichever_way_it_is_read(folder: Path, way: str) -> None:
    """The damage is one bit of a number: nothing but the checksum tells."""
    last = max(folder.glob("shard-*"))
    content = bytearray(last.read_bytes())
    content[len(content) // 2] ^= 1
    last.write_bytes(content)
    with pytest.raises(CaptureError, match=rf"{last.name} is damaged: its checksum is another"):
        WAYS[way](lw.open_capture(folder))


def test_as_the_input_of_a_model_it_is_told_too(folder: Path) -> None:
    last = max(folder.glob("shard-*"))
    content = bytearray(last.read_bytes())
    content[len(content) // 2] ^= 1
    last.write_bytes(content)
    with pytest.raises(
        tf.errors.OpError, match=rf"{last.name} is damaged: its checksum is another.*Call capture again"
    ):
        list(lw.open_capture(folder).dataset("layers/dense"))


def test_what_is_sound_is_read_beside_what_is_not(folder: Path, whole: Path) -> None:
    last = max(folder.glob("shard-*"))
    content = bytearray(last.read_bytes())
    content[len(content) // 2] ^= 1
    last.write_bytes(content)
    column, expected = lw.open_capture(folder)["layers/dense"], values(whole)["layers/dense"]
    np.testing.assert_array_equal(column[:8], expected[:8])
    np.testing.assert_array_equal(column[3], expected[3])
    np.testing.assert_array_equal(column.chunks[0], expected[: len(column.chunks[0])])
    assert len(column) == models.COUNT


def test_each_file_is_checked_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    is_checksum_of = shards_module.is_checksum_of

    def counted(checksum: str, content: Any) -> bool:
        checked.append(checksum)
        return is_checksum_of(checksum, content)

    monkeypatch.setattr(shards_module, "is_checksum_of", counted)
    store = lw.open_capture(folder)
    assert store["layers/dense"].shape == (models.COUNT, 5)
    assert checked == [], "nothing is read before somebody looks"
    store["layers/dense"][0]
    assert len(checked) == 1
    values(folder)
    values(folder)
    assert len(checked) == len(set(checked)) == len(list(folder.glob("shard-*")))


def test_damaged_statistics_are_told_and_written_again(est: lw.Estimator, tmp_path: Path) -> None:
    def capture() -> lw.Capture:
        return est.capture(models.data, ["layers/dense"], tmp_path / "acts", budget=2_000, beyond="statistics")

    expected = capture().stats("layers/dense").mean
    file = tmp_path / "acts" / "statistics.arrow"
    draw = random.Random(9)
    content = file.read_bytes()
    for _ in range(40):
        file.write_bytes(mutated(content, draw))
        if file.read_bytes() != content:
            with pytest.raises(CaptureError, match=r"statistics\.arrow is damaged: .* Call capture again"):
                lw.open_capture(tmp_path / "acts").stats()
            with pytest.raises(CaptureError, match=r"statistics\.arrow is not as it was written"):
                lw.open_capture(tmp_path / "acts").verify()
    file.write_bytes(b"")
    np.testing.assert_array_equal(capture().stats("layers/dense").mean, expected)


def signed(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest with a checksum that fits its content."""
    data = {name: part for name, part in manifest.items() if name != "checksum"}
    checksum = xxhash.xxh3_64(json.dumps(data, sort_keys=True, separators=(",", ":")).encode())
    return {**data, "checksum": f"xxh3:{checksum.hexdigest()}"}


def changed(data: Any, draw: random.Random) -> None:
    """Takes one part away, or makes something else of it."""
    places: list[tuple[Any, Any]] = []

    def collect(one: Any) -> None:
        for key in list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ():
            places.append((one, key))
            collect(one[key])

    collect(data)
    holder, key = draw.choice(places)
    if draw.randrange(5) == 0:
        del holder[key]
    else:
        holder[key] = draw.choice([None, -1, 2**70, 1e308, "", "../../x", [], {}, True, "x" * 999, [None], 1.5, "\x1b"])


def error_or_values(folder: Path) -> Any:
    """What comes of reading all of it."""
    try:
        return {path: value.tolist() for path, value in values(folder).items()}
    except LightwellError as error:
        return error


@pytest.mark.parametrize("is_signed", [False, True])
def test_a_damaged_manifest_is_one_error(folder: Path, whole: Path, is_signed: bool) -> None:
    """With a checksum that fits, a change that still makes sense cannot be known for one."""
    draw, expected = random.Random(4), error_or_values(whole)
    text = (folder / "capture.json").read_text()
    refused = 0
    for number in range(200):
        data = json.loads(text)
        changed(data, draw)
        data = signed(data) if is_signed else data
        content = json.dumps(data).encode() if number % 3 else mutated(text.encode(), draw)
        (folder / "capture.json").write_bytes(content)
        outcome = error_or_values(folder)
        if isinstance(outcome, CaptureError):
            refused += 1
            assert "\x1b" not in str(outcome)
            assert str(folder) in str(outcome)
        elif isinstance(outcome, UsageError):
            assert is_signed
            assert "holds statistics and no rows" in str(outcome)
        else:  # the last files may be missing from the list
            assert outcome == {path: values[: len(outcome["rows"])] for path, values in expected.items()}
            assert is_signed or outcome == expected
    assert refused > (170 if is_signed else 195)


@pytest.mark.parametrize("name", ["../other/shard-00000.arrow", "/etc/passwd", "shard-00000.arrow/../x", "notes.arrow"])
def test_files_outside_of_the_folder_are_not_read(folder: Path, name: str) -> None:
    manifest = json.loads((folder / "capture.json").read_text())
    manifest["shards"][0]["file"] = name
    (folder / "capture.json").write_text(json.dumps(signed(manifest)))
    with pytest.raises(
        CaptureError, match=r"capture\.json is damaged \(shards: file: expected the name of a .*, got '"
    ):
        lw.open_capture(folder)


def test_a_manifest_that_is_no_file(folder: Path) -> None:
    (folder / "capture.json").unlink()
    (folder / "capture.json").mkdir()
    with pytest.raises(CaptureError, match=r"capture\.json cannot be read: Is a directory"):
        lw.open_capture(folder)


def test_a_changed_type_in_the_manifest_is_told(folder: Path) -> None:
    text = (folder / "capture.json").read_text()
    (folder / "capture.json").write_text(text.replace('"dtype": "float32"', '"dtype": "int32"'))
    with pytest.raises(CaptureError, match=r"capture\.json is damaged \(its checksum is another"):
        lw.open_capture(folder)
