"""Tags: what they say, and how annotated ones are written."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.git.commits import Commit, Signature, commit_id, commit_or_none, decoded, ref_target, signature_of
from ingot.git.library import library, open_repository
from ingot.git.refs import TAGS
from ingot.git.repository import Repository
from ingot.git.sorted_refs import NamedRef

_UNFIT = re.compile(r"[\x00-\x1f\x7f<>]+")
_EDGES = " .,:;\"'\\"


class Tag(msgspec.Struct, frozen=True):
    """A tag; what only an annotated one has is empty otherwise, and one of a file or a tree has no commit."""

    name: bytes
    target: str
    """The object that the reference points at: a tag object, or the commit itself."""
    message: str | None
    tagger: Signature | None
    commit: Commit | None


def tag_or_none(repository: Repository, name: str) -> NamedRef | None:
    """The tag of this short name, and no other spelling of a commit."""
    raw = name.encode(errors="replace")
    target = ref_target(repository, TAGS + raw)
    return None if target is None else NamedRef(raw, target)


def read_tags(repository: Repository, refs: Sequence[NamedRef]) -> list[Tag]:
    """What some tags say, in their order."""
    return [_read(repository, ref) for ref in refs]


def _read(repository: Repository, ref: NamedRef) -> Tag:
    found: Any = open_repository(repository.path).get(ref.oid)
    message = tagger = None
    if found is not None and found.type == library().enums.ObjectType.TAG:
        message = decoded(found.raw_message or b"").removesuffix("\n")
        tagger = None if found.tagger is None else signature_of(found.tagger)
    commit = commit_id(repository, ref.oid)
    return Tag(ref.name, ref.oid, message, tagger, commit_or_none(repository, commit) if commit else None)


def write_tag(repository: Repository, name: str, commit: str, message: str, tagger: Signature) -> str:
    """Write the object of an annotated tag, to which no reference points yet; gives its id."""
    lines = [f"object {commit}", "type commit", f"tag {name}", f"tagger {_person(tagger)}", "", message.strip(), ""]
    handle = open_repository(repository.path)
    return str(handle.write(library().enums.ObjectType.TAG, "\n".join(lines).encode()))


def _person(tagger: Signature) -> str:
    """A line as git writes it: nothing in a name may look like its end."""
    name, email = (_UNFIT.sub("", text).strip(_EDGES) for text in (tagger.name, tagger.email))
    sign, minutes = "-" if tagger.offset < 0 else "+", abs(tagger.offset)
    return f"{name or email} <{email}> {tagger.time} {sign}{minutes // 60:02d}{minutes % 60:02d}"
