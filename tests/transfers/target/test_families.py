"""Tests of the other kinds of imported records, each compared with the response of the API."""

from typing import Any

from ingot.import_export.records import (
    BadgeRecord,
    BoardListRecord,
    BoardRecord,
    DeployKeyRecord,
    HookRecord,
    Kind,
    LabelRecord,
    MemberRecord,
    MilestoneRecord,
    ProjectRecord,
    ProtectedEnvironmentRecord,
    ProtectedRefRecord,
    ReleaseLinkRecord,
    ReleaseRecord,
    ScheduleRecord,
    SettingsRecord,
    SnippetRecord,
    StatusRecord,
    VariableRecord,
)
from ingot.import_export.work_item_records import AwardRecord, UserRecord
from tests.api.merge_requests.factories import commit, filled_project
from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.ssh_public_keys import ed25519_line
from tests.statements import recorded_statements
from tests.transfers.target.harness import ALICE, BOB, CREATED, UPDATED, ImportedProject, comment, contents, emitted

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
RECORDS: dict[Kind, list[ProjectRecord]] = {
    "settings": [
        SettingsRecord(
            attributes={
                "name": "Ignored",
                "path": "ignored",
                "description": "About it",
                "visibility": "internal",
                "wiki_enabled": False,
                "merge_method": "ff",
                "squash_option": "nonsense",
                "build_timeout": 1800,
                "default_branch": "develop",
                "unknown_setting": 1,
            },
            topics=["Python", "forge"],
            avatar="/avatar.png",
            created_at=CREATED,
        )
    ],
    "members": [
        MemberRecord(user=ALICE, access_level=30, expires_at="2099-01-01"),
        MemberRecord(user=BOB, access_level=50),
        MemberRecord(user=UserRecord(key="9", username="robot", name="Robot", bot=True), access_level=40),
        MemberRecord(user=UserRecord(key="8", username="odd", name="Odd"), access_level=17),
    ],
    "labels": [
        LabelRecord(key="1", title="Todo", color="#00ff00"),
        LabelRecord(key="2", title="Doing", color="not a color", description="In progress"),
        LabelRecord(key="3", title=" ", color="#00ff00"),
    ],
    "milestones": [MilestoneRecord(key="7", iid=3, title="One"), MilestoneRecord(key="8", iid=3, title="Two")],
    "boards": [
        BoardRecord(
            key="1",
            name="Planning",
            hide_closed_list=True,
            lists=[BoardListRecord(label="Doing", position=5), BoardListRecord(label="Todo", position=2)],
        )
    ],
    "releases": [
        ReleaseRecord(
            tag="v1",
            name="First",
            description="Notes",
            author=ALICE,
            created_at=CREATED,
            released_at=UPDATED,
            milestones=["7", "Two", "Missing"],
            links=[
                ReleaseLinkRecord(key="1", name="Page", url="https://example.org/a", link_type="runbook"),
                ReleaseLinkRecord(
                    key="2", name="Binary", url="https://source.example/f", file="/file", filepath="/bin"
                ),
                ReleaseLinkRecord(key="3", name="Bad", url="javascript:alert(1)"),
                ReleaseLinkRecord(key="4", name="Page", url="https://example.org/b"),
            ],
        )
    ],
    "snippets": [
        SnippetRecord(
            key="1",
            title="Script",
            file_name="a.sh",
            content="echo\n",
            author=BOB,
            visibility="internal",
            created_at=CREATED,
            updated_at=UPDATED,
            discussions=[comment("s1", "Nice")],
            awards=[AwardRecord(key="1", name="tada", user=ALICE, created_at=CREATED)],
        ),
        SnippetRecord(
            key="2", title="Empty", file_name="", content="", author=BOB, created_at=CREATED, updated_at=UPDATED
        ),
    ],
    "protected_branches": [
        ProtectedRefRecord(name="master", push_level=30, merge_level=30, allow_force_push=True),
        ProtectedRefRecord(name="release/*", push_level=0, merge_level=60),
        ProtectedRefRecord(name="a..b"),
    ],
    "protected_tags": [ProtectedRefRecord(name="v*", create_level=30)],
    "protected_environments": [
        ProtectedEnvironmentRecord(name="production", access_levels=(40, 5), others=True),
        ProtectedEnvironmentRecord(name=" "),
    ],
    "hooks": [
        HookRecord(key="1", url="https://user:secret@example.org/hook", events=["push_events", "wiki_page_events"]),
        HookRecord(key="2", url="ftp://example.org"),
        HookRecord(key="3", url="https://example.org/{token}"),
    ],
    "deploy_keys": [
        DeployKeyRecord(key="1", title="Robot", public_key=ed25519_line(), can_push=True),
        DeployKeyRecord(key="2", title="Bad", public_key="nonsense"),
    ],
    "variables": [
        VariableRecord(name="TOKEN", value="abcdefgh1", masked=True, protected=True),
        VariableRecord(name="TOKEN", value="other", environment_scope="production", masked=True),
        VariableRecord(name="not a key", value="x"),
    ],
    "badges": [
        BadgeRecord(key="1", link_url="https://example.org", image_url="https://example.org/a.svg", name="Build"),
        BadgeRecord(key="2", link_url="javascript:1", image_url="https://example.org/a.svg"),
    ],
    "schedules": [
        ScheduleRecord(
            key="1",
            description="Nightly",
            ref="refs/heads/master",
            cron="0 1 * * *",
            cron_timezone="Berlin",
            owner=ALICE,
            variables=[VariableRecord(name="MODE", value="full")],
            inputs={"depth": 3},
        ),
        ScheduleRecord(key="2", description="Bad", ref="master", cron="never"),
    ],
}
PROBLEMS = {
    "settings": 1,
    "members": 2,
    "labels": 1,
    "milestones": 1,
    "releases": 3,
    "snippets": 1,
    "protected_branches": 1,
    "protected_environments": 2,
    "hooks": 3,
    "deploy_keys": 1,
    "variables": 2,
    "badges": 1,
    "schedules": 1,
}


