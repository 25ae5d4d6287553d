"""Creation of forks by hard links instead of copies, while the source accepts pushes.

Packs and loose objects never change once written, so both repositories can link to the same file, and files that one of
them deletes stay in the other.
"""

import errno
import os
import shutil
from pathlib import Path

from ingot.git.core.command import run_git
from ingot.git.core.layout import make_bare_repository, write_durably
from ingot.git.core.refs import HEADS, TAGS, PackedRef, format_packed_refs, read_head, read_packed_refs, read_refs

# The index is linked last, because it makes a pack visible to readers.
_OPTIONAL_SUFFIXES = (".rev", ".mtimes", ".bitmap")
_MAX_PASSES = 10
_LINK_ERRORS = (errno.EXDEV, errno.EMLINK, errno.EPERM, errno.ENOTSUP)
_PUBLIC_REFS = (HEADS, TAGS)


def fill_fork(source: Path, folder: Path) -> None:
    """Create a repository with the branches and tags of ``source`` in an empty folder.

    Refs are read first and objects linked afterwards: git writes objects before the refs to them, and housekeeping
    deletes no object before it is repacked, so all objects that the refs need are linked. If the source contains more
    than its branches and tags reach, such as commits of merge requests, everything is fetched instead: git serves every
    object by its id, and the fork has other readers.
    """
    head = read_head(source)
    refs = read_refs(source, _PUBLIC_REFS)
    peeled = _packed_peeled_tags(source)
    make_bare_repository(folder, head)
    present = []
    if not has_other_commits(source, refs):
        link_objects(source / "objects", folder / "objects")
        present = _existing_refs(folder, refs, peeled)
    missing = refs.keys() - {ref.name for ref in present}
    if missing:
        _fetch(source, folder, missing)
    if present:
        write_durably(folder / "packed-refs", format_packed_refs(present))


def has_other_commits(source: Path, public: dict[bytes, str]) -> bool:
    """Return whether other refs reach commits that the public ones do not."""
    others = set(read_refs(source).values()) - set(public.values())
    if not others:
        return False
    tips = [*others, *(f"^{oid}" for oid in set(public.values()))]
    revisions = "\n".join(tips).encode() + b"\n"
    return bool(run_git(["rev-list", "--max-count=1", "--ignore-missing", "--stdin"], source, revisions).out)


def link_objects(source: Path, target: Path) -> None:
    """Link all objects of one repository into another, and its commit graph."""
    _link_if_exists(source / "info" / "commit-graph", target / "info" / "commit-graph")
    # Loose objects before packs: those that are packed meanwhile are then found in a pack.
    for entry in os.scandir(source):
        if len(entry.name) == 2 and entry.is_dir():
            _link_folder(Path(entry.path), target / entry.name)
    _link_packs(source / "pack", target / "pack")


def _link_folder(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    try:
        files = list(source.iterdir())
    except FileNotFoundError:  # It was empty, and housekeeping removed it.
        return
    for file in files:
        if not file.name.startswith("tmp_"):
            _link_if_exists(file, target / file.name)


def _link_packs(source: Path, target: Path) -> None:
    """Link packs until two listings of the folder agree, since a repack may replace some in between."""
    linked: set[str] = set()
    for _ in range(_MAX_PASSES):
        seen = _packs(source)
        linked |= {stem for stem in seen - linked if _link_pack(source, target, stem)}
        if seen <= linked and _packs(source) == seen:
            return


def _packs(folder: Path) -> set[str]:
    return {file.stem for file in folder.iterdir() if file.name.startswith("pack-") and file.suffix == ".idx"}


def _link_pack(source: Path, target: Path, stem: str) -> bool:
    """Link one pack; return False if it was deleted meanwhile."""
    if not _link_if_exists(source / f"{stem}.pack", target / f"{stem}.pack"):
        return False
    for suffix in _OPTIONAL_SUFFIXES:
        _link_if_exists(source / f"{stem}{suffix}", target / f"{stem}{suffix}")
    if _link_if_exists(source / f"{stem}.idx", target / f"{stem}.idx"):
        return True
    for suffix in (".pack", *_OPTIONAL_SUFFIXES):
        (target / f"{stem}{suffix}").unlink(missing_ok=True)
    return False


def _link_if_exists(source: Path, target: Path) -> bool:
    """Link a file, or copy it if the file system cannot link; return False if it does not exist."""
    try:
        os.link(source, target)
    except FileExistsError:
        return True
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno not in _LINK_ERRORS:
            raise
        return _copy_if_exists(source, target)
    return True


def _copy_if_exists(source: Path, target: Path) -> bool:
    try:
        with source.open("rb") as reader, target.open("wb") as writer:
            shutil.copyfileobj(reader, writer, 1024 * 1024)
            writer.flush()
            os.fsync(writer.fileno())
    except FileNotFoundError:
        return False
    target.chmod(0o444)
    return True


def _packed_peeled_tags(source: Path) -> dict[str, str | None]:
    """Return the peeled objects of tags in packed-refs, by object id."""
    packed = read_packed_refs(source)
    return {ref.oid: ref.peeled for ref in packed.refs if packed.fully_peeled or ref.peeled is not None}


def _existing_refs(folder: Path, refs: dict[bytes, str], peeled: dict[str, str | None]) -> list[PackedRef]:
    """Return the refs whose objects exist, with the peeled objects of tags."""
    oids = sorted(set(refs.values()))
    if not oids:
        return []
    unknown = [oid for oid in oids if oid not in peeled]
    revisions = [*oids, *(f"{oid}^{{}}" for oid in unknown)]
    answers = run_git(
        ["cat-file", "--batch-check=%(objectname)", "--buffer"], folder, "\n".join(revisions).encode() + b"\n"
    ).out.decode()
    results = dict(zip(revisions, answers.splitlines(), strict=True))
    for oid in unknown:
        peeled_oid = results[f"{oid}^{{}}"]
        peeled[oid] = None if peeled_oid == oid else peeled_oid
    return [
        PackedRef(name, oid, peeled[oid])
        for name, oid in refs.items()
        if results[oid] == oid and not (peeled[oid] or "").endswith(" missing")
    ]


def _fetch(source: Path, folder: Path, missing: set[bytes]) -> None:
    """Fetch the refs that were not linked, since the source may borrow objects from elsewhere.

    Refs that were deleted meanwhile are ignored; an unreadable ref is an error, because a fork without some branches
    would look complete.
    """
    remaining = missing & read_refs(source, _PUBLIC_REFS).keys()
    if not remaining:
        return
    run_git(
        [
            "fetch",
            "--no-tags",
            "--no-write-fetch-head",
            "--quiet",
            "--stdin",
            # The upload-pack process does not inherit our configuration, but must accept a directory of another user.
            "--upload-pack=git -c safe.directory='*' upload-pack",
            "--",
            str(source.absolute()),
        ],
        folder,
        b"".join(b"+" + name + b":" + name + b"\n" for name in sorted(remaining)),
        timeout=600.0,
        max_memory=None,
        env={"GIT_ALLOW_PROTOCOL": "file"},
    )
