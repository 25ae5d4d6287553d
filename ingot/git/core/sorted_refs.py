"""Cache of the branches or tags of a repository, sorted by name and validated by modification times."""

import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, overload

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.errors import MissingRepository
from ingot.git.core.refs import read_refs
from ingot.git.core.repository import Repository

MAX_INLINE = 2_000
"""Number of refs that can be processed in about a millisecond."""


class NamedRef(NamedTuple):
    """A branch or tag by its short name, and the object that it points at."""

    name: bytes
    oid: str


_OID_BYTES = 20
_OFFSET_BYTES = 4


class RefList(Sequence[NamedRef]):
    """Refs in three buffers, which take a fifth of the memory of a list: 9 MB for 200,000 refs."""

    __slots__ = ("_names", "_oids", "_starts", "folder", "state")

    def __init__(self, folder: bytes, oids_by_name: Mapping[bytes, str], state: tuple[object, ...]) -> None:
        names = [name[len(folder) :] for name in oids_by_name]
        self._names = b"\n".join(names)
        self._starts = array("I", accumulate((len(name) + 1 for name in names), initial=0))
        self._oids = bytes.fromhex("".join(oids_by_name.values()))
        self.folder = folder
        self.state = state
        """Fingerprint of the refs that were read."""

    @property
    def size(self) -> int:
        """Return the memory that the refs take, in bytes."""
        return len(self._names) + len(self) * (_OID_BYTES + _OFFSET_BYTES)

    @property
    def names(self) -> list[bytes]:
        """Return the short names."""
        return self._names.split(b"\n") if len(self) else []

    @property
    def oids(self) -> list[str]:
        """Return the object ids."""
        return self._oids.hex(" ", _OID_BYTES).split()

    def __len__(self) -> int:
        """Return the number of refs."""
        return len(self._starts) - 1

    @overload
    def __getitem__(self, index: int) -> NamedRef: ...
    @overload
    def __getitem__(self, index: slice) -> list[NamedRef]: ...
    def __getitem__(self, index: int | slice) -> NamedRef | list[NamedRef]:
        """Return the ref at an index, or those of a slice."""
        if isinstance(index, slice):
            return [self._at(each) for each in range(*index.indices(len(self)))]
        return self._at(range(len(self))[index])

    def __iter__(self) -> Iterator[NamedRef]:
        """Return the refs; faster than one by one."""
        return map(NamedRef, self.names, self.oids)

    def _at(self, index: int) -> NamedRef:
        name = self._names[self._starts[index] : self._starts[index + 1] - 1]
        return NamedRef(name, self._oids[index * _OID_BYTES : (index + 1) * _OID_BYTES].hex())


_ref_cache: BoundedCache[tuple[str, bytes], RefList] = declare_cache("refs", share=5)


def sorted_refs(repository: Repository, folder: bytes, generation: int) -> RefList:
    """Return the refs below ``refs/heads/`` or ``refs/tags/``.

    ``generation`` counts the changes of refs. The cache key also contains the state of the folder and of packed-refs,
    so that a change that has not been counted yet is noticed.
    """
    key = str(repository.path), folder
    state = refs_fingerprint(repository, folder, generation)
    cached = _ref_cache.get(key)
    if cached is not None and cached.state == state:
        return cached
    require_blocking_allowed()
    oids_by_name = read_refs(repository.path, (folder,))
    if not oids_by_name and not repository.path.exists():
        raise MissingRepository(f"The repository {repository.path.name} was removed")
    refs = RefList(folder, oids_by_name, state)
    return _ref_cache.put(key, refs, 900 + refs.size)


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

    names = refs.names if isinstance(refs, RefList) else [ref.name for ref in refs]
    return [refs[i] for i, name in enumerate(names) if matches(name.decode(errors="replace").casefold())]


def _fingerprint(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)  # noqa: PTH116 - Called for every list; constructing a Path costs more than the call.
    except FileNotFoundError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
