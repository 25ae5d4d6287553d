"""Lists, creation, editing and line discussions of merge requests."""

import re
from typing import Any
from urllib.parse import urlencode

from tests.api.merge_requests.factories import commit, filled_project, fork, make_merge_request
from tests.api.merging.merge_calls import merged
from tests.client import Api, Make
from tests.conftest import Instance
from tests.git_history import repository_of
from tests.web.browser import Browser, forms_of
from tests.web.conftest import PASSWORD
from tests.web.merge_requests.scene import Open, Scene, current_state

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def test_the_heading_names_the_state(make: Make, scene: Scene, browser: Browser, api: Api) -> None:
    """Open ones want to be merged, closed ones wanted it, and merged ones name the user who merged them."""
    requests = [make_merge_request(make, scene.project, scene.developer) for _ in range(3)]
    api.put(f"{scene.project.url}/merge_requests/{requests[1]['iid']}", scene.owner, state_event="close")
    merged(api, scene.project, requests[2], scene.owner)
    opened, closed, done = (browser.get(scene.page(request)).text for request in requests)

    assert ">wants to merge<" in opened
    assert ">wanted to merge<" in closed
    assert ">merged<" in done and "to merge<" not in done
    assert done.index(f'class="person" href="/{scene.owner.username}"') < done.index(">merged<")


def test_lists_are_filtered_by_query_parameters(make: Make, scene: Scene, open_browser: Open) -> None:
    make.api.post(f"{scene.project.url}/labels", scene.owner, name=HOSTILE, color="#ff0000")
    sent: dict[str, Any] = {"title": f"Tide {HOSTILE}", "labels": HOSTILE, "assignee_id": scene.reporter.id}
    one = make_merge_request(make, scene.project, scene.developer, **sent)
    closed = make_merge_request(make, scene.project, scene.owner, title="Ebb")
    make.api.put(f"{scene.project.url}/merge_requests/{closed['iid']}", scene.owner, state_event="close")
    browser = open_browser().signed_in_as(scene.reporter)
    base, group = f"/{scene.project.path}/-/merge_requests", scene.project.path.rpartition("/")[0]

    opened = browser.get(f"{base}?search=Tide").text
    assert "Tide &lt;script&gt;" in opened
    assert "<script>alert" not in opened
    assert "Ebb" not in opened
    assert "Ebb" in browser.get(f"{base}?state=closed").text
    for query in (
        {"label_name[]": HOSTILE},
        {"author_username": scene.developer.username, "search": "Tide"},
        {"source_branch": one["source_branch"], "target_branch": "master"},
    ):
        assert "Tide" in browser.get(f"{base}?{urlencode(query)}").text
    assert "No merge requests found" in browser.get(f"{base}?search=nothing-at-all").text
    assert browser.get(f"{base}?state=x&sort=x&page=x&label_name[a]=b&search[]=a").status_code == 200
    assert "Tide" in browser.get(f"/groups/{group}/-/merge_requests?search=Tide").text
    assert "Tide" in browser.get("/dashboard/merge_requests").text
    assert "Tide" not in browser.get("/dashboard/merge_requests?scope=created_by_me").text

    stranger = open_browser().signed_in_as(scene.stranger)
    assert stranger.get(base).status_code == 404
    assert stranger.get(f"/groups/{group}/-/merge_requests").status_code == 404
    assert "Tide" not in stranger.get("/dashboard/merge_requests").text


