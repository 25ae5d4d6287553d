"""When branches and tags were last touched, for many at once."""

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
_date_cache: BoundedCache[str, int] = declare_cache("ref-dates", share=5)
_DATE_BYTES = 120


def sort_by_date(repository: Repository, refs: Sequence[NamedRef], *, newest_first: bool) -> list[NamedRef]:
    """References by when their commit was made, or their annotated tag; those that lead to neither are the oldest.

    What an object says never changes, so its date is kept by its id.
    """
    oids = dict.fromkeys(oid for _, oid in refs)
    found = _date_cache.get_many(oids)
    unknown = [oid for oid in oids if oid not in found]
    if len(refs) > MAX_INLINE or len(unknown) > _MAX_READ_INLINE:
        require_blocking_allowed()
    handle = open_repository(repository.path)
    for oid in unknown:
        found[oid] = _date_cache.put(oid, _date(handle.get(oid), handle), _DATE_BYTES)
    return sorted(refs, key=lambda ref: found[ref.oid], reverse=newest_first)


def _date(found: Any, handle: "pygit2.Repository") -> int:
    types = pygit2_module().enums.ObjectType
    while found is not None and found.type == types.TAG:
        if found.tagger is not None:
            return int(found.tagger.time)
        found = handle.get(found.target)
    return int(found.committer.time) if found is not None and found.type == types.COMMIT else _NO_DATE
