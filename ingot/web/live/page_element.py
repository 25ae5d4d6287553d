"""Element of a page that names its stream, with the script that opens it."""

from urllib.parse import urlencode

from markupsafe import Markup, escape

from ingot.core.db.times import Timestamp, to_datetime
from ingot.web.files.static import versioned_url
from ingot.web.live.topics import STREAM_PATH

_POLL_SECONDS = 15


def live_element(
    now: Timestamp,
    kind: str,
    parent: object = "",
    number: object = "",
    *,
    poll_seconds: int = _POLL_SECONDS,
    source: str = "",
) -> Markup:
    """Return the element for a page that was rendered at ``now``; ``poll_seconds`` applies if there is no stream.

    ``source`` is the URL of the changed parts; by default that of the page.
    """
    query = {"kind": kind, "parent": parent, "number": number, "since": to_datetime(now).timestamp()}
    stream, script = escape(f"{STREAM_PATH}?{urlencode(query)}"), escape(versioned_url("live.js"))
    attributes = f'data-live="{stream}" data-live-poll="{poll_seconds}" data-live-source="{escape(source)}"'
    return Markup(f'<div hidden {attributes}></div><script src="{script}" defer></script>')  # noqa: S704 - All values are escaped.
