"""Instance with sample data for every page, created through the API."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from typing import Any
from urllib.parse import quote

from ingot.accounts.oauth.service import create_application
from ingot.accounts.sessions.tables import one_time_links
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.signed_values import sign_value
from ingot.core.db.times import add_duration
from ingot.notifications.unsubscribe_links import UnsubscribeRequest, unsubscribe_key
from ingot.packages.containers.manifests import IMAGE_INDEX, parse_manifest
from ingot.packages.containers.service import find_or_create_repository, put_manifest
from ingot.projects.namespaces.tables import invitations
from ingot.projects.projects.queries import find_project
from ingot.web.projects.deletion import DeletionToken
from tests.api.users.gpg import gpg_key
from tests.ci.runner_client import RunnerJob, project_runner
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, make_group, make_project
from tests.sample_data.catalog import fill_catalog
from tests.sample_data.description_edits import edit_description
from tests.sample_data.services import fill_services, open_chat_link
from tests.sample_data.texts import MARK, SampleTexts
from tests.ssh_public_keys import ed25519_line

PASSWORD = "correct horse battery"
_CI_FILE = """
stages: [build, deploy]
compile: {stage: build, script: [make], allow_failure: true, artifacts: {paths: [out], when: always}, tags: [linux],
  environment: {name: production}}
