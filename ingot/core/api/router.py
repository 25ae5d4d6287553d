"""Router by the undecoded path of a request, since an id in it may contain ``%2F``."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar
from urllib.parse import unquote

_NAME = re.compile(r":(\w+)")


class RoutedDeclaration(Protocol):
    """A declaration with a method and a path, such as an endpoint or a page."""

    method: str
    path: str


D = TypeVar("D", bound=RoutedDeclaration)


@dataclass(slots=True)
class _Node(Generic[D]):
    literal: dict[bytes, "_Node[D]"] = field(default_factory=dict)
    any: "_Node[D] | None" = None
    declared: dict[str, tuple[D, list[str]]] = field(default_factory=dict)


class NoRoute(Exception):
    """No route has this path."""


class WrongMethod(Exception):
    """The path exists, but not with this method."""

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(", ".join(allowed))
        self.allowed = allowed


class Router(Generic[D]):
    """A tree of path segments; a literal takes precedence over a parameter.

    ``slashes`` returns the parameter of a declaration that may span several segments, if no path matches otherwise.
    """

    def __init__(self, declared: Iterable[D], slashes: Callable[[D], str] = lambda _: "") -> None:
        self.declared = list(declared)
        self._root: _Node[D] = _Node()
        for each in self.declared:
            self._add(each)
        patterns = [(_pattern_with_slashes(each.path, name), each) for each in self.declared if (name := slashes(each))]
        # Patterns with a literal after the parameter come first, or the literal would be matched as a part of it.
        self._slash_patterns = sorted(patterns, key=lambda each: each[1].path.rpartition("/")[2].startswith(":"))

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
        """Return the matching declaration and its decoded path parameters; raise ``NoRoute`` or ``WrongMethod``."""
        segments = _segments(path)
        route_method = "GET" if method == "HEAD" else method
        result = _find_node(self._root, segments, 0, [])
        if result is None:
            return self._match_with_slashes(route_method, b"/".join(segments))
        node, values = result
        entry = node.declared.get(route_method)
        if entry is None:
            raise _wrong_method(node.declared)
        declared, names = entry
        return declared, _parameters(names, values) if values else {}

    def _match_with_slashes(self, method: str, path: bytes) -> tuple[D, dict[str, str]]:
        methods = set()
        for pattern, declared in self._slash_patterns:
            match = pattern.fullmatch(path)
            if match is not None and declared.method == method:
                return declared, _parameters(_NAME.findall(declared.path), match.groups())
            if match is not None:
                methods.add(declared.method)
        if methods:
            raise _wrong_method(methods)
        raise NoRoute


def _pattern_with_slashes(path: str, name: str) -> re.Pattern[bytes]:
    parts = path.strip("/").split("/")
    patterns = ["(.+)" if part == f":{name}" else "([^/]+)" if part[0] == ":" else re.escape(part) for part in parts]
    return re.compile("/".join(patterns).encode())


def _wrong_method(methods: Iterable[str]) -> WrongMethod:
    allowed = sorted(methods)
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
    """Split a path; doubled slashes, which some clients send, count as one."""
    return [segment for segment in path.split(b"/") if segment]


def _find_node(
    node: _Node[D], segments: list[bytes], depth: int, values: list[bytes]
) -> tuple[_Node[D], list[bytes]] | None:
    if depth == len(segments):
        return (node, values) if node.declared else None
    segment = segments[depth]
    literal = node.literal.get(segment)
    if literal is not None:
        result = _find_node(literal, segments, depth + 1, values)
        if result is not None:
            return result
    if node.any is not None:
        return _find_node(node.any, segments, depth + 1, [*values, segment])
    return None
