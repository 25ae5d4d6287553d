"""Pages of project settings: forms and permissions."""

from collections.abc import Callable
from html import escape
from typing import Any

import httpx
import pytest

from ingot.integrations.registry import REGISTRY
from tests.client import Api, Make, User
from tests.factories import Project, changed_settings, make_group, make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

READS = ["edit", "settings/repository", "settings/integrations", "settings/integrations/slack", "settings/ci_cd"]
READS += ["settings/badges", "settings/export", "hooks"]
HOSTILE = "\"'><script>alert(1)</script>"


@pytest.fixture
def project(make: Make, person: User) -> Project:
    """Return a public project."""
    return make_project(make, person, visibility="public")


@pytest.fixture
def owner(browser: Browser, person: User) -> Browser:
    """Return a browser of the owner."""
    return browser.signed_in_as(person)


def _send(browser: Browser, path: str, method: str = "post", **fields: Any) -> httpx.Response:
    return browser.post(path, data={"authenticity_token": browser.token(), "_method": method, **fields})


def test_settings_require_a_master(
    owner: Browser, open_browser: Callable[[], Browser], make: Make, project: Project
) -> None:
    developer = make.user(password=PASSWORD)
    make.api.post(f"/projects/{project.id}/members", make.root, user_id=developer.id, access_level=30)
    other, nobody = open_browser().signed_in_as(developer), open_browser()

    for path in READS:
        assert owner.get(f"/{project.path}/-/{path}").status_code == 200, path
        assert other.get(f"/{project.path}/-/{path}").status_code == 404, path
        assert nobody.get(f"/{project.path}/-/{path}").status_code == 302, path
    assert "/-/edit" in owner.get(f"/{project.path}").text
    assert f"{project.path}/-/edit" not in other.get(f"/{project.path}").text
    for method, path in (
        ("put", "edit"),
        ("delete", "edit"),
        ("post", "settings/archive"),
        ("put", "settings/transfer"),
    ):
        assert _send(other, f"/{project.path}/-/{path}", method, part="general").status_code == 404


def test_valid_and_invalid_settings(owner: Browser, api: Api, person: User, project: Project) -> None:
    place = f"/{project.path}/-/edit"
    general = {"part": "general", "general[name]": "Tides", "general[topics]": "water, moon, "}

    saved = _send(owner, place, "put", **general, **{"general[description]": HOSTILE})
    assert saved.status_code == 302, saved.text
    _send(
        owner,
        place,
        "put",
        **{"part": "features", "features[lfs_enabled]": "1", "features[repository_access_level]": "private"},
    )
    _send(owner, place, "put", **{"part": "options", "options[wiki_access_level]": "disabled"})
    merging = {"merging[merge_method]": "ff", "merging[squash_option]": "always"}
    _send(owner, place, "put", part="merging", **merging)

    held = api.get(f"/projects/{project.id}", person).json()
    assert (held["name"], held["topics"], held["description"]) == ("Tides", ["water", "moon"], HOSTILE)
    assert (held["lfs_enabled"], held["request_access_enabled"], held["wiki_enabled"]) == (True, False, False)
    assert held["repository_access_level"] == "private"
    assert (held["merge_method"], held["squash_option"]) == ("ff", "always")
    assert "<script>alert" not in owner.get(place).text
    refused = _send(owner, place, "put", **general | {"general[name]": f"-{HOSTILE}"})
    assert refused.status_code == 422
    assert "water, moon, " in refused.text, "The input stays in the form."
    assert "<script>alert" not in refused.text
    assert 'role="alert"' in refused.text
    assert _send(owner, place, "put", part="nothing").status_code == 404


def test_an_avatar_is_shown_and_removed(owner: Browser, api: Api, person: User, project: Project) -> None:
    there = f"/{project.path}/-/settings/avatar"
    png = b"\x89PNG\r\n\x1a\n" + b"0" * 20
    token = {"authenticity_token": owner.token()}

    refused = owner.post(there, data=token, files={"avatar": ("a.svg", b"<svg/>", "image/svg+xml")})
    kept = owner.post(there, data=token, files={"avatar": ("a.png", png, "image/png")})

    assert (refused.status_code, kept.status_code) == (422, 302)
    assert api.get(f"/projects/{project.id}", person).json()["avatar_url"]
    assert owner.post(there, data=token, files={"avatar": ("", b"", "")}).status_code == 302
    assert api.get(f"/projects/{project.id}", person).json()["avatar_url"] is None


