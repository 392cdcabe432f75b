from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError, StorageError, UnavailableError
from jarvis_desktop.storage.web_fetch import FetchLimits, WebFetcher, checked
from tests.storage.server import Site, running_site

PUBLIC = "93.184.216.34"
PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 100


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    folder = tmp_path / "site"
    folder.mkdir()
    with running_site(folder) as running:
        yield running


@pytest.fixture
def to(tmp_path: Path) -> Path:
    folder = tmp_path / "to"
    folder.mkdir()
    return folder


def fetcher(
    site: Site, limits: FetchLimits | None = None, **addresses: Sequence[str]
) -> WebFetcher:
    """One whose names all lie at a public address, unless said otherwise, which is our server."""

    async def find(host: str) -> Sequence[str]:
        return addresses.get(host.partition(".")[0], (PUBLIC,))

    def check(host: str, found: Sequence[str]) -> str:
        checked(host, found)
        return "127.0.0.1"

    return WebFetcher(limits or FetchLimits(), find=find, check=check, trust=site.trust)


async def test_a_file_is_fetched_under_its_own_name(site, to):
    site.pages["/a/photo%20one.png?size=2"] = (200, {"Content-Type": "image/png"}, PNG)
    path = await fetcher(site).fetch(site.url("/a/photo%20one.png?size=2"), to)
    assert path == to / "photo_one.png"
    assert path.read_bytes() == PNG
    assert site.asked == [(f"files.example:{site.port}", "/a/photo%20one.png?size=2")]


@pytest.mark.parametrize(
    ("path", "kind", "name"),
    [
        ("/", "text/html; charset=utf-8", "files.example.html"),
        ("/wiki/Paris", "text/html", "Paris.html"),
        ("/x.php", "image/png", "x.php.png"),
        ("/..%2F..%2Fetc%2Fpasswd", "text/plain", "passwd.txt"),
        ("/a%00%0Ab.png", "image/png", "a__b.png"),
        ("/.bashrc", "text/plain", "bashrc.txt"),
        ("/" + "n" * 300 + ".png", "image/png", "n" * 56 + ".png"),
        ("/" + "%E6%BC%A2" * 90 + ".png", "image/png", "漢" * 56 + ".png"),
        ("/data", "", "data"),
    ],
)
async def test_names_are_fit_for_a_folder(site, to, path, kind, name):
    site.pages[path] = (200, {"Content-Type": kind}, b"text")
    assert (await fetcher(site).fetch(site.url(path), to)).name == name
    assert [each.name for each in to.iterdir()] == [name]


async def test_a_redirect_is_followed_and_checked_anew(site, to):
    site.pages["/old"] = (302, {"Location": "/new.png"}, b"")
    site.pages["/new.png"] = (200, {}, PNG)
    assert (await fetcher(site).fetch(site.url("/old"), to)).name == "new.png"

    site.pages["/inside"] = (302, {"Location": site.url("/new.png", "router.lan")}, b"")
    with pytest.raises(InputError, match=r"router\.lan is not a place"):
        await fetcher(site, router=["192.168.0.1"]).fetch(site.url("/inside"), to)
    site.pages["/file"] = (302, {"Location": "file:///etc/passwd"}, b"")
    with pytest.raises(InputError, match="not the address of a web page"):
        await fetcher(site).fetch(site.url("/file"), to)
    assert [each.name for each in to.iterdir()] == ["new.png"]


async def test_a_disk_that_refuses_the_file_is_told(site, to):
    site.pages["/x.png"] = (200, {}, PNG)
    (to / "x.png").mkdir()
    with pytest.raises(StorageError, match=r"x\.png could not be saved: file exists"):
        await fetcher(site).fetch(site.url("/x.png"), to)


async def test_redirects_end_somewhere(site, to):
    site.pages["/round"] = (302, {"Location": "/round"}, b"")
    with pytest.raises(UnavailableError, match="without end"):
        await fetcher(site).fetch(site.url("/round"), to)
    assert len(site.asked) == 4


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://files.example/x",
        "https://",
        "https://[::1",
        "javascript:alert(1)",
        "https://files.example/" + "x" * 3000,
        "https://files.example:99999/x",
    ],
)
async def test_other_addresses_are_refused(site, to, url):
    with pytest.raises(InputError, match="is not the address"):
        await fetcher(site).fetch(url, to)


async def test_an_address_with_a_password_is_refused(site, to):
    with pytest.raises(InputError, match="name or password") as caught:
        await fetcher(site).fetch("https://me:secret@files.example/x", to)
    assert "secret" not in str(caught.value)


async def test_a_private_place_is_never_asked(site, to):
    with pytest.raises(InputError, match="public network"):
        await fetcher(site, files=["10.0.0.1"]).fetch(site.url("/x"), to)
    assert not site.asked


async def test_plain_http_becomes_https(tmp_path, to):
    asked = []

    async def find(host: str) -> Sequence[str]:
        return (PUBLIC,)

    def check(host: str, found: Sequence[str]) -> str:
        asked.append(host)
        return "127.0.0.1"  # where nothing listens at the port of https

    with pytest.raises(UnavailableError, match="could not be fetched"):
        await WebFetcher(find=find, check=check).fetch("http://files.example:8080/x", to)
    assert asked == ["files.example"]


async def test_a_certificate_that_is_not_right_is_told(site, to):
    with pytest.raises(UnavailableError, match="certificate is not right"):
        await fetcher(site).fetch(site.url("/x", "other.example"), to)


@pytest.mark.parametrize("status", [401, 404, 500])
async def test_what_is_not_given_is_told(site, to, status):
    site.pages["/x"] = (status, {}, b"no")
    with pytest.raises(UnavailableError, match=f"status {status}") as caught:
        await fetcher(site).fetch(site.url("/x"), to)
    assert caught.value.retryable == (status == 500)


async def test_too_much_is_refused(site, to):
    site.pages["/big.png"] = (200, {}, b"x" * 3_000_000)
    with pytest.raises(InputError, match="more than 1 MB"):
        await fetcher(site, FetchLimits(bytes=1_000_000)).fetch(site.url("/big.png"), to)


async def test_packed_bytes_are_refused(site, to):
    site.pages["/x"] = (200, {"Content-Encoding": "gzip"}, b"x")
    with pytest.raises(UnavailableError, match="unexpected encoding"):
        await fetcher(site).fetch(site.url("/x"), to)


async def test_silence_and_dripping_end(site, to):
    site.hang.add("/hang")
    with pytest.raises(UnavailableError, match="too long"):
        await fetcher(site, FetchLimits(silence=0.2)).fetch(site.url("/hang"), to)
    site.pages["/drip"] = (200, {}, b"x" * 100_000)
    site.drip.add("/drip")
    with pytest.raises(UnavailableError, match="too long"):
        await fetcher(site, FetchLimits(seconds=0.5)).fetch(site.url("/drip"), to)


async def test_a_body_that_breaks_off_is_no_file(site, to):
    site.pages["/x"] = (200, {}, b"x" * 1000)
    site.cut.add("/x")
    with pytest.raises(UnavailableError, match="broke off"):
        await fetcher(site).fetch(site.url("/x"), to)
