"""Template language of changelogs: ``{{ a.b }}``, ``{% if a %}``, ``{% else %}``, ``{% each a %}``, ``{% end %}``.

A backslash at the end of a line joins it with the next one. The language has no calls and no loops without an end, so
that templates of users are safe.
"""

import re
from collections.abc import Iterator
from typing import Any

from ingot.core.errors import Invalid

MAX_LENGTH = 20_000
MAX_DEPTH = 20
_TAG = re.compile(r"\{\{\s*(?P<value>[\w.]+)\s*\}\}|\{%\s*(?P<word>\w+)(?:\s+(?P<subject>[\w.]+))?\s*%\}\n?")
Node = tuple[str, str, list[Any], list[Any]]
"""Kind (text, value, if, each), its text or subject, and its two bodies."""


def render_template(template: str, data: dict[str, Any]) -> str:
    """Fill in a template; raise Invalid if it is not well-formed."""
    if len(template) > MAX_LENGTH:
        raise Invalid(f"The template of a changelog has {MAX_LENGTH} characters at most")
    nodes, end = _parse(_tokens(template.replace("\\\n", "")), 0)
    if end:
        raise Invalid(f"The template of the changelog has an unexpected {end}")
    return "".join(_render(nodes, data))


def _tokens(template: str) -> Iterator[re.Match[str] | str]:
    start = 0
    for match in _TAG.finditer(template):
        if match.start() > start:
            yield template[start : match.start()]
        yield match
        start = match.end()
    if start < len(template):
        yield template[start:]


def _parse(tokens: Iterator[re.Match[str] | str], depth: int) -> tuple[list[Node], str]:
    """Parse up to the word that ends a body; return the nodes and that word."""
    if depth > MAX_DEPTH:
        raise Invalid("The template of the changelog is nested too deeply")
    nodes: list[Node] = []
    for token in tokens:
        if isinstance(token, str):
            nodes.append(("text", token, [], []))
        elif token["value"]:
            nodes.append(("value", token["value"], [], []))
        elif token["word"] in ("end", "else"):
            return nodes, token["word"]
        elif token["word"] in ("if", "each") and token["subject"]:
            body, end = _parse(tokens, depth + 1)
            otherwise: list[Node] = []
            if end == "else":
                otherwise, end = _parse(tokens, depth + 1)
            if end != "end":
                raise Invalid("The template of the changelog lacks an end")
            nodes.append((token["word"], token["subject"], body, otherwise))
        else:
            raise Invalid(f"The template of the changelog has an unknown statement {token['word']}")
    return nodes, ""


def _render(nodes: list[Node], data: Any) -> Iterator[str]:
    for kind, text, body, otherwise in nodes:
        if kind == "text":
            yield text
            continue
        value = _lookup(data, text)
        if kind == "value":
            yield "" if value is None else str(value)
        elif kind == "if":
            yield from _render(body if value else otherwise, data)
        else:
            for item in value if isinstance(value, list) else ():
                yield from _render(body, item)


def _lookup(data: Any, path: str) -> Any:
    for name in () if path == "it" else path.split("."):
        data = data.get(name) if isinstance(data, dict) else None
    return data
