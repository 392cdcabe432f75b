"""The licences of what the program is made of.

A package has them in a file, which is written when it is built. Without one, as in a checkout, they
are read from the installed libraries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.paths import shipped

OWN = "jarvis-desktop"
FILE = "licences.json"
SHIPPED = {
    "Inter": ("resources", "fonts"),
    "Whisper base.en": ("models", "recogniser"),
    "Smart Turn": ("models", "end_of_turn"),
}
"""Fonts and weights that are shipped beside the libraries, and the folders of their licences."""
STANDARD = {"LGPL-3.0": "LESSER GENERAL PUBLIC LICENSE", "Apache-2.0": "Apache License"}
"""Licences whose texts name nobody, so that the text of one library is that of all, each with words
that are in it."""

_text = re.compile(r"(licen[cs]e|copying|notice|copyright)[^/]*$", re.IGNORECASE)
_alike = re.compile(r"[-_.]+")


@dataclass(frozen=True, slots=True)
class ThirdPartyPart:
    """A library, a font or weights of somebody else."""

    name: str
    version: str
    licence: str
    """In a few words, as its makers state it; "" if they do not."""
    home: str
    """The address of its page, or ""."""
    texts: tuple[str, ...]
    needs: tuple[str, ...] = ()
    """The names of the libraries that it needs."""


def parts() -> Sequence[ThirdPartyPart]:
    """Return everything of somebody else that is in this copy, by name."""
    try:
        told = json.loads(shipped("resources", "release", FILE).read_text("utf-8"))
        return tuple(
            ThirdPartyPart(**{**each, "texts": tuple(each["texts"]), "needs": tuple(each["needs"])})
            for each in told
        )
    except FileNotFoundError:
        return collected()


def part(name: str) -> ThirdPartyPart:
    """Return the part of this name. Raises InputError."""
    wanted = _alike.sub("-", name).casefold()
    for each in parts():
        if _alike.sub("-", each.name).casefold() == wanted:
            return each
    raise InputError(
        tr("Nothing of that name is in this program: {name}.", name=name),
        hint=tr("See all of it with: jarvis-desktop licences."),
    )


def collected() -> Sequence[ThirdPartyPart]:
    """Return the installed libraries that the program needs, and what is shipped beside
    them."""
    libraries = {name: _library(found) for name, found in _needed().items() if name != OWN}
    made = [*libraries.values(), *(_beside(name, place) for name, place in SHIPPED.items())]
    texts = {
        licence: each.texts
        for each in made
        for licence in STANDARD
        if each.texts and each.licence in (licence, f"{licence}-only")
    }
    return tuple(
        sorted((_with_text(each, texts) for each in made), key=lambda each: each.name.casefold())
    )


def as_json(made: Iterable[ThirdPartyPart]) -> str:
    """Return what `parts` reads."""
    return json.dumps([asdict(each) for each in made], ensure_ascii=False, indent=0)


def as_text(made: Iterable[ThirdPartyPart]) -> str:
    """Return a list of all parts, followed by their texts."""
    made = tuple(made)
    lines = [f"{each.name} {each.version}".rstrip() + f": {each.licence or '?'}" for each in made]
    texts = [
        "\n\n".join((f"{'=' * 78}\n{each.name} {each.version}\n{each.home}".rstrip(), *each.texts))
        for each in made
        if each.texts
    ]
    return "\n".join(lines) + "\n\n" + "\n\n".join(texts) + "\n"


def _needed() -> dict[str, Distribution]:
    """The libraries that the program and its libraries need on this system, by name."""
    from packaging.requirements import Requirement

    found: dict[str, Distribution] = {}
    missing = [OWN]
    while missing:
        name = missing.pop()
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:  # not for this system
            continue
        for line in found[name].requires or ():
            wanted = Requirement(line)
            key = _alike.sub("-", wanted.name).lower()
            for_us = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
            if for_us and key not in found:
                missing.append(key)
    return found


def _library(found: Distribution) -> ThirdPartyPart:
    from packaging.requirements import Requirement

    about = found.metadata

    def stated(name: str) -> str:
        return (about.get_all(name) or ("",))[0]

    texts = [
        path.read_text("utf-8", errors="replace").strip()
        for file in found.files or ()
        if _text.search(str(file)) and file.suffix not in (".py", ".pyc", ".pyi", ".so")
        for path in [Path(str(file.locate()))]
        if path.is_file()
    ]
    words = (stated("License-Expression") or stated("License")).splitlines()
    classed = [
        value.rpartition(" :: ")[2]
        for value in about.get_all("Classifier") or ()
        if value.startswith("License :: ")
    ]
    short = words[0].strip() if len(words) == 1 and len(words[0]) < 120 else ""
    pages = about.get_all("Project-URL") or ()
    home = stated("Home-page") or next((line.partition(", ")[2] for line in pages), "")
    needs = {Requirement(line).name for line in found.requires or () if "extra ==" not in line}
    return ThirdPartyPart(
        about["Name"],
        found.version,
        short or ", ".join(classed),
        home,
        tuple(dict.fromkeys(texts)),
        tuple(sorted(_alike.sub("-", name).lower() for name in needs)),
    )


def _beside(name: str, place: tuple[str, ...]) -> ThirdPartyPart:
    text = shipped(*place, "LICENSE").read_text("utf-8").strip()
    named = "OFL-1.1" if "SIL Open Font" in text else text.splitlines()[0].strip()
    return ThirdPartyPart(name, "", named, "", (text,))


def _with_text(each: ThirdPartyPart, texts: dict[str, tuple[str, ...]]) -> ThirdPartyPart:
    """Add the text of its licence if its package lacks it and it is the same for all."""
    known = next((licence for licence in STANDARD if licence in each.licence), "")
    if known not in texts or any(STANDARD[known] in text for text in each.texts):
        return each
    return replace(each, texts=(*texts[known], *each.texts))
