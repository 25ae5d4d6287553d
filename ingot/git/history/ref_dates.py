"""Cached dates of branches and tags, and sorting by them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.library import open_repository, pygit2_module
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import MAX_INLINE, NamedRef
from ingot.offload import require_blocking_allowed

if TYPE_CHECKING:
    import pygit2

_MAX_READ_INLINE = 50
_NO_DATE = -(2**63)
_date_cache: BoundedCache[str, int] = declare_cache("ref-dates", share=4)
_DATE_BYTES = 120


def sort_by_date(repository: Repository, refs: Sequence[NamedRef], *, newest_first: bool) -> list[NamedRef]:
    """Sort refs by the date of their commit or annotated tag; refs to other objects count as the oldest.

    Objects never change, so dates are cached by object id.
    """
    oids = dict.fromkeys(oid for _, oid in refs)
    dates = _date_cache.get_many(oids)
    uncached = [oid for oid in oids if oid not in dates]
    if len(refs) > MAX_INLINE or len(uncached) > _MAX_READ_INLINE:
        require_blocking_allowed()
    handle = open_repository(repository.path)
    for oid in uncached:
        dates[oid] = _date_cache.put(oid, _date(handle.get(oid), handle), _DATE_BYTES)
    return sorted(refs, key=lambda ref: dates[ref.oid], reverse=newest_first)


def _date(obj: Any, handle: "pygit2.Repository") -> int:
    types = pygit2_module().enums.ObjectType
    while obj is not None and obj.type == types.TAG:
        if obj.tagger is not None:
            return int(obj.tagger.time)
        obj = handle.get(obj.target)
    return int(obj.committer.time) if obj is not None and obj.type == types.COMMIT else _NO_DATE
