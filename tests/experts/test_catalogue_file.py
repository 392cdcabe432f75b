from __future__ import annotations

import pytest

from jarvis_desktop.backends.inference_api.tasks import API_TASKS
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.experts.catalogue import load
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

PROVIDERS = {
    *("hf-inference", "fal-ai", "replicate", "together", "groq", "cerebras", "fireworks-ai"),
    *("novita", "nscale", "zai-org", "wavespeed", "deepinfra", "scaleway"),
}
"""Those of the shipped list; huggingface_hub knows some more."""

SERVED = """
[[expert]]
name = "large-one"
repo = "someone/large-one"
task = "text-to-video"
summary = "Films."
licence = "MIT"
providers = ["fal-ai", "replicate"]
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


def test_what_runs_behind_an_api_alone_has_no_files(tmp_path):
    served, fetched = load(written(tmp_path, SERVED + BLOCK + 'providers = ["hf-inference"]'))
    assert (served.only_served, served.providers) == (True, ("fal-ai", "replicate"))
    assert not fetched.only_served


def test_what_the_hub_says_of_it_may_be_there_too(tmp_path):
    (expert,) = load(written(tmp_path, BLOCK + "gated = true\ndownloads = 1200"))
    assert (expert.gated, expert.downloads) == (True, 1200)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (BLOCK.replace("download_mb = 5", "download_mb = 0"), "download_mb and memory_mb"),
        (BLOCK.replace("download_mb = 5", 'download_mb = "5"'), "expert 1, download_mb"),
        (BLOCK.replace("memory_mb = 40", ""), "download_mb and memory_mb"),
        (SERVED.replace("providers", "files"), "download_mb and memory_mb"),
        (SERVED + "download_mb = 5", "or else providers"),
        (BLOCK.split("files")[0], "or else providers"),
        (BLOCK + "downloads = -1", "expert 1, downloads"),
        (BLOCK.replace("someone/small-one", "small-one"), "expert 1, repo"),
        (BLOCK.replace("someone/", "../"), "expert 1, repo"),
        (BLOCK.replace('"small-one"', '"../x"'), "expert 1, name"),
        (BLOCK.replace("files = ", "flies = "), "expert 1, flies"),
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
        assert len(expert.languages) < 2 + (expert.task == "translation"), expert.id
        if expert.only_served:
            assert set(expert.providers) <= PROVIDERS, expert.id
            assert {expert.task, *expert.also} <= set(API_TASKS), expert.id
            continue
        assert any(pattern.endswith((".safetensors", "model.bin")) for pattern in expert.files), (
            expert.id
        )
        assert "*" not in expert.files
        assert expert.memory_mb >= expert.download_mb or expert.id == "wan-1.3b", expert.id
