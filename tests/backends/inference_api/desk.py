"""A desk at which experts behind an API are asked, over a router on loopback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from jarvis_desktop.backends.inference_api.backend import ApiBackend
from jarvis_desktop.backends.inference_api.tasks import API_TASKS
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.task import Call, Value
from jarvis_desktop.tasks.registry import DEFINITIONS
from tests.fake_voice import write_wav
from tests.router import Router

KEY = "hf_canary0123456789"
BY_NAME = {item.type.name: item for item in DEFINITIONS}


@dataclass
class Desk:
    """A backend, its router, and what is given to it."""

    backend: ApiBackend
    router: Router
    folder: Path
    reports: list[str] = field(default_factory=list)

    async def ask(
        self,
        task: str,
        provider: str = "hf-inference",
        *,
        service: str = "",
        repo: str = "org/expert",
        languages: tuple[str, ...] = (),
        options: dict[str, Value] | None = None,
        **inputs: str | Artifact,
    ) -> Sequence[Artifact]:
        """The results of one call at one provider, which serves an expert just for it."""
        service = service or API_TASKS[task].service
        name = f"{repo}-{service}-{len(self.router.served)}"
        self.router.served[name] = {provider: service}
        expert = Expert("tiny", task, repo=name, languages=languages, providers=(provider,))
        call = self.call(task, options, **inputs)
        candidate = Candidate(expert, "api", remote=True, provider=provider)
        return await self.backend.run(candidate, call, lambda share, words: self.note(words))

    def call(
        self, task: str, options: dict[str, Value] | None = None, **inputs: str | Artifact
    ) -> Call:
        """A call with a folder of its own."""
        given = {
            port: (text_artifact(value) if isinstance(value, str) else value,)
            for port, value in inputs.items()
        }
        defaults = {option.name: option.default for option in BY_NAME[task].type.options}
        workdir = self.folder / f"work-{len(list(self.folder.iterdir()))}"
        workdir.mkdir()
        return Call(task, given, {**defaults, **(options or {})}, workdir)

    def note(self, words: str) -> None:
        self.reports.append(words)

    def picture(self, size: tuple[int, int] = (320, 200)) -> Artifact:
        path = self.folder / f"cat-{size[0]}.png"
        Image.new("RGB", size, "tan").save(path)
        return Artifact(Kind.IMAGE, path=path, name=path.name)

    def recording(self, seconds: float = 0.5) -> Artifact:
        path = write_wav(self.folder / "speech.wav", seconds=seconds, rate=22050)
        return Artifact(Kind.AUDIO, path=path, name=path.name)

    def table(self) -> Artifact:
        path = self.folder / "cities.csv"
        path.write_text("city,people\nChur,900\nBern,134000\n", "utf-8")
        return Artifact(Kind.TABLE, path=path, name=path.name)
