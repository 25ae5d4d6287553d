"""Commits: how names lead to them, and what they say."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import msgspec

from ingot.git.core.errors import DamagedRepository
from ingot.git.core.library import open_repository
from ingot.git.core.names import is_well_formed_ref
from ingot.git.core.refs import HEADS, TAGS
from ingot.git.core.repository import Repository
from ingot.git.history.hidden_objects import hidden_objects_among

if TYPE_CHECKING:
    import pygit2

NO_OID = "0" * 40
_OID = re.compile(r"[0-9a-f]{40}", re.IGNORECASE)
# Kinds of objects, by the numbers that git itself gives them in packs.
_COMMIT, _TAG = 1, 4
_DEFAULT_ENCODING = "utf-8"
_NOT_TEXT = re.compile(r"[\0\ud800-\udfff]")
"""Neither JSON nor a database takes these."""
_ABBREVIATED_OID = re.compile(r"[0-9a-f]{4,39}", re.IGNORECASE)


class Signature(msgspec.Struct, frozen=True):
    """Who and when; the time in seconds, and in which zone, in minutes east of Greenwich."""

    name: str
    email: str
    time: int
    offset: int

    @property
    def zoned(self) -> str:
        """When, in the zone of whoever did it; a time beyond what a calendar holds is shown as its end."""
        try:
            zone = timezone(timedelta(minutes=self.offset))
            return datetime.fromtimestamp(self.time, zone).isoformat(timespec="seconds")
        except (ValueError, OverflowError, OSError):  # Beyond what a calendar holds.
            end = datetime.max if self.time > 0 else datetime.min
            return end.replace(tzinfo=UTC).isoformat(timespec="seconds")


class Commit(msgspec.Struct, frozen=True):
    """A commit as it is stored."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str

    @property
    def title(self) -> str:
        """The first line of the message that says something."""
        # From the start of that line: git shows spaces before the first word too.
        message = self.message
        start = message.rfind("\n", 0, len(message) - len(message.lstrip())) + 1
        return message[start:].partition("\n")[0].rstrip()


def commit_id_or_none(repository: Repository, name: str) -> str | None:
    """The commit that a branch, a tag, ``HEAD`` or a (short) id leads to; nothing where there is none.

    A branch wins over a tag of the same name, and both over a short id; only a whole id cannot be a name.
    """
    found = _object_by_name(repository, name)
    return None if found is None else str(found.id)


def commit_by_name_or_none(repository: Repository, name: str) -> Commit | None:
    """The same, read."""
    found = _object_by_name(repository, name)
    return None if found is None else _to_commit(found)


def _object_by_name(repository: Repository, name: str) -> Any:
    handle = open_repository(repository.path)
    if _OID.fullmatch(name):
        return _unless_hidden(repository, _peel_to_commit(handle, handle.get(name.lower())))
    if name == "HEAD":
        return _tip(handle, HEADS + repository.head_branch().encode(errors="replace"))
    raw = name.encode(errors="replace")
    found = _tip(handle, HEADS + raw) or _tip(handle, TAGS + raw)
    if found is None and name.startswith(("refs/heads/", "refs/tags/")):
        found = _tip(handle, raw)
    if found is None and _ABBREVIATED_OID.fullmatch(name):
        return _unless_hidden(repository, _expand_abbreviated(handle, name))
    return found


def _unless_hidden(repository: Repository, found: Any) -> Any:
    """What was found by its id, unless it is not for whoever looks."""
    if found is None or not repository.hidden:
        return found
    return None if hidden_objects_among(repository, [str(found.id)], repository.hidden) else found


def _expand_abbreviated(handle: "pygit2.Repository", beginning: str) -> Any:
    try:
        return _peel_to_commit(handle, handle.get(handle.expand_id(beginning.lower())))
    except (KeyError, ValueError):  # None, or more than one.
        return None


