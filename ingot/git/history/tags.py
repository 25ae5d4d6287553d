"""Tags: metadata, and creation of annotated tag objects."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.git.core.library import open_repository, pygit2_module
from ingot.git.core.refs import TAGS
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import NamedRef
from ingot.git.history.commits import (
    Commit,
    Signature,
    commit_id_or_none,
    commit_or_none,
    decode_text,
    ref_target_or_none,
    to_signature,
)

_FORBIDDEN_IN_NAMES = re.compile(r"[\x00-\x1f\x7f<>]+")
_STRIPPED_FROM_NAMES = " .,:;\"'\\"


class Tag(msgspec.Struct, frozen=True):
    """A tag. Message and tagger exist only for annotated tags; a tag of a blob or tree has no commit."""

    name: bytes
    target: str
    """The object that the ref points at: a tag object, or the commit itself."""
    message: str | None
    tagger: Signature | None
    commit: Commit | None


def tag_or_none(repository: Repository, name: str) -> NamedRef | None:
    """Return the tag of this short name, or None; other revision syntax is not accepted."""
    raw = name.encode(errors="replace")
    target = ref_target_or_none(repository, TAGS + raw)
    return None if target is None else NamedRef(raw, target)


def read_tags(repository: Repository, refs: Sequence[NamedRef]) -> list[Tag]:
    """Read the metadata of tags, in their order."""
    return [_read_tag(repository, ref) for ref in refs]


def _read_tag(repository: Repository, ref: NamedRef) -> Tag:
    obj: Any = open_repository(repository.path).get(ref.oid)
    message = tagger = None
    if obj is not None and obj.type == pygit2_module().enums.ObjectType.TAG:
        message = decode_text(obj.raw_message or b"").removesuffix("\n")
        tagger = None if obj.tagger is None else to_signature(obj.tagger)
    commit = commit_id_or_none(repository, ref.oid)
    return Tag(ref.name, ref.oid, message, tagger, commit_or_none(repository, commit) if commit else None)


def write_tag(repository: Repository, name: str, commit: str, message: str, tagger: Signature) -> str:
    """Write the object of an annotated tag and return its id; the caller creates the ref."""
    lines = [
        f"object {commit}",
        "type commit",
        f"tag {name}",
        f"tagger {_tagger_line(tagger)}",
        "",
        message.strip(),
        "",
    ]
    handle = open_repository(repository.path)
    return str(handle.write(pygit2_module().enums.ObjectType.TAG, "\n".join(lines).encode()))


def _tagger_line(tagger: Signature) -> str:
    """Format the tagger line; characters that could end a name are removed."""
    name, email = (
        _FORBIDDEN_IN_NAMES.sub("", text).strip(_STRIPPED_FROM_NAMES) for text in (tagger.name, tagger.email)
    )
    sign, minutes = "-" if tagger.offset < 0 else "+", abs(tagger.offset)
    return f"{name or email} <{email}> {tagger.time} {sign}{minutes // 60:02d}{minutes % 60:02d}"
