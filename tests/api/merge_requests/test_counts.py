"""Counts of merge requests match the lists, for every caller."""

from typing import Any

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.factories import ids, make_group


def test_counts_match_lists_labels_and_milestones(api: Api, make: Make) -> None:
    """A group with a public and a private project: by project, group, label, milestone, and for all."""
    owner, guest, stranger = make.user(), make.user(), make.user()
    group = make_group(make, visibility="public", members={owner: Level.OWNER})
    title = make.name("label")
    sent = {"name": title, "color": "#ff0000"}
    label = api.post(f"/groups/{group.id}/labels", owner, **sent).json()["id"]
    milestone = api.post(f"/groups/{group.id}/milestones", owner, title=make.name("milestone")).json()["id"]
    made: dict[str, dict[str, list[int]]] = {}
    places = {}
    for visibility in ("public", "private"):
        place = filled_project(make, group=group, visibility=visibility, members={guest: Level.GUEST})
        offered = [make_merge_request(make, place, owner, labels=title, milestone_id=milestone) for _ in range(4)]
        url = f"/projects/{place.id}/merge_requests"
        assert api.put(f"{url}/{offered[1]['iid']}", owner, state_event="close").status_code == 200
        assert api.put(f"{url}/{offered[2]['iid']}/merge", owner).status_code == 200
        assert api.delete(f"{url}/{offered[3]['iid']}", owner).status_code == 200
        numbers = [each["id"] for each in offered]
        made[visibility] = {"opened": numbers[:1], "closed": numbers[1:2], "merged": numbers[2:3], "all": numbers[:3]}
        places[visibility] = place

    def visible(who: User, state: str) -> list[int]:
        """Return the visible counts: guests of a private project cannot read its code, others cannot see it."""
        shown = ("private", "public") if who is owner else ("public",)
        return sorted(number for visibility in shown for number in made[visibility][state])

    def listed(path: str, who: User, **sent: Any) -> list[int]:
        answer = api.get(path, who, **sent)
        found = sorted(ids(answer))
        assert answer.headers["X-Total"] == str(len(found))
        return found

    for who in (owner, guest, stranger):
        for state in ("opened", "closed", "merged", "all"):
            assert listed(f"/groups/{group.id}/merge_requests", who, state=state) == visible(who, state)
            assert listed("/merge_requests", who, scope="all", labels=title, state=state) == visible(who, state)
            found = listed(f"/projects/{places['public'].id}/merge_requests", who, state=state)
            assert found == made["public"][state]
        assert listed(f"/groups/{group.id}/milestones/{milestone}/merge_requests", who) == visible(who, "all")
        labels = api.get(f"/groups/{group.id}/labels", who, with_counts=True).json()
        counts = [each["open_merge_requests_count"] for each in labels if each["id"] == label]
        assert counts == [len(visible(who, "opened"))]
    for who, count in ((owner, 1), (guest, 0)):
        labels = api.get(f"/projects/{places['private'].id}/labels", who, with_counts=True).json()
        assert [each["open_merge_requests_count"] for each in labels if each["id"] == label] == [count]

    (opened,) = made["public"]["opened"]
    assert api.put(places["public"].url, owner, merge_requests_enabled=False).status_code == 200
    assert opened not in listed(f"/groups/{group.id}/merge_requests", owner)
    labels = api.get(f"/groups/{group.id}/labels", owner, with_counts=True).json()
    assert [each["open_merge_requests_count"] for each in labels if each["id"] == label] == [1]


def test_note_counts_match_visible_notes(api: Api, make: Make) -> None:
    """User notes from every source; no system notes, internal notes, or notes with quick actions only."""
    owner, reader = make.user(), make.user()
    project = filled_project(make, owner, visibility="public")
    merge_request = make_merge_request(make, project, owner)
    url = f"/projects/{project.id}/merge_requests/{merge_request['iid']}"
    note = api.post(f"{url}/notes", reader, body="One").json()["id"]
    begun = api.post(f"{url}/discussions", reader, body="Two").json()["id"]
    assert api.post(f"{url}/discussions/{begun}/notes", owner, body="Three\n/title New").status_code == 201
    assert api.post(f"{url}/notes", owner, body="Only us", internal=True).status_code == 201
    assert api.post(f"{url}/notes", owner, body="/wip").status_code == 202
    commit(make, project, merge_request["source_branch"], {"more": "x"}, owner)

    def check(count: int) -> None:
        read = api.get(f"{url}/notes", reader, activity_filter="only_comments")
        assert len(ids(read)) == count
        listed = api.get(f"/projects/{project.id}/merge_requests", reader).json()
        anywhere = api.get("/merge_requests", reader, scope="all", search="New").json()
        shown = api.get(url, reader).json()
        assert {each["user_notes_count"] for each in (*listed, *anywhere, shown)} == {count}

    check(3)
    assert api.delete(f"{url}/notes/{note}", reader).status_code in (200, 204)
    check(2)


def test_deleted_milestones_are_removed_from_merge_requests(api: Api, make: Make) -> None:
    """The merge request stays without a milestone."""
    owner = make.user()
    project = filled_project(make, owner)
    milestone = api.post(f"{project.url}/milestones", owner, title="v1").json()["id"]
    merge_request = make_merge_request(make, project, owner, milestone_id=milestone)
    path = f"{project.url}/milestones/{milestone}/merge_requests"
    assert ids(api.get(path, owner)) == [merge_request["id"]]
    assert api.delete(f"{project.url}/milestones/{milestone}", owner).status_code in (200, 204)
    shown = api.get(f"{project.url}/merge_requests/{merge_request['iid']}", owner).json()
    assert (shown["milestone"], shown["state"]) == (None, "opened")
    assert ids(api.get(f"{project.url}/merge_requests", owner, milestone="None")) == [merge_request["id"]]