def test_families(instance: Instance, make: Make) -> None:
    """Records of each kind are shown by the API; invalid ones are reported, and repeating the import writes nothing."""
    project = filled_project(make)
    oid = commit(make, project, "develop", {"a": "b"}, start="master")
    make.api.post(f"{project.url}/repository/tags", make.root, tag_name="v1", ref="master")
    imported = ImportedProject(instance, make, project, files={"/avatar.png": PNG, "/file": b"\x7fELF"})
    before = emitted(instance)
    records: dict[Kind, list[ProjectRecord]] = {**RECORDS, "statuses": [*_statuses(oid)]}
    for kind, given in records.items():
        stored = imported.store(kind, *given)
        assert len(stored.problems) == PROBLEMS.get(kind, 1 if kind == "statuses" else 0), (kind, stored.problems)
    after = emitted(instance)
    # HEAD of the repository follows the default branch by a job.
    assert {name: after[name] - before[name] for name in after if name != "jobs"} == dict.fromkeys(
        ("events", "todos", "hook_events"), 0
    )
    _check_settings(imported, project.path)
    _check_planning(imported)
    _check_release(instance, make, imported)
    _check_access(imported)
    _check_pipelines(imported, oid)
    instance.work()
    rows = contents(instance)
    with recorded_statements(instance.app.database) as statements:
        for kind, given in records.items():
            assert imported.store(kind, *given).unchanged == len(given), kind
    assert [each for each in statements if not each.lstrip().upper().startswith("SELECT")] == []
    assert contents(instance) == rows


def _statuses(oid: str) -> list[StatusRecord]:
    common: dict[str, Any] = {"sha": oid, "ref": "develop", "author": ALICE}
    return [
        StatusRecord(key="1", name="test", state="failed", created_at=CREATED, finished_at=CREATED, **common),
        StatusRecord(key="2", name="test", state="success", created_at=UPDATED, finished_at=UPDATED, **common),
        StatusRecord(
            key="3",
            name="lint",
            state="error",
            created_at=CREATED,
            target_url="https://example.org/1",
            coverage=81.5,
            **common,
        ),
        StatusRecord(key="4", sha="a" * 40, ref="develop", name="lost", state="success"),
    ]


