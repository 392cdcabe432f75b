"""Two computers in networks of their own, and somebody between them: see two_networks.py."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ALONE = ("unshare", "--user", "--map-root-user", "--net")
SAME = "The pairing code is wrong, or another computer answers in between. "


def allowed() -> bool:
    if not (shutil.which("unshare") and shutil.which("nsenter") and shutil.which("ip")):
        return False
    bridge = "ip link add switch type bridge"
    return not subprocess.run([*ALONE, *bridge.split()], stderr=subprocess.DEVNULL).returncode


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux" or not allowed(), reason="needs network namespaces")
@pytest.mark.timeout(600)
def test_right_or_refused_each_time(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.backends.machines.two_networks", str(tmp_path)]
    done = subprocess.run([*ALONE, *program], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    outcome = json.loads(done.stdout)

    assert outcome["announced"]
    assert outcome["found"] == [["box", "10.77.0.2:8766"]]
    assert all("“offline” sends nothing" in said for said in outcome["offline"])
    assert outcome["sent offline"] == 0
    assert outcome["wrong code"].startswith(SAME)
    assert outcome["pairing with somebody between"].startswith(SAME)
    code, proof, key = outcome["read between"]
    assert proof, "nobody was in between"
    assert not code
    assert not key
    assert outcome["pairing"] == "done"

    assert [status for status, _, _ in outcome["six"]] == ["done"] * 6
    assert [where for _, [where], _ in outcome["six"]] == [
        *("machine", "builtin", "machine", "machine", "builtin", "machine")
    ]
    assert outcome["six"][5][2] == ["OTHER WORDS RETTEL TERCES A FO SDROW EHT"]
    assert outcome["calls there"] == 4
    assert outcome["sent to"] == ["10.77.0.2"]
    assert not outcome["in clear"]
    for said, packets in outcome["forbidden"]:
        assert "sends nothing to your other machines" in said
        assert packets == 0

    # The next candidate is this computer, each time.
    replaced = [["done", ["machine", "builtin"], ["rettel a"]]]
    assert outcome["somebody between"] == outcome["wrong key"] == replaced
    assert outcome["read later"] == ""
    assert "another certificate than when it was paired" in outcome["look"]
    assert "does not know this computer" in outcome["look with it"]
    assert outcome["calls with it"] == 0
    assert [(status, where[-1], texts) for status, where, texts in outcome["cut"]] == [
        ("done", "builtin", ["ereh stiaw"]),
        ("done", "builtin", ["waits here"]),
    ]
    assert outcome["cut"][0][1][0] == "machine"
    assert outcome["mended"] == [["done", ["machine"], ["cba"]]]
    assert outcome["ended"] == [0, 0]
