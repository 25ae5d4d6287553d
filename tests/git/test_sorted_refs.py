"""Lists of very many refs: they fit into the cache, and their order by date is read once."""

import pygit2
import pytest

from ingot.git.core.refs import HEADS, PackedRef, format_packed_refs
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import NamedRef, search_refs, sorted_refs
from ingot.git.history import ref_dates
from ingot.git.history.ref_dates import sort_by_date
from ingot.git.maintenance.store import RepositoryStore
from tests.git_history import History, run

MANY = 3_000


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    return store.open(key)


def _add_branches(repository: Repository, oids: list[str], count: int, prefix: str = "b") -> dict[bytes, str]:
    names = {f"refs/heads/{prefix}-{number:06}".encode(): oids[number % len(oids)] for number in range(count)}
    packed = [PackedRef(name, oid, None) for name, oid in names.items()]
    (repository.path / "packed-refs").write_bytes(format_packed_refs(packed))
    return {name.removeprefix(HEADS): oid for name, oid in names.items()}


def test_a_list_of_200000_refs_is_cached(repository: Repository) -> None:
    names = _add_branches(repository, ["1" * 40, "2" * 40], 200_000, "feature/of-a-team/with-a-name")
    refs = sorted_refs(repository, HEADS, 1)
    assert sorted_refs(repository, HEADS, 1) is refs
    assert (len(refs), refs[0], refs[-1]) == (
        200_000,
        *(NamedRef(*each) for each in (min(names.items()), max(names.items()))),
    )
    assert refs[5:8] == list(refs)[5:8]
    assert refs[::-50_000] == list(refs)[::-50_000]
    assert [ref.name for ref in search_refs(refs, "name-00012$")] == []
    assert len(search_refs(refs, "-00012")) == 10
    with pytest.raises(IndexError):
        refs[200_000]


def test_no_refs(repository: Repository) -> None:
    refs = sorted_refs(repository, HEADS, 1)
    assert (len(refs), list(refs), refs[:5]) == (0, [], [])


@pytest.mark.parametrize("newest_first", [True, False])
def test_many_refs_by_date(repository: Repository, monkeypatch: pytest.MonkeyPatch, *, newest_first: bool) -> None:
    """As those of few refs, which are read one by one; after a change, only the dates of new objects are read."""
    made = History()
    ids = [made.commit(f"start-{number}", files={"a": f"{number}"}, parents=()) for number in range(40)]
    made.tag("without-tagger", ids[3])
    oids = list(made.into(repository).values())
    blob = run(repository.path, "rev-parse", f"{oids[0]}:a")
    _add_branches(repository, [*oids, blob], MANY)
    refs = sorted_refs(repository, HEADS, 1)
    expected = sort_by_date(repository, list(refs), newest_first=newest_first)
    assert list(sort_by_date(repository, refs, newest_first=newest_first)) == expected
    assert sort_by_date(repository, refs, newest_first=newest_first)[2:5] == expected[2:5]

    monkeypatch.setattr(ref_dates, "run_git", None)
    read: list[str] = []

    def note(obj: pygit2.Object, _: pygit2.Repository) -> int:
        read.append(str(obj.id))
        return 1

    monkeypatch.setattr(ref_dates, "_date", note)
    sort_by_date(repository, refs, newest_first=newest_first)
    new = run(repository.path, "commit-tree", "-m", "New", f"{oids[0]}^{{tree}}")
    _add_branches(repository, [*oids, blob, new], MANY)
    changed = sort_by_date(repository, sorted_refs(repository, HEADS, 2), newest_first=newest_first)
    assert len(changed) == MANY + 40
    assert read == [new]
