"""Files that are attached to issues, pull requests and comments of Gitea."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from ingot.import_export.sources.gitea.shapes import GiteaAttachment

_IMAGE = re.compile(r"\.(png|jpe?g|gif|webp|svg|avif|bmp)$", re.IGNORECASE)
_FILE = re.compile(
    r"(/[^/]+/[^/]+)?/attachments/[0-9a-f-]{36}|/[^/]+/[^/]+/releases/download/.+|/(repo-)?avatars/[0-9a-zA-Z-]+"
)


def with_attachments(text: str | None, attachments: Sequence[GiteaAttachment] | None) -> str:
    """Append links to the attached files that the text does not contain; Gitea shows them below the text."""
    text = text or ""
    missing = [
        f"{'!' if _IMAGE.search(each.name) else ''}[{_escaped(each.name)}]({each.browser_download_url})"
        for each in attachments or []
        if each.uuid and each.uuid not in text
    ]
    return "\n\n".join([part for part in (text, "\n".join(missing)) if part])


def file_path(link: str, urls: Sequence[str]) -> str | None:
    """Return the path of a file below one of the server's URLs, or None if the link is not a file of this server."""
    parts = urlsplit(link)
    for url in urls:
        base = urlsplit(url)
        if parts.netloc and (parts.scheme, parts.netloc) != (base.scheme, base.netloc):
            continue
        path = parts.path.removeprefix(base.path.rstrip("/"))
        if _FILE.fullmatch(path):
            return path
    return None


def _escaped(name: str) -> str:
    return name.replace("[", "\\[").replace("]", "\\]")
