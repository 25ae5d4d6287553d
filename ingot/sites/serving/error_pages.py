"""Short pages for errors of sites that have none of their own."""

from html import escape

from ingot.core.api.responses import ApiResponse

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem;color:#1f2328;
background:#fff}}@media(prefers-color-scheme:dark){{body{{color:#e6edf3;background:#0d1117}}}}</style>
<h1>{title}</h1><p>{text}</p></html>
"""


def error_page(status: int, title: str, text: str) -> ApiResponse:
    """Return the page of an error."""
    body = _PAGE.format(title=escape(title), text=escape(text)).encode()
    return ApiResponse(status, body, [(b"content-type", b"text/html; charset=utf-8"), (b"cache-control", b"no-store")])


def not_found() -> ApiResponse:
    """Return the page for a site or file that does not exist, or that the visitor may not see."""
    return error_page(404, "Page not found", "There is no page at this address, or you have no access to it.")