def test_the_overview_shows_each_reason_why_a_merge_request_waits(make: Make, scene: Scene, open_browser: Open) -> None:
    project, url = scene.project, f"{scene.project.url}/merge_requests"
    label = make.api.post(f"{project.url}/labels", scene.owner, name="scope::first part", color="#00ff00")
    assert label.status_code == 201, label.text
    review = make_merge_request(
        make,
        project,
        scene.owner,
        title="Reviewed by me",
        reviewer_ids=[scene.developer.id],
        labels="scope::first part",
    )
    mine = make_merge_request(make, project, scene.developer, title="Draft: Mine with threads")
    make.api.post(f"{url}/{mine['iid']}/discussions", scene.owner, body="Why?")
    make.api.post(f"{url}/{review['iid']}/approve", scene.developer)
    make.api.post(f"{project.url}/statuses/{review['sha']}", scene.owner, state="failed", name="build")

    page = open_browser().signed_in_as(scene.developer).get("/dashboard/merge_requests").text
    sections = dict(part.split('">', 1) for part in page.split('<section aria-labelledby="')[1:])
    assert {"reviews_for_me", "returned_to_me", "created_by_me"} <= set(sections)
    reviewed = sections["reviews_for_me"]
    assert "Reviewed by me" in reviewed and "Mine with threads" not in reviewed
    assert 'aria-label="Pipeline: failed"' in reviewed and 'title="Approvals"' in reviewed
    assert '<p class="row-labels"><span class="label' in reviewed
    returned = sections["returned_to_me"]
    assert "Mine with threads" in returned and ">draft</span>" in returned and "unresolved</span>" in returned
    listed = open_browser().signed_in_as(scene.reporter).get(f"/{project.path}/-/merge_requests?search=Reviewed").text
    assert 'aria-label="Pipeline: failed"' in listed


def test_pages_require_permission(make: Make, scene: Scene, open_browser: Open) -> None:
    request = make_merge_request(
        make, scene.project, scene.developer, title=f"Look {HOSTILE}", description=f"**So** {HOSTILE}"
    )
    page = scene.page(request)
    reporter, stranger = (open_browser().signed_in_as(one) for one in (scene.reporter, scene.stranger))

    for path in ("", "/commits", "/diffs", "/diffs?view=split", "/pipelines", "/raw_diffs"):
        seen = reporter.get(page + path)
        assert seen.status_code == 200, path
        assert "<script>alert" not in seen.text
        assert stranger.get(page + path).status_code == 404
        assert open_browser().get(page + path).status_code == 404
    old = request["web_url"].removeprefix(reporter.url)
    assert reporter.get(old).status_code == 200, "The API writes addresses without the dash."
    assert stranger.get(old).status_code == 404
    shown = reporter.get(page).text
    assert "<strong>So</strong>" in shown
    assert "You do not have permission to merge into master." in shown
    assert f"{page}/merge" not in shown
    for path in (f"{page}/edit", scene.page({"iid": 99999}), scene.page({"iid": "x"}), f"{page}/diffs?diff_id=1"):
        assert reporter.get(path).status_code == 404
    token = stranger.token()
    for path in ("/merge", "/rebase", "/state", "/draft", "/approval"):
        assert stranger.post(page + path, data={"authenticity_token": token}).status_code == 404
    refused = reporter.post(f"{page}/merge", data={"authenticity_token": reporter.token()})
    assert refused.status_code == 422
    assert current_state(make.api, scene, request)["state"] == "opened"


def test_create_from_the_link_that_a_push_prints(make: Make, scene: Scene, browser: Browser) -> None:
    branch = make.name("push")
    message = f"Raise the level {HOSTILE}\n\nBy a foot."
    commit(make, scene.project, branch, {f"{branch}.md": "x\n"}, scene.developer, start="master", message=message)
    link = f"/{scene.project.path}/merge_requests/new?merge_request%5Bsource_branch%5D={branch}"
    action = f"/{scene.project.path}/-/merge_requests"

    shown = browser.get(link)
    assert "Raise the level &lt;script&gt;" in shown.text, "The title is that of the only commit."
    assert "By a foot." in shown.text
    assert f"{branch}.md" in shown.text

    blank = browser.submit(link, action, **{"merge_request[title]": "", "merge_request[description]": "kept words"})
    assert blank.status_code == 422
    assert "kept words" in blank.text
    fields = {"merge_request[title]": "Raise it", "merge_request[squash]": "1", "merge_request[assignee_ids][]": ""}
    made = browser.submit(link, action, **fields)
    (found,) = make.api.get(f"{scene.project.url}/merge_requests?source_branch={branch}", scene.owner).json()
    assert made.headers["location"] == scene.page(found)
    assert (found["title"], found["squash"], found["target_branch"]) == ("Raise it", True, "master")
    twin = browser.submit(link, action, **fields)
    assert twin.status_code == 422
    assert "already exists" in twin.text


