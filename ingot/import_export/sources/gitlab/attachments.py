"""Links to uploads in the texts of a GitLab project."""

import re
from urllib.parse import unquote, urlsplit

_UPLOAD = re.compile(r"(?P<place>.*)/uploads/(?P<secret>[0-9a-f]{32})/(?P<name>[^/?#]+)")


def upload_of(link: str, url: str, full_path: str, project_id: int) -> tuple[str, str] | None:
    """Return secret and name of the upload that a link names, or None if it is no upload of this project.

    Links are relative to the project, or contain its path or its id.
    """
    base = urlsplit(url)
    parts = urlsplit(link)
    if parts.netloc and (parts.scheme, parts.netloc) != (base.scheme, base.netloc):
        return None
    match = _UPLOAD.fullmatch(parts.path)
    if match is None:
        return None
    place = match["place"].removeprefix(base.path.rstrip("/"))
    if place not in ("", f"/{full_path}", f"/-/project/{project_id}"):
        return None
    name = unquote(match["name"])
    # A name with a path would let the text of any user name another object that the token may read.
    return None if "/" in name or name in (".", "..") else (match["secret"], name)
