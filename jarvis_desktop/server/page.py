"""The page for a browser, `/`: a request, and its steps while they are done.

It is static and has no secrets: it asks for the token, which it sends with each request, as other
programs do. It loads nothing from elsewhere, and nothing may put it into a frame.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from jarvis_desktop.paths import shipped

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
FILES = {"/": "index.html", "/page.css": "page.css", "/page.js": "page.js"}


def routes() -> list[Route]:
    """Return the routes of the page and of what it loads."""

    async def file(request: Request) -> Response:
        name = FILES[request.url.path]
        return FileResponse(shipped("resources", "web", name), headers=HEADERS)

    return [Route(path, file, methods=["GET"]) for path in FILES]