def commit_by_prefix_or_none(repository: Repository, beginning: str) -> Commit | None:
    """The one commit whose id begins so; a branch or tag of this name is not meant."""
    found = _unless_hidden(repository, _expand_abbreviated(open_repository(repository.path), beginning))
    return _to_commit(found) if found is not None and str(found.id).startswith(beginning.lower()) else None


def branch_tip(repository: Repository, name: str) -> str | None:
    """The commit at the head of a branch, by its short name."""
    return _tip_id(repository, HEADS + name.encode(errors="replace"))


def tag_tip(repository: Repository, name: str) -> str | None:
    """The commit that a tag points at in the end, by its short name."""
    return _tip_id(repository, TAGS + name.encode(errors="replace"))


def ref_target_or_none(repository: Repository, ref: bytes) -> str | None:
    """The object that a reference points at, by its full name; as fast in a repository with many of them."""
    found = _target(open_repository(repository.path), ref)
    return None if found is None else str(found)


def commit_or_none(repository: Repository, oid: str) -> Commit | None:
    """The commit with this id; nothing where it is missing, or is something else."""
    found: Any = open_repository(repository.path).get(oid)
    return _to_commit(found) if found is not None and found.type == _COMMIT else None


def read_commits(repository: Repository, oids: list[str]) -> list[Commit]:
    """The commits with these ids, in their order; they must be there."""
    handle = open_repository(repository.path)
    read = []
    for oid in oids:
        found = handle.get(oid)
        if found is None:
            raise DamagedRepository(f"A commit of {repository.path.name} is missing")
        read.append(_to_commit(found))
    return read


def _target(handle: "pygit2.Repository", ref: bytes) -> Any:
    if not is_well_formed_ref(ref):
        return None
    try:
        return handle.lookup_reference(ref.decode()).resolve().target
    except (KeyError, ValueError):  # Missing, or not to be decoded: names in the API are text.
        return None


def _tip_id(repository: Repository, ref: bytes) -> str | None:
    found = _tip(open_repository(repository.path), ref)
    return None if found is None else str(found.id)


def _tip(handle: "pygit2.Repository", ref: bytes) -> Any:
    target = _target(handle, ref)
    return None if target is None else _peel_to_commit(handle, handle.get(target))


def _peel_to_commit(handle: "pygit2.Repository", found: Any) -> Any:
    """The commit that an object is, or that a tag of a tag of … leads to."""
    while found is not None and found.type == _TAG:
        found = handle.get(found.target)
    return found if found is not None and found.type == _COMMIT else None


def _to_commit(found: Any) -> Commit:
    encoding = commit_encoding(found)
    return Commit(
        str(found.id),
        str(found.tree_id),
        tuple(map(str, found.parent_ids)),
        to_signature(found.author, encoding),
        to_signature(found.committer, encoding),
        commit_message(found),
    )


def commit_message(found: Any) -> str:
    """What a commit says, as libgit2 shows it."""
    return decode_text(found.raw_message, commit_encoding(found))


def commit_encoding(found: Any) -> str:
    """The encoding that a commit claims to be written in."""
    try:
        return found.message_encoding or _DEFAULT_ENCODING
    except UnicodeDecodeError:  # Not even its name is plain.
        return _DEFAULT_ENCODING


def to_signature(found: Any, encoding: str = _DEFAULT_ENCODING) -> Signature:
    """A signature as libgit2 shows it."""
    return Signature(
        decode_text(found.raw_name, encoding), decode_text(found.raw_email, encoding), found.time, found.offset
    )


def decode_text(raw: bytes, encoding: str = _DEFAULT_ENCODING) -> str:
    """Text that somebody may have written in another encoding than they said; nothing is lost to an error."""
    if encoding != _DEFAULT_ENCODING:
        text = _decode_or_none(raw, encoding)
        if text is not None:
            return text
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _decode_or_none(raw: bytes, encoding: str) -> str | None:
    """The text, unless it cannot be meant so: some encodings make signs of plain letters that no text may hold."""
    try:
        text = raw.decode(encoding)
    except (LookupError, ValueError):
        return None
    return None if _NOT_TEXT.search(text) else text
