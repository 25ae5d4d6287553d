"""Cache of the branches or tags of a repository, sorted by name and validated by modification times."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.errors import MissingRepository
from ingot.git.core.refs import read_refs
from ingot.git.core.repository import Repository
from ingot.offload import require_blocking_allowed

_REF_BYTES = 210
"""Memory of a ref besides its name."""
MAX_INLINE = 2_000
"""Number of refs that can be processed in about a millisecond."""


class NamedRef(NamedTuple):
    """A branch or tag by its short name, and the object that it points at."""

    name: bytes
    oid: str


_ref_cache: BoundedCache[tuple[str, bytes], tuple[tuple[object, ...], list[NamedRef]]] = declare_cache("refs", share=5)


def sorted_refs(repository: Repository, folder: bytes, generation: int) -> list[NamedRef]:
    """Return the refs below ``refs/heads/`` or ``refs/tags/``; callers must not modify the list.

    ``generation`` counts the changes of refs. The cache key also contains the state of the folder and of packed-refs,
    so that a change that has not been counted yet is noticed.
    """
    key = str(repository.path), folder
    state = refs_fingerprint(repository, folder, generation)
    cached = _ref_cache.get(key)
    if cached is not None and cached[0] == state:
        return cached[1]
    require_blocking_allowed()
    prefix_length = len(folder)
    oids_by_name = read_refs(repository.path, (folder,))
    if not oids_by_name and not repository.path.exists():
        raise MissingRepository(f"The repository {repository.path.name} was removed")
    # Bypass the constructor of NamedTuple, which would take a third of the total time.
    refs = [tuple.__new__(NamedRef, (name[prefix_length:], oid)) for name, oid in oids_by_name.items()]
    _ref_cache.put(key, (state, refs), 500 + sum(map(len, oids_by_name)) + (_REF_BYTES - prefix_length) * len(refs))
    return refs


def refs_fingerprint(repository: Repository, folder: bytes, generation: int) -> tuple[object, ...]:
    """Return a value that stays equal while the refs below a folder are unchanged."""
    path = str(repository.path)
    return (generation, *_fingerprint(f"{path}/packed-refs"), *_fingerprint(f"{path}/{folder.decode()}"))


def search_refs(refs: Sequence[NamedRef], search: str) -> list[NamedRef]:
    """Return the refs whose name contains a text, ignoring case; ``^`` and ``$`` anchor it at the start and end."""
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
        status = os.stat(path)  # noqa: PTH116 - Called for every list; constructing a Path costs more than the call.
    except FileNotFoundError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
