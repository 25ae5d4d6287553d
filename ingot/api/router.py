"""Finds the endpoint of a request by its undecoded path, since an id in it may hold ``%2F``."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar
from urllib.parse import unquote

_NAME = re.compile(r":(\w+)")


class Declared(Protocol):
    """What has a method and a path, such as an endpoint or a page."""

    method: str
    path: str


D = TypeVar("D", bound=Declared)


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
    """A tree of path segments; a literal is preferred to a parameter."""

    def __init__(self, declared: Iterable[D]) -> None:
        self.declared = list(declared)
        self._root: _Node[D] = _Node()
        for each in self.declared:
            self._add(each)

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
        found = _walk(self._root, _segments(path), 0, [])
        if found is None:
            raise NoRoute
        node, values = found
        matched = node.declared.get("GET" if method == "HEAD" else method)
        if matched is None:
            raise WrongMethod(sorted(node.declared) + (["HEAD"] if "GET" in node.declared else []))
        declared, names = matched
        if not values:
            return declared, {}
        try:
            decoded = [_decoded(value) for value in values]
        except UnicodeDecodeError as error:
            raise NoRoute from error
        if any("\0" in value for value in decoded):
            raise NoRoute
        return declared, dict(zip(names, decoded, strict=True))


def _decoded(value: bytes) -> str:
    text = value.decode("ascii")
    return unquote(text, errors="strict") if "%" in text else text


def _segments(path: bytes) -> list[bytes]:
    """The parts between slashes; doubled ones, which clients happen to send, count as one."""
    return [segment for segment in path.split(b"/") if segment]


def _walk(
    node: _Node[D], segments: list[bytes], place: int, values: list[bytes]
) -> tuple[_Node[D], list[bytes]] | None:
    if place == len(segments):
        return (node, values) if node.declared else None
    segment = segments[place]
    literal = node.literal.get(segment)
    if literal is not None:
        found = _walk(literal, segments, place + 1, values)
        if found is not None:
            return found
    if node.any is not None:
        return _walk(node.any, segments, place + 1, [*values, segment])
    return None
