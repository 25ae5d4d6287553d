"""Pages of merge trains: the buttons of the merge box, and the page of the train."""

import re

from ingot.core.access.levels import Level
from tests.ci.merge_trains.train_project import TrainProject
from tests.ci.pipelines.files import commit_files
from tests.client import Make
from tests.conftest import Instance
from tests.factories import add_members
from tests.web.conftest import PASSWORD
from tests.web.merge_requests.scene import Open


def test_join_see_and_leave_the_train(make: Make, instance: Instance, open_browser: Open) -> None:
    trains = TrainProject(make, instance)
    browser, base = open_browser().signed_in_as(make.root), f"/{trains.project.path}/-"
    assert "No merge trains" in browser.get(f"{base}/merge_trains").text
    first, second = trains.offer("first"), trains.offer("second")
    page = f"{base}/merge_requests/{first['iid']}"
    shown = browser.get(page).text
    assert "Add to merge train" in shown
    assert "Merge immediately" in shown
    assert browser.submit(page, f"{page}/merge", later="1").status_code == 302
    assert trains.add(second).status_code == 201
    trains.work()
    other = f"{base}/merge_requests/{second['iid']}"
    shown = browser.get(other).text
    assert "2 of 2 in the train." in shown
    assert f"Pipeline #{trains.train()[1]['pipeline']['id']} tests it with those before it" in shown
    listed = browser.get(f"{base}/merge_trains").text
    assert listed.index("Merge first") < listed.index("Merge second")
    assert f"{base}/merge_trains" in browser.get(f"{base}/merge_requests").text
    assert "merge train" in browser.get(f"{base}/pipelines").text
    trains.end(first)
    assert "Merge first" in browser.get(f"{base}/merge_trains").text.split("Merged by trains")[1]
    assert browser.submit(f"{base}/merge_trains", f"{other}/cancel_merge").status_code == 302
    trains.work()
    assert trains.iids() == []
    stranger = open_browser().signed_in_as(make.user(password=PASSWORD))
    assert stranger.get(f"{base}/merge_trains").status_code == 404


def test_settings(make: Make, instance: Instance, open_browser: Open) -> None:
    project = TrainProject(make, instance).project
    page = open_browser().signed_in_as(make.root).get(f"/{project.path}/-/edit").text
    assert "Merged results pipelines" in page
    assert "Merge trains" in page
    assert "Merge trains can be skipped" in page


def test_sizes_are_changed_on_the_page(make: Make, instance: Instance, open_browser: Open) -> None:
    project = TrainProject(make, instance).project
    browser, page = open_browser().signed_in_as(make.root), f"/{project.path}/-/edit"
    form = {"part": "merging", "merging[merge_trains_batch_size]": "3", "merging[merge_trains_parallel_pipelines]": "2"}
    sent = {"authenticity_token": browser.token(), "_method": "put", **form}
    assert browser.post(page, data=sent).status_code == 302
    shown = make.api.get(project.url, make.root).json()
    assert (shown["merge_trains_batch_size"], shown["merge_trains_parallel_pipelines"]) == (3, 2)


def test_batches_and_expected_times(make: Make, instance: Instance, open_browser: Open) -> None:
    trains = TrainProject(make, instance, merge_trains_batch_size=2, merge_trains_parallel_pipelines=2)
    offered = trains.offer_and_add(*"abcd")
    browser, page = open_browser().signed_in_as(make.root), f"/{trains.project.path}/-/merge_trains"
    shown = browser.get(page).text
    second, third = (f"tested with !{offered[number]['iid']}" for number in (2, 1))
    assert (shown.count("tested with"), shown.count(second), shown.count(third)) == (2, 1, 1)
    assert shown.count("waiting for a pipeline") == 1
    assert "left" not in shown
    assert "due now" not in shown
    assert shown.count("no estimate yet") == 4
    trains.end(offered[0])
    shown = browser.get(page).text
    batch = shown[shown.index("Merge b") : shown.index("Merge d")]
    assert len(re.findall(r"due now|longer than usual| left ", batch)) == 2


def test_merge_a_request_in_the_train_immediately(make: Make, instance: Instance, open_browser: Open) -> None:
    trains = TrainProject(make, instance)
    first, second = (each["iid"] for each in trains.offer_and_add("first", "second"))
    trains.work()
    browser, page = open_browser().signed_in_as(make.root), f"/{trains.project.path}/-/merge_requests/{second}"
    assert "Merge immediately" in browser.get(page).text
    assert browser.submit(page, f"{page}/merge").status_code == 302
    assert make.api.get(f"{trains.project.url}/merge_requests/{second}", make.root).json()["state"] == "merged"
    trains.work()
    assert trains.iids() == [first]


