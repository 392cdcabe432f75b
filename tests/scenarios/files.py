"""Files that people would give, made by the tests."""

from __future__ import annotations

import subprocess
import textwrap
import wave
from pathlib import Path

import numpy as np

LETTER = (
    "Dear neighbours, the garden meeting is on Saturday, 14 March, at half past ten. "
    "We want to plant twelve apple trees along the south wall. "
    "Please bring gloves, a spade and something warm to drink. "
    "Children are welcome and there will be soup for everybody. "
    "If it rains hard we meet in the old tool shed instead."
)

REPORT = (
    "Whales are large marine mammals that breathe air. "
    "The blue whale is the largest animal that has ever lived. "
    "It eats krill, which it filters out of the sea with its baleen plates. "
    "Whales sing long songs that travel for hundreds of kilometres under water. "
    "Commercial whaling brought several species close to extinction. "
    "Since the moratorium of 1986 many populations have grown again. "
    "Ship strikes and fishing nets are the main dangers today."
)


def page(to: Path, text: str, *, size: int = 26, width: int = 52) -> Path:
    """A picture of a printed page."""
    from PIL import Image, ImageDraw, ImageFont

    lines = [line for part in text.split("\n") for line in textwrap.wrap(part, width) or [""]]
    picture = Image.new("RGB", (int(width * size * 0.56) + 80, len(lines) * size * 2 + 80), "white")
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size)
    for number, line in enumerate(lines):
        draw.text((40, 40 + number * size * 2), line, fill="black", font=font)
    picture.save(to)
    return to


def receipt(to: Path) -> Path:
    """A picture of a shop receipt."""
    rows = [
        "CORNER BAKERY",
        "12 Mill Street",
        "",
        "2 Bread rolls        1.80",
        "1 Apple cake         4.50",
        "1 Coffee             2.90",
        "",
        "Subtotal             9.20",
        "Tax                  0.64",
        "TOTAL                9.84",
        "",
        "Thank you",
    ]
    return page(to, "\n".join(rows), size=28)


def photo(to: Path, *, width: int = 240, height: int = 160) -> Path:
    """A colourful picture."""
    from PIL import Image

    across = np.linspace(0, 200, width, dtype=np.uint8)
    down = np.linspace(40, 160, height, dtype=np.uint8)
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[..., 0] = across
    pixels[..., 1] = down[:, None]
    pixels[50:110, 90:150] = (20, 60, 160)
    Image.fromarray(pixels).save(to)
    return to


def speech(to: Path, text: str) -> Path:
    """A recording of a spoken text, 16 kHz mono."""
    raw = to.with_suffix(".raw.wav")
    subprocess.run(["espeak-ng", "-v", "en-us", "-s", "145", "-w", raw, text], check=True)
    with wave.open(str(raw)) as file:
        rate = file.getframerate()
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    raw.unlink()
    steps = np.arange(0, len(samples), rate / 16000)
    heard = np.interp(steps, np.arange(len(samples)), samples).astype(np.int16)
    quiet = np.zeros(4000, np.int16)
    return wav(to, np.concatenate([quiet, heard, quiet]))


def noisy(to: Path) -> Path:
    """A recording of a spoken text with noise over it."""
    speech(to, "This is a memo about the garden meeting on Saturday.")
    with wave.open(str(to)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(float)
    samples += np.random.default_rng(1).normal(0, 500, len(samples))
    return wav(to, np.clip(samples, -32768, 32767).astype(np.int16))


def wav(to: Path, samples: np.ndarray) -> Path:
    """16 kHz mono."""
    with wave.open(str(to), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(samples.tobytes())
    return to


def clip(to: Path, text: str) -> Path:
    """A video of a moving square with a spoken text as its sound."""
    import av

    spoken = speech(to.with_suffix(".wav"), text)
    with wave.open(str(spoken)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    with av.open(str(to), "w") as container:
        pictures = container.add_stream("mpeg4", rate=10)
        pictures.width, pictures.height, pictures.pix_fmt = 160, 120, "yuv420p"
        sound = container.add_stream("aac", rate=16000, layout="mono")
        for number in range(len(samples) // 1600):
            pixels = np.zeros((120, 160, 3), np.uint8)
            pixels[40:80, number % 120 : number % 120 + 40] = 200
            container.mux(pictures.encode(av.VideoFrame.from_ndarray(pixels)))
        for start in range(0, len(samples), 1024):
            block = samples[start : start + 1024].reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(block), "s16", "mono")
            frame.sample_rate = 16000
            container.mux(sound.encode(frame))
        container.mux(pictures.encode())
        container.mux(sound.encode())
    spoken.unlink()
    return to


def pdf(to: Path, text: str) -> Path:
    """A one-page PDF with a text layer."""
    lines = [line.replace("(", r"\(").replace(")", r"\)") for line in textwrap.wrap(text, 80)]
    shown = "".join(f"({line}) Tj 0 -16 Td " for line in lines)
    stream = f"BT /F1 11 Tf 50 780 Td {shown}ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    body += f"xref\n0 6\n0000000000 65535 f \n{table}trailer\n<< /Size 6 /Root 1 0 R >>\n"
    to.write_bytes(f"{body}startxref\n{body.index('xref')}\n%%EOF\n".encode("latin-1"))
    return to
