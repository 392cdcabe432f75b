"""Files that lie on the network, fetched with care."""
