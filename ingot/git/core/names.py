"""Validation of branch and tag names: git's rules, and rules against ambiguous names."""

import re

MAX_BYTES = 1000
MAX_PART_BYTES = 250
"""File systems allow 255 bytes, and git appends ``.lock`` while it writes."""

_FORBIDDEN = re.compile(rb"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock/")
_OBJECT_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})(?:/|\Z)", re.IGNORECASE)
# git expands these prefixes before it searches branches, so such a branch would hide another one or be hidden.
_AMBIGUOUS_PREFIXES = ("refs/", "heads/")


def is_well_formed_ref(ref: bytes) -> bool:
    """Return whether git accepts this full ref name, which also makes it safe as a file name."""
    return (
        ref.startswith(b"refs/")
        and ref.count(b"/") >= 2
        and not ref.endswith((b"/", b".", b".lock"))
        and not _FORBIDDEN.search(ref)
    )


def ref_name_error(name: str) -> str | None:
    """Return why a branch or tag cannot have this short name, or None if the name is valid."""
    if not name:
        return "can't be blank"
    try:
        raw = name.encode()
    except UnicodeEncodeError:
        return "is not valid UTF-8"
    if len(raw) > MAX_BYTES or any(len(part) > MAX_PART_BYTES for part in raw.split(b"/")):
        return "is too long"
    if name.startswith("-"):
        return "cannot begin with '-'"
    if name.startswith(("/", ".")) or name in ("@", "HEAD") or not is_well_formed_ref(b"refs/heads/" + raw):
        return "is not a valid name for a branch or a tag"
    if name.startswith(_AMBIGUOUS_PREFIXES):
        return "cannot begin with 'refs/' or 'heads/'"
    if name.startswith("HEAD/"):
        # In every clone it would collide with refs/remotes/origin/HEAD, so that cloning would fail.
        return "cannot begin with 'HEAD/'"
    if _OBJECT_ID.match(name):
        return "cannot look like the id of a commit"
    return None
