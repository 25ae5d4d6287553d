"""Archives of GitLab 9 to 12, in which one JSON document holds the whole project, as the files of later versions."""

import re
from collections.abc import Iterator
from typing import IO, TypeVar

import msgspec

from ingot.import_export.source import SourceError

DOCUMENT = "project.json"
MAX_DOCUMENT_BYTES = 256 * 2**20
"""Size up to which the document is read, which takes as much memory; later versions have lines instead."""
_RENAMED = {"pipelines": "ci_pipelines"}
_ASSIGNEES = {"issues": "issue_assignees", "merge_requests": "merge_request_assignees"}
_NUMBER = re.compile(rb"[1-9][0-9]*")
_Row = dict[str, msgspec.Raw]
T = TypeVar("T")


def split_document(content: bytes, target: IO[bytes]) -> Iterator[tuple[str, int, int]]:
    """Write the attributes and the relations of a document; yield the name, position and size of each file."""
    document = _decoded(content, _Row)
    attributes: _Row = {}
    for name, value in document.items():
        opening = bytes(value)[:64].lstrip()[:1]
        if opening == b"[" and not _is_list_of_texts(value):
            lines = [_line(name, row) for row in _decoded(value, list[msgspec.Raw])]
        elif opening == b"{":
            lines = [_one_line(value)]
        else:
            attributes[name] = value
            continue
        yield _written(target, f"tree/project/{_RENAMED.get(name, name)}.ndjson", b"".join(lines))
    yield _written(target, "tree/project.json", msgspec.json.encode(attributes))


def _written(target: IO[bytes], name: str, content: bytes) -> tuple[str, int, int]:
    position = target.tell()
    target.write(content)
    return name, position, len(content)


def _line(relation: str, row: msgspec.Raw) -> bytes:
    """Return a row of a relation in one line, with the columns of later versions."""
    assignees = _ASSIGNEES.get(relation)
    if assignees is None:
        return _one_line(row)
    try:
        columns = msgspec.json.decode(row, type=_Row)
    except msgspec.MsgspecError:  # Reported with its place when the line is read.
        return _one_line(row)
    assignee = bytes(columns.get("assignee_id", b""))
    if assignees not in columns and _NUMBER.fullmatch(assignee):
        columns[assignees] = msgspec.Raw(b'[{"user_id":%s}]' % assignee)
    if bytes(columns.get("state", b"")) == b'"reopened"':
        columns["state"] = msgspec.Raw(b'"opened"')
    return _one_line(msgspec.json.encode(columns))


def _one_line(row: "msgspec.Raw | bytes") -> bytes:
    """Return a row without line ends, which JSON has only between its values."""
    return re.sub(rb"[\r\n]+", b" ", bytes(row)) + b"\n"


def _is_list_of_texts(value: msgspec.Raw) -> bool:
    """Return whether a list is an attribute, such as the names of topics, and not a relation."""
    return re.match(rb'\s*\[\s*["\]]', bytes(value)) is not None


def _decoded(content: "msgspec.Raw | bytes", kind: type[T]) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise SourceError(f"{DOCUMENT} in the archive is not valid") from error
