"""Conversion of URLs of groups and projects, whose paths may have any depth, to paths for the router.

A page of a project is declared as ``/:path/-/issues/:iid``; the browser requests ``/group/project/-/issues/3`` or, as
in most URLs of the API, ``/group/project/issues/3``. A URL that is only a path matches ``/:path``; groups also have
``/groups/:path``.
"""

from collections.abc import Callable, Iterable

from ingot.core.names import RESERVED_AT_TOP

_MARK = b"-"
_TOP = frozenset(name.encode() for name in RESERVED_AT_TOP)


def router_path(names: Iterable[str]) -> Callable[[bytes], bytes]:
    """Return a function that converts URL paths to router paths; ``names`` are the first segments of project pages."""
    page_names = frozenset(name.encode() for name in names)

    def convert(path: bytes) -> bytes:
        segments = [segment for segment in path.split(b"/") if segment]
        if not segments:
            return path
        if segments[0] == b"groups":
            return b"/groups" + _joined(*_split(segments[1:]))
        if segments[0] in _TOP:
            return path
        parent_segments, rest = _split(segments)
        if not rest:
            # The path of a project has at least two segments, even if they equal the name of a page.
            index = next((index for index in range(2, len(segments)) if segments[index] in page_names), len(segments))
            parent_segments, rest = segments[:index], segments[index:]
        return _joined(parent_segments, rest)

    return convert


def plain_path(path: bytes) -> bytes | None:
    """Return the whole URL as a project's path: a project in a subgroup may be named like one of our pages."""
    segments = [segment for segment in path.split(b"/") if segment]
    if len(segments) < 3 or segments[0] in _TOP or segments[0] == b"groups" or _MARK in segments:
        return None
    return _joined(segments, [])


def project_page_names(paths: Iterable[str]) -> set[str]:
    """Return the first path segments of the pages of projects."""
    return {path.split("/")[3] for path in paths if path.startswith("/:path/-/")}


def _split(segments: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    if _MARK not in segments:
        return segments, []
    index = segments.index(_MARK)
    return segments[:index], segments[index + 1 :]


def _joined(parent_segments: list[bytes], rest: list[bytes]) -> bytes:
    whole = b"/" + b"%2F".join(parent_segments) if parent_segments else b""
    return b"/".join([whole, _MARK, *rest]) if rest else whole
