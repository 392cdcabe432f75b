"""The list of components, the licences, and the one place of the version."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import build
import sbom

from jarvis_desktop import __version__
from jarvis_desktop.app.licences import as_json, collected

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def test_the_components_are_the_pinned_libraries_and_depend_on_each_other() -> None:
    made = collected()
    document = sbom.sbom(made, NOW)
    assert document == sbom.sbom(made, NOW)
    refs = [each["bom-ref"] for each in document["components"]]
    assert len(refs) == len(set(refs))
    for each in document["dependencies"]:
        assert {each["ref"], *each["dependsOn"]} <= {*refs, "jarvis-desktop"}
    own, *others = document["dependencies"]
    reached, waiting = set(), list(own["dependsOn"])
    depends = {each["ref"]: each["dependsOn"] for each in others}
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += depends[ref]
    assert reached == set(refs)
    direct = re.findall(r'^  "([\w-]+)[^"]*", *#', (ROOT / "pyproject.toml").read_text(), re.M)
    names = {each["name"].lower().replace("_", "-") for each in document["components"]}
    assert len(direct) > 40
    assert {"httpx", "duckdb", "cryptography"} <= names
    assert "torch" not in names


def test_a_package_has_the_licences_in_a_file(tmp_path: Path) -> None:
    assert sbom.main([str(tmp_path)]) == 0
    assert (tmp_path / "licences.json").read_text("utf-8") == as_json(collected())
    assert sbom.main([]) == 2


def test_the_version_is_the_same_everywhere() -> None:
    assert build.version() == __version__
    about = ElementTree.parse(ROOT / "packaging/linux/org.jarvisdesktop.JarvisDesktop.metainfo.xml")
    newest = about.find("releases/release")
    assert newest is not None
    assert newest.get("version") == __version__
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    released = re.findall(r"^## \[(\d[\d.]*)\]", changes, re.MULTILINE)
    assert not released or released[0] == __version__
