"""Symbolic links in the archive of a site."""

from collections.abc import Mapping

from ingot.sites.files.index import SiteEntry

_MAX_HOPS = 8


def resolve_links(files: Mapping[bytes, SiteEntry], links: Mapping[bytes, bytes]) -> dict[bytes, SiteEntry]:
    """Return the files that links name, by the paths of the links.

    Links to folders, out of the site and in circles are left out, so that a site contains only its own files.
    """
    found = {}
    for path in links:
        target: bytes | None = path
        for _ in range(_MAX_HOPS):
            if target is None or target not in links:
                break
            target = _target_path(target, links[target])
        if target is not None and target in files:
            found[path] = files[target]
    return found


def _target_path(link: bytes, target: bytes) -> bytes | None:
    """Return the path that a link names, relative to the site; None if it leaves the site."""
    if target.startswith(b"/"):
        return None
    parts = link.split(b"/")[:-1]
    for part in target.split(b"/"):
        if part == b"..":
            if not parts:
                return None
            parts.pop()
        elif part not in (b"", b"."):
            parts.append(part)
    return b"/".join(parts)
