"""`transcribe`: writes down what recordings say, as text, subtitles or JSON."""

from __future__ import annotations

import argparse
import asyncio
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output
from jarvis_desktop.cli.output import free_name, make_folder
from jarvis_desktop.cli.session import Subparsers, add_shared
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.speech import Segment, Transcript

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

FORMATS = ("txt", "srt", "vtt", "json")
TIMED = ("srt", "vtt", "json")
"""The formats that are worth the time of finding out when each word is said."""


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    transcribe = subparsers.add_parser(
        "transcribe",
        help="write down what recordings say",
        description="Writes down what recordings of sound or film say. What is there already is "
        "never written over.",
    )
    transcribe.add_argument("audio", nargs="+", type=Path, metavar="AUDIO")
    transcribe.add_argument(
        "--format", choices=FORMATS, help="text, subtitles (srt, vtt), or JSON with times"
    )
    transcribe.add_argument(
        "--out", metavar="FILE|FOLDER", help="where to write it; several recordings want a folder"
    )
    transcribe.add_argument(
        "--language", type=str.casefold, metavar="xx", help="what is spoken, such as de"
    )
    add_shared(transcribe)
    transcribe.set_defaults(command=_transcribe)


def _transcribe(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    several = len(args.audio) > 1
    try:
        goal = _goal(args.out, args.format, several=several)
    except _Unclear as error:
        output.note(f"jarvis-desktop transcribe: {error}")
        return output.USAGE
    if several and goal.place is None and goal.format != "txt" and not args.json:
        output.note(
            f"jarvis-desktop transcribe: several recordings as {goal.format} want --out FOLDER."
        )
        return output.USAGE

    async def work(app: Application) -> int:
        if goal.place and goal.is_folder:
            make_folder(goal.place)
        run = _Run(app, goal, args)
        for path in args.audio:
            await run.write_down(path)
        return run.finish()

    return session.run(args, work)


class _Unclear(Exception):
    """What is asked for cannot be meant."""


@dataclass(frozen=True, slots=True)
class _Goal:
    """Where the transcripts go, and in which format."""

    format: str
    place: Path | None = None
    """None is the screen."""
    is_folder: bool = False

    def file_for(self, audio: Path) -> Path:
        """Where one is written; the name is free."""
        assert self.place
        return (
            free_name(self.place, f"{audio.stem}.{self.format}") if self.is_folder else self.place
        )


def _goal(out: str | None, format: str | None, *, several: bool) -> _Goal:
    if not out:
        if out is not None:
            raise _Unclear("--out wants the name of a file or a folder.")
        return _Goal(format or "txt")
    place = Path(out)
    suffix = place.suffix.casefold().removeprefix(".")
    if place.is_dir() or out.endswith(("/", "\\")) or (several and suffix not in FORMATS):
        return _Goal(format or "txt", place, is_folder=True)
    if several:
        raise _Unclear(f"several recordings do not go into the one file {one_line(out)}.")
    if format and suffix in FORMATS and suffix != format:
        raise _Unclear(f"--format {format} does not fit the name {one_line(out)}.")
    return _Goal(format or (suffix if suffix in FORMATS else "txt"), place)


class _Run:
    """One command: what came of each recording."""

    def __init__(self, app: Application, goal: _Goal, args: argparse.Namespace) -> None:
        self._app = app
        self._goal = goal
        self._args = args
        self._records: list[dict[str, object]] = []
        self._done = 0
        self._noted: set[str] = set()

    async def write_down(self, audio: Path) -> None:
        """One recording. Where it is stopped, what was found by then is kept."""
        so_far: tuple[Segment, ...] = ()

        def found(segments: tuple[Segment, ...]) -> None:
            nonlocal so_far
            so_far = segments

        try:
            check(audio)
            self._look_at_place()
            heard = await self._app.recogniser.files.transcribe(
                audio,
                _tell,
                language=self._args.language,
                words=self._goal.format in TIMED,
                found=found,
            )
            self._keep(audio, heard)
        except JarvisError as error:
            self._records.append({"file": str(audio), "error": str(error)})
            output.note(f"failed  {one_line(audio.name)}: {error}")
        except asyncio.CancelledError:
            self._keep_part(audio, so_far)
            raise

    def finish(self) -> int:
        """Write the one document, where it is asked for; the exit code."""
        if self._args.json:
            output.write_json(self._records)
        count = len(self._args.audio)
        return (
            output.DONE if self._done == count else output.PARTLY if self._done else output.FAILED
        )

    def _look_at_place(self) -> None:
        """Before hours of work are done for nothing."""
        place = self._goal.place
        if place and not self._goal.is_folder:
            if place.exists() or place.is_symlink():
                raise InputError(
                    f"{one_line(str(place))} is there already.", hint="Give another name."
                )
            if not place.absolute().parent.is_dir():
                raise InputError(f"{one_line(str(place))} is not a place for a file.")

    def _keep(self, audio: Path, heard: Transcript) -> None:
        saved = self._write(audio, heard)
        self._done += 1
        record: dict[str, object] = {"file": str(audio), "transcript": heard}
        self._records.append(record | ({"saved": str(saved)} if saved else {}))
        if heard.note and heard.note not in self._noted:
            self._noted.add(heard.note)
            output.note(f"note    {heard.note}")
        if saved:
            output.note(f"saved   {one_line(str(saved))}")

    def _keep_part(self, audio: Path, segments: Sequence[Segment]) -> None:
        from jarvis_desktop.tasks.audio.recognition import clock_time

        name = one_line(audio.name)
        if not segments:
            output.note(f"stopped {name}: nothing of it was written down yet.")
        else:
            text, upto = " ".join(each.text for each in segments), clock_time(segments[-1].end)
            part = Transcript(text, "whisper", segments=tuple(segments))
            try:
                saved = self._write(audio, part)
            except JarvisError as error:
                output.note(f"failed  {name}: {error}")
            else:
                where = f" in {one_line(str(saved))}" if saved else ""
                output.note(f"stopped {name}: it is written down up to {upto}{where}.")
                self._records.append({"file": str(audio), "transcript": part, "upto": upto})
        if self._args.json:
            output.write_json(self._records)

    def _write(self, audio: Path, heard: Transcript) -> Path | None:
        """Where it was written; None where it was shown, or goes into the one document."""
        from jarvis_desktop.tasks.audio.subtitles import written_as

        text = written_as(heard, self._goal.format)
        if self._goal.place is None:
            if not self._args.json:
                name = f"{audio.name}: " if len(self._args.audio) > 1 else ""
                output.say(name + text.removesuffix("\n"))
            return None
        place = self._goal.file_for(audio)
        made = False
        try:
            with place.open("x", encoding="utf-8", newline="\n") as file:
                made = True
                file.write(text)
        except (OSError, ValueError) as error:
            if made:  # half of it helps nobody
                with suppress(OSError):
                    place.unlink()
            raise InputError(
                f"{one_line(str(place))} cannot be written: {output.reason(error)}."
            ) from error
        return place


def check(path: Path) -> None:
    """Refuse what is no ordinary file. It is read where it is: no copy of a voice is kept."""
    shown = one_line(path.name or str(path))
    try:
        status = path.lstat()
    except FileNotFoundError as error:
        raise InputError(f"There is no file {shown}.", hint="Check its name.") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{shown} cannot be opened: {output.reason(error)}.") from error
    if stat.S_ISLNK(status.st_mode):
        raise InputError(f"{shown} is a link; give the file itself.")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{shown} is not a file.")
    if not status.st_size:
        raise InputError(f"{shown} is empty.")


def _tell(fraction: float | None, message: str) -> None:
    """The beginning and the end say themselves."""
    if fraction is None or 0 < fraction < 1:
        output.note(f"        {'' if fraction is None else f'{fraction:4.0%} '}{message}")
