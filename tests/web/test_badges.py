"""Badges on the project page."""

from tests.api.merge_requests.factories import commit, filled_project
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import make_group
from tests.web.browser import Browser


def test_badges_load_nothing_from_other_hosts(instance: Instance, make: Make, person: User, browser: Browser) -> None:
    group = make_group(make, person, visibility="public")
    project = filled_project(make, person, group=group, visibility="public")
    tip = commit(make, project, "master", {"cover.png": "x"}, person)
    assert 'class="badges"' not in browser.get(f"/{project.path}").text
    hostile = "\"><img src=x onerror=alert(1)><script>alert('badge')</script>"
    own = f"{instance.url}/%{{project_path}}/-/raw/%{{default_branch}}/cover.png?at=%{{commit_sha}}"
    for url, link, image, name in (
        (project.url, "https://ci.example.org/%{project_path}", "https://ci.example.org/%{project_id}.svg", hostile),
        (project.url, instance.url, own, "Covered"),
        (f"/groups/{group.id}", "https://group.example.org/all", f"{instance.url}.example.org/own.svg", None),
    ):
        added = make.api.post(f"{url}/badges", person, link_url=link, image_url=image, name=name)
        assert added.status_code == 201, added.text

    home = browser.get(f"/{project.path}").text

    shown = home[home.index('class="badges"') :].partition("</ul>")[0]
    assert f'href="https://ci.example.org/{project.path}"' in shown
    assert "<script>alert('badge')" not in home
    assert shown.count("<img") == 1
    assert f'<img src="{instance.url}/{project.path}/-/raw/master/cover.png?at={tip}" alt="Covered"' in shown
    assert ">group.example.org</a>" in shown, "A badge without a name shows its host."
    assert ".svg" not in shown


def test_a_hidden_commit_is_not_shown(instance: Instance, make: Make, person: User, browser: Browser) -> None:
    project = filled_project(make, person, visibility="public", repository_access_level="private")
    address = f"{instance.url}/%{{commit_sha}}.png"
    make.api.post(f"{project.url}/badges", person, link_url=address, image_url=address, name="Newest")

    assert f'src="{address}" alt="Newest"' in browser.get(f"/{project.path}").text
