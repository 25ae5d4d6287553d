"""Commits: lookup by name or id, and their metadata."""

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ingot.core.offload import require_blocking_allowed
from ingot.git.core.errors import DamagedRepository
from ingot.git.core.library import open_repository
from ingot.git.core.names import is_well_formed_ref
from ingot.git.core.refs import HEADS, TAGS, read_tip_or_none
from ingot.git.core.repository import Repository
from ingot.git.core.shared_disks import on_shared_disk
from ingot.git.history.hidden_objects import hidden_objects_among

if TYPE_CHECKING:
    import pygit2

NO_OID = "0" * 40
_OID = re.compile(r"[0-9a-f]{40}", re.IGNORECASE)
# Numbers of object types, as in git packs.
_COMMIT, _TAG = 1, 4
_DEFAULT_ENCODING = "utf-8"
_NOT_TEXT = re.compile(r"[\0\ud800-\udfff]")
"""Neither JSON nor the databases accept these characters."""
_EXPRESSION = re.compile(r"([^~^:]+)((?:~\d{0,5}|\^\d{0,5}|\^\{(?:commit)?\})+)", re.ASCII)
_SUFFIX = re.compile(r"([~^])(\d*)(\{)?")
_MAX_STEPS = 10_000
_INLINE_STEPS = 200
_ABBREVIATED_OID = re.compile(r"[0-9a-f]{4,39}", re.IGNORECASE)


class Signature(msgspec.Struct, frozen=True):
    """Author or committer with the time in seconds and the UTC offset in minutes."""

    name: str
    email: str
    time: int
    offset: int

    @property
    def zoned(self) -> str:
        """Return the time in its own zone as ISO 8601.

        A time outside of the calendar becomes the calendar's first or last.
        """
        try:
            zone = timezone(timedelta(minutes=self.offset))
            return datetime.fromtimestamp(self.time, zone).isoformat(timespec="seconds")
        except (ValueError, OverflowError, OSError):  # Outside of the calendar.
            end = datetime.max if self.time > 0 else datetime.min
            return end.replace(tzinfo=UTC).isoformat(timespec="seconds")


