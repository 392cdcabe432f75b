"""The manifest of the Flatpak, out of which flatpak-builder makes it; build.py writes it.

All of it comes with a digest: each library as the index has it, for both processors, and our own
wheel from the same folder. Standard library only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from locked import LockedFile

APP_ID = "org.jarvisdesktop.JarvisDesktop"
RUNTIME = "25.08"
"""Its Python is the one of locked.py."""
PERMISSIONS = {
    "--share=ipc": "X11 draws through shared memory",
    "--socket=wayland": "the window",
    "--socket=fallback-x11": "the window and the talk key where there is no Wayland",
    "--socket=pulseaudio": "the microphone and the loudspeaker; PipeWire answers there as well",
    "--device=dri": "experts compute on the graphics card",
    "--share=network": "experts, language models and pages that the user asks for; the mode "
    "decides what is allowed, and offline nothing is",
    "--talk-name=org.freedesktop.Notifications": "says that an answer is there, and rings timers",
    "--talk-name=org.kde.StatusNotifierWatcher": "the icon in the tray",
    "--talk-name=org.freedesktop.secrets": "keys of services are kept in the system's store",
}
"""What the program may do, and why. Not among it: the user's folders. Files come by the dialog, by
dropping them, or as what the user allows for each folder; shortcuts and texts at the caret go
through portals, which ask."""
REFUSED = (
    "--filesystem=",
    "--device=all",
    "--socket=session-bus",
    "--talk-name=org.freedesktop.Flat",
)
"""How a permission may not begin: with them the sandbox is none."""
SYSTEM_LIBRARIES: Sequence[Mapping[str, Any]] = (
    {
        "name": "portaudio",
        "buildsystem": "autotools",
        "config-opts": ["--disable-static", "--without-jack", "--without-oss"],
        "sources": [
            {
                "type": "archive",
                "url": "https://files.portaudio.com/archives/pa_stable_v190700_20210406.tgz",
                "sha256": "47efbf42c77c19a05d22e627d42873e991ec0c1357219c0d74ce6a2948cb2def",
            }
        ],
        "cleanup": ["/include", "/lib/pkgconfig", "*.la"],
    },
    {
        "name": "espeak-ng",
        "buildsystem": "autotools",
        "config-opts": ["--disable-static", "--without-mbrola", "--without-pcaudiolib"],
        "sources": [
            {
                "type": "archive",
                "url": "https://github.com/espeak-ng/espeak-ng/archive/refs/tags/1.52.0.tar.gz",
                "sha256": "bb4338102ff3b49a81423da8a1a158b420124b055b60fa76cfb4b18677130a23",
            }
        ],
        "cleanup": ["/include", "/lib/pkgconfig", "/share/vim", "*.la"],
    },
)
"""What no wheel carries and the runtime lacks."""
PLACES = {".desktop": "applications", ".xml": "metainfo"}
INSTALL = "pip3 install --no-index --no-deps --no-build-isolation --prefix=${FLATPAK_DEST}"


def manifest(
    program: Path, files: Mapping[str, Sequence[LockedFile]], shared: Path
) -> dict[str, Any]:
    """Return the manifest for our own wheel, and the files of the libraries by architecture.

    `shared` is packaging/linux. The wheel and its contents are beside the manifest.
    """
    sources, copied = [_local(program, program.name)], []
    for path in sorted(path for path in shared.rglob("*") if path.is_file()):
        name = path.relative_to(shared)
        place = (
            f"icons/hicolor/{name.parts[1]}/apps" if len(name.parts) > 1 else PLACES[path.suffix]
        )
        folder = {"dest": str(name.parent)} if len(name.parts) > 1 else {}
        sources.append(_local(path, str(name)) | folder)
        copied.append(f"install -Dm644 -t ${{FLATPAK_DEST}}/share/{place} {name}")
    return {
        "id": APP_ID,
        "runtime": "org.freedesktop.Platform",
        "runtime-version": RUNTIME,
        "sdk": "org.freedesktop.Sdk",
        "command": "jarvis-desktop",
        "x-reasons": PERMISSIONS,
        "finish-args": list(PERMISSIONS),
        "modules": [
            *SYSTEM_LIBRARIES,
            {
                "name": "libraries",
                "buildsystem": "simple",
                # The two that are no wheels are built with what is in the others.
                "build-commands": [f"{INSTALL} *.whl", f"{INSTALL} *.tar.gz"],
                "sources": _sources(files),
            },
            {
                "name": "jarvis-desktop",
                "buildsystem": "simple",
                "build-commands": [f"{INSTALL} *.whl", *copied],
                "sources": sources,
            },
        ],
    }


def problems(told: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a manifest; nothing if it is as it should be."""
    found = []
    for each in told["finish-args"]:
        if not told["x-reasons"].get(each):
            found.append(f"{each} has no reason")
        if each.startswith(REFUSED):
            found.append(f"{each} opens the sandbox")
    for module in told["modules"]:
        if "--share=network" in str(module.get("build-options", "")):
            found.append(f"{module['name']} uses the network while it is built")
        for source in module["sources"]:
            name = source.get("url") or source.get("path") or "a source"
            if len(source.get("sha256", "")) != 64:
                found.append(f"{name} has no digest")
            if "url" in source and not source["url"].startswith("https://"):
                found.append(f"{name} does not come over https")
    return found


def _sources(files: Mapping[str, Sequence[LockedFile]]) -> list[dict[str, Any]]:
    """The files of the libraries; those that not all architectures get say whose they are."""
    places: dict[LockedFile, list[str]] = {}
    for architecture, listed in files.items():
        for each in listed:
            places.setdefault(each, []).append(architecture)
    return [
        {
            "type": "file",
            "url": each.url,
            "sha256": each.sha256,
            **({} if len(whose) == len(files) else {"only-arches": whose}),
        }
        for each, whose in sorted(places.items(), key=lambda item: item[0].file.lower())
    ]


def _local(path: Path, name: str) -> dict[str, Any]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"type": "file", "path": name, "sha256": digest}
