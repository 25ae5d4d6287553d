"""Options of projects whose effect no test of their own area observes."""

from tests.ci.runner_client import project_runner
from tests.ci.runner_protocol.projects import ci_project
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.web.browser import Browser

_BRANCH = {"branch": "topic", "ref": "master"}


def test_jobs_get_the_repository_by_its_git_strategy(api: Api, make: Make) -> None:
    fetched = []
    for strategy, depth in (("fetch", 5), ("clone", 0)):
        project = ci_project(make, {"test": {"script": ["make"]}})
        assert api.put(project.url, make.root, build_git_strategy=strategy, ci_default_git_depth=depth).is_success
        payload = project_runner(make, project.id).must_take().payload
        fetched.append((payload["allow_git_fetch"], payload["git_info"]["depth"]))
    assert fetched == [(True, 5), (False, 0)]


def test_coverage_in_logs(api: Api, make: Make) -> None:
    found = []
    for pattern in (r"Total: (\d+)%", None):
        project = ci_project(make, {"test": {"script": ["make"]}})
        assert api.put(project.url, make.root, build_coverage_regex=pattern).is_success
        job = project_runner(make, project.id).must_take()
        job.trace(b"Total: 83%\n")
        assert job.finish().is_success
        found.append(api.get(f"{project.url}/jobs/{job.id}", make.root).json()["coverage"])
    assert found == [83.0, None]


def test_new_merge_requests_propose_to_delete_the_branch(api: Api, make: Make, instance: Instance) -> None:
    project = make_project(make, initialize_with_readme=True)
    assert api.post(f"{project.url}/repository/branches", make.root, **_BRANCH).is_success
    page = f"/{project.path}/-/merge_requests/new?merge_request%5Bsource_branch%5D=topic"
    with Browser(instance.url) as browser:
        assert browser.sign_in("root", make.root.password).status_code == 302
        for proposes in (True, False):
            assert api.put(project.url, make.root, remove_source_branch_after_merge=proposes).is_success
            shown = browser.get(page).text
            assert ('name="merge_request[remove_source_branch]" value="1" checked' in shown) is proposes
