"""What children load from files, loaded by the process that forks."""

import functools

import hibari.g2p

from jarvis_desktop.text import languages

languages.ranked("warm")  # loads the weights
hibari.g2p._load_json = functools.cache(hibari.g2p._load_json)
hibari.g2p.G2P()
