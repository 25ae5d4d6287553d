"""Links to files in the texts of GitHub."""

import re
from urllib.parse import unquote, urlsplit

_USER_CONTENT = frozenset({"user-images.githubusercontent.com", "private-user-images.githubusercontent.com"})
_ATTACHMENT = re.compile(r"/user-attachments/(assets|files)/.+|/[^/]+/[^/]+/(assets|files)/\d+/.+")


def attachment_url(link: str, url: str) -> str | None:
    """Return the URL of an attachment, or None if the link names no attachment of this server."""
    parts = urlsplit(link)
    if parts.scheme != "https" and not link.startswith(url):
        return None
    # The server would resolve it to any other page, which is then read with the token of the importing user.
    if ".." in unquote(parts.path):
        return None
    if parts.hostname in _USER_CONTENT:
        return link
    base = urlsplit(url)
    if (parts.scheme, parts.netloc) == (base.scheme, base.netloc) and _ATTACHMENT.fullmatch(parts.path):
        return link
    return None
