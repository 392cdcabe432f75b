"""Weights that are carried here: whole ones are taken as they are, anything else with a reason."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.experts.importing import identified, opened, take_over
from jarvis_desktop.experts.verification import Contents, contents
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.process.model_files import MARKER
from jarvis_desktop.speech.recogniser import SHIPPED
from tests.safetensors import weights_of

FILES = ("config.json", "model.bin", "tokenizer.json", "vocabulary.*", "preprocessor_config.json")


def recogniser(name: str) -> Expert:
    return Expert(
        f"whisper-{name}",
        "automatic-speech-recognition",
        repo=f"Systran/faster-whisper-{name}",
        files=FILES,
    )


TINY, BASE = recogniser("tiny"), recogniser("base")
OTHER = Expert("small-one", "text-generation", repo="someone/small-one", files=("*.safetensors",))
KNOWN = (TINY, BASE, OTHER)


def numbers(width: int, *, kind: str = "WhisperSpec") -> bytes:
    """Weights in the format of CTranslate2, as small as they can be."""

    def word(text: str) -> bytes:
        return struct.pack("<H", len(text) + 1) + text.encode() + b"\0"

    table = word("decoder/embeddings/weight") + struct.pack("<B2I", 2, 3, width)
    table += struct.pack("<BI", 0, 5) + bytes(5)
    alias = struct.pack("<I", 1) + word("decoder/projection/weight") + word("decoder/embeddings")
    return struct.pack("<I", 6) + word(kind) + struct.pack("<II", 3, 1) + table + alias


def put(folder: Path, width: int = 512, *, others: Mapping[str, bytes] | None = None) -> Path:
    """A folder with a recogniser."""
    folder.mkdir(parents=True)
    bodies = {"config.json": b"{}", "tokenizer.json": b"{}", "vocabulary.txt": b"a"}
    bodies |= {"model.bin": numbers(width), "README.md": b"no", **(others or {})}
    for name, body in bodies.items():
        (folder / name).write_bytes(body)
    return folder


def zipped(folder: Path, to: Path, *, top: str = "") -> Path:
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            file.write(path, f"{top}{path.relative_to(folder)}")
    return to


@pytest.fixture
def weights(tmp_path) -> Weights:
    return Weights(tmp_path / "experts", endpoint="http://127.0.0.1:1", reserve=0)


def held(folder: Path) -> set[str]:
    return set(json.loads((folder / MARKER).read_text())["files"])


WHOLE = {"config.json", "model.bin", "tokenizer.json", "vocabulary.txt"}


async def test_a_recogniser_is_taken_from_a_folder_and_known_by_its_size(weights, tmp_path):
    stick = put(tmp_path / "anything")
    assert identified(stick, KNOWN) == BASE
    folder = await weights.import_folder(BASE, stick)
    assert held(folder) == WHOLE
    assert weights.folder(BASE) == folder
    assert (folder / "model.bin").read_bytes() == numbers(512)


@pytest.mark.parametrize("top", ["", "faster-whisper-base/"])
async def test_a_zip_file_will_do_with_a_folder_in_it_or_without(weights, tmp_path, top):
    packed = zipped(put(tmp_path / "stick"), tmp_path / "faster-whisper-base.zip", top=top)
    assert identified(packed, KNOWN) == BASE
    assert held(await weights.import_folder(BASE, packed)) == WHOLE


def cache(folder: Path, *, damage: bool = False) -> Path:
    """The Hub's cache, with two snapshots, of which the second is in use."""
    repo = folder / "models--Systran--faster-whisper-base"
    plain = put(folder / "plain", width=700)
    for number, commit in enumerate(("b" * 40, "a" * 40)):
        snapshot = repo / "snapshots" / commit
        snapshot.mkdir(parents=True)
        for path in plain.iterdir() if number else ():
            body = path.read_bytes()
            blob = repo / "blobs" / hashlib.sha256(body).hexdigest()
            blob.parent.mkdir(exist_ok=True)
            blob.write_bytes(bytes(len(body)) if damage and path.suffix == ".txt" else body)
            (snapshot / path.name).symlink_to(blob)
    shutil.rmtree(plain)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text("a" * 40)
    return folder


async def test_a_folder_of_the_hubs_cache_says_itself_what_it_holds(weights, tmp_path):
    own = Expert("fine-tuned", "text-generation", repo="Systran/faster-whisper-base", files=FILES)
    folder = cache(tmp_path / "hub")
    assert identified(folder, [own]) == own
    inner = folder / "models--Systran--faster-whisper-base"
    assert identified(inner / "snapshots" / ("a" * 40), [own]) == own
    taken = await weights.import_folder(own, folder)
    assert held(taken) == WHOLE
    assert not any(path.is_symlink() for path in taken.iterdir())


async def test_without_a_note_of_the_one_in_use_the_newest_snapshot_is(weights, tmp_path):
    folder = cache(tmp_path / "hub")
    shutil.rmtree(folder / "models--Systran--faster-whisper-base" / "refs")
    shutil.rmtree(folder / "models--Systran--faster-whisper-base" / "snapshots" / ("b" * 40))
    own = Expert("fine-tuned", "text-generation", repo="Systran/faster-whisper-base", files=FILES)
    assert held(await weights.import_folder(own, folder)) == WHOLE


async def refusal(weights: Weights, expert: Expert, source: Path) -> JarvisError:
    with pytest.raises((InputError, UnavailableError)) as caught:
        await weights.import_folder(expert, source)
    assert caught.value.message.endswith(".")
    assert weights.installed() == ()
    assert weights.partial(expert) == 0
    return caught.value


