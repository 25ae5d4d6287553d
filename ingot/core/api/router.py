"""Finds the endpoint of a request by its undecoded path, since an id in it may hold ``%2F``."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar
from urllib.parse import unquote

_NAME = re.compile(r":(\w+)")


class RoutedDeclaration(Protocol):
    """What has a method and a path, such as an endpoint or a page."""

    method: str
    path: str


D = TypeVar("D", bound=RoutedDeclaration)


@dataclass(slots=True)
class _Node(Generic[D]):
    literal: dict[bytes, "_Node[D]"] = field(default_factory=dict)
    any: "_Node[D] | None" = None
    declared: dict[str, tuple[D, list[str]]] = field(default_factory=dict)


class NoRoute(Exception):
    """Nothing is served at this path."""


class WrongMethod(Exception):
    """The path is served, but not by this method."""

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(", ".join(allowed))
        self.allowed = allowed


class Router(Generic[D]):
    """A tree of path segments; a literal is preferred to a parameter.

    ``slashes`` says which parameter of a path may be several segments, where no path as it is declared fits.
    """

    def __init__(self, declared: Iterable[D], slashes: Callable[[D], str] = lambda _: "") -> None:
        self.declared = list(declared)
        self._root: _Node[D] = _Node()
        for each in self.declared:
            self._add(each)
        wide = [(_pattern_with_slashes(each.path, name), each) for each in self.declared if (name := slashes(each))]
        # What has a word behind the parameter comes first, else that word would be taken for a part of it.
        self._wide = sorted(wide, key=lambda each: each[1].path.rpartition("/")[2].startswith(":"))

    def _add(self, declared: D) -> None:
        node = self._root
        for segment in _segments(declared.path.encode()):
            if segment.startswith(b":"):
                node.any = node.any or _Node()
                node = node.any
            else:
                node = node.literal.setdefault(segment, _Node())
        if declared.method in node.declared:
            raise ValueError(f"{declared.method} {declared.path} is declared twice")
        node.declared[declared.method] = declared, _NAME.findall(declared.path)

    def match(self, method: str, path: bytes) -> tuple[D, dict[str, str]]:
        """What is declared there, and the decoded parameters of its path."""
        segments = _segments(path)
        asked = "GET" if method == "HEAD" else method
        found = _find_node(self._root, segments, 0, [])
        if found is None:
            return self._match_with_slashes(asked, b"/".join(segments))
        node, values = found
        matched = node.declared.get(asked)
        if matched is None:
            raise _wrong_method(node.declared)
        declared, names = matched
        return declared, _parameters(names, values) if values else {}

    def _match_with_slashes(self, method: str, path: bytes) -> tuple[D, dict[str, str]]:
        served = set()
        for pattern, declared in self._wide:
            found = pattern.fullmatch(path)
            if found is not None and declared.method == method:
                return declared, _parameters(_NAME.findall(declared.path), found.groups())
            if found is not None:
                served.add(declared.method)
        if served:
            raise _wrong_method(served)
        raise NoRoute


def _pattern_with_slashes(path: str, name: str) -> re.Pattern[bytes]:
    parts = path.strip("/").split("/")
    patterns = ["(.+)" if part == f":{name}" else "([^/]+)" if part[0] == ":" else re.escape(part) for part in parts]
    return re.compile("/".join(patterns).encode())


def _wrong_method(served: Iterable[str]) -> WrongMethod:
    allowed = sorted(served)
    return WrongMethod([*allowed, "HEAD"] if "GET" in allowed else allowed)


def _parameters(names: Sequence[str], values: Sequence[bytes]) -> dict[str, str]:
    try:
        decoded = [_decode_segment(value) for value in values]
    except UnicodeDecodeError as error:
        raise NoRoute from error
    if any("\0" in value for value in decoded):
        raise NoRoute
    return dict(zip(names, decoded, strict=True))


def _decode_segment(value: bytes) -> str:
    text = value.decode("ascii")
    return unquote(text, errors="strict") if "%" in text else text


def _segments(path: bytes) -> list[bytes]:
    """The parts between slashes; doubled ones, which clients happen to send, count as one."""
    return [segment for segment in path.split(b"/") if segment]


def _find_node(
    node: _Node[D], segments: list[bytes], place: int, values: list[bytes]
) -> tuple[_Node[D], list[bytes]] | None:
    if place == len(segments):
        return (node, values) if node.declared else None
    segment = segments[place]
    literal = node.literal.get(segment)
    if literal is not None:
        found = _find_node(literal, segments, place + 1, values)
        if found is not None:
            return found
    if node.any is not None:
        return _find_node(node.any, segments, place + 1, [*values, segment])
    return None
