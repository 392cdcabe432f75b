"""Reads the shipped list of experts (models/experts/*.toml) and checks every block of it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.wording import tr

Handle = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{0,63}$")]
Repo = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")]
Commit = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40})?$")]
Words = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Block(BaseModel):
    """One [[expert]] block of the file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Handle
    repo: Repo
    task: Handle
    summary: Words
    download_mb: int = Field(default=0, ge=0)
    memory_mb: int = Field(default=0, ge=0)
    memory_half_mb: int = Field(default=0, ge=0)
    licence: Words
    languages: list[str] = Field(default_factory=list)
    revision: Commit = ""
    files: list[Words] = Field(default_factory=list)
    verified: bool = False
    gated: bool = False
    downloads: int = Field(default=0, ge=0)
    likes: int = Field(default=0, ge=0)
    also: list[Handle] = Field(default_factory=list)
    base: str = ""
    providers: list[Words] = Field(default_factory=list)
    pickled: bool = False
    speed: float = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Block:
        """What is fetched has files and sizes; what is not is run by somebody else."""
        sizes = self.download_mb, self.memory_mb
        if self.files and not all(sizes):
            raise ValueError("download_mb and memory_mb are wanted where there are files")
        if not self.files and (not self.providers or any(sizes) or self.base):
            raise ValueError("files are wanted, or else providers and neither sizes nor a base")
        return self


class File(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid")

    expert: list[Block]


def load(folder: Path) -> tuple[Expert, ...]:
    """The experts of all files in the folder. Raises JarvisError naming the file and the key."""
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise JarvisError(
            tr("The catalogue of experts is missing: {folder} holds none.", folder=folder)
        )
    blocks: dict[str, Block] = {}
    for path in paths:
        for block in _blocks(path):
            if block.name in blocks:
                raise _wrong(path, f"name: {block.name} is twice")
            if block.verified and not block.revision:
                raise _wrong(path, f"revision: {block.name} is verified, but names no commit")
            blocks[block.name] = block
    for block in blocks.values():
        base = blocks.get(block.base)
        if block.base and (base is None or base.base):
            raise _wrong(folder, f"base: {block.name} is built upon {block.base}, which cannot be")
    return tuple(_expert(block, blocks) for block in blocks.values())


def _blocks(path: Path) -> list[Block]:
    try:
        return File.model_validate(tomllib.loads(path.read_text("utf-8"))).expert
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise JarvisError(
            tr("The catalogue {name} cannot be read: {error}.", name=path.name, error=error)
        ) from error
    except ValidationError as error:
        raise _wrong(path, _where(error)) from error


def _wrong(path: Path, where: str) -> JarvisError:
    return JarvisError(tr("The catalogue {name} is wrong at {where}.", name=path.name, where=where))


def _expert(block: Block, blocks: Mapping[str, Block]) -> Expert:
    return Expert(
        id=block.name,
        task=block.task,
        also=tuple(block.also),
        summary=block.summary,
        revision=block.revision,
        download_mb=block.download_mb,
        licence=block.licence,
        languages=tuple(block.languages),
        verified=block.verified,
        repo=block.repo,
        files=tuple(block.files),
        memory_mb=block.memory_mb,
        memory_half_mb=block.memory_half_mb,
        base=_expert(blocks[block.base], blocks) if block.base else None,
        providers=tuple(block.providers),
        pickled=block.pickled,
        gated=block.gated,
        downloads=block.downloads,
        likes=block.likes,
        speed=block.speed,
    )


def _where(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    keys = [
        f"expert {part + 1}" if isinstance(part, int) else part
        for part in first["loc"]
        if part != "expert"
    ]
    return f"{', '.join(keys) or 'its beginning'}: {first['msg'].lower()}"