def test_branch_selection(scene: Scene, browser: Browser, open_browser: Open) -> None:
    base = f"/{scene.project.path}/-/merge_requests/new"

    assert "Source branch" in browser.get(base).text
    asked = {"merge_request[source_branch]": "nowhere<b>", "merge_request[target_branch]": "master"}
    wrong = browser.get(f"{base}?{urlencode(asked)}").text
    assert "There is no branch nowhere&lt;b&gt;" in wrong
    same = {"merge_request[source_branch]": "master", "merge_request[target_branch]": "master"}
    assert "Select two different branches." in browser.get(f"{base}?{urlencode(same)}").text
    assert "No source branch available" in open_browser().signed_in_as(scene.reporter).get(base).text
    assert open_browser().signed_in_as(scene.stranger).get(base).status_code == 404
    assert open_browser().get(base).status_code == 302


def test_comparing_with_a_fork_writes_to_neither_repository(instance: Instance, make: Make, open_browser: Open) -> None:
    """The page is a read: commits must not be copied between the repositories."""
    owner, forker = make.user(password=PASSWORD), make.user(password=PASSWORD)
    project = filled_project(make, owner, visibility="public")
    theirs = fork(make, project, forker)
    commit(make, theirs, "new", {"new.txt": "new\n"}, forker, start="master")
    commit(make, project, "master", {"moved.txt": "on\n"}, owner)
    instance.work()
    repositories = [repository_of(instance, one) for one in (project, theirs)]
    trash = instance.settings.data / "repositories" / ".trash"  # Other tests may have left deleted repositories there.
    before = [sorted(one.path.rglob("*")) for one in repositories], sorted(trash.glob("*"))
    asked = {"merge_request[source_project_id]": theirs.id, "merge_request[source_branch]": "new"}
    browser = open_browser().signed_in_as(forker)

    shown = browser.get(f"/{project.path}/-/merge_requests/new?{urlencode(asked)}")

    assert "new.txt" in shown.text
    assert "moved.txt" not in shown.text
    assert ([sorted(one.path.rglob("*")) for one in repositories], sorted(trash.glob("*"))) == before


def test_a_hidden_fork_is_not_shown(make: Make, open_browser: Open) -> None:
    owner, forker = make.user(password=PASSWORD), make.user(password=PASSWORD)
    project = filled_project(make, owner, visibility="public")
    theirs = fork(make, project, forker)
    make.api.put(f"{theirs.url}", forker, visibility="private")
    commit(make, theirs, "secret", {"new.txt": "new\n"}, forker, start="master")
    commit(make, project, "master", {"moved.txt": "on\n"}, owner)
    browser = open_browser().signed_in_as(forker)
    asked = {"merge_request[source_project_id]": theirs.id, "merge_request[source_branch]": "secret"}
    link, action = f"/{project.path}/-/merge_requests/new?{urlencode(asked)}", f"/{project.path}/-/merge_requests"

    shown = browser.get(link).text
    assert "new.txt" in shown
    assert "moved.txt" not in shown, "That came to the target meanwhile."
    made = browser.submit(link, action, **{"merge_request[title]": "From afar"})
    page = made.headers["location"]
    assert page.startswith(f"/{project.path}/-/merge_requests/")
    assert theirs.path in browser.get(page).text
    from_fork = f"/{theirs.path}/-/merge_requests/new?merge_request%5Bsource_branch%5D=secret"
    assert f"{project.path}:master" in browser.get(from_fork).text, "A fork offers to what it comes from."

    for visitor in (open_browser().signed_in_as(owner), open_browser()):
        for path in ("", "/commits", "/diffs", "/pipelines"):
            seen = visitor.get(page + path)
            assert seen.status_code == 200
            assert theirs.path not in seen.text
    assert "from a project that you cannot see" in open_browser().get(page).text