def test_advanced_settings(owner: Browser, api: Api, make: Make, person: User, project: Project) -> None:
    group = make_group(make, person)
    assert _send(owner, f"/{project.path}/-/edit", "put", part="visibility", **{"visibility[visibility]": "private"})
    moved = _send(owner, f"/{project.path}/-/edit", "put", part="path", **{"path[path]": "elsewhere"})
    there = f"/{person.username}/elsewhere"
    assert moved.headers["location"] == f"{there}/-/edit"

    assert _send(owner, f"{there}/-/settings/archive").status_code == 302
    assert "Unarchive" in owner.get(f"{there}/-/edit").text
    assert _send(owner, f"{there}/-/edit", "put", part="general", **{"general[name]": "Kept"}).status_code == 302
    assert _send(owner, f"{there}/-/settings/unarchive").status_code == 302
    assert _send(owner, f"{there}/-/settings/transfer", "put", **{"transfer[namespace]": "nowhere"}).status_code == 422
    moved = _send(owner, f"{there}/-/settings/transfer", "put", **{"transfer[namespace]": group.path})
    assert moved.headers["location"] == f"/{group.path}/elsewhere"
    assert api.get(f"/projects/{project.id}", person).json()["visibility"] == "private"

    wrong = _send(owner, f"/{group.path}/elsewhere/-/edit", "delete", **{"delete[confirm]": "else"})
    assert wrong.status_code == 422
    confirm = {"delete[confirm]": f"{group.path}/elsewhere"}
    assert _send(owner, f"/{group.path}/elsewhere/-/edit", "delete", **confirm).status_code == 302
    assert api.get(f"/projects/{project.id}", person).status_code == 404


def test_repository_settings(owner: Browser, api: Api, person: User, project: Project) -> None:
    settings = f"/{project.path}/-/settings"
    rule = {"rule[name]": "release/*", "rule[push_access_level]": "0", "rule[merge_access_level]": "30"}

    assert _send(owner, f"{settings}/protected_branches", **rule).status_code == 302
    again = _send(owner, f"{settings}/protected_branches", "put", **rule | {"rule[push_access_level]": "30"})
    assert again.status_code == 302
    assert _send(owner, f"{settings}/protected_branches", **rule).status_code == 422, "There is one already."
    (held,) = [one for one in api.get(f"{project.url}/protected_branches", person).json() if one["name"] == "release/*"]
    assert held["push_access_levels"][0]["access_level"] == 30
    assert "release/*" in owner.get(f"{settings}/repository").text
    assert _send(owner, f"{settings}/protected_branches", "delete", **{"rule[name]": "release/*"}).status_code == 302
    assert 'value="release/*"' not in owner.get(f"{settings}/repository").text

    assert _send(owner, f"{settings}/protected_tags", **{"tag[name]": "v*"}).status_code == 302
    assert [one["name"] for one in api.get(f"{project.url}/protected_tags", person).json()] == ["v*"]
    assert _send(owner, f"{settings}/protected_tags", "delete", **{"tag[name]": "v*"}).status_code == 302

    refused = _send(owner, f"{settings}/deploy_keys", **{"key[title]": HOSTILE, "key[key]": "no key"})
    assert (refused.status_code, "no key" in refused.text) == (422, True)
    assert "<script>alert" not in refused.text
    assert _send(owner, f"{settings}/default_branch", "put", **{"branch[default_branch]": "a..b"}).status_code == 422


def test_a_deploy_token_is_shown_once(owner: Browser, project: Project) -> None:
    settings = f"/{project.path}/-/settings"
    typed = {"token[name]": "robot", "token[expires_at]": "", "token[scopes][]": "write_package_registry"}

    refused = _send(owner, f"{settings}/deploy_tokens", **typed | {"token[expires_at]": "soon"})
    without = _send(owner, f"{settings}/deploy_tokens", **typed | {"token[scopes][]": ""})
    made = _send(owner, f"{settings}/deploy_tokens", **typed)

    assert (refused.status_code, without.status_code) == (422, 422)
    assert 'value="robot"' in refused.text
    assert 'value="write_package_registry" checked' in refused.text
    assert 'value="read_repository" checked' not in refused.text
    assert '<span class="badge">write_package_registry</span>' in made.text
    secret = made.text.split('aria-label="New deploy token"')[0].rpartition('value="')[2].split('"')[0]
    assert len(secret) > 10
    later = owner.get(f"{settings}/repository").text
    assert "robot" in later
    assert secret not in later
    number = later.split("/-/settings/deploy_tokens/")[1].split('"')[0]
    assert _send(owner, f"{settings}/deploy_tokens/{number}", "delete").status_code == 302
    assert "robot" not in owner.get(f"{settings}/repository").text