def test_merges_that_skip_the_train(make: Make, instance: Instance, open_browser: Open) -> None:
    trains = TrainProject(make, instance, merge_trains_skip_train_allowed=True)
    trains.offer_and_add("first")
    urgent = trains.offer("urgent")
    path = f"{trains.project.url}/merge_requests/{urgent['iid']}/merge"
    assert make.api.put(path, make.root, skip_merge_train=True).status_code == 200
    page = open_browser().signed_in_as(make.root).get(f"/{trains.project.path}/-/merge_trains").text
    assert "Skipped train" in page.split("Merged by trains")[1]


def test_a_merge_without_a_restart_is_offered_while_there_is_a_train(
    make: Make, instance: Instance, open_browser: Open
) -> None:
    trains = TrainProject(make, instance, merge_trains_skip_train_allowed=True)
    urgent = trains.offer("urgent")
    browser, page = open_browser().signed_in_as(make.root), f"/{trains.project.path}/-/merge_requests/{urgent['iid']}"
    offer = "Merge without restarting the train"
    assert offer not in browser.get(page).text
    trains.offer_and_add("first")
    pipeline = trains.train()[0]["pipeline"]["id"]
    assert offer in browser.get(page).text
    assert browser.submit(page, f"{page}/merge", skip="1").status_code == 302
    trains.work()
    assert [car["pipeline"]["id"] for car in trains.train()] == [pipeline]
    assert [car["status"] for car in trains.train(scope="complete")] == ["skip_merged"]


def test_trains_rebase_where_the_history_is_linear(make: Make, instance: Instance, open_browser: Open) -> None:
    """A source behind its target is no reason against the train, which rebases it."""
    trains = TrainProject(make, instance, merge_method="ff")
    only = trains.offer("a")
    commit_files(make, trains.project, {"outside": "1"})
    trains.work()
    browser, page = open_browser().signed_in_as(make.root), f"/{trains.project.path}/-/merge_requests/{only['iid']}"
    rebased, refused = "The merge train rebases the commits", "must be rebased"
    shown = browser.get(page).text
    assert [text in shown for text in ("Ready to merge", "Add to merge train", rebased)] == [True] * 3
    assert [text in shown for text in ("Merge immediately", refused)] == [False] * 2
    assert trains.add(only).status_code == 201
    shown = browser.get(page).text
    assert [text in shown for text in ("1 of 1 in the train", "Remove from merge train", rebased)] == [True] * 3
    assert refused not in shown


def test_only_those_who_may_merge_are_offered_to_remove(make: Make, instance: Instance, open_browser: Open) -> None:
    trains = TrainProject(make, instance)
    developer, guest = make.user(password=PASSWORD), make.user(password=PASSWORD)
    add_members(make, trains.project, {developer: Level.DEVELOPER, guest: Level.GUEST})
    make.api.put(trains.project.url, make.root, visibility="public")
    (only,) = trains.offer_and_add("a")
    base = f"/{trains.project.path}/-"
    removal = f"Remove !{only['iid']} from the merge train"
    shown = [
        removal in open_browser().signed_in_as(person).get(f"{base}/merge_trains").text
        for person in (make.root, developer)
    ]
    assert shown == [True, False]
    links = [
        "View merge trains" in open_browser().signed_in_as(person).get(f"{base}/merge_requests/{only['iid']}").text
        for person in (developer, guest)
    ]
    assert links == [True, False]


def test_expected_times_after_a_failure(make: Make, instance: Instance, open_browser: Open) -> None:
    """Nothing is expected of a merge request whose pipeline has failed behind others."""
    trains = TrainProject(make, instance)
    offered = trains.offer_and_add(*"abcd")
    trains.end(offered[0])
    trains.end(offered[2], "failed")
    browser = open_browser().signed_in_as(make.root)
    shown = browser.get(f"/{trains.project.path}/-/merge_requests/{offered[2]['iid']}").text
    assert "It waits for those before it, which may be the reason of the failure." in shown
    page = open_browser().signed_in_as(make.root).get(f"/{trains.project.path}/-/merge_trains").text
    active = page.split("Merged by trains")[0]
    failed = active[active.index("Merge c") : active.index("Merge d")]
    assert "waits for those before it, which may be the reason" in failed
    assert not re.search(r"about .* left|due now|longer than usual", failed)