def _check_settings(imported: ImportedProject, path: str) -> None:
    shown = imported.get("")
    expected = {
        "path_with_namespace": path,
        "description": "About it",
        "visibility": "internal",
        "wiki_enabled": False,
        "merge_method": "ff",
        "squash_option": "default_off",
        "build_timeout": 1800,
        "default_branch": "develop",
        "topics": ["Python", "forge"],
        "created_at": CREATED,
    }
    assert {name: shown[name] for name in expected} == expected
    assert shown["avatar_url"].endswith("avatar.png")
    members = {each["name"]: each for each in imported.get("/members")}
    assert (members["Alice Source"]["access_level"], members["Alice Source"]["expires_at"]) == (30, "2099-01-01")
    assert members["Bob Source"]["access_level"] == 40
    assert "Robot" not in members


def _check_planning(imported: ImportedProject) -> None:
    labels = {each["name"]: each["color"] for each in imported.get("/labels")}
    assert labels == {"Todo": "#00ff00", "Doing": "#428BCA"}
    assert {each["title"]: each["iid"] for each in imported.get("/milestones")} == {"One": 3, "Two": 4}
    board = next(each for each in imported.get("/boards") if each["name"] == "Planning")
    assert [each["label"]["name"] for each in board["lists"]] == ["Todo", "Doing"]
    assert (board["hide_backlog_list"], board["hide_closed_list"]) == (False, True)
    (snippet,) = imported.get("/snippets")
    assert (snippet["title"], snippet["author"]["name"], snippet["created_at"], snippet["updated_at"]) == (
        "Script",
        "Bob Source",
        CREATED,
        UPDATED,
    )
    assert [each["body"] for each in imported.get(f"/snippets/{snippet['id']}/notes")] == ["Nice"]
    assert [each["name"] for each in imported.get(f"/snippets/{snippet['id']}/award_emoji")] == ["tada"]


def _check_release(instance: Instance, make: Make, imported: ImportedProject) -> None:
    (release,) = imported.get("/releases")
    assert (release["name"], release["created_at"], release["released_at"]) == ("First", CREATED, UPDATED)
    assert release["author"]["name"] == "Alice Source"
    assert sorted(each["title"] for each in release["milestones"]) == ["One", "Two"]
    links = {each["name"]: each for each in release["assets"]["links"]}
    assert links["Page"]["link_type"] == "runbook"
    path = links["Binary"]["url"].removeprefix(instance.settings.base_url)
    assert path.startswith(f"/{imported.project.path}/uploads/")
    assert links["Binary"]["direct_asset_url"].endswith("/-/releases/v1/downloads/bin")


def _check_access(imported: ImportedProject) -> None:
    branches = {each["name"]: each for each in imported.get("/protected_branches")}
    levels = {
        name: (each["push_access_levels"][0]["access_level"], each["merge_access_levels"][0]["access_level"])
        for name, each in branches.items()
    }
    assert levels == {"master": (30, 30), "release/*": (0, 0)}
    assert branches["master"]["allow_force_push"] is True
    assert [each["name"] for each in imported.get("/protected_tags")] == ["v*"]
    (rule,) = imported.get("/protected_environments")
    assert [each["access_level"] for each in rule["deploy_access_levels"]] == [40]
    (hook,) = imported.get("/hooks")
    assert hook["url"].endswith("example.org/hook")
    assert (hook["push_events"], hook["wiki_page_events"], hook["issues_events"]) == (True, True, False)
    (key,) = imported.get("/deploy_keys")
    assert (key["title"], key["can_push"]) == ("Robot", True)
    variables = {each["environment_scope"]: each for each in imported.get("/variables")}
    assert (variables["*"]["value"], variables["*"]["masked"], variables["*"]["protected"]) == ("abcdefgh1", True, True)
    assert (variables["production"]["value"], variables["production"]["masked"]) == ("other", False)
    assert [each["name"] for each in imported.get("/badges")] == ["Build"]
    (schedule,) = imported.get("/pipeline_schedules")
    assert (schedule["description"], schedule["active"]) == ("Nightly", False)
    assert schedule["next_run_at"] is not None
    shown = imported.get(f"/pipeline_schedules/{schedule['id']}")
    assert (shown["variables"][0]["key"], shown["owner"]["name"]) == ("MODE", "Alice Source")
    assert shown["inputs"] == [{"name": "depth", "value": 3}]


