"""All branches or tags of a repository in the order of their names, kept in memory while nothing changes."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.refs import read_refs
from ingot.git.core.repository import Repository
from ingot.offload import require_blocking_allowed

_REF_BYTES = 210
"""Memory of a reference besides its name."""
MAX_INLINE = 2_000
"""References that are looked at one by one in about a millisecond."""


class NamedRef(NamedTuple):
    """A branch or tag by its short name, and the object that it points at."""

    name: bytes
    oid: str


_ref_cache: BoundedCache[tuple[str, bytes], tuple[tuple[object, ...], list[NamedRef]]] = declare_cache("refs", share=6)


def sorted_refs(repository: Repository, folder: bytes, generation: int) -> list[NamedRef]:
    """The references below ``refs/heads/`` or ``refs/tags/``; nobody may change the list.

    ``generation`` counts the changes of references. What the folder and the packed file look like is compared too,
    so that a change which was not counted yet is seen as well.
    """
    key = str(repository.path), folder
    state = refs_fingerprint(repository, folder, generation)
    known = _ref_cache.get(key)
    if known is not None and known[0] == state:
        return known[1]
    require_blocking_allowed()
    begin = len(folder)
    found = read_refs(repository.path, (folder,))
    # Made without the class's own way of doing so, which takes a third of the time that all this takes.
    refs = [tuple.__new__(NamedRef, (name[begin:], oid)) for name, oid in found.items()]
    _ref_cache.put(key, (state, refs), 500 + sum(map(len, found)) + (_REF_BYTES - begin) * len(refs))
    return refs


def refs_fingerprint(repository: Repository, folder: bytes, generation: int) -> tuple[object, ...]:
    """Something that is equal as long as the references below a folder are the same."""
    path = str(repository.path)
    return (generation, *_fingerprint(f"{path}/packed-refs"), *_fingerprint(f"{path}/{folder.decode()}"))


def search_refs(refs: Sequence[NamedRef], search: str) -> list[NamedRef]:
    """Those with a text in their name, whatever its case; ``^`` and ``$`` tie it to the beginning and the end."""
    if len(refs) > MAX_INLINE:
        require_blocking_allowed()
    search = search.casefold()
    begins, ends = search.startswith("^"), search.endswith("$")
    text = search.removeprefix("^").removesuffix("$")

    def matches(name: str) -> bool:
        if begins and ends:
            return name == text
        if begins:
            return name.startswith(text)
        return name.endswith(text) if ends else text in name

    return [ref for ref in refs if matches(ref.name.decode(errors="replace").casefold())]


def _fingerprint(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)  # noqa: PTH116 - Asked at every list; a Path costs more than the call.
    except FileNotFoundError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
