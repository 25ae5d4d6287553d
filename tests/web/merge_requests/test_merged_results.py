"""Texts on the page of a merge request about pipelines that test its head instead of the merge result."""

from tests.api.merge_requests.factories import fork
from tests.ci.pipelines.files import commit_files
from tests.client import Make, User
from tests.factories import Project, make_project
from tests.web.merge_requests.scene import Open

JOBS = "test:\n  script: make\n  rules: [{if: $CI_MERGE_REQUEST_IID}]\n"


def _project(make: Make) -> Project:
    project = make_project(make, visibility="public")
    commit_files(make, project, {".gitlab-ci.yml": JOBS, "shared": "1\n"})
    assert make.api.put(project.url, make.root, merge_pipelines_enabled=True).status_code == 200
    return project


def _page_of_new(make: Make, open_browser: Open, source: Project, target: Project, user: User) -> str:
    """Return the page of a new merge request of the branch "feature"."""
    sent = {"source_branch": "feature", "target_branch": "main", "title": "A", "target_project_id": target.id}
    made = make.api.post(f"{source.url}/merge_requests", user, **sent)
    assert made.status_code == 201, made.text
    browser = open_browser().signed_in_as(make.root)
    return str(browser.get(f"/{target.path}/-/merge_requests/{made.json()['iid']}").text)


def test_a_conflict_is_given_as_the_reason(make: Make, open_browser: Open) -> None:
    project = _project(make)
    change = {"shared": "2\n"}
    commit_files(make, project, change, branch="feature", start_branch="main", action="update")
    commit_files(make, project, {"shared": "3\n"}, action="update")
    page = _page_of_new(make, open_browser, project, project, make.root)
    assert "because it could not be merged when the pipeline started" in page


def test_pipelines_of_merge_results_need_no_reason(make: Make, open_browser: Open) -> None:
    project = _project(make)
    commit_files(make, project, {"a": "1\n"}, branch="feature", start_branch="main")
    page = _page_of_new(make, open_browser, project, project, make.root)
    assert "Pipeline #" in page
    assert "tests the source branch only" not in page
    assert "merged results" in open_browser().signed_in_as(make.root).get(f"/{project.path}/-/pipelines").text


def test_pipelines_of_forks_run_there(make: Make, open_browser: Open) -> None:
    author = make.user()
    target = _project(make)
    source = fork(make, target, author)
    commit_files(make, source, {"a": "1"}, branch="feature", start_branch="main", user=author)
    assert make.api.put(source.url, author, visibility="public").status_code == 200
    page = _page_of_new(make, open_browser, source, target, author)
    assert "because it runs in the source project" in page
    assert "could not be merged" not in page