def test_templates_are_offered(make: Make, scene: Scene, browser: Browser) -> None:
    branch, files = make.name("told"), {}
    for name in ("Change", "Release notes"):
        files[f".gitlab/merge_request_templates/{name}.md"] = f"## {name} {HOSTILE}"
    commit(make, scene.project, "master", files, scene.owner)
    commit(make, scene.project, branch, {branch: "x"}, scene.developer, start="master", message="One\n\nBody")
    asked = {"merge_request[source_branch]": branch, "merge_request[title]": "Mine"}
    start = f"/{scene.project.path}/-/merge_requests/new?{urlencode(asked)}"

    shown = browser.get(start).text
    assert "issuable_template=Release+notes" in shown
    assert 'value="Mine"' in shown
    told = browser.get(f"{start}&issuable_template=Release notes").text
    assert "## Release notes &lt;script&gt;" in told
    assert "<script>alert" not in told
    assert "## " not in browser.get(f"{start}&issuable_template=nothing").text


def test_edit_and_delete(make: Make, scene: Scene, browser: Browser, open_browser: Open) -> None:
    request = make_merge_request(make, scene.project, scene.developer, title="Before")
    page, other = scene.page(request), make.name("target")
    make.api.post(f"{scene.project.url}/repository/branches", scene.owner, branch=other, ref="master")
    title, target = "merge_request[title]", "merge_request[target_branch]"

    seen = next(form for form in forms_of(browser.get(f"{page}/edit")) if form.fields.get("_method") == "put")

    def edit(**values: str) -> Any:
        return browser.post(page, data={**seen.fields, **values})

    late = edit(**{title: "x", "merge_request[version]": "old"})
    assert late.status_code == 422
    assert "Someone else has changed the description." in late.text
    refused = edit(**{title: "", "merge_request[description]": f"typed {HOSTILE}"})
    assert refused.status_code == 422
    assert "typed &lt;script&gt;" in refused.text
    assert edit(**{title: "x", target: "nowhere"}).status_code == 422
    labels = {"merge_request[labels][]": "late", "merge_request[assignee_ids][]": str(scene.reporter.id)}
    assert edit(**{title: "After", target: other, **labels}).headers["location"] == page
    now = current_state(make.api, scene, request)
    assert (now["title"], now["target_branch"], now["labels"]) == ("After", other, ["late"])
    assert [person["id"] for person in now["assignees"]] == [scene.reporter.id]

    gone = {"_method": "delete", "authenticity_token": browser.token()}
    assert browser.post(page, data=gone).status_code == 403
    owner = open_browser().signed_in_as(scene.owner)
    gone["authenticity_token"] = owner.token()
    assert owner.post(page, data=gone).headers["location"] == f"/{scene.project.path}/-/merge_requests"
    assert owner.get(page).status_code == 404


