"""Pipeline editor without scripts: checks, views, commits and permissions."""

from urllib.parse import quote

from ingot.core.access.levels import Level
from tests.client import Make
from tests.factories import make_project
from tests.web.browser import Browser
from tests.web.ci.scene import CONFIG, CiScene

VALID = "stages: [late, early]\none: {stage: early, script: [x]}\ntwo: {stage: late, script: [y], needs: []}\n"


def _file(scene: CiScene, branch: str) -> str:
    return scene.make.api.get(f"{scene.project.url}/repository/files/.gitlab-ci.yml/raw", scene.owner, ref=branch).text


def test_text_is_checked_in_each_view(scene: CiScene) -> None:
    scene.commit(CONFIG)
    browser, address = scene.browser(), f"{scene.path}/-/ci/editor"
    page = browser.get(address).text
    tabs = page.partition('<nav class="tabs" aria-label="Project">')[2].partition("</nav>")[0]
    assert f'href="{scene.path}/-/pipelines" aria-current="page"' in tabs
    assert "make ship" in page and "The configuration is valid." in page
    graph = browser.submit(address, address, content=VALID, base="main", tab="visualize").text
    assert graph.index(">late</h2>") < graph.index(">early</h2>")
    assert '<section data-panel="edit" hidden>' in graph and '<section data-panel="visualize" aria' in graph
    merged = browser.submit(address, address, content=VALID, base="main", tab="merged").text
    assert "- late" in merged
    invalid = browser.submit(address, address, content="a: {script: x, stage: '<b>no'}", base="main", check="1")
    assert invalid.status_code == 200
    assert "The configuration is invalid." in invalid.text and "<b>no" not in invalid.text
    warned = "a: {script: x, hooks: {pre_get_sources_script: y}}"
    assert "Warnings: 1" in browser.submit(address, address, content=warned, base="main").text
    assert _file(scene, "main") == CONFIG


def test_text_is_committed_to_a_branch(scene: CiScene) -> None:
    scene.commit(CONFIG)
    browser, address = scene.browser(), f"{scene.path}/-/ci/editor"
    last = browser.get(address).text.partition('name="last_commit_id" value="')[2].partition('"')[0]
    typed = {"content": VALID, "base": "main", "last_commit_id": last, "commit": "1", "commit_message": "Reorder"}
    made = browser.submit(address, address, branch="main", **typed)
    assert (made.status_code, made.headers["location"]) == (302, f"{address}?branch_name=main")
    assert _file(scene, "main") == VALID
    outdated = browser.submit(address, address, branch="main", **typed)
    assert outdated.status_code == 422 and "has changed since you started" in outdated.text
    last = browser.get(address).text.partition('name="last_commit_id" value="')[2].partition('"')[0]
    typed |= {"content": CONFIG, "last_commit_id": last}
    other = browser.submit(address, address, branch="topic/one", start_merge_request="1", **typed)
    assert other.status_code == 302 and "merge_requests/new" in other.headers["location"]
    assert "topic%2Fone" in other.headers["location"] or "topic/one" in other.headers["location"]
    assert (_file(scene, "topic/one"), _file(scene, "main")) == (CONFIG, VALID)
    assert "make ship" in browser.get(f"{address}?branch_name={quote('topic/one', safe='')}").text
    assert browser.get(f"{address}?branch_name=absent").status_code == 404


def test_empty_repository_gets_its_first_file(make: Make, scene: CiScene) -> None:
    empty = make_project(make, scene.owner, initialize_with_readme=False)
    browser, address = scene.browser(), f"/{empty.path}/-/ci/editor"
    page = browser.get(address).text
    assert "new file" in page and "Compile the code" in page
    typed = {"content": VALID, "base": "main", "branch": "main", "commit": "1"}
    assert browser.submit(address, address, **typed).status_code == 302
    assert "late" in browser.get(address).text


def test_only_those_who_may_push_see_the_editor(make: Make, scene: CiScene) -> None:
    scene.commit(CONFIG)
    address = f"{scene.path}/-/ci/editor"
    for level, status in ((Level.REPORTER, 404), (Level.DEVELOPER, 200)):
        user = make.user(password="correct horse battery")
        make.api.post(f"{scene.project.url}/members", scene.owner, user_id=user.id, access_level=int(level))
        page = scene.browser(user).get(address)
        assert page.status_code == status
    # The default branch is protected against developers, so another branch is proposed.
    assert f'name="branch" value="{user.username}-patch-1"' in page.text
    with Browser(scene.url) as visitor:
        assert visitor.get(address).status_code in (302, 404)


def test_configuration_of_another_project_is_not_edited(make: Make, scene: CiScene) -> None:
    make.api.put(scene.project.url, scene.owner, ci_config_path="ci.yml@other/project")
    browser, address = scene.browser(), f"{scene.path}/-/ci/editor"
    assert "is not a file of its repository" in browser.get(address).text
