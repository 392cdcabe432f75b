from pathlib import Path

import pytest

from jarvis_desktop.app.experts import WHISPER_EXPERTS, whisper_folder
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.experts import catalogue
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.paths import shipped
from jarvis_desktop.speech.recogniser import SHIPPED
from jarvis_desktop.speech.whisper import NEEDED, load
from tests.hub import running_hub


def nothing(fraction, words):
    pass


async def test_what_the_catalogue_fetches_of_a_recogniser_is_all_that_it_needs(tmp_path):
    experts = catalogue.load(shipped("models", "experts"))
    known = {each.id: each for each in experts}
    files = {path.name: path.read_bytes() for path in SHIPPED.iterdir()}
    names = [known[name].repo for name in WHISPER_EXPERTS]
    with running_hub(repos=dict.fromkeys(names, files), cut={"model.bin": 500_000}) as hub:
        weights = Weights(tmp_path / "experts", endpoint=hub.address)
        await weights.fetch(known["whisper-base"], nothing)
        assert len(hub.ranges("model.bin")) == 2  # it broke off, and went on
    folder = whisper_folder(experts, weights)
    assert folder
    assert folder == tmp_path / "experts" / "whisper-base"
    assert load(folder).supported_languages


@pytest.mark.parametrize("missing", NEEDED)
def test_a_folder_that_is_not_whole_is_refused_before_anything_is_fetched(tmp_path, missing):
    for name in NEEDED:
        if name != missing:
            (tmp_path / name).write_bytes((SHIPPED / name).read_bytes())
    with pytest.raises(UnavailableError, match="cannot be used") as caught:
        load(tmp_path)
    assert "experts remove" in caught.value.hint


def test_damaged_weights_are_refused(tmp_path):
    for path in SHIPPED.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes()[:1000])
    with pytest.raises(UnavailableError, match="cannot be used"):
        load(Path(tmp_path))
