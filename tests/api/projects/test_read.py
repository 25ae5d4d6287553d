"""Single projects: visibility and fields by caller."""

import pytest

from ingot.core.access.levels import Level
from ingot.projects.projects.tables import projects
from tests.api.projects import view_fields
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_group, make_project, share, statements_of

CALLERS = [
    ("nobody", "public", view_fields.ANONYMOUS),
    ("nobody", "internal", None),
    ("nobody", "private", None),
    ("stranger", "public", view_fields.SIGNED_IN),
    ("stranger", "internal", view_fields.SIGNED_IN),
    ("stranger", "private", None),
    ("external", "public", view_fields.SIGNED_IN),
    ("external", "internal", None),
    ("external guest", "internal", view_fields.SIGNED_IN),
    ("guest", "private", view_fields.SIGNED_IN),
    ("developer", "private", view_fields.SIGNED_IN),
    ("master", "private", view_fields.MASTER),
    ("owner", "private", view_fields.MASTER),
    ("root", "private", view_fields.ADMINISTRATOR),
]


@pytest.mark.parametrize(("who", "visibility", "expected"), CALLERS)
@pytest.mark.parametrize("home", ["user", "group"])
def test_fields_by_caller(
    api: Api, make: Make, who: str, visibility: str, expected: set[str] | None, home: str
) -> None:
    """Secrets, import errors and URLs are shown only to authorized callers."""
    owner = make.user()
    group = make_group(make, owner, visibility="public") if home == "group" else None
    project = make_project(make, owner, group=group, visibility=visibility)
    other = make.user(external="external" in who)
    levels = {"external guest": 10, "guest": 10, "developer": 30, "master": 40}
    if who in levels:
        api.post(f"{project.url}/members", owner, user_id=other.id, access_level=levels[who])
    caller = {"nobody": None, "owner": owner, "root": make.root}.get(who, other)

    for path in (project.url, project.url_by_path, project.url_by_path.upper().replace("/PROJECTS/", "/projects/")):
        answer = api.get(path, caller)
        if expected is None:
            assert (answer.status_code, answer.json()) == (404, {"message": "404 Project Not Found"})
            continue
        assert set(answer.json()) == (expected | {"owner"} if home == "user" else expected)
        assert set(answer.json()["namespace"]) == view_fields.NAMESPACE
        assert "@example.org" not in answer.text
        if home == "user":
            assert set(answer.json()["owner"]) == view_fields.OWNER
    listed = api.get("/projects", caller, search=project.name).json()
    assert [set(each) - {"owner"} for each in listed] == (
        [] if expected is None else [expected - {*view_fields.ADMINISTRATOR - view_fields.SIGNED_IN}]
    )


def test_the_fields_of_a_new_project(api: Api, instance: Instance, make: Make) -> None:
    owner = make.user(name="Alice Liddell")
    project = make_project(make, owner, name="A First Project")
    shown = api.get(project.url, owner).json()
    host = instance.url.removeprefix("http://").split(":")[0]

    assert (
        shown
        | {
            "name": "A First Project",
            "path": "a-first-project",
            "path_with_namespace": f"{owner.username}/a-first-project",
            "name_with_namespace": "Alice Liddell / A First Project",
            "web_url": f"{instance.url}/{owner.username}/a-first-project",
            "http_url_to_repo": f"{instance.url}/{owner.username}/a-first-project.git",
            "ssh_url_to_repo": f"ssh://git@{host}:{instance.settings.ssh_port}/{owner.username}/a-first-project.git",
            "description": None,
            "default_branch": "master",
            "visibility": "private",
            "archived": False,
            "tag_list": [],
            "creator_id": owner.id,
            "import_status": "none",
            "import_error": None,
            "star_count": 0,
            "forks_count": 0,
            "open_issues_count": 0,
            "shared_with_groups": [],
            "avatar_url": None,
            "empty_repo": True,
            "only_allow_merge_if_pipeline_succeeds": False,
            "permissions": {
                "project_access": {"access_level": 40, "notification_level": 3},
                "group_access": None,
            },
        }
        == shown
    )
    assert shown["namespace"] | {"path": owner.username, "kind": "user", "parent_id": None} == shown["namespace"]
    assert shown["owner"]["id"] == owner.id
    assert api.get(f"{project.url}/import", owner).json()["name_with_namespace"] == shown["name_with_namespace"]
    assert len(shown["runners_token"]) >= 20
    off = {"service_desk_enabled", "auto_devops_enabled", "ci_job_token_scope_enabled"}
    off |= {"merge_pipelines_enabled", "merge_trains_enabled"}
    assert all(shown[flag] is (flag not in off) for flag in shown if flag.endswith("_enabled"))


def test_permissions_show_their_source(api: Api, make: Make) -> None:
    person = make.user()
    group = make_group(make, members={person: Level.OWNER})
    project = make_project(make, group=group)

    assert api.get(project.url, person).json()["permissions"] == {
        "project_access": None,
        "group_access": {"access_level": 50, "notification_level": 3},
    }
    assert api.get(project.url, make.root).json()["permissions"]["project_access"] is None


