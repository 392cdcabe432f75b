"""Experts made of entries: handles, files, memory, languages, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.experts.hub import experts
from jarvis_desktop.experts.hub.database import MOVED, HubIndexWriter, RepositoryCheck, checked
from jarvis_desktop.experts.hub.entry import HubQuery, is_repo
from jarvis_desktop.experts.hub.experts import HubOffers
from jarvis_desktop.experts.hub.index import HubIndex
from jarvis_desktop.tasks.registry import INVENTORY
from tests.experts.hub.listed import entry, index

TASK = "text-classification"
NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")
part = st.text("abXY09._-", max_size=8).map(lambda text: f"a{text}")
repos = st.builds("{}/{}{}".format, part, part, st.sampled_from(["", "b" * 80])).filter(is_repo)


def test_an_entry_becomes_an_expert_that_can_be_fetched():
    made = experts.expert_of(entry("Org/Nice-One.2", downloads=7, tags=["mood"]), TASK)
    assert made == Expert(
        id="org--nice-one.2",
        task=TASK,
        summary="bert, mood",
        revision="e" * 40,
        download_mb=100,
        licence="mit",
        languages=("en",),
        verified=True,
        repo="Org/Nice-One.2",
        files=experts.FILES["transformers"],
        memory_mb=810,
        memory_half_mb=755,
        downloads=7,
        likes=3,
    )


@given(repos)
def test_handles_are_safe_names_of_folders(repo):
    handle = experts.handle(repo)
    assert NAME.fullmatch(handle)
    assert not handle.endswith(".")
    assert handle == experts.handle(repo)


@given(repos, repos)
def test_no_two_repositories_have_the_same_handle(one, other):
    if one.lower() != other.lower():
        assert experts.handle(one) != experts.handle(other)


@pytest.mark.parametrize(
    "repo", ["Org/Plain", "org/with_line", "org/dot.", f"org/{'long' * 30}", "o_/x", "org/a_b.c"]
)
def test_an_entry_is_found_by_repository_and_by_handle(tmp_path, repo):
    path = index(tmp_path / "hub.db", entry(repo), entry("org/another"))
    opened = HubIndex(path)
    for name in (repo, repo.upper(), experts.handle(repo)):
        found = experts.find(opened, name)
        assert found, name
        assert found.repo == repo
    for name in ("org--nothing", "plain", "", "../..", "a--b--c", "org--x-00000000"):
        assert experts.find(opened, name) is None
    opened.close()


@pytest.mark.parametrize(
    "change",
    [{"runs": False}, {"sha": ""}, {"weights_mb": 0}, {"library": "keras", "runs": False}],
)
def test_what_cannot_be_fetched_and_run_is_no_expert_and_why(change):
    made = replace(entry("a/b"), **change)
    assert experts.expert_of(made, TASK) is None
    assert experts.reason_against(made)
    shown = experts.described(made)
    assert (shown.repo, shown.files) == ("a/b", ())


def test_translators_translate_from_and_into_what_their_names_say():
    def languages(repo: str, *tags: str) -> tuple[str, ...] | None:
        made = experts.expert_of(entry(repo, "translation", tags=tags), "translation")
        return made.languages if made else None

    assert languages("Helsinki-NLP/opus-mt-sv-en", "sv") == ("sv", "en")
    assert languages("facebook/nllb", "multilingual") == ("*",)
    assert languages("google/t5", "de") is None
    assert languages("Helsinki-NLP/opus-mt-gmw-en") is None
    made = experts.expert_of(entry("a/two", tags=["zh"]), TASK)
    assert made
    assert made.languages == ()  # two would be taken for a translator


def test_every_task_that_the_hub_lists_is_known_by_its_name():
    names = experts.tasks_of_all(each.name for each in INVENTORY)
    assert len(names) == len(set(names)) >= 20
    assert experts.tasks_of("calculator") == ()
    assert "image-text-to-text" in experts.tasks_of("visual-question-answering")


def pipeline(*names: str) -> list[dict[str, object]]:
    return [{"rfilename": name, "size": 2_000_000} for name in names]


def test_pipelines_are_measured_by_their_files():
    bare = entry("a/b", "text-to-image", library_name="diffusers", safetensors=None)
    assert bare.weights_mb == 0
    both = ["model_index.json", "unet/u.safetensors", "unet/u.fp16.safetensors", "unet/u.bin"]
    found = experts.with_size(bare, pipeline(*both))
    assert found.weights_mb == 4
    assert experts.files_of(found)[-1] == "*/*.fp16.safetensors"
    found = experts.with_size(bare, pipeline("model_index.json", "unet/u.safetensors"))
    assert experts.files_of(found)[-1] == "*/*.safetensors"
    assert experts.with_size(found, pipeline(*both)).weights_mb == 4
    for files in (pipeline("u.safetensors"), pipeline("model_index.json", "unet/u.bin"), None):
        assert not experts.with_size(bare, files).runs


def test_what_was_read_of_a_repository_outlives_the_list_until_it_changes(tmp_path):
    bare = entry("a/b", "text-to-image", library_name="diffusers", safetensors=None)
    sized = experts.with_size(bare, pipeline("model_index.json", "unet/u.fp16.safetensors"))
    unfit = experts.with_size(replace(bare, repo="a/c"), [])
    path = index(tmp_path / "hub.db", bare, replace(bare, repo="a/c"), sized, unfit)
    index(path, bare, replace(bare, repo="a/c", likes=99))
    with HubIndexWriter(path) as writer:
        assert writer.unsized(writer.state("text-to-image"), 9) == []
    opened = HubIndex(path)
    assert opened.find("a/b") == sized
    other = opened.find("a/c")
    assert other
    assert (other.runs, other.likes) == (False, 99)
    index(path, replace(bare, sha="b" * 40))
    renewed = opened.find("a/b")
    opened.close()
    assert renewed
    assert (renewed.weights_mb, renewed.tags) == (0, bare.tags)


def test_sizes_of_shipped_experts_leave_out_pickles_beside_safe_files():
    expert = Expert("x", TASK, files=("*.json", "*.safetensors", "*.bin"))
    assert (
        experts.download_size(expert, pipeline("c.json", "m.safetensors", "pytorch_model.bin")) == 4
    )
    assert experts.download_size(expert, pipeline("c.json", "pytorch_model.bin")) == 4
    assert experts.download_size(expert, [{"rfilename": "c.json"}, 7, {"size": 3}]) == 0
    assert experts.download_size(expert, "nonsense") == 0


def test_facts_of_the_hub_lie_over_the_shipped_list_but_pins_stay():
    expert = Expert("x", TASK, repo="a/b", licence="MIT", download_mb=10)
    facts = RepositoryCheck(
        "a/b", 1, sha="c" * 40, download_mb=12, licence="mit", gated=True, downloads=9
    )
    found = checked(expert, facts)
    assert (found.revision, found.download_mb, found.verified) == ("c" * 40, 12, True)
    assert (found.gated, found.downloads) == (True, 9)
    pinned = replace(expert, verified=True, revision="d" * 40)
    assert checked(pinned, facts) == replace(pinned, gated=True, downloads=9)
    for other in (None, replace(facts, state="gone"), replace(facts, state=f"{MOVED} a/c")):
        assert checked(expert, other) == expert
    assert RepositoryCheck.of(facts.row) == facts


def offers(path: Path, policy: HubQuery) -> HubOffers:
    return HubOffers(HubIndex(path), lambda: policy)


def test_the_best_few_are_offered_under_the_policy(tmp_path):
    made = [entry(f"a/e{number}", downloads=10 ** (number % 6)) for number in range(12)]
    unsafe = entry("a/unsafe", tags=["gguf"], downloads=10**9)
    path = index(tmp_path / "hub.db", *made, unsafe, entry("a/gated", gated=True, downloads=10**8))
    found = offers(path, HubQuery(gated=False)).best(TASK)
    assert len(found) == 5
    assert {each.repo for each in found[:2]} == {"a/e5", "a/e11"}
    assert all(each.verified and each.revision for each in found)
    assert offers(path, HubQuery(size_mb=9)).best(TASK) == ()
    assert offers(path, HubQuery()).best("calculator") == ()
    assert offers(tmp_path / "none.db", HubQuery()).best(TASK) == ()


def test_what_was_found_is_kept_until_the_index_changes(tmp_path, monkeypatch):
    path = index(tmp_path / "hub.db", entry("a/first"))
    offered = offers(path, HubQuery())
    assert [each.repo for each in offered.best(TASK)] == ["a/first"]
    with monkeypatch.context() as patch:
        patch.delattr(HubIndex, "search")  # it is not asked
        assert [each.repo for each in offered.best(TASK)] == ["a/first"]
    index(path, entry("a/second", downloads=10**6))
    assert [each.repo for each in offered.best(TASK)] == ["a/second", "a/first"]
    assert offered.best(TASK, "first")[0].repo == "a/first"
    assert offered.named("a--second")
    assert offered.named("a--third") is None
    assert offered.check("a/first") is None
    offered.index.close()


def test_what_a_provider_runs_is_offered_whether_or_not_it_runs_here(tmp_path):
    live = [{"provider": "fal-ai", "status": "live"}]
    path = index(
        tmp_path / "hub.db",
        entry("a/here", downloads=10**7),
        entry("a/there", tags=["custom_code"], inferenceProviderMapping=live),
        entry("a/both", inferenceProviderMapping=live, downloads=10**6),
    )
    offered = offers(path, HubQuery(memory_mb=1))
    both, there = offered.served(TASK)
    assert (both.repo, there.repo) == ("a/both", "a/there")
    assert (both.only_served, there.only_served) == (False, True)
    assert (there.task, there.providers) == (TASK, ("fal-ai",))
    assert offered.served(TASK) == (both, there)
    assert offered.best(TASK) == ()
    offered.warm([TASK, "calculator"])
    offered.index.close()
