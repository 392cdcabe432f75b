"""The manifest of the Flatpak: all of it has a digest, and each permission a reason."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flatpak import PERMISSIONS, manifest, problems
from locked import LINUX, LINUX_ARM, LockedFile

from jarvis_desktop.paths import APP_ID

SHARED = Path(__file__).parents[2] / "packaging" / "linux"


def locked_file(file: str) -> LockedFile:
    return LockedFile("a", "1", f"https://files.example/{file}", 7, "a" * 64)


@pytest.fixture
def told(tmp_path: Path) -> dict[str, Any]:
    wheel = tmp_path / "jarvis_desktop-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"the program")
    plain = locked_file("a-1-py3-none-any.whl")
    files = {LINUX.name: [plain, locked_file("b-1-x86_64.whl")], LINUX_ARM.name: [plain]}
    return manifest(wheel, files, SHARED)


def test_all_is_pinned_and_each_architecture_gets_its_own(told: dict[str, Any]) -> None:
    assert problems(told) == []
    *_, libraries, own = told["modules"]
    plain, compiled = libraries["sources"]
    assert "only-arches" not in plain
    assert compiled["only-arches"] == ["x86_64"]
    assert own["sources"][0]["sha256"] == hashlib.sha256(b"the program").hexdigest()
    for source in own["sources"][1:]:
        body = (SHARED / source["path"]).read_bytes()
        assert source["sha256"] == hashlib.sha256(body).hexdigest()
        where = Path(source.get("dest", "")) / Path(source["path"]).name
        assert any(line.endswith(f" {where}") for line in own["build-commands"])
    installed = " ".join(own["build-commands"])
    for place in (
        f"/share/applications {APP_ID}.desktop",
        f"/share/metainfo {APP_ID}.metainfo.xml",
        f"/share/icons/hicolor/scalable/apps icons/scalable/apps/{APP_ID}.svg",
    ):
        assert place in installed


def test_it_may_do_what_is_argued_for_and_nothing_of_the_user_s_files(
    told: dict[str, Any],
) -> None:
    assert told["finish-args"] == list(PERMISSIONS) == list(told["x-reasons"])
    assert not [each for each in PERMISSIONS if "filesystem" in each or each == "--device=all"]
    assert {"--socket=pulseaudio", "--socket=wayland"} <= set(PERMISSIONS)


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda told: told["finish-args"].append("--filesystem=home"), "opens the sandbox"),
        (lambda told: told["finish-args"].append("--device=all"), "has no reason"),
        (lambda told: told["x-reasons"].update({"--share=ipc": ""}), "--share=ipc has no reason"),
        (lambda told: told["modules"][2]["sources"][0].pop("sha256"), "any.whl has no digest"),
        (
            lambda told: told["modules"][0]["sources"][0].update(url="http://a.example/b.tgz"),
            "does not come over https",
        ),
        (
            lambda told: told["modules"][2].update(
                {"build-options": {"build-args": ["--share=network"]}}
            ),
            "uses the network while it is built",
        ),
    ],
)
def test_what_is_wrong_with_a_manifest_is_found(
    told: dict[str, Any], change: Change, said: str
) -> None:
    broken = copy.deepcopy(told)
    change(broken)
    assert any(said in each for each in problems(broken))