def test_statistics_are_shown_on_request(api: Api, make: Make) -> None:
    project = make_project(make, visibility="public")

    assert "statistics" not in api.get(project.url, make.root).json()
    assert api.get(project.url, make.root, statistics=True).json()["statistics"] == {
        "commit_count": 0,
        "storage_size": 0,
        "repository_size": 0,
        "lfs_objects_size": 0,
        "job_artifacts_size": 0,
    }


def test_open_issues_are_not_counted_if_disabled(api: Api, make: Make) -> None:
    project = make_project(make, issues_enabled=False)

    assert "open_issues_count" not in api.get(project.url, make.root).json()
    assert api.get(project.url, make.root).json()["issues_access_level"] == "disabled"


def test_shares_with_a_hidden_group_are_not_shown(api: Api, make: Make) -> None:
    """A public project does not reveal a private group with which it is shared."""
    member = make.user()
    project = make_project(make, visibility="public")
    hidden = make_group(make, members={member: Level.GUEST})
    internal = make_group(make, visibility="internal")
    public = make_group(make, visibility="public")
    for group in (hidden, internal, public):
        share(make, project, group, Level.GUEST)

    cases = [
        (None, {public.id}),
        (make.user(external=True), {public.id}),
        (make.user(), {public.id, internal.id}),
        (member, {public.id, internal.id, hidden.id}),
        (make.root, {public.id, internal.id, hidden.id}),
    ]
    for caller, expected in cases:
        for shown in (api.get(project.url, caller).json(), api.get("/projects", caller, search=project.name).json()[0]):
            assert {each["group_id"] for each in shown["shared_with_groups"]} == expected
    shared = api.get(project.url, make.root).json()["shared_with_groups"][0]
    assert shared == {
        "group_id": hidden.id,
        "group_name": hidden.name,
        "group_full_path": hidden.path,
        "group_access_level": 10,
        "expires_at": None,
    }


@pytest.mark.parametrize(
    "name",
    ["999999999", "99999999999999999999", "0", "-1", "1.5", "no%2Fsuch", "a%00b", "%ff", "x" * 5000, "%2F", "1%2F2"],
)
def test_missing_projects(api: Api, make: Make, name: str) -> None:
    for caller in (None, make.root):
        assert api.get(f"/projects/{name}", caller).status_code == 404


def test_a_path_may_contain_dots_and_many_levels(api: Api, make: Make) -> None:
    user = make.user(username=make.name("dotted.name"))
    project = make_project(make, user, name="dots", path="with.some.dots")
    deep = make_project(make, group=make_group(make, parent=make_group(make, parent=make_group(make))))

    assert api.get(project.url_by_path, user).json()["id"] == project.id
    assert api.get(deep.url_by_path, make.root).json()["namespace"]["full_path"].count("/") == 2


def test_head_has_no_body(api: Api, make: Make) -> None:
    project = make_project(make, visibility="public")
    head = api.request("HEAD", project.url)

    assert (head.status_code, head.content) == (200, b"")
    assert api.request("HEAD", "/projects/999999999").status_code == 404


def test_the_languages_of_an_empty_project(api: Api, make: Make) -> None:
    guest, reporter = make.user(), make.user()
    project = make_project(make, members={guest: 10, reporter: 20})

    assert api.get(f"{project.url}/languages", reporter).json() == {}
    assert api.get(f"{project.url}/languages", guest).status_code == 403
    assert api.get(f"{project.url}/languages", make.user()).status_code == 404


def test_statement_count_of_one_project(api: Api, make: Make) -> None:
    member = make.user()
    group = make_group(make, members={member: Level.MASTER})
    project = make_project(make, group=group, tag_list=["a", "b"])
    share(make, project, make_group(make), Level.GUEST)

    assert statements_of(make, lambda: api.get(project.url, member)) <= 8


def test_only_masters_see_import_errors(api: Api, make: Make) -> None:
    """Reason and progress contain texts of the remote server, and could reveal the internal network."""
    owner, master, developer = make.user(), make.user(), make.user()
    members = {master: Level.MASTER, developer: Level.DEVELOPER}
    project = make_project(make, owner, visibility="public", members=members)
    failed = {"import_status": "failed", "import_error": "No route to 10.1.2.3", "import_progress": "of 10.1.2.3"}
    make.database.write(lambda db: db.update(projects, project.id, **failed))

    for caller, sees in [(owner, True), (master, True), (make.root, True), (developer, False), (make.user(), False)]:
        shown = api.get(f"{project.url}/import", caller).json()
        assert shown["import_status"] == "failed"
        told = (shown["import_error"], shown["import_progress"])
        assert told == ((failed["import_error"], failed["import_progress"]) if sees else (None, None))
        assert api.get(project.url, caller).json().get("import_error") == (failed["import_error"] if sees else None)
