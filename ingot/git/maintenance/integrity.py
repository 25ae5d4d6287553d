"""Whether a repository is whole: what its references need must be there, and nothing must be left of a crash."""

import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

from ingot.git.core.command import run_git
from ingot.git.core.errors import DamagedRepository, GitError
from ingot.git.core.layout import CONFIG, sync_folder, write_durably
from ingot.git.core.refs import read_head, read_refs

CONNECTIVITY_SECONDS = 4 * 3600.0
_CHECKSUM_BYTES = 20
_OID_LENGTH = 40
_REF_VALUE = re.compile(rb"[0-9a-f]{40}|ref: refs/\S.*")
_MAX_NAMES_LISTED = 3
_MAX_MESSAGE_LENGTH = 200
# An index of indexes, or a graph of commits, would vouch for objects that are not there any more.
_NO_SHORTCUT_FILES = (("core.commitGraph", "false"), ("core.multiPackIndex", "false"))


def find_problems(path: Path, *, deep: bool) -> list[str]:
    """What is wrong with a repository, a line each.

    Always looked at: HEAD, the references, the objects that they name, and whether each pack ends as its index says
    it does, which one that was cut off does not. ``deep`` follows the references to every object that they need.
    """
    troubles = []
    try:
        read_head(path)
    except DamagedRepository:  # The doctor reports it.
        troubles.append("HEAD cannot be read")
    troubles += _problems_by_name("cannot be read", sorted(_unreadable_refs(path)))
    troubles += [f"{pack} is not what its index says" for pack in _corrupt_packs(path / "objects" / "pack")]
    refs = read_refs(path)
    if not refs:
        return troubles
    try:
        missing = _refs_with_missing_objects(path, refs)
        troubles += _problems_by_name("needs an object that is missing", missing)
        if deep and not missing:
            _check_connectivity(path, refs)
    except GitError as error:
        troubles.append(f"git cannot read it: {_last_line(error.stderr) or error}")
    except OSError as error:
        troubles.append(f"git cannot be run in it: {error.strerror}")
    return troubles


def has_our_config(path: Path) -> bool:
    """Whether git is told there what we tell it."""
    try:
        return (path / "config").read_bytes() == CONFIG
    except OSError:  # A file that cannot be read is not ours; the doctor reports it.
        return False


def restore_config(path: Path) -> None:
    """Write our configuration, in one step."""
    fresh = path / f"tmp_config_{secrets.token_hex(8)}"
    write_durably(fresh, CONFIG)
    fresh.rename(path / "config")
    sync_folder(path)


def _refs_with_missing_objects(path: Path, refs: dict[bytes, str]) -> list[bytes]:
    """The references whose objects are not there."""
    oids = sorted(set(refs.values()))
    feed = "".join(f"{oid}\n" for oid in oids).encode()
    checked = run_git(
        ["cat-file", "--batch-check=%(objectname)", "--buffer"], path, feed, 600.0, config=_NO_SHORTCUT_FILES
    )
    found = {line[:_OID_LENGTH].decode() for line in checked.out.splitlines() if len(line) == _OID_LENGTH}
    return [name for name, oid in refs.items() if oid not in found]


def _check_connectivity(path: Path, refs: dict[bytes, str]) -> None:
    feed = "".join(f"{oid}\n" for oid in sorted(set(refs.values()))).encode()
    run_git(
        ["rev-list", "--objects", "--quiet", "--stdin"], path, feed, CONNECTIVITY_SECONDS, config=_NO_SHORTCUT_FILES
    )


def _unreadable_refs(path: Path) -> Iterator[bytes]:
    root = os.fsencode(path) + b"/"
    for folder, _, files in os.walk(root + b"refs"):
        for file in files:
            if file.endswith(b".lock"):
                continue
            try:
                value = Path(os.fsdecode(folder + b"/" + file)).read_bytes().strip()
            except FileNotFoundError:  # It was packed or deleted just now.
                continue
            if not _REF_VALUE.fullmatch(value):
                yield (folder + b"/" + file).removeprefix(root)


def _corrupt_packs(folder: Path) -> Iterator[str]:
    for index in sorted(folder.glob("pack-*.idx")):
        pack = index.with_suffix(".pack")
        try:
            said = _last_bytes(index, 2 * _CHECKSUM_BYTES)[:_CHECKSUM_BYTES]
            same = said == _last_bytes(pack, _CHECKSUM_BYTES) and len(said) == _CHECKSUM_BYTES
        except FileNotFoundError:  # A repack may have replaced both just now, but never the pack alone.
            same = not index.exists()
        if not same:
            yield pack.name


def _last_bytes(file: Path, length: int) -> bytes:
    with file.open("rb") as opened:
        opened.seek(max(0, opened.seek(0, os.SEEK_END) - length))
        return opened.read()


def _problems_by_name(what: str, names: list[bytes]) -> list[str]:
    shown = [f"{name.decode(errors='replace')} {what}" for name in names[:_MAX_NAMES_LISTED]]
    more = len(names) - len(shown)
    return [*shown, f"and {more} more references"] if more else shown


def _last_line(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1][:_MAX_MESSAGE_LENGTH] if lines else ""
