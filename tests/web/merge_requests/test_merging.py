"""Merge box: merging, the reasons against it, and the actions before and after."""

import json

from tests.api.merge_requests.factories import commit, make_merge_request
from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import project_runner
from tests.client import Make
from tests.web.browser import Browser
from tests.web.merge_requests.scene import Open, Scene, current_state

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def test_merge_with_a_custom_message(make: Make, scene: Scene, browser: Browser) -> None:
    request = make_merge_request(make, scene.project, scene.developer, title=f"Merge {HOSTILE}")
    page = scene.page(request)
    assert "Ready to merge" in browser.get(page).text

    fields = {"merge_commit_message": "My words\r\n\r\nMore", "should_remove_source_branch": "1"}
    stale = browser.submit(page, f"{page}/merge", **{**fields, "sha": "0" * 40})
    assert stale.status_code == 422
    assert "SHA does not match" in stale.text
    merged = browser.submit(page, f"{page}/merge", **fields)
    assert (merged.status_code, merged.headers["location"]) == (302, page)

    now = current_state(make.api, scene, request)
    assert now["state"] == "merged"
    head = make.api.get(f"{scene.project.url}/repository/commits/{now['merge_commit_sha']}", scene.owner).json()
    assert head["message"].strip() == "My words\n\nMore"
    branch = f"{scene.project.url}/repository/branches/{request['source_branch']}"
    assert make.api.get(branch, scene.owner).status_code == 404
    shown = browser.get(page).text
    assert now["merge_commit_sha"][:8] in shown
    assert f"{page}/merge" not in shown.replace(f"{page}/merge_", "")
    again = browser.post(f"{page}/merge", data={"authenticity_token": browser.token()})
    assert again.status_code == 422
    assert "The merge request is no longer open." in again.text


def test_every_reason_against_merging(make: Make, scene: Scene, browser: Browser) -> None:
    request = make_merge_request(make, scene.project, scene.developer, title="Draft: Wait")
    page, url = scene.page(request), f"{scene.project.url}/merge_requests/{request['iid']}"
    rules = {"only_allow_merge_if_pipeline_succeeds": True, "only_allow_merge_if_all_discussions_are_resolved": True}
    make.api.put(scene.project.url, scene.owner, **rules)
    try:
        make.api.post(f"{url}/discussions", scene.owner, body="Why?")
        status = f"{scene.project.url}/statuses/{request['sha']}"
        make.api.post(status, scene.owner, state="failed", name="test", ref=request["source_branch"])
        shown = browser.get(page).text
        for reason in (
            "The merge request is a draft.",
            "All discussions must be resolved.",
            "The pipeline must succeed before merging.",
        ):
            assert reason in shown
        ready = browser.submit(page, f"{page}/draft", draft="false")
        assert ready.status_code == 302
        assert current_state(make.api, scene, request)["title"] == "Wait"

        (talk,) = make.api.get(f"{url}/discussions", scene.owner).json()[:1]
        make.api.put(f"{url}/discussions/{talk['id']}", scene.owner, resolved=True)
        make.api.post(status, scene.owner, state="running", name="test", ref=request["source_branch"])
        shown = browser.get(page).text
        assert "The pipeline is still running" in shown
        assert "data-live=" in shown, "It looks again by itself."
        later = browser.submit(page, f"{page}/merge", later="1")
        assert later.status_code == 302
        assert current_state(make.api, scene, request)["merge_when_pipeline_succeeds"] is True
        part = browser.get(f"{page}/box?state=opened", headers={"HX-Request": "true"})
        assert "Set to merge when the pipeline succeeds" in part.text
        assert "<html" not in part.text
        assert "hx-refresh" not in part.headers
        assert browser.submit(page, f"{page}/cancel_merge").status_code == 302
        assert current_state(make.api, scene, request)["merge_when_pipeline_succeeds"] is False
        changed = browser.get(f"{page}/box?state=closed", headers={"HX-Request": "true"})
        assert changed.headers["hx-refresh"] == "true"
        assert browser.get(f"{page}/box").headers["location"] == page
    finally:
        make.api.put(scene.project.url, scene.owner, **dict.fromkeys(rules, False))


def test_conflicts_show_how_to_resolve_them(make: Make, scene: Scene, browser: Browser) -> None:
    branch = "it's;$(x)"
    commit(make, scene.project, branch, {"clash": "one\n"}, scene.developer, start="master")
    sent = {"source_branch": branch, "target_branch": "master", "title": "Clash"}
    request = make.api.post(f"{scene.project.url}/merge_requests", scene.developer, **sent).json()
    commit(make, scene.project, "master", {"clash": "two\n"}, scene.owner)

    shown = browser.get(scene.page(request)).text
    assert "Merge conflicts with master must be resolved" in shown
    assert "git merge origin/master" in shown
    assert "git push origin &#39;it&#39;&#34;&#39;&#34;&#39;s;$(x)&#39;" in shown, "The shell must not run its name."
    assert f"{scene.page(request)}/merge" not in shown.replace(f"{scene.page(request)}/merge_", "")


