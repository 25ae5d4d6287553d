"""What branches and tags may be called: git's own rules, and ours against names that read as something else."""

import re

MAX_BYTES = 1000
MAX_PART_BYTES = 250
"""Of 255 that file systems take, since git appends ``.lock`` while it writes."""

_FORBIDDEN = re.compile(rb"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock/")
_OBJECT_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})(?:/|\Z)", re.IGNORECASE)
# git expands these before it looks among branches, so a branch called so hides another one, or is hidden by it.
_AMBIGUOUS_PREFIXES = ("refs/", "heads/")


def is_well_formed_ref(ref: bytes) -> bool:
    """Whether git could hold a reference of this full name; also what makes the name safe as a file's."""
    return (
        ref.startswith(b"refs/")
        and ref.count(b"/") >= 2
        and not ref.endswith((b"/", b".", b".lock"))
        and not _FORBIDDEN.search(ref)
    )


def ref_name_error(name: str) -> str | None:
    """Why a branch or a tag cannot have this short name, or nothing where it can."""
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
        # In every clone it would lie where git notes the default branch, so that nobody could clone any more.
        return "cannot begin with 'HEAD/'"
    if _OBJECT_ID.match(name):
        return "cannot look like the id of a commit"
    return None
