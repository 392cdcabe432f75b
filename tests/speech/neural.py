"""Neural voices for tests: a tiny Kokoro for the real runtime, and a program that takes Piper's
command line and lets espeak-ng speak."""

import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np

STYLES = {"af_heart": 0.3, "bm_george": 0.2, "ff_siwis": 0.25, "zf_xiaobei": 0.3}

PIPER = r"""
import argparse, json, os, subprocess, sys, time

parser = argparse.ArgumentParser()
parser.add_argument("-m", "--model", required=True)
parser.add_argument("-d", "--output-dir", "--output_dir")
parser.add_argument("--length-scale", "--length_scale", type=float, default=1.0)
if JSON:
    parser.add_argument("--json-input", action="store_true", required=True)
args, words = parser.parse_known_args()
language = os.path.basename(args.model).partition("_")[0]
with open(args.model + ".started", "a") as file:
    file.write(f"{os.getpid()} {args.length_scale}\n")
for line in sys.stdin:
    text = json.loads(line)["text"] if JSON else line.strip()
    to = os.path.join(args.output_dir, f"{time.monotonic_ns()}.wav")
    if text.startswith("hang"):
        time.sleep(60)
    if text.startswith("crash"):
        sys.exit("RuntimeError: out of words")
    said = "" if text.startswith("mute") else text
    rate = str(round(175 / args.length_scale))
    subprocess.run(["espeak-ng", "-v", language, "-s", rate, "-w", to, said], check=True)
    if JSON:
        print(to, flush=True)
    else:
        print("INFO:__main__:Wrote", to, file=sys.stderr, flush=True)
"""


def tiny_kokoro(folder: Path) -> Path:
    """A folder with weights of Kokoro that hum."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("tiny_kokoro.onnx"), folder / "kokoro-v1.0.onnx")
    styles: dict[str, Any] = {
        name: np.full((510, 1, 256), loud, np.float32) for name, loud in STYLES.items()
    }
    with (folder / "voices-v1.0.bin").open("wb") as file:
        np.savez_compressed(file, **styles)
    return folder


def piper_program(to: Path, *, speaks_json: bool = True) -> str:
    """A stand-in for the program; what its text begins with makes it hang, crash or be mute."""
    to.write_text(f"#!{sys.executable}\nJSON = {speaks_json}\n{PIPER}")
    to.chmod(to.stat().st_mode | stat.S_IXUSR)
    return str(to)


def piper_voices(folder: Path, *names: str) -> Path:
    """A folder with what the stand-in takes for voices."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or ("en_US-lessac-medium",):
        (folder / f"{name}.onnx").write_bytes(b"weights")
        (folder / f"{name}.onnx.json").write_text("{}")
    return folder