async def test_a_file_whose_digest_is_another_is_damaged(weights, tmp_path):
    own = Expert("fine-tuned", "text-generation", repo="Systran/faster-whisper-base", files=FILES)
    error = await refusal(weights, own, cache(tmp_path / "hub", damage=True))
    assert error.message == "vocabulary.txt is damaged: it does not match its digest."


@pytest.mark.parametrize("left", [2, 30, 60, len(numbers(512)) - 1])
@pytest.mark.parametrize("packed", [False, True])
async def test_weights_that_are_cut_off_are_refused(weights, tmp_path, left, packed):
    stick = put(tmp_path / "stick", others={"model.bin": numbers(512)[:left]})
    source = zipped(stick, tmp_path / "stick.zip") if packed else stick
    assert "damaged or truncated" in (await refusal(weights, BASE, source)).message


async def test_another_recogniser_is_not_taken_for_it(weights, tmp_path):
    error = await refusal(weights, TINY, put(tmp_path / "stick"))
    assert error.message == "These weights are not those of whisper-tiny."
    assert error.hint == "They are those of whisper-base."
    error = await refusal(weights, BASE, put(tmp_path / "odd", others={"model.bin": numbers(7)}))
    assert error.hint == ""


async def test_what_is_missing_is_named(weights, tmp_path):
    stick = put(tmp_path / "stick")
    (stick / "tokenizer.json").unlink()
    (stick / "vocabulary.txt").unlink()
    error = await refusal(weights, BASE, stick)
    assert "lacks tokenizer.json and vocabulary.* of whisper-base" in error.message


async def test_weights_of_another_format_are_refused(weights, tmp_path):
    torch = {"model.bin": b"PK\3\4" + bytes(100)}
    error = await refusal(weights, BASE, put(tmp_path / "stick", others=torch))
    assert "no weights in the format of CTranslate2" in error.message


async def test_a_file_that_is_no_zip_or_a_broken_one_is_refused(weights, tmp_path):
    (tmp_path / "a.zip").write_bytes(b"not packed at all")
    assert "not a ZIP file" in (await refusal(weights, BASE, tmp_path / "a.zip")).message
    whole = zipped(put(tmp_path / "stick"), tmp_path / "b.zip").read_bytes()
    broken = bytearray(whole)
    broken[whole.index(b"model.bin") + 40] ^= 0xFF
    (tmp_path / "b.zip").write_bytes(bytes(broken))
    assert "damaged" in (await refusal(weights, BASE, tmp_path / "b.zip")).message
    assert "no folder" in (await refusal(weights, BASE, tmp_path / "none")).message


async def test_a_locked_zip_is_said(weights, tmp_path):
    packed = zipped(put(tmp_path / "stick"), tmp_path / "b.zip")
    body = bytearray(packed.read_bytes())
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = -1
        while (at := body.find(mark, at + 1)) >= 0:
            body[at + place] |= 1  # the flag of encryption
    packed.write_bytes(bytes(body))
    assert "is locked" in (await refusal(weights, BASE, packed)).message


async def test_names_that_lead_out_of_a_zip_are_left(weights, tmp_path):
    packed = zipped(put(tmp_path / "stick"), tmp_path / "b.zip", top="whisper/")
    with zipfile.ZipFile(packed, "a") as file:
        for name in ("whisper/../../", "/tmp/", "c:", "whisper/a\\..\\..\\"):
            file.writestr(f"{name}vocabulary.evil", b"x")
    assert held(await weights.import_folder(BASE, packed)) == WHOLE
    assert not list(tmp_path.rglob("*.evil"))


async def test_a_name_that_leads_out_once_its_folder_is_taken_off_is_left(tmp_path):
    outside = tmp_path / "outside.json"
    archive = zipped(put(tmp_path / "stick"), tmp_path / "base.zip", top="top/")
    with zipfile.ZipFile(archive, "a") as file:
        file.writestr(f"top/{outside}", b"{}")
    with opened(archive) as source:
        assert str(outside) not in source.sizes
        assert "config.json" in source.sizes


async def test_what_is_far_larger_than_the_expert_can_be_is_refused(tmp_path):
    small = replace(BASE, download_mb=1)
    folder = put(tmp_path / "stick", others={"tokenizer.json": bytes(4_000_000)})
    with pytest.raises(InputError, match="far larger than whisper-base"):
        take_over(small, tmp_path / "to", folder, dry=True)


async def test_too_little_room_is_said_before_anything_is_copied(tmp_path):
    weights = Weights(tmp_path / "experts", reserve=1 << 60)
    error = await refusal(weights, BASE, put(tmp_path / "stick"))
    assert "not enough room" in error.message


async def test_what_was_there_stays_until_the_new_one_is_whole(weights, tmp_path):
    folder = await weights.import_folder(BASE, put(tmp_path / "stick"))
    cut = put(tmp_path / "cut", others={"model.bin": numbers(512)[:30]})
    with pytest.raises(InputError):
        await weights.import_folder(BASE, cut)
    assert weights.folder(BASE) == folder
    assert (folder / "model.bin").read_bytes() == numbers(512)


def test_an_expert_is_known_by_the_name_of_what_holds_it(tmp_path):
    for name in ("small-one", "someone--small-one"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(weights_of(1000))
        assert identified(tmp_path / name, KNOWN) == OTHER
    (tmp_path / "mystery").mkdir()
    with pytest.raises(InputError, match="which expert mystery contains") as caught:
        identified(tmp_path / "mystery", KNOWN)
    assert "--as NAME" in caught.value.hint


def test_real_weights_say_what_they_are(tmp_path):
    assert contents(SHIPPED / "model.bin") == Contents("WhisperSpec", 384)
    with pytest.raises(InputError, match="cannot be read: no such file"):
        contents(tmp_path / "model.bin")
