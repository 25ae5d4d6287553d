"""Where a file may be written within a repository: nowhere that anybody's checkout could take for something else."""

import re

MAX_BYTES = 4096
MAX_PART_BYTES = 255

# Some file systems leave these letters out of names, so that what has them among its own is the same file.
_INVISIBLE_CHARACTERS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
# Others drop what stands at the end, take what is behind a colon for a stream of the file, and know a short name.
_DOT_GIT = re.compile(r"(?:\.git|git~1)[. ]*(?::.*)?", re.IGNORECASE | re.ASCII | re.DOTALL)
# What git itself reads from checkouts, ``.gitmodules`` above all, in its long and short names.
_READ_BY_GIT = re.compile(r"\.git|gi[t0-9]|gi[^.]*~", re.IGNORECASE | re.ASCII)


def new_path_error(path: str) -> str | None:
    """Why no file can be written at a path, or nothing where one can; what ``git fsck`` would refuse is refused."""
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
    # A backslash is a letter to us and a slash to others.
    if any(part in (".", "..") for part in re.split(r"[/\\]", path)):
        return "cannot have '.' or '..' as a part"
    if _may_contain_dot_git(path) and any(_is_dot_git(part) for part in parts):
        return "cannot lead into '.git'"
    return None


def is_git_special_file(path: str) -> bool:
    """Whether git may act upon what a file says, since its name is one of git's own in some spelling."""
    return _READ_BY_GIT.match(_INVISIBLE_CHARACTERS.sub("", path.rpartition("/")[2])) is not None


def _may_contain_dot_git(path: str) -> bool:
    """Whether the parts are worth a look; a call can bring some hundred thousand of them."""
    plain = _INVISIBLE_CHARACTERS.sub("", path).lower()
    return ".git" in plain or "git~1" in plain


def _is_dot_git(part: str) -> bool:
    return _INVISIBLE_CHARACTERS.sub("", part).lower() == ".git" or any(
        _DOT_GIT.fullmatch(piece) for piece in part.split("\\")
    )