def test_services_of_the_group_are_marked(owner: Browser, api: Api, make: Make, person: User) -> None:
    group = make_group(make, person)
    project = make_project(make, person, group=group)
    there, notice = f"/{project.path}/-/settings/integrations", "These settings are those of a group."
    secret = "https://hooks.example.org/quietly"
    assert api.put(f"{group.url}/integrations/slack", person, webhook=secret, channel="ours").status_code == 200
    assert "Active" in owner.get(there).text
    page = owner.get(f"{there}/slack").text
    assert notice in page
    assert 'value="ours"' in page
    assert "quietly" not in page
    typed = {"service[active]": "1", "service[channel]": "own", "service[webhook]": secret}
    assert _send(owner, f"{there}/slack", "put", **typed).status_code == 302
    assert notice not in owner.get(f"{there}/slack").text
    assert api.get(f"{group.url}/integrations/slack", person).json()["properties"]["channel"] == "ours"


def test_integrations_of_groups(
    owner: Browser, open_browser: Callable[[], Browser], api: Api, make: Make, person: User
) -> None:
    group = make_group(make, person, visibility="public")
    sub = make_group(make, person, parent=group, visibility="public")
    member = make.user(password=PASSWORD)
    api.post(f"{group.url}/members", person, user_id=member.id, access_level=40)
    there = f"/groups/{group.path}/-/settings/integrations"
    assert "Projects and subgroups of this group use its integrations" in owner.get(there).text
    typed = {"service[active]": "1", "service[channel]": HOSTILE, "service[issues_events]": "1"}
    refused = _send(owner, f"{there}/slack", "put", **typed)
    assert (refused.status_code, "<script>alert" in refused.text) == (422, False)
    secret = {"service[webhook]": "https://hooks.example.org/quietly"}
    assert _send(owner, f"{there}/slack", "put", **typed, **secret).status_code == 302
    held = api.get(f"{group.url}/integrations/slack", person).json()
    assert (held["active"], held["issues_events"], held["properties"]["channel"]) == (True, True, HOSTILE)
    assert "quietly" not in owner.get(f"{there}/slack").text

    below, notice = f"/groups/{sub.path}/-/settings/integrations", "These settings are those of a group above."
    assert "Active" in owner.get(below).text
    assert notice in owner.get(f"{below}/slack").text
    assert _send(owner, f"{below}/slack", "put", **secret).status_code == 302
    assert "Inactive" in owner.get(below).text
    assert api.get(f"{sub.url}/integrations/slack", person).json()["active"] is False
    assert _send(owner, f"{there}/slack", "delete").status_code == 302
    assert api.get(f"{group.url}/integrations/slack", person).json()["active"] is False
    for browser in (open_browser(), open_browser().signed_in_as(member)):
        assert browser.get(f"{there}/slack").status_code in (302, 404)


def test_services_hide_their_secrets(owner: Browser, api: Api, person: User, project: Project) -> None:
    there = f"/{project.path}/-/settings/integrations"
    typed = {"service[active]": "1", "service[channel]": HOSTILE, "service[push_events]": "1"}

    refused = _send(owner, f"{there}/slack", "put", **typed)
    secret = "https://hooks.example.org/quietly"
    saved = _send(owner, f"{there}/slack", "put", **typed, **{"service[webhook]": secret})

    assert refused.status_code == 422
    assert "<script>alert" not in refused.text
    assert saved.status_code == 302, saved.text
    held = api.get(f"{project.url}/services/slack", person).json()
    assert (held["active"], held["push_events"], held["issues_events"]) == (True, True, False)
    assert held["properties"]["channel"] == HOSTILE
    assert "Active" in owner.get(there).text
    assert "quietly" not in owner.get(f"{there}/slack").text
    assert owner.get(f"{there}/nothing").status_code == 404
    assert _send(owner, f"{there}/slack", "delete").status_code == 302
    assert api.get(f"{project.url}/services/slack", person).json()["active"] is False


def test_new_variables_are_proposed_as_protected(owner: Browser, make: Make, project: Project) -> None:
    checked = 'name="variable[protected]" value="1" checked'
    path = f"/{project.path}/-/settings/ci_cd"
    assert checked not in owner.get(path).text
    with changed_settings(make, protected_ci_variables=True):
        assert checked in owner.get(path).text