class Commit(msgspec.Struct, frozen=True):
    """Metadata of a commit."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str

    @property
    def title(self) -> str:
        """Return the first non-blank line of the message."""
        # Slice from the start of that line: git keeps the leading spaces of the title.
        message = self.message
        start = message.rfind("\n", 0, len(message) - len(message.lstrip())) + 1
        return message[start:].partition("\n")[0].rstrip()


def commit_id_or_none(repository: Repository, name: str) -> str | None:
    """Return the id of the commit that a branch, a tag, ``HEAD`` or a (short) id denotes, or an expression; or None.

    A branch takes precedence over a tag of the same name, and both over a short id; a full id is never read as a name.
    An expression starts with one of these and goes to ancestors: ``master~2``, ``HEAD^``, ``v1.0^{commit}``.
    """
    commit = _object_by_name(repository, name)
    return None if commit is None else str(commit.id)


def commit_by_name_or_none(repository: Repository, name: str) -> Commit | None:
    """Return the commit that a branch, a tag, ``HEAD``, a (short) id or an expression denotes, or None."""
    commit = _object_by_name(repository, name)
    return None if commit is None else _to_commit(commit)


def _object_by_name(repository: Repository, name: str) -> Any:
    handle = open_repository(repository.path)
    if _OID.fullmatch(name):
        return _unless_hidden(repository, _peel_to_commit(handle, handle.get(name.lower())))
    if name in ("HEAD", "@"):
        return _tip(handle, HEADS + repository.head_branch().encode(errors="replace"))
    raw = name.encode(errors="replace")
    commit = _tip(handle, HEADS + raw) or _tip(handle, TAGS + raw)
    if commit is None and name.startswith(("refs/heads/", "refs/tags/")):
        commit = _tip(handle, raw)
    if commit is None and _ABBREVIATED_OID.fullmatch(name):
        return _unless_hidden(repository, _expand_abbreviated(handle, name))
    if commit is None and ("~" in name or "^" in name):  # Neither is allowed in the name of a ref.
        return _unless_hidden(repository, _ancestor_by_expression(repository, handle, name))
    return commit


def _ancestor_by_expression(repository: Repository, handle: "pygit2.Repository", expression: str) -> Any:
    """Return the commit that ``master~2``, ``HEAD^2`` or ``v1^{commit}`` denotes, or None.

    Ranges, searches by message, reflogs and paths denote nothing here, and neither do more than 10,000 steps.
    """
    matched = _EXPRESSION.fullmatch(expression)
    if matched is None:
        return None
    suffixes = [(kind, int(digits or 1)) for kind, digits, peels in _SUFFIX.findall(matched[2]) if not peels]
    steps = sum(number if kind == "~" else 1 for kind, number in suffixes)
    if steps > _MAX_STEPS:
        return None
    if steps > _INLINE_STEPS:
        require_blocking_allowed()
    commit = _object_by_name(repository, matched[1])
    for kind, number in suffixes:
        for parent in [0] * number if kind == "~" else [number - 1] * (number > 0):
            parents = () if commit is None else commit.parent_ids
            commit = handle.get(parents[parent]) if parent < len(parents) else None
    return commit


def _unless_hidden(repository: Repository, obj: Any) -> Any:
    """Return the object unless only hidden refs reach it."""
    if obj is None or not repository.hidden:
        return obj
    return None if hidden_objects_among(repository, [str(obj.id)], repository.hidden) else obj


def _expand_abbreviated(handle: "pygit2.Repository", prefix: str) -> Any:
    try:
        return _peel_to_commit(handle, handle.get(handle.expand_id(prefix.lower())))
    except (KeyError, ValueError):  # Not found or ambiguous.
        return None


def commit_by_prefix_or_none(repository: Repository, prefix: str) -> Commit | None:
    """Return the only commit whose id starts with these digits, or None; branch and tag names are ignored."""
    commit = _unless_hidden(repository, _expand_abbreviated(open_repository(repository.path), prefix))
    return _to_commit(commit) if commit is not None and str(commit.id).startswith(prefix.lower()) else None


def branch_tip(repository: Repository, name: str) -> str | None:
    """Return the tip of a branch by its short name, or None."""
    return _tip_id(repository, HEADS + name.encode(errors="replace"))


def tag_tip(repository: Repository, name: str) -> str | None:
    """Return the commit that a tag points at after peeling, by its short name, or None."""
    return _tip_id(repository, TAGS + name.encode(errors="replace"))


def ref_target_or_none(repository: Repository, ref: bytes) -> str | None:
    """Return the object that a ref points at, by its full name; the cost does not depend on the number of refs."""
    target = _target(open_repository(repository.path), ref)
    return None if target is None else str(target)


def commit_or_none(repository: Repository, oid: str) -> Commit | None:
    """Return the commit with this id, or None if it is missing or not a commit."""
    obj: Any = open_repository(repository.path).get(oid)
    return _to_commit(obj) if obj is not None and obj.type == _COMMIT else None


def read_commits(repository: Repository, oids: list[str]) -> list[Commit]:
    """Return the commits with these ids in order; raise ``DamagedRepository`` if one is missing."""
    handle = open_repository(repository.path)
    commits = []
    for oid in oids:
        commit = handle.get(oid)
        if commit is None:
            raise DamagedRepository(f"A commit of {repository.path.name} is missing")
        commits.append(_to_commit(commit))
    return commits


def _target(handle: "pygit2.Repository", ref: bytes) -> Any:
    if not is_well_formed_ref(ref):
        return None
    if on_shared_disk(handle.path):  # libgit2 fails if the kernel does not know yet how long the file is.
        return read_tip_or_none(Path(handle.path), ref)
    try:
        return handle.lookup_reference(ref.decode()).resolve().target
    except (KeyError, ValueError):  # Missing, or not UTF-8: names in the API are text.
        return None


def _tip_id(repository: Repository, ref: bytes) -> str | None:
    commit = _tip(open_repository(repository.path), ref)
    return None if commit is None else str(commit.id)


def _tip(handle: "pygit2.Repository", ref: bytes) -> Any:
    target = _target(handle, ref)
    return None if target is None else _peel_to_commit(handle, handle.get(target))


def _peel_to_commit(handle: "pygit2.Repository", obj: Any) -> Any:
    """Return the object if it is a commit, or the commit that a tag points at, through nested tags."""
    while obj is not None and obj.type == _TAG:
        obj = handle.get(obj.target)
    return obj if obj is not None and obj.type == _COMMIT else None


def _to_commit(commit: Any) -> Commit:
    encoding = commit_encoding(commit)
    return Commit(
        str(commit.id),
        str(commit.tree_id),
        tuple(map(str, commit.parent_ids)),
        to_signature(commit.author, encoding),
        to_signature(commit.committer, encoding),
        commit_message(commit),
    )


def commit_message(commit: Any) -> str:
    """Return the message of a libgit2 commit."""
    return decode_text(commit.raw_message, commit_encoding(commit))


def commit_encoding(commit: Any) -> str:
    """Return the declared encoding of a commit."""
    try:
        return commit.message_encoding or _DEFAULT_ENCODING
    except UnicodeDecodeError:  # The name of the encoding is not ASCII.
        return _DEFAULT_ENCODING


def to_signature(signature: Any, encoding: str = _DEFAULT_ENCODING) -> Signature:
    """Convert a libgit2 signature."""
    return Signature(
        decode_text(signature.raw_name, encoding),
        decode_text(signature.raw_email, encoding),
        signature.time,
        signature.offset,
    )


def decode_text(raw: bytes, encoding: str = _DEFAULT_ENCODING) -> str:
    """Decode bytes whose declared encoding may be wrong; never raises."""
    if encoding != _DEFAULT_ENCODING:
        text = _decode_or_none(raw, encoding)
        if text is not None:
            return text
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _decode_or_none(raw: bytes, encoding: str) -> str | None:
    """Decode bytes, or return None if the result contains characters that are not text."""
    try:
        text = raw.decode(encoding)
    except (LookupError, ValueError):
        return None
    return None if _NOT_TEXT.search(text) else text
