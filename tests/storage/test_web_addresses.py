from __future__ import annotations

import pytest

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.storage.web_fetch import checked, is_public, look_up

PRIVATE = """
127.0.0.1 127.1.2.3 0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 169.254.169.254 169.254.0.1
172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.168.0.1 192.168.255.255 198.18.0.1 198.51.100.1
203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
:: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1::
2002:808:808:: fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 ff0e::1 5f00::1 3fff::1
not-an-address 127.1 0x7f000001 2130706433 0177.0.0.1
"""


@pytest.mark.parametrize("address", PRIVATE.split())
def test_what_is_not_of_the_public_network_is_refused(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "1.1.1.1"])
def test_public_addresses_are_let_through(address):
    assert is_public(address)


def test_one_private_address_among_several_is_enough_to_refuse():
    with pytest.raises(InputError, match=r"files\.example is not a place on the public network"):
        checked("files.example", ["93.184.216.34", "127.0.0.1"])
    with pytest.raises(InputError):
        checked("files.example", [])
    assert checked("files.example", ["93.184.216.34"]) == "93.184.216.34"


LOOPBACKS = (
    "localhost",
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0",
    "::1",
)


@pytest.mark.parametrize("host", LOOPBACKS)
async def test_every_way_to_write_this_computer_is_looked_up_and_refused(host):
    try:
        found = await look_up(host)
    except UnavailableError:  # a system without IPv6, say: not reached either
        return
    with pytest.raises(InputError):
        checked(host, found)


async def test_a_name_that_cannot_be_one_is_told():
    with pytest.raises(UnavailableError, match="was not found"):
        await look_up("a" * 70)
