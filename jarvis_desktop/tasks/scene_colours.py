"""The colour that each of the 150 kinds of things of ADE20K has in a control picture.

Painters steered by areas were trained with these: a wall is grey, sky light blue (Zhou et al.,
"Scene Parsing through ADE20K Dataset", 2017; the colours are those of its published maps).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_HEX = """
    787878b4787806e6e650323204c8037878508c8c8ccc05ffe6e6e604fa07e005ffebff0796053d78784608ff33
    ff06528fff8cccff04ff3307cc46030066c83de6faff06330b66ffff0747ff09e00907e6dcdcdcff095c7009ff
    08ffd607ffe0ffb8060aff47ff290a07ffffe0ff086608ffff3d06ffc207ff7a0800ff14ff0829ff05990633ff
    eb0cffa0961400a3ff8c8c8cfa0a0f14ff001fff00ff1f00ffe00099ff000000ffff470000ebff00adff1f00ff
    0bc8c8ff520000fff5003dff00ff7000ff85ff0000ffa300ff6600c2ff00008fff33ff000052ff00ff2900ffad
    0a00ffadff0000ff99ff5c00ff00ffff00f5ff0066ffad00ff0014ffb8b8001fff00ff3d0047ffff00cc00ffc2
    00ff52000aff0070ff3300ff00c2ff007aff00ffa3ff990000ff0aff70008fff005200ffa3ff00ffeb0008b8aa
    8500ff00ff5cb800ffff001f00b8ff00d6ffff00705cff0000e0ff70e0ff46b8a0a300ff9900ff47ff00ff00a3
    ffcc00ff008f00ffeb85ff00ff00ebf500ffff007afff5000abed4d6ff0000ccff1400ffffff000099ff0029ff
    00ffcc2900ff29ff00ad00ff00f5ff4700ff7a00ff00ffb8005cffb8ff000085ffffd60019c2c266ff005c00ff
"""

COUNT = 150


def palette() -> NDArray[np.uint8]:
    """Red, green and blue of each kind, (150, 3)."""
    import numpy as np

    return np.frombuffer(bytes.fromhex(_HEX), np.uint8).reshape(COUNT, 3)
