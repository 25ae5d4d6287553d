"""Element of a page that names its stream, with the script that opens it."""

from urllib.parse import quote_plus

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
    subject = f"kind={quote_plus(kind)}&parent={quote_plus(str(parent))}&number={quote_plus(str(number))}"
    stream = escape(f"{STREAM_PATH}?{subject}&since={to_datetime(now).timestamp()}")
    script = escape(versioned_url("live.js"))
    attributes = f'data-live="{stream}" data-live-poll="{poll_seconds}" data-live-source="{escape(source)}"'
    return Markup(f'<div hidden {attributes}></div><script src="{script}" defer></script>')  # noqa: S704 - All values are escaped.
