"""Filling a new repository from another one, by links instead of copies, while others push to that one.

Packs and loose objects are never changed once written, so both repositories can hold the same file, and
whatever one of them deletes stays with the other.
"""

import errno
import os
import shutil
from pathlib import Path

from ingot.git.core.command import run_git
from ingot.git.core.layout import make_bare_repository, write_durably
from ingot.git.core.refs import HEADS, TAGS, PackedRef, format_packed_refs, read_head, read_packed_refs, read_refs

# The index comes last, since it makes a pack exist for readers.
_OPTIONAL_SUFFIXES = (".rev", ".mtimes", ".bitmap")
_MAX_PASSES = 10
_LINK_ERRORS = (errno.EXDEV, errno.EMLINK, errno.EPERM, errno.ENOTSUP)
_PUBLIC_REFS = (HEADS, TAGS)


def fill_fork(source: Path, folder: Path) -> None:
    """Make an empty folder a repository with the branches and tags of ``source``.

    References are read first and objects linked afterwards: git writes objects before the references to them,
    and our housekeeping deletes none that it has not packed anew, so all that the references need is there.
    Where the source holds more than its branches and tags show, such as what merge requests brought, nothing is
    linked but all is fetched: git serves every object by its id, and the fork has other readers.
    """
    head = read_head(source)
    refs = read_refs(source, _PUBLIC_REFS)
    peeled = _packed_peeled_tags(source)
    make_bare_repository(folder, head)
    present = []
    if not _has_other_commits(source, refs):
        link_objects(source / "objects", folder / "objects")
        present = _existing_refs(folder, refs, peeled)
    missing = refs.keys() - {ref.name for ref in present}
    if missing:
        _fetch(source, folder, missing)
    if present:
        write_durably(folder / "packed-refs", format_packed_refs(present))


def _has_other_commits(source: Path, public: dict[bytes, str]) -> bool:
    """Whether other references lead to commits that the public ones do not lead to."""
    others = set(read_refs(source).values()) - set(public.values())
    if not others:
        return False
    tips = [*others, *(f"^{oid}" for oid in set(public.values()))]
    asked = "\n".join(tips).encode() + b"\n"
    return bool(run_git(["rev-list", "--max-count=1", "--ignore-missing", "--stdin"], source, asked).out)


def link_objects(source: Path, target: Path) -> None:
    """Link all objects of one repository into another; also its commit graph, which holds only what it has."""
    _link_if_exists(source / "info" / "commit-graph", target / "info" / "commit-graph")
    # Loose ones before packs: those that get packed meanwhile are then found in a pack.
    for entry in os.scandir(source):
        if len(entry.name) == 2 and entry.is_dir():
            _link_folder(Path(entry.path), target / entry.name)
    _link_packs(source / "pack", target / "pack")


def _link_folder(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    try:
        files = list(source.iterdir())
    except FileNotFoundError:  # It was empty, and the housekeeping removed it.
        return
    for file in files:
        if not file.name.startswith("tmp_"):
            _link_if_exists(file, target / file.name)


def _link_packs(source: Path, target: Path) -> None:
    """Link packs until two looks at the folder agree, since a repack may replace some between them."""
    linked: set[str] = set()
    for _ in range(_MAX_PASSES):
        seen = _packs(source)
        linked |= {stem for stem in seen - linked if _link_pack(source, target, stem)}
        if seen <= linked and _packs(source) == seen:
            return


def _packs(folder: Path) -> set[str]:
    return {file.stem for file in folder.iterdir() if file.name.startswith("pack-") and file.suffix == ".idx"}


def _link_pack(source: Path, target: Path, stem: str) -> bool:
    """Link one pack; says whether it was there from the first file to the last."""
    if not _link_if_exists(source / f"{stem}.pack", target / f"{stem}.pack"):
        return False
    for ending in _OPTIONAL_SUFFIXES:
        _link_if_exists(source / f"{stem}{ending}", target / f"{stem}{ending}")
    if _link_if_exists(source / f"{stem}.idx", target / f"{stem}.idx"):
        return True
    for ending in (".pack", *_OPTIONAL_SUFFIXES):
        (target / f"{stem}{ending}").unlink(missing_ok=True)
    return False


def _link_if_exists(source: Path, target: Path) -> bool:
    """Link a file, or copy it where the disk cannot link; says whether it is there."""
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
        with source.open("rb") as reading, target.open("wb") as writing:
            shutil.copyfileobj(reading, writing, 1024 * 1024)
            writing.flush()
            os.fsync(writing.fileno())
    except FileNotFoundError:
        return False
    target.chmod(0o444)
    return True


def _packed_peeled_tags(source: Path) -> dict[str, str | None]:
    """What packed-refs says of tags, by object id; the answer for an id never changes."""
    packed = read_packed_refs(source)
    return {ref.oid: ref.peeled for ref in packed.refs if packed.fully_peeled or ref.peeled is not None}


def _existing_refs(folder: Path, refs: dict[bytes, str], peeled: dict[str, str | None]) -> list[PackedRef]:
    """The references whose objects are there, and what those that are tags point at."""
    oids = sorted(set(refs.values()))
    if not oids:
        return []
    unknown = [oid for oid in oids if oid not in peeled]
    asked = [*oids, *(f"{oid}^{{}}" for oid in unknown)]
    answers = run_git(
        ["cat-file", "--batch-check=%(objectname)", "--buffer"], folder, "\n".join(asked).encode() + b"\n"
    ).out.decode()
    found = dict(zip(asked, answers.splitlines(), strict=True))
    for oid in unknown:
        goal = found[f"{oid}^{{}}"]
        peeled[oid] = None if goal == oid else goal
    return [
        PackedRef(name, oid, peeled[oid])
        for name, oid in refs.items()
        if found[oid] == oid and not (peeled[oid] or "").endswith(" missing")
    ]


def _fetch(source: Path, folder: Path, missing: set[bytes]) -> None:
    """Fetch what was not linked, also since the source may borrow objects from elsewhere.

    A reference that was deleted meanwhile is not missed; one that is there and cannot be read is an error,
    because a fork that lacks branches would look whole.
    """
    wanted = missing & read_refs(source, _PUBLIC_REFS).keys()
    if not wanted:
        return
    run_git(
        [
            "fetch",
            "--no-tags",
            "--no-write-fetch-head",
            "--quiet",
            "--stdin",
            # The helper does not inherit our configuration, but must not mind another user's directory either.
            "--upload-pack=git -c safe.directory='*' upload-pack",
            "--",
            str(source.absolute()),
        ],
        folder,
        b"".join(b"+" + name + b":" + name + b"\n" for name in sorted(wanted)),
        timeout=600.0,
        env={"GIT_ALLOW_PROTOCOL": "file"},
    )
