"""Consistent copies of repositories for backups while they are in use."""

import os
import re
import shutil
from pathlib import Path

from ingot.git.core.errors import MissingRepository
from ingot.git.core.refs import PackedRef, format_packed_refs, read_packed_refs, read_refs
from ingot.git.maintenance.fork import link_objects

_PACKED_REFS = "packed-refs"
_TEMPORARY_PREFIXES = ("tmp_", "ingot-")
"""Beginnings of names of temporary files, and of files that are valid only for the original."""
_OID = re.compile(rb"[0-9a-f]{40}\n?")


def copy_repository(source: Path, folder: Path) -> None:
    """Copy all refs of a repository into a folder, and hard-link all objects that they need.

    Refs are copied before objects, and loose refs before packed ones, in the order in which git moves them, so that
    none is missed. Locks are left out: without their owners they would never be released.
    """
    for directory, folders, files in os.walk(source):
        relative = Path(directory).relative_to(source)
        at_top = relative == Path()
        if at_top:
            folders[:] = [name for name in folders if name != "objects"]
        (folder / relative).mkdir(exist_ok=True)
        for name in files:
            skipped = name.endswith(".lock") or (at_top and name.startswith((*_TEMPORARY_PREFIXES, _PACKED_REFS)))
            if not skipped:
                _copy_if_exists(source / relative / name, folder / relative / name)
    _copy_if_exists(source / _PACKED_REFS, folder / _PACKED_REFS)
    _pack_refs(folder)
    for name in ("objects", "objects/info", "objects/pack"):
        (folder / name).mkdir(exist_ok=True)
    try:
        link_objects(source / "objects", folder / "objects")
    except FileNotFoundError:  # Whether it is damaged or deleted is detected below and by checks.
        pass
    if not source.is_dir():
        raise MissingRepository(f"The repository {source.name} was removed")


def _pack_refs(folder: Path) -> None:
    """Pack all refs into one file: fewer files to archive, and ref names need not be valid file names elsewhere."""
    packed = read_packed_refs(folder)
    peeled = {ref.oid: ref.peeled for ref in packed.refs if packed.fully_peeled or ref.peeled is not None}
    loose = [file for file in _files_below(folder / "refs") if _OID.fullmatch(file.read_bytes())]
    if not loose:
        return
    refs = [PackedRef(name, oid, peeled.get(oid)) for name, oid in read_refs(folder).items()]
    text = format_packed_refs(refs)
    if not peeled.keys() >= {ref.oid for ref in refs}:
        # Without the header line, git peels the refs for which the file has no peeled object.
        text = text.partition(b"\n")[2]
    (folder / _PACKED_REFS).write_bytes(text)
    for file in loose:
        file.unlink()


def _files_below(folder: Path) -> list[Path]:
    return [Path(directory, name) for directory, _, names in os.walk(folder) for name in names]


def _copy_if_exists(source: Path, target: Path) -> None:
    """Copy a file if it exists; symbolic links are not part of a backup."""
    if source.is_symlink():
        return
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError:
        pass