def test_rebase_close_and_approve(make: Make, scene: Scene, browser: Browser) -> None:
    request = make_merge_request(make, scene.project, scene.developer, title="Behind")
    page = scene.page(request)
    commit(make, scene.project, "master", {make.name("moved"): "on\n"}, scene.owner)

    assert browser.submit(page, f"{page}/rebase").status_code == 302
    assert current_state(make.api, scene, request)["sha"] != request["sha"]
    assert f"{page}/rebase" not in browser.get(page).text
    assert browser.submit(page, f"{page}/approval", approved="true").status_code == 302
    assert "Revoke approval" in browser.get(page).text
    assert browser.submit(page, f"{page}/approval", approved="false").status_code == 302
    assert browser.submit(page, f"{page}/state", state_event="close").status_code == 302
    assert "The changes were not merged." in browser.get(page).text
    assert browser.submit(page, f"{page}/state", state_event="reopen").status_code == 302
    assert current_state(make.api, scene, request)["state"] == "opened"


def test_deleted_branches(make: Make, scene: Scene, browser: Browser) -> None:
    target = make.name("target")
    make.api.post(f"{scene.project.url}/repository/branches", scene.owner, branch=target, ref="master")
    request = make_merge_request(make, scene.project, scene.developer, target_branch=target)
    page, branches = scene.page(request), f"{scene.project.url}/repository/branches"
    make.api.delete(f"{branches}/{request['source_branch']}", scene.owner)
    shown = browser.get(page).text
    assert "does not exist. Push it again to continue." in shown
    assert f'{page}/merge"' not in shown
    make.api.delete(f"{branches}/{target}", scene.owner)
    assert f"The target branch {target} does not exist." in browser.get(page).text
    for path in ("/commits", "/diffs", "/pipelines", "/edit"):
        assert browser.get(page + path).status_code == 200


def test_after_a_merge(make: Make, scene: Scene, browser: Browser, open_browser: Open) -> None:
    request = make_merge_request(make, scene.project, scene.developer)
    page, branch = scene.page(request), f"{scene.project.url}/repository/branches/{request['source_branch']}"
    assert browser.submit(page, f"{page}/merge").status_code == 302
    commits = f"/{scene.project.path}/-/commit/{current_state(make.api, scene, request)['merge_commit_sha']}"
    reporter = open_browser().signed_in_as(scene.reporter)
    for action in (f"{page}/source_branch", f"{commits}/revert", f"{commits}/cherry_pick"):
        assert f'action="{action}"' in browser.get(page).text
        assert f'action="{action}"' not in reporter.get(page).text
    gone = {"_method": "delete", "authenticity_token": reporter.token()}
    assert reporter.post(f"{page}/source_branch", data=gone).status_code == 422

    more = commit(make, scene.project, request["source_branch"], {"more": "x"}, scene.developer)
    assert f"{page}/source_branch" not in browser.get(page).text, "What came after the merge is not lost."
    gone["authenticity_token"] = browser.token()
    assert browser.post(f"{page}/source_branch", data=gone).status_code == 422
    assert make.api.get(branch, scene.owner).json()["commit"]["id"] == more
    make.api.delete(branch, scene.owner)
    again = {"branch": request["source_branch"], "ref": request["sha"]}
    make.api.post(f"{scene.project.url}/repository/branches", scene.owner, **again)
    assert browser.submit(page, f"{page}/source_branch").headers["location"] == page
    assert make.api.get(branch, scene.owner).status_code == 404
    assert f"The source branch {request['source_branch']} was deleted." in browser.get(page).text

    undone = browser.submit(page, f"{commits}/revert")
    assert undone.status_code == 302
    assert "/-/merge_requests/new?" in undone.headers["location"]
    assert browser.get(undone.headers["location"]).status_code == 200


def test_source_branch_removal_set_by_the_author(make: Make, scene: Scene, browser: Browser) -> None:
    """The merging user may override it; without the field nothing changes."""
    for removes, ticked, status in ((True, {}, 200), (True, {"should_remove_source_branch": "1"}, 404)):
        request = make_merge_request(make, scene.project, scene.developer, remove_source_branch=removes)
        page, branch = scene.page(request), f"{scene.project.url}/repository/branches/{request['source_branch']}"
        assert browser.submit(page, f"{page}/merge", **ticked).status_code == 302
        assert make.api.get(branch, scene.owner).status_code == status
    request = make_merge_request(make, scene.project, scene.developer, remove_source_branch=True)
    page, branch = scene.page(request), f"{scene.project.url}/repository/branches/{request['source_branch']}"
    sent = {"authenticity_token": browser.token(), "sha": request["sha"], "options": "1"}
    assert browser.post(f"{page}/merge", data=sent).status_code == 302
    assert make.api.get(branch, scene.owner).status_code == 404


def test_exposed_artifacts(make: Make, scene: Scene, browser: Browser, open_browser: Open) -> None:
    """The merge box links to artifacts that the configuration exposes, for users who may read them."""
    project, branch = scene.project, "with-artifacts"
    artifacts = {"paths": ["docs/index.html"], "expose_as": "Docs preview", "public": False}
    files = {".gitlab-ci.yml": json.dumps({"docs": {"script": "make", "artifacts": artifacts}})}
    commit_files(make, project, files, branch=branch, start_branch="master")
    job = project_runner(make, project.id).must_take()
    assert job.upload({"docs/index.html": b"text"}).status_code == 201
    job.finish()
    sent = {"source_branch": branch, "target_branch": "master", "title": "Artifacts"}
    request = make.api.post(f"{project.url}/merge_requests", scene.developer, **sent).json()
    link = f"/{project.path}/-/jobs/{job.id}/artifacts/browse/docs"
    assert f'<a href="{link}">Docs preview</a>' in browser.get(scene.page(request)).text
    assert "index.html" in browser.get(link).text
    assert "Docs preview" not in open_browser().signed_in_as(scene.reporter).get(scene.page(request)).text
