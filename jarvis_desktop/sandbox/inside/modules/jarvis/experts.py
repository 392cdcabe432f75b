"""Experts as functions. A call is one task, which the application does outside of the sandbox."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from . import PICTURES, TABLES, Name, Text

_file_name = re.compile(r"[\w-][\w.-]*\.[A-Za-z]\w{1,4}")


def transcribe(path: str | Path) -> str:
    """Return what is said in a recording or a film."""
    return _text(run("automatic-speech-recognition", audio=_file(path)))


def summarize(text: object, sentences: int = 3) -> str:
    """Return a summary of a text, or of the text of a file."""
    return _text(run("summarization", text=text, sentences=sentences))


def translate(text: object, language: str) -> str:
    """Return the translation of a text, or of the text of a file; `language` is a name such as
    "French"."""
    return _text(run("translation", text=text, language=language))


def caption(path: str | Path) -> str:
    """Return a sentence about what a picture shows."""
    return _text(run("image-to-text", image=_file(path), what="caption"))


def read_picture(path: str | Path) -> str:
    """Return the text that is in a picture."""
    return _text(run("image-to-text", image=_file(path), what="text"))


def ask(question: str, about: object) -> str:
    """Return the answer to a question about a text or a file: a picture, a table, a document, a
    recording."""
    suffix = Path(str(about)[-100:]).suffix.lower()
    if suffix in PICTURES:
        return _text(run("visual-question-answering", image=_file(about), question=question))
    if suffix in TABLES:
        return _text(run("table-question-answering", table=_file(about), question=question))
    return _text(run("question-answering", context=about, question=question))


def run(task: str, **inputs: Any) -> Any:
    """Have a task done, such as `run("text-to-image", prompt="a lighthouse")`. An input that is the
    name of a file is that file. Return the text, or the name of the new file; several in a list."""
    given = {
        name: [_input(each) for each in (value if isinstance(value, list | tuple) else [value])]
        for name, value in inputs.items()
        if value is not None
    }
    results = [
        Text(each) if isinstance(each, str) else Name(each[0])
        for each in channel().current.call(str(task), given)
    ]
    return results[0] if len(results) == 1 else results


def _input(value: object) -> object:
    """Return a value as a call has it: a file is a list with its path."""
    if isinstance(value, bool | int | float):
        return value
    text = str(value)
    named = isinstance(value, Path) or _file_name.fullmatch(text)
    if named or ("." in text and os.path.isfile(text)):  # noqa: PTH113 - takes a text of any length
        return [channel().current.relative(_file(text))]
    return text


def _file(path: object) -> str:
    """Return the path of a file. Raises OSError if it cannot be read."""
    with open(str(path), "rb"):  # noqa: PTH123 - its errors name the path as it was given
        return str(path)


def channel() -> Any:
    """Return the module of the channel, which the kernel has loaded."""
    return sys.modules["_inside.channel"]


def _text(results: Any) -> str:
    """Return the text among the results."""
    found = results if isinstance(results, list) else [results]
    return next((each for each in found if isinstance(each, Text)), Text(""))
