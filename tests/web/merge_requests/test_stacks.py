"""Stacks on the pages of merge requests."""

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project
from tests.api.merge_requests.stacks import make_stack, open_layer
from tests.client import Make
from tests.conftest import Instance
from tests.factories import add_members
from tests.web.conftest import PASSWORD
from tests.web.merge_requests.scene import Open


def test_layers_and_merge_of_a_stack(make: Make, open_browser: Open) -> None:
    owner, guest = make.user(password=PASSWORD), make.user(password=PASSWORD)
    project = filled_project(make, owner)
    add_members(make, project, {guest: Level.REPORTER})
    one, two, three = make_stack(make, project, owner, ["one", "two", "three"])
    commit(make, project, "side", {"side.txt": "x\n"}, owner, start="one")
    side = open_layer(make, project, owner, "side", "one")
    browser, base = open_browser().signed_in_as(owner), f"/{project.path}/-/merge_requests"
    page = f"{base}/{two['iid']}"
    shown = browser.get(page).text
    panel = shown.split('class="stack"')[1].split("</section>")[0]
    order = [panel.index(f'{base}/{each["iid"]}"') for each in (side, three, two, one)]
    assert order == sorted(order)
    assert "depth-1" in panel
    assert "Layer 2 of 3" in shown
    assert f'href="{base}/{one["iid"]}" title="Merge one" data-key="d"' in shown
    assert f'href="{base}/{three["iid"]}/diffs"' in browser.get(f"{page}/diffs").text
    offered = "Merge this and everything below"
    assert offered in shown
    assert offered not in browser.get(f"{base}/{one['iid']}").text
    assert offered not in open_browser().signed_in_as(guest).get(page).text
    refused = browser.submit(page, f"{page}/stack/merge", sha="0" * 40)
    assert refused.status_code == 422
    assert "SHA does not match" in refused.text
    make.api.put(f"{project.url}/merge_requests/{one['iid']}", owner, title="Draft: one")
    shown = browser.get(page).text
    assert offered not in shown
    assert "merged together when none of them is a draft" in shown
    assert "Merging adds the changes to the layer below" in shown
    assert "Merging adds the changes to the layer below" not in browser.get(f"{base}/{one['iid']}").text
    make.api.put(f"{project.url}/merge_requests/{one['iid']}", owner, title="one")
    assert browser.submit(page, f"{page}/stack/merge", sha=two["sha"]).status_code == 302
    assert "merged" in browser.get(page).text
    assert "tree/master" in browser.get(f"{base}/{three['iid']}").text


def test_rebase_without_rewritten_commits(make: Make, instance: Instance, open_browser: Open) -> None:
    owner, guest = make.user(password=PASSWORD), make.user(password=PASSWORD)
    project = filled_project(make, owner)
    add_members(make, project, {guest: Level.REPORTER})
    commit(make, project, "one", {"a.txt": "x\n"}, owner, start="master")
    commit(make, project, "one", {"b.txt": "x\n"}, owner)
    one = open_layer(make, project, owner, "one", "master", squash=True)
    (two,) = make_stack(make, project, owner, ["two"], base="one")
    browser, page = open_browser().signed_in_as(owner), f"/{project.path}/-/merge_requests/{two['iid']}"
    assert make.api.put(f"{project.url}/merge_requests/{one['iid']}/merge", owner).status_code == 200
    instance.work()
    shown = browser.get(page).text
    assert f"Commits of !{one['iid']}" in shown
    assert f"git rebase --onto origin/master {one['sha'][:12]} two" in shown
    assert "Rebase without them" not in open_browser().signed_in_as(guest).get(page).text
    assert browser.submit(page, f"{page}/stack/rebase").status_code == 302
    assert f"Commits of !{one['iid']}" not in browser.get(page).text
