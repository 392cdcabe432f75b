"""Makes resources/sample: a spoken request and a picture with text, to show the whole road.

    .venv/bin/python packaging/build_sample.py [TO]

Needs espeak-ng for the voice. The same espeak-ng and Pillow give the same bytes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import wave
from pathlib import Path

import av
import numpy as np
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parent.parent
REQUEST = "Read the text in this picture, summarise it, and say the summary out loud."
VOICE = ("-v", "en-us+f5", "-s", "170", "-p", "60")
RATE = 16_000
LETTER = """\
Dear neighbours,

The spring meeting of our community garden is on Saturday, 14 March, at half past ten in the \
morning. We meet in the greenhouse behind the library, and the door will be open from ten o'clock.

This year we want to plant two rows of fruit trees along the south wall. The city gives us twelve \
young apple and pear trees, but we have to dig the holes ourselves. Please bring a spade and a \
pair of gloves if you have them.

After the work there will be soup, fresh bread and coffee for everyone. Could you tell Maria by \
Wednesday whether you can come, so that we cook enough?

We look forward to seeing you!

Warm greetings,
Helen and the garden team
"""
PAPER, INK, GREEN, FAINT = "#fffdf8", "#26302b", "#2f6b4a", "#d9e5dc"


def main(to: Path) -> int:
    """Write both files."""
    to.mkdir(parents=True, exist_ok=True)
    speak(to / "request.wav")
    draw(to / "letter.png")
    print(f"Wrote request.wav and letter.png into {to}")
    return 0


def speak(to: Path) -> None:
    """The request, 16 kHz mono, with a moment of silence before and after it."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw.wav"
        subprocess.run(["espeak-ng", *VOICE, "-w", str(raw), REQUEST], check=True)
        resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
        with av.open(str(raw)) as container:
            frames = [*container.decode(audio=0), None]
            parts = [part.to_ndarray()[0] for frame in frames for part in resampler.resample(frame)]
    silence = np.zeros(RATE * 3 // 10, np.int16)
    samples = np.concatenate([silence, *parts, silence])
    with wave.open(str(to), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.astype("<i2").tobytes())


def draw(to: Path) -> None:
    """The letter as a page, in Pillow's own typeface so that it looks alike everywhere."""
    image = Image.new("RGB", (1240, 1420), PAPER)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 1240, 26), fill=GREEN)
    image.paste(sprout(110), (115, 108))
    pen.text((240, 112), "Linden Street Community Garden", GREEN, ImageFont.load_default(46))
    pen.text((242, 174), "An invitation to the spring meeting", INK, ImageFont.load_default(30))
    pen.line((120, 250, 1120, 250), fill=FAINT, width=4)
    font = ImageFont.load_default(36)
    y = 310
    for paragraph in LETTER.strip().split("\n"):
        for line in wrapped(paragraph, 960, font, pen):
            pen.text((120, y), line, INK, font)
            y += 54
        if not paragraph:
            y += 30
    pen.line((120, 1330, 1120, 1330), fill=FAINT, width=4)
    image.quantize(32, dither=Image.Dither.NONE).save(to, optimize=True)


def wrapped(
    paragraph: str,
    width: int,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    pen: ImageDraw.ImageDraw,
) -> list[str]:
    """The paragraph in lines of at most `width` pixels."""
    lines: list[str] = []
    for word in paragraph.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and pen.textlength(longer, font) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def sprout(size: int) -> Image.Image:
    """Two leaves on a stem, the garden's sign; drawn large and reduced, for smooth edges."""
    image = Image.new("RGB", (400, 400), PAPER)
    pen = ImageDraw.Draw(image)
    pen.line((200, 390, 200, 190), fill=GREEN, width=24)
    for tip_x, tip_y, foot_y in ((30, 60, 260), (380, 20, 210)):
        axis = np.array([tip_x - 200, tip_y - foot_y], float)
        across = np.array([-axis[1], axis[0]])
        along = np.linspace(0, 1, 60)
        bulge = 0.28 * np.sin(np.pi * along)
        sides = [np.outer(along, axis) + np.outer(sign * bulge, across) for sign in (1, -1)]
        outline = np.concatenate([sides[0], sides[1][::-1]]) + np.array([200, foot_y])
        pen.polygon([(float(x), float(y)) for x, y in outline], fill=GREEN)
    return image.resize((size, size), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "resources" / "sample"))
