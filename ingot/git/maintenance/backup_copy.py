"""A copy of a living repository for a backup: what it holds does not change any more while it is written away."""

import os
import re
import shutil
from pathlib import Path

from ingot.git.core.errors import MissingRepository
from ingot.git.core.refs import PackedRef, format_packed_refs, read_packed_refs, read_refs
from ingot.git.maintenance.fork import link_objects

_PACKED_REFS = "packed-refs"
_TEMPORARY_PREFIXES = ("tmp_",)
_OID = re.compile(rb"[0-9a-f]{40}\n?")


def copy_repository(source: Path, folder: Path) -> None:
    """Fill a folder with all references of a repository and all objects that they need, the latter by links.

    References come before objects, and loose ones before packed ones: that is the way they go in a living
    repository, so none is missed. Locks are left out: without their holders they would never be given back.
    """
    for where, folders, files in os.walk(source):
        here = Path(where).relative_to(source)
        at_top = here == Path()
        if at_top:
            folders[:] = [name for name in folders if name != "objects"]
        (folder / here).mkdir(exist_ok=True)
        for name in files:
            spare = name.endswith(".lock") or (at_top and name.startswith((*_TEMPORARY_PREFIXES, _PACKED_REFS)))
            if not spare:
                _copy_if_exists(source / here / name, folder / here / name)
    _copy_if_exists(source / _PACKED_REFS, folder / _PACKED_REFS)
    _pack_refs(folder)
    for name in ("objects", "objects/info", "objects/pack"):
        (folder / name).mkdir()
    try:
        link_objects(source / "objects", folder / "objects")
    except FileNotFoundError:  # Whether it is damaged or gone altogether is told below and by checks.
        pass
    if not source.is_dir():
        raise MissingRepository(f"The repository {source.name} was removed")


def _pack_refs(folder: Path) -> None:
    """One file for all references: fewer to write away, and their names need not be names of files elsewhere."""
    packed = read_packed_refs(folder)
    peeled = {ref.oid: ref.peeled for ref in packed.refs if packed.fully_peeled or ref.peeled is not None}
    loose = [file for file in _files_below(folder / "refs") if _OID.fullmatch(file.read_bytes())]
    if not loose:
        return
    refs = [PackedRef(name, oid, peeled.get(oid)) for name, oid in read_refs(folder).items()]
    text = format_packed_refs(refs)
    if not peeled.keys() >= {ref.oid for ref in refs}:
        # Without the first line, git looks at what a reference points at wherever the file does not say it.
        text = text.partition(b"\n")[2]
    (folder / _PACKED_REFS).write_bytes(text)
    for file in loose:
        file.unlink()


def _files_below(folder: Path) -> list[Path]:
    return [Path(where, name) for where, _, names in os.walk(folder) for name in names]


def _copy_if_exists(source: Path, target: Path) -> None:
    """Links in a repository lead elsewhere, and belong to nobody's backup."""
    if source.is_symlink():
        return
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError:
        pass
