"""The texts that an LLM is given: files that anyone can read, and replace by their own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.i18n import tr

_version = re.compile(r"\A<!--\s*version:\s*([\w.\-]{1,40})\s*-->\s*\n")
_slot = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with `{{slots}}`."""

    name: str
    version: str
    text: str

    def filled(self, **values: str) -> str:
        """The text with its slots filled, in one pass: a value is never read for slots itself.

        Raises StorageError on a slot that has no value.
        """
        missing = sorted(set(_slot.findall(self.text)) - set(values))
        if missing:
            slots = ", ".join(f"{{{{{name}}}}}" for name in missing)
            raise StorageError(
                tr(
                    "The prompt {label} has slots that do not exist: {slots}.",
                    label=self.label,
                    slots=slots,
                ),
                hint=tr("Mend or remove your own file."),
            )
        return _slot.sub(lambda match: values[match[1]], self.text)

    @property
    def label(self) -> str:
        """Name and version, for the trace."""
        return f"{self.name} {self.version}"


class Prompts:
    """Finds templates: the person's own file first, then the shipped one."""

    def __init__(self, shipped: Path, own: Path | None = None) -> None:
        self._folders = [folder for folder in (own, shipped) if folder]

    def template(self, name: str) -> Template:
        """The template of that name. Raises StorageError that names the file."""
        text, path = self.read(f"{name}.md")
        found = _version.match(text)
        version = found[1] if found else "own"
        body = text[found.end() :] if found else text
        if path.parent != self._folders[-1]:
            version = f"{version}, from {path.parent}"
        return Template(name, version, body.strip())

    def read(self, file_name: str) -> tuple[str, Path]:
        """The text of a file and where it was found. Raises StorageError that names it."""
        for folder in self._folders:
            path = folder / file_name
            try:
                return path.read_text(encoding="utf-8"), path
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as error:
                raise StorageError(
                    tr("The prompt {path} cannot be read.", path=path),
                    hint=tr("Mend or remove it."),
                ) from error
        raise StorageError(
            tr("The prompt {file_name} is missing from the installation.", file_name=file_name)
        )
