"""Parameters of OAuth requests."""

from typing import Any

from ingot.web.page_routes import Visit

_MAX_LENGTH = 10_000


def request_params(visit: Visit) -> dict[str, str]:
    """Return query and form parameters, the form taking precedence; ignore values that are not a single valid text."""
    return {
        name: text
        for name, value in {**visit.request.query, **visit.request.form}.items()
        if (text := _text(value)) is not None
    }


def _text(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or "\0" in value or len(value) > _MAX_LENGTH:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value
