"""Rules for new file paths, which reject names that a checkout on any file system could interpret as ``.git``."""

import re

MAX_BYTES = 4096
MAX_PART_BYTES = 255

# Some file systems ignore these characters in names, so names that differ only by them are the same file.
_INVISIBLE_CHARACTERS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
# Others drop trailing dots and spaces, treat the part after a colon as a stream, and have short names.
_DOT_GIT = re.compile(r"(?:\.git|git~1)[. ]*(?::.*)?", re.IGNORECASE | re.ASCII | re.DOTALL)
# Files that git reads from checkouts, above all ``.gitmodules``, in their long and short names.
_READ_BY_GIT = re.compile(r"\.git|gi[t0-9]|gi[^.]*~", re.IGNORECASE | re.ASCII)


def new_path_error(path: str) -> str | None:
    """Return why no file can be written at a path, or None; paths that ``git fsck`` rejects are rejected."""
    if not path:
        return "can't be blank"
    try:
        raw = path.encode()
    except UnicodeEncodeError:
        return "is not valid UTF-8"
    if len(raw) > MAX_BYTES or any(len(part) > MAX_PART_BYTES for part in raw.split(b"/")):
        return "is too long"
    if "\0" in path:
        return "is invalid"
    parts = path.split("/")
    if "" in parts:
        return "cannot begin or end with a slash, or have two in a row"
    # On some systems a backslash separates path segments.
    if any(part in (".", "..") for part in re.split(r"[/\\]", path)):
        return "cannot have '.' or '..' as a part"
    if _may_contain_dot_git(path) and any(_is_dot_git(part) for part in parts):
        return "cannot contain '.git'"
    return None


def is_git_special_file(path: str) -> bool:
    """Return whether git may interpret the content of a file, since its name is one of git's own in some spelling."""
    return _READ_BY_GIT.match(_INVISIBLE_CHARACTERS.sub("", path.rpartition("/")[2])) is not None


def _may_contain_dot_git(path: str) -> bool:
    """Return whether the segments need to be checked; a request can contain hundreds of thousands of them."""
    plain = _INVISIBLE_CHARACTERS.sub("", path).lower()
    return ".git" in plain or "git~1" in plain


def _is_dot_git(part: str) -> bool:
    return _INVISIBLE_CHARACTERS.sub("", part).lower() == ".git" or any(
        _DOT_GIT.fullmatch(piece) for piece in part.split("\\")
    )