def test_variables_are_never_shown_again(owner: Browser, api: Api, person: User, project: Project) -> None:
    there = f"/{project.path}/-/settings/variables"
    typed = {"variable[key]": "PASS", "variable[value]": "hush-hush", "variable[protected]": "1"}

    assert _send(owner, there, **typed).status_code == 302
    assert _send(owner, there, **typed | {"variable[key]": "a b"}).status_code == 422
    assert _send(owner, there, "put", **{"changed[key]": "PASS", "changed[raw]": "1"}).status_code == 302

    held = api.get(f"{project.url}/variables/PASS", person).json()
    assert (held["value"], held["protected"], held["raw"]) == ("hush-hush", False, True)
    page = owner.get(f"/{project.path}/-/settings/ci_cd").text
    assert "PASS" in page
    assert "hush-hush" not in page
    assert _send(owner, there, "delete", **{"changed[key]": "PASS", "changed[scope]": "*"}).status_code == 302
    assert api.get(f"{project.url}/variables/PASS", person).status_code == 404


def test_triggers_and_badges(owner: Browser, api: Api, person: User, project: Project) -> None:
    settings = f"/{project.path}/-/settings"
    assert _send(owner, f"{settings}/triggers", **{"trigger[description]": HOSTILE}).status_code == 302
    (trigger,) = api.get(f"{project.url}/triggers", person).json()
    page = owner.get(f"{settings}/ci_cd").text
    assert trigger["token"] in page, "Its owner needs it."
    assert "<script>alert" not in page
    assert _send(owner, f"{settings}/triggers/{trigger['id']}", "delete").status_code == 302

    typed = {
        "badge[name]": HOSTILE,
        "badge[link_url]": "javascript:alert(1)",
        "badge[image_url]": "https://a.org/b.svg",
    }
    assert _send(owner, f"{settings}/badges", **typed).status_code == 422
    assert _send(owner, f"{settings}/badges", **typed | {"badge[link_url]": "https://a.org"}).status_code == 302
    (badge,) = api.get(f"{project.url}/badges", person).json()
    assert "<script>alert" not in owner.get(f"{settings}/badges").text
    assert _send(owner, f"{settings}/badges/{badge['id']}", "delete").status_code == 302


def test_variables_are_hidden_if_pipelines_are_disabled(
    owner: Browser, api: Api, person: User, project: Project
) -> None:
    api.put(f"/projects/{project.id}", person, jobs_enabled=False)

    page = owner.get(f"/{project.path}/-/settings/ci_cd")

    assert (page.status_code, "CI/CD is disabled" in page.text) == (200, True)


def test_an_external_wiki_is_linked_for_those_who_may_see_the_wiki(
    owner: Browser, open_browser: Callable[[], Browser], api: Api, person: User, project: Project
) -> None:
    link, nobody = 'href="https://wiki.example.org/start"', open_browser()
    path = f"/{project.path}"
    assert "External wiki" not in owner.get(path).text
    saved = _send(
        owner,
        f"{path}/-/settings/integrations/external-wiki",
        "put",
        **{"service[active]": "1", "service[external_wiki_url]": "https://wiki.example.org/start"},
    )
    assert saved.status_code == 302, saved.text
    for level, seen in (("enabled", True), ("private", False), ("disabled", True)):
        assert api.put(project.url, person, wiki_access_level=level).status_code == 200
        assert link in owner.get(path).text
        assert (link in nobody.get(path).text) is seen, level
    api.put(f"{project.url}/integrations/external-wiki", person, external_wiki_url="https://x.example", active=False)
    assert "External wiki" not in owner.get(path).text


def test_commits_link_to_their_builds(owner: Browser, api: Api, make: Make, person: User) -> None:
    project = make_project(make, person, initialize_with_readme=True)
    (commit,) = api.get(f"{project.url}/repository/commits", person).json()
    address, builds = f"/{project.path}/-/commit/{commit['id']}", f"/builds?commit={commit['id']}"
    service = f"{project.url}/integrations/buildkite"
    assert builds not in owner.get(address).text
    for root in ("https://builds.example.org/harbour/tides", "https://builds.example.org/quay/"):
        assert api.put(service, person, token="a:b", project_url=root).status_code == 200
        assert f'href="{root.rstrip("/")}{builds}"' in owner.get(address).text
    api.put(service, person, token="a:b", project_url=root, active=False)
    assert builds not in owner.get(address).text


def test_pages_of_integrations_say_what_they_do(owner: Browser, project: Project) -> None:
    there = f"/{project.path}/-/settings/integrations"
    for slug, integration in REGISTRY.items():
        page = owner.get(f"{there}/{slug}").text
        assert escape(integration.effect) in page
        assert ('name="service[active]"' in page) is (integration.kind != "none"), slug
    drone = owner.get(f"{there}/drone-ci").text
    assert 'name="service[enable_ssl_verification]" value="1" checked' in drone
