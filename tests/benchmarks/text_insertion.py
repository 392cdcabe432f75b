"""Text put into other programs on an X screen: what arrives, and how soon.

    python -m tests.benchmarks.text_insertion [--only xterm,chromium] [--layouts us,de,fr] [--few]

Needs xterm, lxterminal, mousepad, chromium, firefox-esr, openbox and setxkbmap; what is missing is
skipped. Each of 50 sentences is inserted into the program, then again while another program takes
the focus over and over. The text is read back as the program has it: the saved file, what the
terminal's program read, the value of the page's field.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from jarvis_desktop.core.errors import InsertionError
from jarvis_desktop.platform.insertion_x11 import X11Inserter
from tests.screen import Screen, start_screen

ENGLISH = """\
Please send the report to Anna before noon.
It's 5 o'clock; the train (number 42) leaves at 17:05!
I'd like 3 apples, 2 pears & 1 melon - is that too much?
Mail me at anna.smith@example.com, or call +49 170 1234567.
The price rose by 12.5% to $1,299.99 within a year.
She said "no way" and left; nobody knew why.
Open C:\\Users\\Anna\\Desktop or /home/anna/desktop, as you like.
Use a[i] = {x: 1, y: 2}; then print(a[i] * 3 ~ 4).
Aaaaah, bookkeeper, Mississippi, committee, 1000000!
WRITE THIS IN CAPITALS AND this in small letters.
x < y > z | w ^ v ` u # t
The meeting is on Monday, the agenda follows.
I think we should wait until they have answered.
Let's go to the "Blue Note" tonight?
One, two, three, four, five, six, seven, eight, nine, ten.
https://example.com/search?q=text+insertion&lang=en#top
The quick brown fox jumps over the lazy dog.
Pack my box with five dozen liquor jugs.
No; yes: maybe... (perhaps) [surely] {never} <always>
Tell him that I'm on my way and that I'll be there at 9.
""".splitlines()
GERMAN = """\
Grüße aus Köln, schönes Wetter heute!
Die Straße ist wegen Bauarbeiten gesperrt.
Übermäßig großer Ärger über öde Übungen.
Das kostet 5 € und 20 ¢ – nicht mehr.
„Nein“, sagte er, „das weiß ich nicht.“
Falsches Üben von Xylophonmusik quält jeden größeren Zwerg.
Bitte schick mir die Datei bis 18:30 Uhr an müller@example.de.
Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.
Fuß, Maß, heiß, Spaß, weiß.
Es sind 20 °C im Schatten, also ½ so warm wie gestern.
""".splitlines()
FRENCH = """\
Ça va très bien, merci – et toi ?
L’œuvre naïve de Zoë a été achevée à Noël.
« Où est-ce que tu vas ? » demanda-t-il.
Voix ambiguë d’un cœur qui, au zéphyr, préfère les jattes de kiwis.
Le garçon dîne à l’hôtel, près de la forêt.
Il a payé 12,50 € pour un café crème et un éclair.
Dès Noël où un zéphyr haï me vêt de glaçons würmiens.
Ses élèves ont été reçus à 8 h 45 précises.
""".splitlines()
OTHERS = """\
Привет, мир! Как дела? Съешь ещё этих мягких французских булок, да выпей чаю.
Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.
Zażółć gęślą jaźń, Łódź, Święta.
Příliš žluťoučký kůň úpěl ďábelské ódy.
漢字かな交じりの文章を入力します。
今天天气很好，我们去公园散步吧，然后一起吃晚饭。
שלום עולם, מה שלומך היום?
مرحبا بالعالم، كيف حالك اليوم؟
สวัสดีชาวโลก
नमस्ते दुनिया, आप कैसे हैं?
Good 😀 morning 👍🏽, team 👩‍🚀🇩🇪!
x² + y² = z², ∑ aᵢ ≤ ∞, ¬(p ∧ q) ⇒ 𝒜
""".splitlines()
SENTENCES = ENGLISH + GERMAN + FRENCH + OTHERS
PATIENCE_S = 240.0
CONTROL, DELETE = 0xFFE3, 0xFFFF

Read = Callable[[], str]


def wait_until(true: Callable[[], object], what: str) -> None:
    """Wait for another program."""
    until = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < until, f"{what} did not happen"
        time.sleep(0.05)


def chord(screen: Screen, *keysyms: int) -> None:
    """Press keys together as a user does."""
    screen.press(*keysyms)
    screen.release(*keysyms)


def of_root(screen: Screen, name: str) -> int:
    """The window in this property of the root, or 0."""
    core = screen.connection.core
    atom = core.InternAtom(False, len(name), name).reply().atom
    root = screen.connection.get_setup().roots[0].root
    return next(iter(core.GetProperty(False, root, atom, 0, 0, 1).reply().value.to_atoms()), 0)


def active(screen: Screen) -> int:
    """The window that has the focus, if the window manager gave it to a program's window."""
    has_focus = of_root(screen, "_NET_ACTIVE_WINDOW")
    return int(screen.connection.core.GetInputFocus().reply().focus) if has_focus else 0


@contextlib.contextmanager
def program(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program that lives as long as this."""
    devnull = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=devnull, stderr=devnull, start_new_session=True)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait(60)


@contextlib.contextmanager
def terminal(screen: Screen, folder: Path, *command: str) -> Iterator[Read]:
    """A terminal in which `cat` reads lines."""
    arrived = folder / "arrived"
    script = folder / "read.sh"
    script.write_text(f"#!/bin/sh\nstty -echo\n: > {arrived}\nexec cat >> {arrived}\n")
    script.chmod(0o755)
    with program(*command, "-e", str(script)):
        wait_until(arrived.exists, "the terminal")
        yield lambda: arrived.read_text()


@contextlib.contextmanager
def mousepad(screen: Screen, folder: Path) -> Iterator[Read]:
    """A text editor, which saves its file to be read."""
    file = folder / "text.txt"
    file.write_text("")
    with program("mousepad", str(file)):

        def read() -> str:
            chord(screen, CONTROL, ord("s"))
            time.sleep(0.2)
            return file.read_text()

        yield read


PAGE = """<!doctype html><meta charset=utf-8><title>Field</title>
<textarea autofocus style="width:95vw;height:90vh"></textarea><script>
const field = document.querySelector("textarea")
field.focus()
const post = (path, body) => fetch(path, {method: "POST", body})
async function report() {
  await post("/ready", "")
  for (let told = ""; ; await new Promise(done => setTimeout(done, 50)))
    if (field.value !== told) await post("/", told = field.value)
}
report()
</script>"""


@contextlib.contextmanager
def browser(screen: Screen, folder: Path, *command: str) -> Iterator[Read]:
    """A page with a field in a browser, which posts the field's value whenever it has changed."""
    values: list[str] = []
    ready = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE.encode())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if self.path == "/ready":
                ready.set()
            else:
                values.append(body)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with program(*command, f"http://127.0.0.1:{server.server_port}/"):
            wait_until(ready.is_set, "the page")
            yield lambda: values[-1] if values else ""
    finally:
        server.shutdown()


def chromium(screen: Screen, folder: Path) -> contextlib.AbstractContextManager[Read]:
    """Chromium without its first questions."""
    return browser(screen, folder, "chromium", "--no-sandbox", "--no-first-run", "--disable-gpu",
                   "--password-store=basic", f"--user-data-dir={folder / 'profile'}")  # fmt: skip


def firefox(screen: Screen, folder: Path) -> contextlib.AbstractContextManager[Read]:
    """Firefox without its first questions."""
    profile = folder / "profile"
    profile.mkdir()
    (profile / "user.js").write_text(
        'user_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
        'user_pref("browser.aboutwelcome.enabled", false);\n'
        'user_pref("termsofuse.acceptedVersion", 999);\n'
        'user_pref("termsofuse.bypassNotification", true);\n'
    )
    return browser(screen, folder, "firefox-esr", "--no-remote", "--profile", str(profile))


def xterm(screen: Screen, folder: Path) -> contextlib.AbstractContextManager[Read]:
    """The terminal of X."""
    return terminal(screen, folder, "xterm", "-u8")


def lxterminal(screen: Screen, folder: Path) -> contextlib.AbstractContextManager[Read]:
    """A terminal with VTE, as GNOME's and Xfce's."""
    return terminal(screen, folder, "lxterminal", "--no-remote")


PROGRAMS = {
    "xterm": xterm,
    "lxterminal": lxterminal,
    "mousepad": mousepad,
    "chromium": chromium,
    "firefox-esr": firefox,
}


class Thief:
    """Another program that takes the focus for 0.1 of every 0.15 seconds, and counts its keys."""

    def __init__(self, screen: Screen, victim: int) -> None:
        import xcffib.xproto

        self._kinds = xcffib.xproto
        self._connection = screen.connect()
        self._victim = victim
        root = self._connection.get_setup().roots[0]
        self._window = self._connection.generate_id()
        core, masks = self._connection.core, xcffib.xproto.CW
        core.CreateWindow(root.root_depth, self._window, root.root, 0, 0, 9, 9, 0, 1,
                          root.root_visual, masks.OverrideRedirect | masks.EventMask,
                          [1, xcffib.xproto.EventMask.KeyPress])  # fmt: skip
        core.MapWindow(self._window, is_checked=True).check()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self.thefts = self.keys = 0

    def __enter__(self) -> Thief:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.set()
        self._thread.join()

    def _work(self) -> None:
        core = self._connection.core
        while not self._ends.is_set():
            core.SetInputFocus(0, self._window, 0, is_checked=True).check()
            self.thefts += 1
            time.sleep(0.1)
            core.SetInputFocus(0, self._victim, 0, is_checked=True).check()
            time.sleep(0.05)
        while (event := self._connection.poll_for_event()) is not None:
            self.keys += isinstance(event, self._kinds.KeyPressEvent)
        self._connection.disconnect()


def differences(wanted: str, got: str) -> tuple[int, int]:
    """The characters that are lost, and those that are too many or in the wrong place."""
    lost = extra = 0
    for kind, a, b, c, d in difflib.SequenceMatcher(None, wanted, got, False).get_opcodes():
        if kind != "equal":
            lost, extra = lost + b - a, extra + d - c
    return lost, extra


def measure(screen: Screen, name: str, layouts: Sequence[str], sentences: Sequence[str]) -> None:
    """Print rows of a program: each layout, without a thief and with one."""
    inserter = X11Inserter()
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        PROGRAMS[name](screen, Path(folder)) as read,
    ):
        wait_until(lambda: active(screen), "the focus")
        time.sleep(3)  # a browser may still move its focus
        sent, target = "", active(screen)
        for layout in layouts:
            subprocess.run(["setxkbmap", "-display", screen.name, layout], check=True)
            for stolen in (False, True):
                before = len(sent)
                with Thief(screen, target) if stolen else contextlib.nullcontext() as thief:
                    arrived, refused, seconds = insert_all(inserter, target, sentences)
                sent += arrived
                got = until_read(read, sent)
                lost, extra = differences(sent[before:], got[before:])
                print(
                    f"{name:12} {layout:3} {'thief' if stolen else 'quiet':6}"
                    f"{len(sentences):3} sentences, {len(arrived)} characters: {lost} lost,"
                    f" {extra} extra or misplaced, {refused} refused; p50"
                    f" {seconds[len(seconds) // 2] * 1e3:.0f}, max {seconds[-1] * 1e3:.0f} ms"
                    + (f"; {thief.thefts} thefts, {thief.keys} keys stolen" if thief else ""),
                    flush=True,
                )
                if got != sent:
                    show_difference(sent[before:], got[before:])
                    sent = got
    inserter.close()


def insert_all(
    inserter: X11Inserter, target: int, sentences: Sequence[str]
) -> tuple[str, int, list[float]]:
    """What was reported as inserted, how many sentences were refused, and the seconds of each."""
    arrived, refused, seconds = "", 0, []
    for sentence in sentences:
        inserter._target = target  # as if the focus was there when the key was released
        begun = time.perf_counter()
        rest = ""
        try:
            inserter.insert(f"{sentence}\n")
        except InsertionError as error:
            refused, rest = refused + 1, error.rest
            print(sentence, repr(error), file=sys.stderr)
        seconds.append(time.perf_counter() - begun)
        arrived += f"{sentence}\n".removesuffix(rest)
    return arrived, refused, sorted(seconds)


def until_read(read: Read, sent: str) -> str:
    """What the program has, at the latest after a while."""
    until = time.monotonic() + 20
    while (got := read()) != sent and time.monotonic() < until:
        time.sleep(0.3)
    return got


def show_difference(sent: str, got: str) -> None:
    """Print the lines that differ."""
    for line in difflib.unified_diff(
        sent.split("\n"), got.split("\n"), "sent", "got", "", "", 0, ""
    ):
        print("   ", ascii(line))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(PROGRAMS))
    parser.add_argument("--layouts", default="us,de,fr")
    parser.add_argument("--few", action="store_true", help="every fifth sentence")
    options = parser.parse_args()
    for variable in ("WAYLAND_DISPLAY", "XAUTHORITY"):
        os.environ.pop(variable, None)
    for name in options.only.split(","):
        if not shutil.which(name):
            print(f"{name:12} is not installed")
            continue
        measure_on_screen(name, options.layouts.split(","), SENTENCES[:: 5 if options.few else 1])


def measure_on_screen(name: str, layouts: Sequence[str], sentences: Sequence[str]) -> None:
    """Measure a program on a screen of its own."""
    screen = start_screen("1280x800x24")
    os.environ |= {"DISPLAY": screen.name, "XDG_SESSION_TYPE": "x11", "LC_ALL": "C.UTF-8"}
    try:
        with program("openbox"):
            wait_until(lambda: of_root(screen, "_NET_SUPPORTING_WM_CHECK"), "the window manager")
            measure(screen, name, layouts, sentences)
    finally:
        screen.stop()


if __name__ == "__main__":
    main()