def test_line_discussions(make: Make, scene: Scene, browser: Browser, open_browser: Open) -> None:
    request = make_merge_request(make, scene.project, scene.owner, description="x")
    page, file = scene.page(request), f"{request['source_branch']}.txt"
    reporter = open_browser().signed_in_as(scene.reporter)
    (link,) = {one for one in browser.get(f"{page}/diffs").text.split('"') if one.startswith("?at=")}

    row = browser.get(f"{page}/diffs{link}", headers={"HX-Request": "true"}).text
    assert row.lstrip().startswith('<tr class="discussion">')
    said = browser.submit(f"{page}/diffs{link}", f"{page}/line_notes", **{"note[body]": f"Why {HOSTILE}"})
    number = said.headers["location"].rpartition("_")[2]
    assert said.headers["location"] == f"{page}/diffs#note_{number}"

    for where in (page, f"{page}/diffs", f"{page}/diffs?view=split"):
        shown = reporter.get(where).text
        assert f'id="note_{number}"' in shown
        assert "<script>alert" not in shown
    assert f"{file}:1" in reporter.get(page).text, "The overview names the line."
    (talk,) = (
        one
        for one in make.api.get(f"{scene.project.url}/merge_requests/{request['iid']}/discussions", scene.owner).json()
        if one["notes"][0]["type"] == "DiffNote"
    )
    assert (talk["notes"][0]["position"]["new_path"], talk["notes"][0]["position"]["new_line"]) == (file, 1)
    settled = browser.submit(f"{page}/diffs", f"{page}/discussions/{talk['id']}")
    assert settled.headers["location"] == f"{page}/diffs#note_{number}"
    assert "1 of 1 resolved" in browser.get(f"{page}/diffs").text

    commit(make, scene.project, request["source_branch"], {file: "else\n"}, scene.owner, action="update")
    first = make.api.get(f"{scene.project.url}/merge_requests/{request['iid']}/versions", scene.owner).json()[-1]["id"]
    assert "outdated" in reporter.get(page).text
    assert f'id="note_{number}"' in reporter.get(f"{page}/diffs?diff_id={first}").text
    compared = reporter.get(f"{page}/diffs?start_id={first}").text
    assert "between two versions" in compared
    assert "else" in compared
    assert "?at=" not in compared
    assert browser.get(f"{page}/diffs?at=d00_1_1&first=9&only=x&view=y").status_code == 200


def test_a_fork_may_prefer_itself_as_the_target(instance: Instance, make: Make, open_browser: Open) -> None:
    owner, forker = make.user(password=PASSWORD), make.user(password=PASSWORD)
    project = filled_project(make, owner, visibility="public")
    forked = make.api.post(f"{project.url}/fork", forker, mr_default_target_self=True).json()
    assert forked["mr_default_target_self"] is True
    instance.work()
    browser = open_browser().signed_in_as(forker)
    for prefers_itself, target in ((True, forked["id"]), (False, project.id)):
        make.api.put(f"/projects/{forked['id']}", forker, mr_default_target_self=prefers_itself)
        page = browser.get(f"/{forked['path_with_namespace']}/-/merge_requests/new")
        assert re.search(rf'<option value="{target}"[^>]* selected', page.text), page.text


def test_an_edit_in_a_fork_is_proposed_to_the_upstream_project(make: Make, open_browser: Open) -> None:
    owner, forker = make.user(password=PASSWORD), make.user(password=PASSWORD)
    upstream = filled_project(make, owner, visibility="public")
    copy = fork(make, upstream, forker)
    browser = open_browser().signed_in_as(forker)
    edit = f"/{copy.path}/-/edit/master/README"
    form = browser.form(edit, edit)
    fields = form.fields | {"content": "New text", "branch": "proposal"}
    committed = browser.post(edit, data=fields)
    assert committed.status_code == 302, committed.text
    page = browser.get(committed.headers["location"]).text
    assert f'name="merge_request[target_project_id]" value="{upstream.id}"' in page
    assert 'name="merge_request[target_branch]" value="master"' in page
    assert "Change branches" in page

    sent = {"source_branch": "proposal", "target_branch": "master", "title": "Text", "target_project_id": upstream.id}
    made = make.api.post(f"{copy.url}/merge_requests", forker, **sent)
    assert made.status_code == 201, made.text
    address = f"/{upstream.path}/-/merge_requests/{made.json()['iid']}"
    for path in ("/-/branches", "/-/compare/master...proposal"):
        page = browser.get(f"/{copy.path}{path}").text
        assert f'href="{address}"' in page or f'href="{address.replace("/-/", "/")}"' in page, path
        assert "merge_requests/new?merge_request%5Bsource_branch%5D=proposal" not in page, path
    hidden = make.api.put(upstream.url, owner, merge_requests_access_level="private")
    assert hidden.status_code == 200, hidden.text
    assert f"merge_requests/{made.json()['iid']}" not in browser.get(f"/{copy.path}/-/branches").text
