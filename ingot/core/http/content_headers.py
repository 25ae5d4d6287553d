"""Headers of responses with files of users, which a browser never executes."""

import re
from urllib.parse import quote

from ingot.core.http.request import Header

_UNSAFE_IN_QUOTES = re.compile(r'[^\x20-\x7e]|["\\%]')
# If a browser renders the response as a page after all, the sandbox blocks scripts and requests.
SANDBOX: Header = (b"content-security-policy", b"sandbox; default-src 'none'")


def content_disposition(kind: str, name: str) -> Header:
    """Return a Content-Disposition header. Names with special characters are sent a second time in UTF-8 (RFC 6266)."""
    plain = _UNSAFE_IN_QUOTES.sub("_", name)
    value = f'{kind}; filename="{plain}"'
    if plain != name:
        value += f"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"
    return (b"content-disposition", value.encode())
