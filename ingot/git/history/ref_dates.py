"""Cached dates of branches and tags, and sorting by them."""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.command import run_git
from ingot.git.core.library import open_repository, pygit2_module
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import MAX_INLINE, NamedRef, RefList

if TYPE_CHECKING:
    import pygit2

_MAX_READ_INLINE = 50
_NO_DATE = -(2**63)
_OID_LENGTH = 40
_date_cache: BoundedCache[str, int] = declare_cache("ref-dates", share=3)
_DATE_BYTES = 120


class _DatedRefs(NamedTuple):
    """All branches or tags of a repository in the order of their dates, as indices of the list sorted by name."""

    refs: RefList
    dates: "array[int]"
    newest_first: "array[int]"
    oldest_first: "array[int]"


_dated_cache: BoundedCache[tuple[str, bytes], _DatedRefs] = declare_cache("dated-refs", share=1)
_DATED_BYTES = 16


class _OrderedRefs(Sequence[NamedRef]):
    """Refs in another order, made when they are read."""

    __slots__ = ("_order", "_refs")

    def __init__(self, refs: RefList, order: "array[int]") -> None:
        self._refs = refs
        self._order = order

    def __len__(self) -> int:
        """Return the number of refs."""
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> NamedRef: ...
    @overload
    def __getitem__(self, index: slice) -> list[NamedRef]: ...
    def __getitem__(self, index: int | slice) -> NamedRef | list[NamedRef]:
        """Return the ref at an index, or those of a slice."""
        if isinstance(index, slice):
            return [self._refs[each] for each in self._order[index]]
        return self._refs[self._order[index]]


def sort_by_date(repository: Repository, refs: Sequence[NamedRef], *, newest_first: bool) -> Sequence[NamedRef]:
    """Sort refs by the date of their commit or annotated tag; refs to other objects count as the oldest.

    Objects never change, so dates are cached by object id, and the order of many refs together.
    """
    if isinstance(refs, RefList) and len(refs) > MAX_INLINE:
        dated = _dated_refs(repository, refs)
        return _OrderedRefs(refs, dated.newest_first if newest_first else dated.oldest_first)
    oids = dict.fromkeys(oid for _, oid in refs)
    dates = _date_cache.get_many(oids)
    uncached = [oid for oid in oids if oid not in dates]
    if len(refs) > MAX_INLINE or len(uncached) > _MAX_READ_INLINE:
        require_blocking_allowed()
    handle = open_repository(repository.path)
    for oid in uncached:
        dates[oid] = _date_cache.put(oid, _date(handle.get(oid), handle), _DATE_BYTES)
    return sorted(refs, key=lambda ref: dates[ref.oid], reverse=newest_first)


def _dated_refs(repository: Repository, refs: RefList) -> _DatedRefs:
    """Return the order of many refs; after a change, only the dates of new objects are read."""
    key = str(repository.path), refs.folder
    cached = _dated_cache.get(key)
    if cached is not None and cached.refs.state == refs.state:
        return cached
    require_blocking_allowed()
    known = {} if cached is None else dict(zip(cached.refs.oids, cached.dates, strict=True))
    oids = refs.oids
    uncached = {oid for oid in oids if oid not in known}
    if len(uncached) > MAX_INLINE:
        known |= _listed_dates(repository, refs.folder)
    handle = open_repository(repository.path)
    known |= {oid: _date(handle.get(oid), handle) for oid in uncached if oid not in known}
    dates = array("q", [known[oid] for oid in oids])
    by_date = [sorted(range(len(dates)), key=dates.__getitem__, reverse=reverse) for reverse in (True, False)]
    dated = _DatedRefs(refs, dates, *(array("I", order) for order in by_date))
    return _dated_cache.put(key, dated, 1200 + refs.size + _DATED_BYTES * len(refs))


def _listed_dates(repository: Repository, folder: bytes) -> dict[str, int]:
    """Let git list the dates of all refs of a folder, which takes a third of the time of reading them one by one."""
    args = ["for-each-ref", "--format=%(objectname) %(creatordate:unix)"]
    lines = run_git(args, repository.path, operands=[folder.decode()]).out.decode().splitlines()
    # A tag without a tagger and a ref to a file have no date; they are read one by one.
    return {line[:_OID_LENGTH]: int(line[_OID_LENGTH:]) for line in lines if len(line) > _OID_LENGTH + 1}


def _date(obj: Any, handle: "pygit2.Repository") -> int:
    types = pygit2_module().enums.ObjectType
    while obj is not None and obj.type == types.TAG:
        if obj.tagger is not None:
            return int(obj.tagger.time)
        obj = handle.get(obj.target)
    return int(obj.committer.time) if obj is not None and obj.type == types.COMMIT else _NO_DATE
