"""Counts of labels: current after every change, per caller, with a constant statement count."""

from concurrent.futures import ThreadPoolExecutor

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import Project, make_group, make_project, statements_of

RED = "#FF0000"


def _counts(api: Api, caller: User, project: Project) -> dict[str, tuple[int, int]]:
    found = api.get(f"/projects/{project.id}/labels", caller).json()
    return {label["name"]: (label["open_issues_count"], label["closed_issues_count"]) for label in found}


def test_counts_follow_every_change(api: Api, make: Make) -> None:
    owner, guest = make.user(), make.user()
    project = make_project(make, owner, members={guest: Level.GUEST})
    base = f"/projects/{project.id}/issues"
    api.post(base, owner, title="one", labels="a,b")
    assert _counts(api, owner, project) == {"a": (1, 0), "b": (1, 0)}
    api.put(f"{base}/1", owner, state_event="close", add_labels="c")
    assert _counts(api, owner, project) == {"a": (0, 1), "b": (0, 1), "c": (0, 1)}
    api.put(f"{base}/1", owner, remove_labels="b", confidential=True, state_event="reopen")
    assert _counts(api, owner, project) == {"a": (1, 0), "b": (0, 0), "c": (1, 0)}
    assert _counts(api, guest, project) == {"a": (0, 0), "b": (0, 0), "c": (0, 0)}
    api.put(f"{base}/1", owner, confidential=False)
    assert _counts(api, guest, project) == {"a": (1, 0), "b": (0, 0), "c": (1, 0)}
    api.delete(f"{base}/1", owner)
    assert _counts(api, owner, project) == {"a": (0, 0), "b": (0, 0), "c": (0, 0)}


def test_a_longer_page_takes_no_more_statements(api: Api, make: Make) -> None:
    owner = make.user()
    group = make_group(make, owner)
    project = make_project(make, owner, group=group)
    for number in range(8):
        api.post(f"/projects/{project.id}/labels", owner, name=f"p{number}", color=RED, priority=number)
        api.post(f"/groups/{group.id}/labels", owner, name=f"g{number}", color=RED)
    api.post(f"/projects/{project.id}/issues", owner, title="x", labels="p0,p1,g0,g1")
    for path in (f"/projects/{project.id}/labels", f"/groups/{group.id}/labels"):
        few, many = (
            statements_of(make, lambda path=path, size=size: api.get(path, owner, per_page=size))  # type: ignore[misc] # Bound now.
            for size in (1, 16)
        )
        assert many <= few


def test_concurrent_creation_makes_one_label(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)

    def create(_: int) -> int:
        with Api(api.url) as own:
            return own.post(f"/projects/{project.id}/labels", owner, name="once", color=RED).status_code

    with ThreadPoolExecutor(4) as pool:
        answers = sorted(pool.map(create, range(4)))
    assert answers == [201, 409, 409, 409]
    assert list(_counts(api, owner, project)) == ["once"]
