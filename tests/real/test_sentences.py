"""Real experts that compare sentences, from their import to their removal."""

from __future__ import annotations

import csv
import json
import re

import pytest
import pytest_asyncio

from jarvis_desktop.app.application import Application
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.expert import Expert, Status
from jarvis_desktop.core.placement import MB, PROCESSOR
from tests.real.conftest import RealWeightsFolder, imported
from tests.real.facts import check_download
from tests.scenarios.conftest import Person

pytestmark = pytest.mark.asyncio(loop_scope="session")

WIDTHS = {"minilm": 384, "mpnet": 768}
EXPERTS = [
    pytest.param("minilm", marks=pytest.mark.real),
    pytest.param("mpnet", marks=pytest.mark.real_large),
]


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=EXPERTS)
async def expert(
    request: pytest.FixtureRequest, app: Application, weights_of: RealWeightsFolder
) -> Expert:
    """The only one of them that is installed."""
    found = await imported(app, weights_of(request.param))
    assert found.id == request.param
    return found


async def likeness(person: Person, expert: Expert, one: str, other: str) -> float:
    turn = await person.ask(f'How similar are "{one}" and "{other}"?')
    assert turn.status is Status.DONE
    (result,) = turn.results.values()
    found = re.search(r"cosine (−?[\d.]+), by (.*)\)", result.artifacts[0].text or "")
    assert found, turn.reply
    assert found[2] == expert.id
    return float(found[1].replace("−", "-"))


async def test_near_sentences_are_alike_and_others_are_not(person: Person, expert: Expert) -> None:
    near = await likeness(person, expert, "make the picture brighter", "raise the exposure")
    far = await likeness(person, expert, "make the picture brighter", "the soup needs more salt")
    assert near > 0.45
    assert far < near - 0.2
    assert list(person.app.local.holding) == [expert.id]


async def test_each_sentence_of_a_file_becomes_a_vector(person: Person, expert: Expert) -> None:
    (person.folder / "notes.txt").write_text("The cat sleeps.\nA kitten naps.\nShares fell.\n")
    turn = await person.ask("embeddings of each sentence of notes.txt", "notes.txt")
    assert turn.status is Status.DONE
    *_, result = turn.results.values()  # the first reads the file
    (table,) = (each for each in result.artifacts if each.kind is Kind.TABLE)
    assert table.path
    with table.path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    cat, kitten, shares = ([float(number) for number in row[1:]] for row in rows)
    assert len(cat) == WIDTHS[expert.id]
    assert sum(map(float.__mul__, cat, kitten)) > sum(map(float.__mul__, cat, shares)) + 0.2


async def test_what_the_catalogue_says_is_true(app: Application, expert: Expert) -> None:
    check_download(app, expert, expert.id)
    folder = app.weights.folder(expert)
    assert folder
    assert json.loads((folder / "config.json").read_text())["hidden_size"] == WIDTHS[expert.id]
    taken = app.local.measures.known()[expert.id, PROCESSOR].main
    assert 0.25 * expert.memory_mb * MB < taken < expert.memory_mb * MB, taken


async def test_an_expert_that_was_put_out_of_memory_is_loaded_again(
    person: Person, expert: Expert
) -> None:
    await person.app.local.close()
    assert not person.app.local.holding
    same = await likeness(person, expert, "the cat sleeps", "the cat sleeps")
    assert same == pytest.approx(1.0)
    assert list(person.app.local.holding) == [expert.id]


async def test_an_expert_is_removed_and_the_built_in_way_takes_over(
    person: Person, expert: Expert
) -> None:
    await person.app.local.close()
    assert await person.app.expert_manager.remove(expert.id) > 0.9 * expert.download_mb * MB
    turn = await person.ask('How similar are "the cat sleeps" and "the cat sleeps"?')
    assert turn.status is Status.DONE
    (selection,) = turn.selections
    assert expert.id not in [candidate.expert.id for candidate in selection.candidates]
