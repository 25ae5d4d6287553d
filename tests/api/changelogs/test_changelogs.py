"""Changelogs from the trailers of commits."""

import pytest

from ingot.core.errors import Invalid
from ingot.repositories.changelogs.template import render_template
from ingot.repositories.changelogs.versions import insert_section, require_version
from tests.client import Api, Make, User
from tests.factories import Project
from tests.roles import UsersByRole, project_with


def _commit(api: Api, project: Project, user: User, path: str, message: str, content: str = "x") -> str:
    action = {"action": "create", "file_path": path, "content": content}
    answer = api.post(
        f"{project.url}/repository/commits", user, branch="master", commit_message=message, actions=[action]
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_changelogs_list_and_add_the_commits_of_a_version(api: Api, make: Make, roles: UsersByRole) -> None:
    project, owner = project_with(make, roles), roles.owner
    where = f"{project.url}/repository/changelog"
    _commit(api, project, owner, "a", "Start\n\nChangelog: added")
    missing = api.get(where, owner, version="1.0.0")
    assert (missing.status_code, missing.json()["message"][:33]) == (422, "Failed to generate the changelog:")
    api.post(f"{project.url}/repository/tags", owner, tag_name="v1.0.0", ref="master")
    added = _commit(api, project, owner, "b", "Add boards\n\nDetails.\n\nChangelog: added")
    _commit(api, project, owner, "c", "Tidy up")
    fixed = _commit(api, project, owner, "d", "Fix the colors\n\nchangelog: fixed")
    reverted = _commit(api, project, owner, "e", "Break it\n\nChangelog: added")
    api.post(f"{project.url}/repository/commits/{reverted}/revert", owner, branch="master")
    by = f" by @{owner.username}"
    answer = api.get(where, roles.reporter, version="1.1.0", date="2026-02-03")
    assert answer.json()["notes"] == (
        "## 1.1.0 (2026-02-03)\n\n"
        f"### fixed (1 change)\n\n- [Fix the colors]({project.path}@{fixed}){by}\n\n"
        f"### added (1 change)\n\n- [Add boards]({project.path}@{added}){by}\n"
    ), answer.text
    configuration = (
        "date_format: '%d.%m.%Y'\ncategories:\n  added: Features\n  fixed: Corrections\n"
        "template: |\n  {% each categories %}\n  {{ title }}: {{ count }}\n  {% end %}\n"
    )
    _commit(api, project, owner, ".gitlab/changelog_config.yml", "Configure", configuration)
    short = api.get(where, owner, version="1.1.0", date="2026-02-03").json()["notes"]
    assert short == "## 1.1.0 (03.02.2026)\n\nFeatures: 1\nCorrections: 1\n"
    assert api.post(where, roles.developer, version="1.1.0", branch="master").status_code == 403  # It is protected.
    for version in ("1.1.0", "1.0.1"):
        assert api.post(where, owner, version=version, date="2026-02-03").status_code == 200
    text = api.get(f"{project.url}/repository/files/CHANGELOG.md/raw", owner, ref="master").text
    assert text.index("## 1.1.0") < text.index("## 1.0.1")
    head = api.get(f"{project.url}/repository/commits/master", owner).json()
    assert head["title"] == "Add changelog for version 1.0.1"


def test_changelogs_refuse_callers_and_ranges(api: Api, make: Make, roles: UsersByRole) -> None:
    project, owner = project_with(make, roles), roles.owner
    where = f"{project.url}/repository/changelog"
    oid = _commit(api, project, owner, "a", "Start")
    given = {"version": "1.0.0", "from": oid}
    assert api.get(where, owner, **given).json()["notes"].endswith("\n\nNo changes.\n")
    assert api.get(where, roles.stranger, **given).status_code == 404
    assert api.post(where, roles.stranger, **given).status_code == 404
    assert api.post(where, roles.reporter, **given).status_code == 403
    assert api.get(where, owner).status_code == 400
    assert api.get(where, owner, version="one", **{"from": oid}).status_code == 400
    assert api.get(where, owner, version="1.0.0", **{"from": "missing"}).status_code == 404
    assert api.get(where, owner, to="missing", **given).status_code == 404
    assert api.post(where, owner, branch="missing", **given).status_code == 422
    for content in ("template: '{% if a %}'", "tag_regex: '('", "- a\n- b", "categories: 5", "{"):
        path = f"bad-{len(content)}.yml"
        _commit(api, project, owner, path, "Configure", content)
        answer = api.get(where, owner, version="1.0.0", config_file=path, **({} if "tag" in content else {"from": oid}))
        assert answer.status_code == 422, (content, answer.text)


def test_templates_and_sections() -> None:
    data = {"a": [{"b": 1}, {"b": 2}], "c": {"d": "<x>"}}
    assert render_template("{% each a %}{{ b }},\\\n{% end %}{{ c.d }}{{ c.e.f }}", data) == "1,2,<x>"
    assert render_template("{% if z %}1{% else %}{% if c %}2{% end %}{% end %}", data) == "2"
    for template in ("{% end %}", "{% for x %}", "{% if a %}", "{% if a %}{% else %}{% else %}", "{% if a %}" * 30):
        with pytest.raises(Invalid):
            render_template(template, data)
    older = "# Changes\n\n## 2.0.0 (x)\n\n- a\n\n## 1.0.0 (x)\n\n- b\n"
    assert insert_section(older, "## 1.5.0\n", require_version("1.5.0")).index("1.5.0") == older.index("1.0.0")
    assert insert_section(older, "## 0.5.0\n", require_version("v0.5.0")).endswith("- b\n\n## 0.5.0\n")
