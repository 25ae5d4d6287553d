"""python-gitlab's managers for issues, unmodified, against the server."""

from collections.abc import Iterator

import pytest
from gitlab import Gitlab, GitlabCreateError, GitlabGetError, GitlabUpdateError

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_group, make_project


@pytest.fixture(scope="module")
def client(instance: Instance, make: Make) -> Iterator[Gitlab]:
    """Yield the administrator's client."""
    with Gitlab(instance.url, private_token=make.root.token) as made:
        yield made


def test_create_edit_close_delete(client: Gitlab, make: Make) -> None:
    project = client.projects.get(make_project(make).id)
    issue = project.issues.create({"title": "one", "description": "text", "labels": ["a", "b"]})
    assert (issue.iid, issue.state, issue.labels) == (1, "opened", ["a", "b"])
    issue.title = "two"
    issue.labels = ["c"]
    issue.assignee_ids = [make.root.id]
    issue.save()
    found = project.issues.get(1)
    assert (found.title, found.labels, found.assignee["id"]) == ("two", ["c"], make.root.id)
    found.state_event = "close"
    found.save()
    assert project.issues.get(1).state == "closed"
    assert [each.iid for each in project.issues.list(state="closed", get_all=True)] == [1]
    assert project.issues.list(state="opened", get_all=True) == []
    with pytest.raises(GitlabCreateError):
        project.issues.create({"title": ""})
    with pytest.raises(GitlabUpdateError):
        project.issues.update(1, {"state_event": "explode"})
    found.delete()
    found.delete()
    with pytest.raises(GitlabGetError):
        project.issues.get(1)


def test_lists(client: Gitlab, make: Make) -> None:
    group = client.groups.get(make_group(make).id)
    project = client.projects.create({"name": make.name("listed"), "namespace_id": group.id})
    written = [project.issues.create({"title": f"issue {number}", "labels": "x"}) for number in range(25)]
    assert len(project.issues.list(get_all=True)) == 25
    assert len(list(project.issues.list(iterator=True, per_page=10))) == 25
    assert [each.iid for each in project.issues.list(iids=[3, 5], get_all=True)] == [5, 3]
    assert len(project.issues.list(labels=["x"], search="issue 1", get_all=True)) == 11
    assert len(group.issues.list(get_all=True)) == 25
    keyset = client.issues.list(pagination="keyset", order_by="id", per_page=10, iterator=True, search="issue 2")
    assert {each.id for each in keyset} >= {written[2].id, written[24].id}
    assert client.issues.get(written[0].id).title == "issue 0"


def test_statistics(client: Gitlab, make: Make) -> None:
    group = client.groups.get(make_group(make).id)
    project = client.projects.create({"name": make.name("counted"), "namespace_id": group.id})
    for number in range(3):
        project.issues.create({"title": f"{number}"})
    project.issues.update(1, {"state_event": "close"})
    expected = {"counts": {"all": 3, "closed": 1, "opened": 2}}
    assert project.issues_statistics.get().statistics == expected
    assert group.issues_statistics.get().statistics == expected
    assert client.issues_statistics.get().statistics["counts"]["all"] >= 3


def test_move_links_and_participants(client: Gitlab, make: Make) -> None:
    source, target = (client.projects.get(make_project(make).id) for _ in range(2))
    issue = source.issues.create({"title": "wanders"})
    other = target.issues.create({"title": "waits"})
    one_end, other_end = issue.links.create({"target_project_id": target.id, "target_issue_iid": other.iid})
    assert (one_end.id, other_end.id) == (issue.id, other.id)
    link = issue.links.list(get_all=True)[0]
    assert link.id == other.id
    issue.links.delete(link.issue_link_id)
    assert issue.links.list(get_all=True) == []
    assert [person["username"] for person in issue.participants()] == ["root"]
    assert issue.closed_by() == []
    assert issue.related_merge_requests() == []
    assert issue.user_agent_detail()["ip_address"] == "127.0.0.1"
    issue.move(target.id)
    assert issue.project_id == target.id
    assert source.issues.get(1).state == "closed"
    assert source.issues.get(1).moved_to_id == target.issues.get(2).id


def test_time_tracking_and_subscription(client: Gitlab, make: Make) -> None:
    project = client.projects.get(make_project(make).id)
    issue = project.issues.create({"title": "takes long"})
    assert issue.time_estimate("30m")["time_estimate"] == 1800
    assert issue.add_spent_time("1h")["human_total_time_spent"] == "1h"
    assert project.issues.get(issue.iid).time_stats()["total_time_spent"] == 3600
    assert issue.reset_time_estimate()["time_estimate"] == 0
    assert issue.reset_spent_time()["total_time_spent"] == 0
    issue.unsubscribe()
    assert issue.subscribed is False
    issue.subscribe()
    assert issue.subscribed is True
