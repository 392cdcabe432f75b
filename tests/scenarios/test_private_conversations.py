"""A conversation that is not to be kept: answered as any other, and then it was never there."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.storage.conversations import FOLDER
from tests.scenarios import files
from tests.scenarios.conftest import Person
from tests.storage.samples import count

pytestmark = pytest.mark.asyncio(loop_scope="module")

CODE_WORD = "xylophonist"
TABLES = (
    "conversations", "turns", "tasks", "attempts", "artifacts", "files", "search", "journal",
    "journal_tasks", "goals", "goal_log", "facts", "recaps", "expert_runs", "timers", "selections",
)  # fmt: skip


@pytest.fixture
def private(person: Person) -> Iterator[Person]:
    person.conversation = person.app.history.open_private().id
    yield person
    person.app.history.forget_private(person.conversation)


def traces(person: Person) -> list[str]:
    """The files of the application that have the code word, and the tables with rows."""
    paths = person.app.paths
    places = [path for root in (paths.data, paths.cache) for path in root.rglob("*")]
    found = [path.name for path in places if path.is_file() and CODE_WORD.encode() in _bytes(path)]
    db = person.app.history._db
    return found + [name for name in TABLES if count(db, name)]


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.stat().st_size < 50_000_000 else b""


async def test_it_is_answered_with_what_was_said_before_and_leaves_nothing(private: Person):
    (private.folder / "note.txt").write_text(f"The {CODE_WORD} plays. " * 30, encoding="utf-8")
    files.photo(private.folder / "photo.jpg")
    first = await private.then("Summarise note.txt", "note.txt")
    assert first.status is Status.DONE, first.reply
    sketch = await private.then("Turn photo.jpg into a pencil sketch", "photo.jpg")
    assert sketch.status is Status.DONE, sketch.reply
    again = await private.then("Now make it brighter")
    assert again.status is Status.DONE, again.reply
    known = private.app.history.open_conversation(private.conversation)
    assert [turn.id for turn in known.turns][::2] == [first.id, again.id]
    given = first.attachments[0].path
    assert given
    assert given.is_relative_to(private.app.paths.private_files)
    assert traces(private) == [given.name], "only its own folder, while it is open"
    private.app.history.forget_private(private.conversation)
    assert traces(private) == []
    assert private.app.history.list() == ()
    assert private.app.history.search(CODE_WORD) == ()
    with pytest.raises(InputError, match="closed"):
        private.app.history.open_conversation(private.conversation)


async def test_nothing_is_learned_from_it_and_a_timer_is_not_written_down(private: Person):
    told = await private.then(f"Remember that I am a {CODE_WORD}")
    assert told.status is not Status.DONE
    assert "This conversation is not saved" in told.reply
    rings = await private.then(f"Set a timer for the {CODE_WORD} for 20 minutes")
    assert rings.status is Status.DONE
    assert len(private.app.timers.pending()) == 1
    assert traces(private) == []
    private.app.timers.cancel_all()


async def test_one_that_is_closed_while_it_works_keeps_nothing(private: Person):
    private.app.history.forget_private(private.conversation)
    turn = await private.then(f"What is 6 times 7? {CODE_WORD}")
    assert turn.status is not None
    assert traces(private) == []


async def test_another_conversation_meanwhile_is_kept(private: Person):
    aside = private.conversation
    kept = await private.ask("What is 6 times 7?")
    assert private.app.history.open_conversation(private.conversation).turns[0].id == kept.id
    private.app.history.delete([private.conversation])
    private.app.history._db.execute("DELETE FROM expert_runs")
    private.app.history._db.commit()
    private.conversation = aside


KILLED = """
import os, signal, sys
from pathlib import Path
from jarvis_desktop.core.context import current_conversation
from jarvis_desktop.storage.conversations import PrivateConversations, ConversationFileStore
root = Path(sys.argv[1])
private = PrivateConversations(root / "unkept", {})
current_conversation.set(private.begin())
store = ConversationFileStore(root / "artifacts", private)
note = root / "note.txt"
note.write_text("words")
print(store.take_in(note).path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


async def test_what_a_killed_run_left_is_removed_at_the_next_start_and_nothing_else(
    private: Person, tmp_path: Path
):
    paths = private.app.paths
    ran = subprocess.run(
        [sys.executable, "-c", KILLED, str(paths.data)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    left = Path(ran.stdout.strip())
    assert left.is_file()
    await private.app.history.tidy()
    assert not left.exists()
    assert len(list(paths.private_files.glob(f"*{FOLDER}"))) == 1, "only that of the open one"
    assert (await private.then("What is 6 times 7?")).status is Status.DONE