def _check_pipelines(imported: ImportedProject, oid: str) -> None:
    statuses = imported.get(f"/repository/commits/{oid}/statuses", all=True)
    assert sorted((each["name"], each["status"], each["created_at"]) for each in statuses) == [
        ("lint", "failed", CREATED),
        ("test", "failed", CREATED),
        ("test", "success", UPDATED),
    ]
    (pipeline,) = imported.get("/pipelines")
    assert (pipeline["sha"], pipeline["ref"], pipeline["status"], pipeline["source"]) == (
        oid,
        "develop",
        "failed",
        "external",
    )
    assert pipeline["created_at"] == CREATED
    rerun = StatusRecord(
        key="5", sha=oid, ref="develop", name="lint", state="success", created_at=UPDATED, finished_at=UPDATED
    )
    imported.store("statuses", rerun)
    assert imported.get("/pipelines")[0]["status"] == "success"
    assert len(imported.get(f"/repository/commits/{oid}/statuses", all=True)) == 4


def test_records_of_the_group(instance: Instance, make: Make) -> None:
    """Labels and milestones of the source's group stand for those of the group here, if they exist."""
    group = make_group(make)
    make.api.post(f"{group.url}/labels", make.root, name="shared", color="#112233")
    make.api.post(f"{group.url}/milestones", make.root, title="Shared")
    project = make_project(make, namespace_id=group.id)
    imported = ImportedProject(instance, make, project)
    imported.store(
        "labels",
        LabelRecord(key="1", title="shared", color="#ffffff", of_group=True, priority=1),
        LabelRecord(key="2", title="lonely", color="#ffffff", of_group=True),
    )
    imported.store(
        "milestones",
        MilestoneRecord(key="1", iid=9, title="Shared", of_group=True),
        MilestoneRecord(key="2", iid=1, title="Lonely", of_group=True),
    )
    labels = {each["name"]: each for each in imported.get("/labels")}
    assert (labels["shared"]["color"], labels["shared"]["is_project_label"]) == ("#112233", False)
    assert labels["shared"]["priority"] == 1
    assert labels["lonely"]["is_project_label"] is True
    assert [each["title"] for each in imported.get("/milestones")] == ["Lonely"]


def test_renamed_records(instance: Instance, make: Make) -> None:
    """A changed label, milestone, board, release or variable is updated in place."""
    project = filled_project(make)
    imported = ImportedProject(instance, make, project)
    for name, color in (("Old", "#000000"), ("New", "#ffffff")):
        imported.store("labels", LabelRecord(key="1", title=name, color=color, priority=1))
        imported.store("milestones", MilestoneRecord(key="1", iid=2, title=name, state="closed"))
        imported.store("boards", BoardRecord(key="1", name=name, lists=[BoardListRecord(label=name, position=0)]))
        imported.store("releases", ReleaseRecord(tag="v1", name=name))
        imported.store("variables", VariableRecord(name="A", value=name))
        imported.store("members", MemberRecord(user=ALICE, access_level=30 if name == "Old" else 20))
        imported.store("badges", BadgeRecord(key="1", link_url="http://a.b", image_url="http://a.b", name=name))
        imported.store("hooks", HookRecord(key="1", url=f"http://example.org/{name}"))
    assert [(each["name"], each["color"], each["priority"]) for each in imported.get("/labels")] == [
        ("New", "#ffffff", 1)
    ]
    assert [(each["title"], each["iid"]) for each in imported.get("/milestones")] == [("New", 2)]
    (board,) = [each for each in imported.get("/boards") if each["name"] != "Development"]
    assert (board["name"], [each["label"]["name"] for each in board["lists"]]) == ("New", ["New"])
    assert [each["name"] for each in imported.get("/releases")] == ["New"]
    assert [each["value"] for each in imported.get("/variables")] == ["New"]
    assert [each["access_level"] for each in imported.get("/members") if each["name"] == "Alice Source"] == [20]
    assert [each["name"] for each in imported.get("/badges")] == ["New"]
    assert [each["url"] for each in imported.get("/hooks")] == ["http://example.org/New"]
