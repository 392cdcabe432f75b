"""An MCP server of the current protocol, made with the library that the application uses."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("good")

PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15"
    b"\xc4\x89\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"
)


@server.tool()
def greet(name: str, times: int = 1) -> str:
    """Greets somebody."""
    return " ".join([f"Hello {name}!"] * times)


@server.tool()
def draw() -> list[str | Image]:
    """Draws a picture."""
    return ["Here it is.", Image(data=PNG, format="png")]


class Colour(BaseModel):
    colour: Literal["red", "blue"]


async def asked() -> Elicit[Colour]:
    return Elicit("Which colour?", Colour)


@server.tool()
def paint(colour: Annotated[Colour, Resolve(asked)]) -> str:
    """Paints."""
    return f"It is {colour.colour}."


if __name__ == "__main__":
    server.run()
