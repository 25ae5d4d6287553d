"""Clone addresses over HTTP begin with the root that administrators have set, everywhere they are shown."""

import pytest

from tests.api.hooks.conftest import HookedProject
from tests.ci.runner_client import project_runner
from tests.ci.runner_protocol.projects import ci_project
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import changed_settings, make_project
from tests.graphql.conftest import Graphql
from tests.web.browser import Browser

SETTING = "custom_http_clone_url_root"
ROOT = "https://git.example.com/code"


def test_responses_and_pages(api: Api, make: Make, instance: Instance) -> None:
    owner = make.user()
    project = make_project(make, owner, visibility="public", wiki_enabled=True)
    graphql, query = Graphql(instance.url), f'{{ project(fullPath: "{project.path}") {{ httpUrlToRepo webUrl }} }}'

    def shown() -> list[str]:
        return [
            api.get(project.url, owner).json()["http_url_to_repo"],
            api.get("/projects", owner, search=project.name).json()[0]["http_url_to_repo"],
            api.get("/search", owner, scope="projects", search=project.name).json()[0]["http_url_to_repo"],
            api.get("/projects", owner, search=project.name, simple=True).json()[0]["http_url_to_repo"],
            graphql.data(query, owner)["project"]["httpUrlToRepo"],
        ]

    own, other = f"{instance.url}/{project.path}.git", f"{ROOT}/{project.path}.git"
    assert shown() == [own] * 5
    for root in (ROOT, f"{ROOT}/"):
        with changed_settings(make, **{SETTING: root}):
            assert shown() == [other] * 5
            assert api.get(project.url, owner).json()["web_url"] == f"{instance.url}/{project.path}"
            with Browser(instance.url) as browser:
                assert other in browser.get(f"/{project.path}").text
                assert f"git clone {ROOT}/group/project.git" in browser.get("/help").text
    assert shown() == [own] * 5
    graphql.close()


def test_webhooks(hooked: HookedProject, make: Make) -> None:
    with changed_settings(make, **{SETTING: ROOT}):
        hooked.post("/wikis", title="A page", content="Hello")
        hooked.post("/issues", title="An issue")
    address = f"{ROOT}/{hooked.project.path}"
    assert hooked.next("Wiki Page Hook")["wiki"]["git_http_url"] == f"{address}.wiki.git"
    assert hooked.next("Issue Hook")["project"]["git_http_url"] == f"{address}.git"


@pytest.mark.parametrize("root", ["git.example.com", "ssh://git.example.com", "https://a b", "javascript:alert(1)"])
def test_invalid_roots(api: Api, make: Make, root: str) -> None:
    refused = api.put("/application/settings", make.root, **{SETTING: root})
    assert (refused.status_code, refused.json()) == (400, {"message": {SETTING: ["must be a valid URL"]}})


def test_jobs_clone_from_the_root(make: Make) -> None:
    project = ci_project(make, {"test": {"script": ["make"]}})
    with changed_settings(make, **{SETTING: f"{ROOT}/"}):
        job = project_runner(make, project.id).must_take()
    url = f"https://gitlab-ci-token:{job.token}@git.example.com/code/{project.path}.git"
    assert (job.payload["git_info"]["repo_url"], job.variables["CI_REPOSITORY_URL"]) == (url, url)
