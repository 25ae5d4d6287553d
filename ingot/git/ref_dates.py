"""When branches and tags were last touched, for many at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ingot.git.keeping import Keeper
from ingot.git.library import library, open_repository
from ingot.git.repository import Repository
from ingot.git.sorted_refs import MOST_INLINE, NamedRef
from ingot.inline import expect_a_wait

if TYPE_CHECKING:
    import pygit2

_MOST_READ_INLINE = 50
_NEVER = -(2**63)
_kept: Keeper[int] = Keeper(64 * 2**20)


def by_date(repository: Repository, refs: Sequence[NamedRef], *, newest_first: bool) -> list[NamedRef]:
    """References by when their commit was made, or their annotated tag; those that lead to neither are the oldest.

    What an object says never changes, so its date is kept by its id.
    """
    dates = {oid: _kept.get(oid) for _, oid in refs}
    unknown = [oid for oid, date in dates.items() if date is None]
    if len(refs) > MOST_INLINE or len(unknown) > _MOST_READ_INLINE:
        expect_a_wait()
    handle = open_repository(repository.path)
    found = {oid: known for oid, known in dates.items() if known is not None}
    for oid in unknown:
        found[oid] = _kept.keep(oid, _date(handle.get(oid), handle))
    return sorted(refs, key=lambda ref: found[ref.oid], reverse=newest_first)


def _date(found: Any, handle: "pygit2.Repository") -> int:
    types = library().enums.ObjectType
    while found is not None and found.type == types.TAG:
        if found.tagger is not None:
            return int(found.tagger.time)
        found = handle.get(found.target)
    return int(found.committer.time) if found is not None and found.type == types.COMMIT else _NEVER
