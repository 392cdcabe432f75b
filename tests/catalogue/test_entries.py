from __future__ import annotations

import pytest

from jarvis_desktop.catalogue.entries import load
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.paths import shipped

BLOCK = """
[[expert]]
name = "small-one"
repo = "someone/small-one"
task = "translation"
summary = "Translates."
download_mb = 5
memory_mb = 40
licence = "MIT"
languages = ["en", "fr"]
files = ["*.json", "*.safetensors"]
"""


def written(tmp_path, text: str):
    path = tmp_path / "experts.toml"
    path.write_text(text, "utf-8")
    return tmp_path


def test_a_block_becomes_an_expert(tmp_path):
    (expert,) = load(written(tmp_path, BLOCK))
    assert (expert.id, expert.repo, expert.task) == (
        "small-one",
        "someone/small-one",
        "translation",
    )
    assert expert.languages == ("en", "fr")
    assert expert.files == ("*.json", "*.safetensors")
    assert (expert.revision, expert.verified, expert.download_mb) == ("", False, 5)
    assert (expert.memory_mb, expert.gated, expert.downloads) == (40, False, 0)


def test_what_the_hub_says_of_it_may_be_there_too(tmp_path):
    (expert,) = load(written(tmp_path, BLOCK + "gated = true\ndownloads = 1200"))
    assert (expert.gated, expert.downloads) == (True, 1200)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (BLOCK.replace("download_mb = 5", "download_mb = 0"), "expert 1, download_mb"),
        (BLOCK.replace("download_mb = 5", 'download_mb = "5"'), "expert 1, download_mb"),
        (BLOCK.replace("memory_mb = 40", ""), "expert 1, memory_mb"),
        (BLOCK + "downloads = -1", "expert 1, downloads"),
        (BLOCK.replace("someone/small-one", "small-one"), "expert 1, repo"),
        (BLOCK.replace("someone/", "../"), "expert 1, repo"),
        (BLOCK.replace('"small-one"', '"../x"'), "expert 1, name"),
        (BLOCK.replace("files = ", "flies = "), "files"),
        (BLOCK + BLOCK.replace("summary", "sumary"), "expert 2, summary"),
        (BLOCK + 'revision = "main"', "expert 1, revision"),
        (BLOCK + "verified = true", "at revision: small-one is verified"),
        (BLOCK + BLOCK, "at name: small-one is twice"),
        (BLOCK + "= 3", "cannot be read"),
        ("", "at expert"),
    ],
)
def test_a_mistake_is_named_by_file_and_key(tmp_path, text, names):
    with pytest.raises(JarvisError) as caught:
        load(written(tmp_path, text))
    assert "experts.toml" in caught.value.message
    assert names in caught.value.message.replace("its beginning", "expert")
    assert caught.value.message.endswith(".")


def test_a_folder_without_a_list_is_named(tmp_path):
    with pytest.raises(JarvisError, match="holds none"):
        load(tmp_path)


def test_an_expert_is_built_upon_another_one(tmp_path):
    upper = BLOCK.replace("small-one", "upper-one") + 'base = "small-one"\nalso = ["fill-mask"]'
    lower, expert = load(written(tmp_path, BLOCK + upper))
    assert expert.base == lower
    assert expert.also == ("fill-mask",)


@pytest.mark.parametrize("base", ["nothing", "upper-one"])
def test_a_base_is_another_expert_that_has_none(tmp_path, base):
    upper = BLOCK.replace("small-one", "upper-one") + f'base = "{base}"'
    with pytest.raises(JarvisError, match="at base: upper-one"):
        load(written(tmp_path, BLOCK + upper))


def test_the_shipped_list_is_right_and_has_every_kind_of_work():
    experts = load(shipped("models", "experts"))
    by_id = {expert.id: expert for expert in experts}
    assert by_id["whisper-tiny"].repo == "Systran/faster-whisper-tiny"
    assert by_id["opus-mt-en-fr"].languages == ("en", "fr")
    assert {"text-to-image", "translation", "text-generation", "depth-estimation"} <= {
        expert.task for expert in experts
    }
    # A file pattern that lets nothing through, or everything, would be found out only by a fetch.
    for expert in experts:
        assert any(pattern.endswith((".safetensors", "model.bin")) for pattern in expert.files), (
            expert.id
        )
        assert "*" not in expert.files
        assert len(expert.languages) in (0, 1, 2)
        assert expert.memory_mb >= expert.download_mb or expert.id == "wan-1.3b", expert.id
