"""Reading of XML reports as a stream, without entity declarations."""

from collections.abc import Callable, Iterator
from typing import Any
from xml.parsers import expat

from ingot.ci.artifacts.reports.content import InvalidReport

_PARSED_BYTES = 2**20
"""Size of the parts that are parsed at once; older parsers begin an incomplete token again with each part."""


def read_xml(
    chunks: Iterator[bytes],
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None],
    text: Callable[[str], None],
) -> None:
    """Read one XML document and call the functions for its elements; raise ExpatError or InvalidReport."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = _refuse_entities
    part = bytearray()
    for chunk in chunks:
        part += chunk
        if len(part) >= _PARSED_BYTES:
            parser.Parse(bytes(part), False)
            part.clear()
    parser.Parse(bytes(part), True)


def _refuse_entities(*_declaration: Any) -> None:
    raise InvalidReport("entity declarations are not allowed")
