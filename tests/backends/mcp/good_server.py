"""An MCP server of the current protocol, made with the library that the application uses."""

from __future__ import annotations

from mcp.server.mcpserver import Image, MCPServer

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


if __name__ == "__main__":
    server.run()
