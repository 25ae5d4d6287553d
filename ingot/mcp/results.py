"""Short results of tools: chosen attributes of responses, and texts."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.core.api.responses import encode
from ingot.core.api.routes import ContentResponse, RawResponse, StreamedResponse
from ingot.core.db.paging import Listing

MAX_TEXT_BYTES = 50_000
"""Longest text of a result; it is about 12,000 tokens."""


def result_of(response: Any, fields: Sequence[str], *, tail: bool = False, offset: int | None = None) -> dict[str, Any]:
    """Return the result of a tool call; of a long text, the part from an offset, or its end or begin."""
    if isinstance(response, RawResponse | ContentResponse | StreamedResponse):
        return text_result(_text_of(response, tail=tail, offset=offset))
    if isinstance(response, Listing):
        items = [_chosen(item, fields) for item in msgspec.json.decode(encode(response.items))]
        return _structured({"items": items, **_next_page(response)})
    document = msgspec.json.decode(encode(response))
    if isinstance(document, list):
        return _structured({"items": [_chosen(item, fields) for item in document]})
    return _structured(_chosen(document, fields))


def text_result(text: str, *, is_error: bool = False) -> dict[str, Any]:
    """Return a result that is a text."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def _structured(content: dict[str, Any]) -> dict[str, Any]:
    return {**text_result(encode(content).decode()), "structuredContent": content}


def _chosen(document: dict[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Return these attributes, without those that are null; ``author.username`` is an attribute of an attribute."""
    if not fields:
        return document
    values = {field: _value(document, field.split(".")) for field in fields}
    return {field.replace(".username", ""): value for field, value in values.items() if value is not None}


def _value(document: Any, path: list[str]) -> Any:
    for position, name in enumerate(path):
        if isinstance(document, list):
            return [_value(item, path[position:]) for item in document]
        if not isinstance(document, dict):
            return None
        document = document.get(name)
    return document


def _next_page(listing: Listing[Any]) -> dict[str, int]:
    page = listing.page
    more = listing.more if listing.total is None else listing.total > page.number * page.size
    return {"next_page": page.number + 1} if more else {}


def _text_of(response: RawResponse | ContentResponse | StreamedResponse, *, tail: bool, offset: int | None) -> str:
    if isinstance(response, StreamedResponse):
        return "The content is not available through this tool."
    content = response.body
    size = len(content) if content is not None else response.size or 0 if isinstance(response, ContentResponse) else 0
    start = max(0, size - MAX_TEXT_BYTES) if tail else 0
    start = start if offset is None else min(offset, size)
    stop = min(size, start + MAX_TEXT_BYTES)
    if content is None and isinstance(response, ContentResponse):
        content = b"".join(response.pieces(start, stop)) if size else b""
    else:
        content = (content or b"")[start:stop]
    if b"\0" in content:
        return "The content is binary."
    text = content.decode("utf-8", "replace")
    if stop - start == size:
        return text
    return f"[bytes {start} to {stop} of {size}]\n{text}"
