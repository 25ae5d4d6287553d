"""Pages of merge trains: the buttons of the merge box, and the page of the train."""

import re

from tests.ci.merge_trains.train_project import TrainProject
from tests.client import Make
from tests.conftest import Instance
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
    assert "2 of 2 in the train." in browser.get(other).text
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
    assert shown.count("in a batch of 2") == 2
    assert shown.count("waiting for a pipeline") == 1
    assert "left" not in shown
    assert "due now" not in shown
    trains.end(offered[0])
    assert len(re.findall(r"about .* left|due now", browser.get(page).text)) == 3


def test_merges_that_skip_the_train(make: Make, instance: Instance, open_browser: Open) -> None:
    trains = TrainProject(make, instance, merge_trains_skip_train_allowed=True)
    trains.offer_and_add("first")
    urgent = trains.offer("urgent")
    path = f"{trains.project.url}/merge_requests/{urgent['iid']}/merge"
    assert make.api.put(path, make.root, skip_merge_train=True).status_code == 200
    page = open_browser().signed_in_as(make.root).get(f"/{trains.project.path}/-/merge_trains").text
    assert "skipped the train" in page.split("Merged by trains")[1]