ship: {stage: deploy, script: [make ship], when: manual}
"""
TOKEN_EXPIRY = (date.today() + timedelta(days=30)).isoformat()
_TEMPLATES = [
    *("issues_template", "merge_requests_template", "merge_commit_template", "squash_commit_template"),
    *("suggestion_commit_message", "merge_request_title_regex_description"),
]
_CODE = 'def tide(hours: int) -> str:\n    """High or low."""\n    return "high" if hours % 12 < 6 else "low"\n'
_README = (
    "# Tides\n\n## When\n\nTwice a day, see [the charts](charts/north.csv).\n\n- [ ] write more\n\n```py\nx = 1\n```\n"
)
# Fields of services with fixed values.


@dataclass
class SampleData:
    """Created records, and their values for path parameters."""

    instance: Instance
    make: Make
    words: SampleTexts
    owner: User
    colleague: User
    group: Group = field(init=False)
    project: Project = field(init=False)
    empty: Project = field(init=False)
    """An empty project."""
    trains: Project = field(init=False)
    catalog: Project = field(init=False)
    """A project with a merge train, and a merge that skipped it."""
    named: dict[str, str] = field(default_factory=dict)
    """Values of path parameters such as ``:issue_iid``."""
    said: set[tuple[str, str]] = field(default_factory=set)
    """Calls and fields that got hostile texts."""

    @property
    def people(self) -> dict[str, User]:
        """Return the users who can sign in."""
        return {"owner": self.owner, "colleague": self.colleague, "root": self.make.root}

    def post(self, path: str, as_user: User | None = None, /, **sent: Any) -> Any:
        """Create an object, and record the fields that got hostile texts."""
        return self.call("POST", path, as_user, **sent)

    def put(self, path: str, as_user: User | None = None, /, **sent: Any) -> Any:
        """Update an object, and record the fields."""
        return self.call("PUT", path, as_user, **sent)

    def call(self, method: str, path: str, as_user: User | None = None, /, **sent: Any) -> Any:
        """Send a request, and record the fields."""
        answer = self.make.api.request(method, path, as_user or self.owner, json=sent)
        assert answer.status_code in (200, 201, 202, 204), (path, sent, answer.text)
        self.said |= {(f"{method} {path}", name) for name, value in sent.items() if MARK in str(value)}
        return answer.json() if answer.content else None


@contextmanager
def open_sample_data(instance: Instance, make: Make, words: SampleTexts) -> Iterator[SampleData]:
    """Create all sample data, and delete afterwards the records that other tests would see."""
    samples = _build(instance, make, words)
    before = make.api.get("/application/settings", make.root).json()
    changed = {name: words.markdown("Be kind.") for name in ("sign_in_text", "after_sign_up_text", "help_page_text")}
    changed |= {"help_page_support_url": "https://help.example/", "shared_runners_text": words.markdown("x")}
    samples.put("/application/settings", make.root, **changed, signup_enabled=True)
    if words.hostile:
        shown = dict.fromkeys(("title", "header_message", "footer_message"), words.plain("Sea"))
        shown |= dict.fromkeys(("pwa_name", "pwa_short_name", "pwa_description"), words.plain("Sea"))
        guidelines = ("new_project_guidelines", "member_guidelines", "profile_image_guidelines")
        shown |= dict.fromkeys(("description", *guidelines), words.markdown("Be kind."))
        samples.put("/application/appearance", make.root, **shown)
    message = samples.post(
        "/broadcast_messages", make.root, message=words.markdown("Low tide at noon"), color="#e75e40"
    )
    samples.named["message"] = str(message["id"])
    yield samples
    kept = {name: before[name] for name in (*changed, "signup_enabled")}
    assert make.api.put("/application/settings", make.root, **kept).status_code == 200
    if words.hostile:
        assert make.api.put("/application/appearance", make.root, **dict.fromkeys(shown, "")).status_code == 200
    left = ("system hook", "/hooks/{}"), ("instance application", "/applications/{}"), ("topic", "/topics/{}")
    more = ("own application", "/applications/{}"), ("variable", "/admin/ci/variables/{}")
    paths = [path.format(samples.named[name]) for name, path in (*left, *more)]
    # Forms may have created others.
    paths += [f"/broadcast_messages/{each['id']}" for each in make.api.get("/broadcast_messages", make.root).json()]
    # Public objects appear on the start pages of all users.
    paths += [samples.project.url, samples.empty.url, samples.group.url, f"/snippets/{samples.named['own snippet']}"]
    for path in paths:
        assert make.api.delete(path, make.root).status_code in (200, 202, 204), path


def _build(instance: Instance, make: Make, words: SampleTexts) -> SampleData:
    plain = words.plain
    owner, colleague = (make.user(name=plain(name), password=PASSWORD) for name in ("Ada Anchor", "Ben Buoy"))
    samples = SampleData(instance, make, words, owner, colleague)
    description = words.markdown("All about the sea.")
    samples.group = make_group(make, owner, visibility="public", name="Sea", description=description)
    samples.project = make_project(
        make, owner, group=samples.group, visibility="public", name=make.name("tides"), description=description
    )
    samples.empty = make_project(make, owner, visibility="public")
    make.api.post(f"{samples.project.url}/members", owner, user_id=colleague.id, access_level=int(Level.DEVELOPER))
    _fill_code(samples)
    _fill_packages(samples)
    _fill_plans(samples)
    _fill_discussions(samples)
    _fill_merge_requests(samples)
    _fill_merge_train(samples)
    fill_catalog(samples)
    _fill_settings(samples)
    _fill_users(samples)
    _fill_instance(samples)
    return samples


def _fill_code(samples: SampleData) -> None:
    here, words, plain = samples.project.url, samples.words, samples.words.plain
    folder, file, branch = words.file("charts.d"), words.file("moon.py"), words.ref("topic")
    wrote = {name: plain(name).replace("<", "(").replace(">", ")") for name in ("author_name", "author_email")}
    action = {"action": "create", "encoding": "text"}
    actions = [
        {**action, "file_path": "README.md", "content": words.markdown(_README)},
        {**action, "file_path": "tides.py", "content": _CODE},
        {**action, "file_path": file, "content": _CODE + words.markdown("")},
        {**action, "file_path": f"{folder}/north.csv", "content": f"day,{plain('tide')}\n1,high\n"},
        {**action, "file_path": "logo.svg", "content": "<svg xmlns='http://www.w3.org/2000/svg' onload='zqx()'/>"},
        {**action, "file_path": "LICENSE", "content": "MIT License"},
    ]
    message = f"{plain('Begin')}\n\n{words.markdown('With the charts.')}"
    first = samples.post(
        f"{here}/repository/commits", branch="master", commit_message=message, actions=actions, **wrote
    )
    samples.post(f"{here}/repository/branches", branch=branch, ref="master")
    change = [
        {"action": "update", "file_path": name, "content": _CODE.replace("12", "13")} for name in (file, "tides.py")
    ]
    samples.post(f"{here}/repository/commits", branch=branch, commit_message=plain("Count"), actions=change, **wrote)
    tag = words.ref("v1")
    sent = {"message": plain("First"), "release_description": words.markdown("It floats.")}
    samples.post(f"{here}/repository/tags", tag_name=tag, ref="master", **sent)
    links = f"{here}/releases/{quote(tag, safe='')}/assets/links"
    samples.post(
        links, name=plain("Handbook"), url=words.address("https://files.example/handbook"), filepath="/handbook-zqx"
    )
    samples.put(f"{here}/releases/{quote(tag, safe='')}", name=plain("One"), description=words.markdown("It floats."))
    sent = {"tag_message": plain("Second"), "description": words.markdown("It sinks."), "name": plain("Two")}
    samples.post(f"{here}/releases", tag_name=words.ref("v2"), ref=branch, **sent)
    samples.post(f"{here}/repository/commits/master/comments", note=words.markdown("Why?"))
    samples.post(
        f"{here}/repository/commits/master/comments", note=words.markdown("Here"), path=file, line=1, line_type="new"
    )
    status = {"state": "failed", "name": plain("build"), "target_url": words.address("https://ci.example/1")}
    samples.post(f"{here}/statuses/{first['id']}", description=plain("It broke"), ref=branch, **status)
    (talk, *_) = samples.make.api.get(f"{here}/repository/commits/master/discussions", samples.owner).json()
    (pipeline,) = samples.make.api.get(f"{here}/pipelines", samples.owner).json()
    samples.named |= {"file": file, "folder": folder, "branch": branch, ":tag": tag, ":sha": first["id"]}
    samples.named |= {"commit discussion": talk["id"], "commit note": str(talk["notes"][0]["id"])}
    samples.named["pipeline"] = str(pipeline["id"])
    samples.put(f"{here}/pipelines/{pipeline['id']}/metadata", name=plain("Nightly"))
    _fill_jobs(samples)


def _fill_jobs(samples: SampleData) -> None:
    """Run a pipeline with a log, an archive and a failed job."""
    here, plain = samples.project.url, samples.words.plain
    runner = project_runner(samples.make, samples.project.id, description=plain("Runner"), tag_list="linux")
    change = [{"action": "create", "file_path": ".gitlab-ci.yml", "content": _CI_FILE}]
    sent = {"start_branch": "master", "commit_message": plain("Check"), "actions": change}
    samples.post(f"{here}/repository/commits", branch="checked", **sent)
    job = RunnerJob(runner.api, runner.poll(system_id=plain("machine")[:64]).json())
    job.trace(b"section_start:1:prepare\r\x1b[0KPrepare\n\x1b[31mred\x1b[0m\nsection_end:2:prepare\r\x1b[0K\n")
    job.trace(samples.words.markdown("It broke.").encode() + b"\n")
    job.upload({"out/report.txt": b"text", f"{samples.words.file('a')}": b"text"})
    job.finish("failed", failure_reason="script_failure")
    note = {"maintenance_note": plain("Ask Ben"), "description": plain("Group runner")}
    of_group = samples.post("/user/runners", runner_type="group_type", group_id=samples.group.id, **note)
    schedule = samples.post(f"{here}/pipeline_schedules", description=plain("Nightly"), ref="master", cron="0 4 * * *")
    variable = {"key": "DEPTH", "value": plain("full")}
    samples.post(f"{here}/pipeline_schedules/{schedule['id']}/variables", **variable)
    samples.post(f"{here}/freeze_periods", freeze_start="0 23 * * 5", freeze_end="0 7 * * 1")
    (environment, *_) = samples.make.api.get(f"{here}/environments", samples.owner).json()
    samples.named |= {"job": str(job.id), "runner": str(runner.id), "group runner": str(of_group["id"])}
    samples.named |= {"schedule": str(schedule["id"]), "environment": str(environment["id"])}


def _fill_packages(samples: SampleData) -> None:
    api, here = samples.make.api, samples.project.url
    uploaded = api.request("PUT", f"{here}/packages/generic/crane/1.0/crane.tar.gz", samples.owner, content=b"text")
    assert uploaded.status_code == 201, uploaded.text
    (package,) = api.get(f"{here}/packages", samples.owner).json()

    def push(db: Connection) -> int:
        _, project = find_project(db, Actor(admin=True), samples.project.id)
        repository = find_or_create_repository(db, project, "harbour")
        index = b'{"schemaVersion": 2, "manifests": []}'
        put_manifest(db, repository, parse_manifest(index, IMAGE_INDEX), "latest")
        return repository.id

    samples.named |= {"package": str(package["id"]), "repository": str(samples.make.database.write(push))}


def _fill_plans(samples: SampleData) -> None:
    words, plain = samples.words, samples.words.plain
    for place, kind in ((samples.project, "project"), (samples.group, "group")):
        text = words.markdown("When water comes in.")
        leak = samples.post(
            f"{place.url}/labels", name=plain(f"{kind} leak"), color="#d9534f", description=plain("Wet")
        )
        title = plain(f"Spring of the {kind}")
        plan = samples.post(f"{place.url}/milestones", title=title, description=text, due_date="2030-04-01")
        board, _ = (
            samples.post(f"{place.url}/boards", name=plain(f"{name} of the {kind}")) for name in ("Board", "Second")
        )
        samples.post(f"{place.url}/boards/{board['id']}/lists", label_id=leak["id"])
        samples.named |= {f"{kind} label": str(leak["id"]), f"{kind} milestone": str(plan["iid"])}
        samples.named |= {f"{kind} milestone id": str(plan["id"]), f"{kind} board": str(board["id"])}
    here, leak = samples.project.url, plain("project leak")
    issue = samples.post(
        f"{here}/issues",
        title=plain("Water in the hold"),
        description=words.markdown("- [ ] find it\n- [x] tell @root\n\nSee #2 and !1"),
        label_ids=[],
        milestone_id=int(samples.named["project milestone id"]),
        assignee_ids=[samples.owner.id],
        due_date="2020-01-01",
    )
    samples.put(f"{here}/issues/1", add_labels=[leak] if "," not in leak else [])
    samples.post(f"{here}/issues", title=plain("Paint the mast"), confidential=True)
    samples.post(f"{here}/issues/1/links", target_project_id=str(samples.project.id), target_issue_iid="2")
    samples.post(f"{here}/issues/1/time_estimate", duration="3h")
    samples.post(f"{here}/issues/1/add_spent_time", duration="1h", summary=plain("Looked"))
    samples.post(f"{here}/issues/1/award_emoji", name="tada")
    samples.post(f"{here}/issues", title="Done already")
    samples.put(f"{here}/issues/3", state_event="close")
    samples.named["issue id"] = str(issue["id"])


def _fill_discussions(samples: SampleData) -> None:
    here, words, plain = samples.project.url, samples.words, samples.words.plain
    talk = samples.post(
        f"{here}/issues/1/discussions", body=words.markdown(f"Seen **twice**, @{samples.colleague.username}")
    )
    samples.post(
        f"{here}/issues/1/discussions/{talk['id']}/notes", samples.colleague, body=words.markdown("@all Me too")
    )
    samples.post(f"{here}/issues/1/notes", samples.colleague, body=words.markdown(f"Ask @{samples.owner.username}"))
    samples.named |= {"issue discussion": talk["id"], "issue note": str(talk["notes"][0]["id"])}
    edit_description(samples, "issue", f"{here}/issues/1")
    files = [
        {"file_path": words.file("a.py"), "content": _CODE},
        {"file_path": "b.md", "content": words.markdown("# B")},
    ]
    sent: dict[str, Any] = {"title": plain("Kept"), "description": words.markdown("For later"), "visibility": "public"}
    kept = samples.post(f"{here}/snippets", **sent, files=files)
    talk = samples.post(f"{here}/snippets/{kept['id']}/discussions", body=words.markdown("Nice"))
    samples.named |= {"snippet": str(kept["id"]), "snippet discussion": talk["id"]}
    samples.named["snippet note"] = str(talk["notes"][0]["id"])
    own = samples.post("/snippets", **sent, file_name=words.file("own.py"), content=_CODE + words.markdown(""))
    samples.named["own snippet"] = str(own["id"])
    home = samples.post(f"{here}/wikis", title="home", content=words.markdown("# Welcome\n\nto it"))
    page = samples.post(
        f"{here}/wikis", title=plain("Ropes/Knots", 100), content=words.markdown("[[home]]"), message=plain("Tie")
    )
    samples.named |= {"wiki home": home["slug"], "wiki": page["slug"]}
    samples.post(f"{samples.group.url}/wikis", title=plain("Ropes/Knots", 100), content=words.markdown("[[home]]"))


def _fill_merge_requests(samples: SampleData) -> None:
    here, words, plain = samples.project.url, samples.words, samples.words.plain
    branch, text = samples.named["branch"], words.markdown("Closes #1")
    offer = {"source_branch": branch, "target_branch": "master", "title": plain("Count to thirteen")}
    made = samples.post(f"{here}/merge_requests", **offer, description=text, assignee_id=samples.colleague.id)
    talk = samples.post(f"{here}/merge_requests/1/discussions", body=words.markdown("Is it?"))
    refs = made["diff_refs"]
    file = samples.named["file"]
    line = {"position_type": "text", "old_path": file, "new_path": file, "new_line": 3}
    samples.post(f"{here}/merge_requests/1/discussions", body=words.markdown("Here"), position={**refs, **line})
    suggested = words.markdown("So:") + "\n\n```suggestion\n" + words.plain("13") + "\n```"
    samples.post(f"{here}/merge_requests/1/discussions", body=suggested, position={**refs, **line})
    samples.post(f"{here}/merge_requests/1/draft_notes", note=words.markdown("Later"), position={**refs, **line})
    samples.post(f"{here}/merge_requests/1/draft_notes", note=words.markdown("In all"))
    samples.post(f"{here}/merge_requests/1/notes", samples.colleague, body=words.markdown("Good"))
    samples.post(f"{here}/merge_requests/1/award_emoji", name="heart")
    samples.post(f"{here}/merge_requests/1/add_spent_time", duration="1h", summary=plain("Read"))
    samples.named |= {"offer discussion": talk["id"], "offer note": str(talk["notes"][0]["id"])}
    edit_description(samples, "offer", f"{here}/merge_requests/1")
    # One with conflicts, and a merged one.
    for name, target in (("clash", "master"), ("done", "main")):
        samples.post(f"{here}/repository/branches", branch=name, ref="master")
        change = [{"action": "update", "file_path": "tides.py", "content": f"{name}\n"}]
        samples.post(f"{here}/repository/commits", branch=name, commit_message=plain(name), actions=change)
        if target == "main":
            samples.post(f"{here}/repository/branches", branch="main", ref="master")
        samples.post(f"{here}/merge_requests", source_branch=name, target_branch=target, title=plain(name))
    samples.post(f"{here}/merge_requests", source_branch="clash", target_branch=branch, title=plain("Into the other"))
    change[0]["content"] = "other\n"
    samples.post(f"{here}/repository/commits", branch="master", commit_message=plain("Other"), actions=change)
    samples.put(f"{here}/merge_requests/3/merge", merge_commit_message=plain("Merge it"))


def _fill_merge_train(samples: SampleData) -> None:
    words = samples.words
    samples.trains = make_project(
        samples.make,
        samples.owner,
        visibility="public",
        initialize_with_readme=True,
        merge_pipelines_enabled=True,
        merge_trains_enabled=True,
        merge_trains_skip_train_allowed=True,
    )
    here = samples.trains.url
    for number, name in enumerate(("buoys", "locks", "piers"), 1):
        change = [{"action": "create", "file_path": name, "content": name}]
        samples.post(
            f"{here}/repository/commits", branch=name, start_branch="master", commit_message=name, actions=change
        )
        offer = {"source_branch": name, "target_branch": "master", "title": words.plain(f"Add {name}")}
        samples.post(f"{here}/merge_requests", **offer)
        if name == "piers":
            samples.put(f"{here}/merge_requests/{number}/merge", skip_merge_train=True)
        else:
            samples.post(f"{here}/merge_trains/merge_requests/{number}")


def _fill_settings(samples: SampleData) -> None:
    words, plain = samples.words, samples.words.plain
    hook = {
        "name": plain("Builds"),
        "description": plain("Tells the builder"),
        "push_events_branch_filter": words.ref("topic"),
        "custom_webhook_template": '{"text": "{{object_kind}}"}',
    }
    badge = {"link_url": words.address("https://ci.example/"), "image_url": words.address("https://ci.example/b.svg")}
    for place, kind in ((samples.project, "project"), (samples.group, "group")):
        url = words.address("https://ci.example.org/hook")
        made = samples.post(f"{place.url}/hooks", **hook, url=url, token="secret")
        samples.named[f"{kind} hook"] = str(made["id"])
        for word, key in (("custom_headers", "X-Harbour"), ("url_variables", "WHERE")):
            samples.put(f"{place.url}/hooks/{made['id']}/{word}/{key}", value=plain("north"))
        samples.post(f"{place.url}/badges", **badge, name=plain("built"))
        value = {"key": "HARBOUR", "value": plain("north"), "environment_scope": "prod"}
        samples.post(f"{place.url}/variables", **value, description=plain("Where to"))
        samples.post(f"{place.url}/deploy_tokens", name=plain("Cranes"), username="crane", scopes=["read_repository"])
        token = {"name": plain("Robot"), "description": plain("Loads ships"), "scopes": ["api"]}
        made = samples.post(f"{place.url}/access_tokens", **token, expires_at=TOKEN_EXPIRY)
        samples.named[f"{kind} token"] = str(made["id"])
    here = samples.project.url
    samples.post(f"{here}/deploy_keys", title=plain("Crane"), key=ed25519_line())
    samples.post(f"{here}/environments", name="sea", external_url=words.address("https://sea.example/"))
    allowed = [{"access_level": 40}]
    samples.post(f"{here}/protected_environments", name=words.plain("port"), deploy_access_levels=allowed)
    samples.post(f"{here}/triggers", description=plain("By hand"))
    samples.post(f"{here}/feature_flags", name="new_crane", version="new_version_flag", description=plain("A crane"))
    samples.post(f"{here}/approval_rules", name=plain("Pilots"), approvals_required=0)
    samples.post(f"{here}/feature_flags_user_lists", name=plain("Sailors"), user_xids=plain("ada", 200))
    for place in (samples.project, samples.group):
        samples.post(f"{place.url}/protected_branches", name=words.ref("stable-*"))
    samples.post(f"{here}/protected_tags", name=words.ref("v*"))
    samples.put(here, description=words.markdown("Of the sea"), ci_config_path=words.file("build.yml"))
    samples.put(here, **{name: words.markdown("x")[:200] for name in _TEMPLATES})
    samples.put(samples.group.url, description=words.markdown("All about the sea"))
    samples.put(f"/users/{samples.owner.id}", samples.make.root, name=plain("Ada Anchor"))
    if words.hostile:
        fill_services(samples)
    open_chat_link(samples)


def _fill_users(samples: SampleData) -> None:
    words, plain, owner = samples.words, samples.words.plain, samples.owner
    texts = {name: plain(name) for name in ("bio", "location", "organization", "skype", "linkedin", "twitter")}
    texts |= {name: plain(name) for name in ("note", "job_title", "pronouns", "discord", "bluesky", "mastodon")}
    samples.put(f"/users/{owner.id}", samples.make.root, **texts, website_url=words.address("https://ada.example/"))
    samples.put(
        f"/users/{owner.id}", samples.make.root, provider=plain("harbour", 100), extern_uid=plain(owner.username)
    )
    samples.put("/user/status", owner, message=plain("At sea", 100), emoji="palm_tree")
    samples.post("/user/keys", owner, title=plain("Laptop"), key=ed25519_line())
    samples.post("/user/gpg_keys", owner, key=gpg_key())
    samples.post("/user/emails", owner, email=f"{owner.username}@sea.example")
    token = {"name": plain("Crane"), "scopes": ["api"]}
    samples.post(f"/users/{owner.id}/impersonation_tokens", samples.make.root, **token, description=plain("x"))
    made = samples.post(
        f"/users/{owner.id}/personal_access_tokens", samples.make.root, **token, description=plain("For cranes")
    )
    samples.named["personal token"] = str(made["id"])
    vault = samples.instance.app.database.vault
    kept = UnsubscribeRequest(owner.id, "issue", int(samples.named["issue id"]))
    samples.named[":key"] = unsubscribe_key(vault, kept)
    for purpose in ("password", "confirmation", "unlock"):
        samples.named[f"{purpose} token"] = f"{purpose} of {samples.colleague.username}"
        samples.instance.app.database.write(partial(_make_link, samples, purpose))
    samples.named["invitation token"] = f"invitation by {samples.colleague.username}"
    samples.post(f"{samples.project.url}/invitations", email=f"new.{owner.username}@example.org", access_level=20)
    samples.instance.app.database.write(partial(_set_invitation_token, samples))


def _set_invitation_token(samples: SampleData, db: Connection) -> None:
    """Replace the token in the mail by a known one."""
    of_project = invitations.c.source_id == samples.project.id
    db.run(invitations.update().where(of_project).values(digest=db.vault.digest(samples.named["invitation token"])))


def _make_link(samples: SampleData, purpose: str, db: Connection) -> None:
    """Create a link as if a mail had been sent."""
    db.insert(
        one_time_links,
        user_id=samples.colleague.id,
        purpose=purpose,
        email_id=None,
        digest=db.vault.digest(samples.named[f"{purpose} token"]),
        expires_at=add_duration(db.now, hours=1),
    )


def _started_import(samples: SampleData) -> str:
    """Start an import from a server that does not exist; return its number."""
    owner = samples.owner
    entity = {"source_type": "project_entity", "source_full_path": "a/b", "destination_namespace": owner.username}
    source = {"url": "https://source.example", "access_token": "secret"}
    started = samples.post("/bulk_imports", owner, configuration=source, entities=[entity])
    return str(started["id"])


def _fill_instance(samples: SampleData) -> None:
    words, plain, root = samples.words, samples.words.plain, samples.make.root
    vault = samples.instance.app.database.vault
    made = samples.post("/applications", root, name=plain("Harbour"), redirect_uri="https://app.example/", scopes="api")
    samples.named |= {"instance application": str(made["id"]), "client": made["application_id"]}
    hook = samples.post(
        "/hooks", root, url=words.address("https://ci.example.org/all"), name=plain("All"), description=plain("x")
    )
    samples.named["system hook"] = str(hook["id"])
    samples.named["import"] = _started_import(samples)
    topic = samples.post(
        "/topics",
        root,
        name=f"{samples.make.name('topic')} {plain('')}",
        title=plain("Sea"),
        description=words.markdown(""),
    )
    name, there = plain("Cranes"), "https://app.example/"
    own, _ = samples.instance.app.database.write(
        lambda db: create_application(db, samples.owner.id, name, there, ["api"], confidential=True)
    )
    samples.named["own application"] = str(own.id)
    going = DeletionToken(samples.owner.id, "project", samples.project.path, 1, samples.instance.app.database.clock())
    samples.named["farewell"] = sign_value(vault, "deleting", going)
    samples.named |= {"topic": str(topic["id"]), "variable": samples.make.name("KEY").replace("-", "_")}
    samples.post("/admin/ci/variables", root, key=samples.named["variable"], value=plain("x"))
