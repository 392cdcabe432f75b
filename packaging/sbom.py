"""Writes what a package is made of: `python packaging/sbom.py FOLDER`, run by build.py.

FOLDER gets the licences that the program shows, and a list of all components in the form of
CycloneDX 1.6 (https://cyclonedx.org). Run it with a Python that has the libraries of the package.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jarvis_desktop import __version__
from jarvis_desktop.app.licences import FILE, OWN, ThirdPartyPart, as_json, collected

SBOM = "sbom.cdx.json"
SPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # of URLs, see RFC 9562


def main(arguments: list[str]) -> int:
    """The exit code: 0 written, 2 wrong usage."""
    if len(arguments) != 1:
        print("Usage: python packaging/sbom.py FOLDER", file=sys.stderr)
        return 2
    folder, made = Path(arguments[0]), collected()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(as_json(made), "utf-8")
    moment = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    document = sbom(made, datetime.fromtimestamp(moment, UTC))
    (folder / SBOM).write_text(json.dumps(document, indent=1, ensure_ascii=False), "utf-8")
    return 0


def sbom(made: Sequence[ThirdPartyPart], moment: datetime) -> dict[str, Any]:
    """The document of CycloneDX for these parts; the same parts make the same document."""
    own = {
        "type": "application",
        "bom-ref": OWN,
        "name": OWN,
        "version": __version__,
        "licenses": [{"license": {"id": "MIT"}}],
    }
    components = [_component(each) for each in made]
    refs = {each.name.lower(): _ref(each) for each in made}
    needed = {name for each in made for name in each.needs}
    direct = [ref for name, ref in refs.items() if name not in needed]
    depends = [{"ref": OWN, "dependsOn": sorted(direct)}] + [
        {"ref": _ref(each), "dependsOn": sorted({refs[n] for n in each.needs if n in refs})}
        for each in made
    ]
    named = uuid.uuid5(SPACE, json.dumps([own, components]))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{named}",
        "version": 1,
        "metadata": {"timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": own},
        "components": components,
        "dependencies": depends,
    }


def _ref(each: ThirdPartyPart) -> str:
    return f"pkg:pypi/{each.name.lower()}@{each.version}" if each.version else each.name


def _component(each: ThirdPartyPart) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "library", "bom-ref": _ref(each), "name": each.name}
    if each.version:
        made |= {"version": each.version, "purl": _ref(each)}
    else:
        made["type"] = "file" if each.name == "Inter" else "machine-learning-model"
    if each.licence:
        made["licenses"] = [{"license": {"name": each.licence}}]
    if each.home.startswith("http"):
        made["externalReferences"] = [{"type": "website", "url": each.home}]
    return made


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
