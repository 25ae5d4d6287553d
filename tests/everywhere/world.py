"""One house with something on each of its pages, made through the API."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote

from ingot.accounts.oauth.service import create_application
from ingot.accounts.sessions.tables import one_time_links
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.discovery.notifications.unsubscribe_links import UnsubscribeRequest, unsubscribe_key
from ingot.projects.services.registry import REGISTRY
from ingot.web.projects.deletion import DeletionToken
from ingot.web.signed_values import sign_value
from tests.api.users.gpg import gpg_key
from tests.client import Make, Person
from tests.conftest import House
from tests.everywhere.words import MARK, Words
from tests.making import Group, Project, make_group, make_project
from tests.ssh_lines import ed25519_line

PASSWORD = "correct horse battery"
_CODE = 'def tide(hours: int) -> str:\n    """High or low."""\n    return "high" if hours % 12 < 6 else "low"\n'
_README = (
    "# Tides\n\n## When\n\nTwice a day, see [the charts](charts/north.csv).\n\n- [ ] write more\n\n```py\nx = 1\n```\n"
)
# Texts of services that are not free.
_CHOSEN = {"recipients": "ada@example.org", "branches_to_be_notified": "all"}


@dataclass
class World:
    """What was made, and by which words addresses name it."""

    house: House
    make: Make
    words: Words
    owner: Person
    colleague: Person
    group: Group = field(init=False)
    project: Project = field(init=False)
    empty: Project = field(init=False)
    """A project in which nobody did anything yet."""
    named: dict[str, str] = field(default_factory=dict)
    """What stands for the words of a path, such as ``:issue_iid``."""
    said: set[tuple[str, str]] = field(default_factory=set)
    """Which field of which call was given hostile words."""

    @property
    def people(self) -> dict[str, Person]:
        """Those who can sign in."""
        return {"owner": self.owner, "colleague": self.colleague, "root": self.make.root}

    def post(self, path: str, as_user: Person | None = None, /, **sent: Any) -> Any:
        """Create something, and note which fields were given hostile words."""
        return self.call("POST", path, as_user, **sent)

    def put(self, path: str, as_user: Person | None = None, /, **sent: Any) -> Any:
        """The same for what is there."""
        return self.call("PUT", path, as_user, **sent)

    def call(self, method: str, path: str, as_user: Person | None = None, /, **sent: Any) -> Any:
        """The same for any method."""
        answer = self.make.api.request(method, path, as_user or self.owner, json=sent)
        assert answer.status_code in (200, 201, 202, 204), (path, sent, answer.text)
        self.said |= {(f"{method} {path}", name) for name, value in sent.items() if MARK in str(value)}
        return answer.json() if answer.content else None


@contextmanager
def open_world(house: House, make: Make, words: Words) -> Iterator[World]:
    """All of it; afterwards nothing is left of what other tests would meet, as all of them share one house."""
    world = _build(house, make, words)
    before = make.api.get("/application/settings", make.root).json()
    changed = {name: words.write("Be kind.") for name in ("sign_in_text", "after_sign_up_text", "help_page_text")}
    changed |= {"help_page_support_url": "https://help.example/", "shared_runners_text": words.write("x")}
    world.put("/application/settings", make.root, **changed, signup_enabled=True)
    message = world.post("/broadcast_messages", make.root, message=words.write("Low tide at noon"), color="#e75e40")
    world.named["message"] = str(message["id"])
    yield world
    kept = {name: before[name] for name in (*changed, "signup_enabled")}
    assert make.api.put("/application/settings", make.root, **kept).status_code == 200
    left = ("system hook", "/hooks/{}"), ("instance application", "/applications/{}"), ("topic", "/topics/{}")
    more = ("own application", "/applications/{}"), ("variable", "/admin/ci/variables/{}")
    paths = [path.format(world.named[name]) for name, path in (*left, *more)]
    # Forms may have made others.
    paths += [f"/broadcast_messages/{each['id']}" for each in make.api.get("/broadcast_messages", make.root).json()]
    # What is public is on the first pages of everybody.
    paths += [world.project.url, world.empty.url, world.group.url, f"/snippets/{world.named['own snippet']}"]
    for path in paths:
        assert make.api.delete(path, make.root).status_code in (200, 202, 204), path


def _build(house: House, make: Make, words: Words) -> World:
    say = words.say
    owner, colleague = (make.user(name=say(name), password=PASSWORD) for name in ("Ada Anchor", "Ben Buoy"))
    world = World(house, make, words, owner, colleague)
    description = words.write("All about the sea.")
    world.group = make_group(make, owner, visibility="public", name="Sea", description=description)
    world.project = make_project(
        make, owner, group=world.group, visibility="public", name=make.name("tides"), description=description
    )
    world.empty = make_project(make, owner, visibility="public")
    make.api.post(f"{world.project.url}/members", owner, user_id=colleague.id, access_level=int(Level.DEVELOPER))
    _fill_code(world)
    _fill_plans(world)
    _fill_talk(world)
    _fill_offers(world)
    _fill_settings(world)
    _fill_people(world)
    _fill_instance(world)
    return world


def _fill_code(world: World) -> None:
    here, words, say = world.project.url, world.words, world.words.say
    folder, file, branch = words.file("charts.d"), words.file("moon.py"), words.ref("topic")
    wrote = {name: say(name).replace("<", "(").replace(">", ")") for name in ("author_name", "author_email")}
    action = {"action": "create", "encoding": "text"}
    actions = [
        {**action, "file_path": "README.md", "content": words.write(_README)},
        {**action, "file_path": "tides.py", "content": _CODE},
        {**action, "file_path": file, "content": _CODE + words.write("")},
        {**action, "file_path": f"{folder}/north.csv", "content": f"day,{say('tide')}\n1,high\n"},
        {**action, "file_path": "logo.svg", "content": "<svg xmlns='http://www.w3.org/2000/svg' onload='zqx()'/>"},
        {**action, "file_path": "LICENSE", "content": "MIT License"},
    ]
    message = f"{say('Begin')}\n\n{words.write('With the charts.')}"
    first = world.post(f"{here}/repository/commits", branch="master", commit_message=message, actions=actions, **wrote)
    world.post(f"{here}/repository/branches", branch=branch, ref="master")
    change = [
        {"action": "update", "file_path": name, "content": _CODE.replace("12", "13")} for name in (file, "tides.py")
    ]
    world.post(f"{here}/repository/commits", branch=branch, commit_message=say("Count"), actions=change, **wrote)
    tag = words.ref("v1")
    sent = {"message": say("First"), "release_description": words.write("It floats.")}
    world.post(f"{here}/repository/tags", tag_name=tag, ref="master", **sent)
    links = f"{here}/releases/{quote(tag, safe='')}/assets/links"
    world.post(
        links, name=say("Handbook"), url=words.address("https://files.example/handbook"), filepath="/handbook-zqx"
    )
    world.put(f"{here}/releases/{quote(tag, safe='')}", name=say("One"), description=words.write("It floats."))
    sent = {"tag_message": say("Second"), "description": words.write("It sinks."), "name": say("Two")}
    world.post(f"{here}/releases", tag_name=words.ref("v2"), ref=branch, **sent)
    world.post(f"{here}/repository/commits/master/comments", note=words.write("Why?"))
    world.post(
        f"{here}/repository/commits/master/comments", note=words.write("Here"), path=file, line=1, line_type="new"
    )
    status = {"state": "failed", "name": say("build"), "target_url": words.address("https://ci.example/1")}
    world.post(f"{here}/statuses/{first['id']}", description=say("It broke"), ref=branch, **status)
    (talk, *_) = world.make.api.get(f"{here}/repository/commits/master/discussions", world.owner).json()
    (pipeline,) = world.make.api.get(f"{here}/pipelines", world.owner).json()
    world.named |= {"file": file, "folder": folder, "branch": branch, ":tag": tag, ":sha": first["id"]}
    world.named |= {"commit discussion": talk["id"], "commit note": str(talk["notes"][0]["id"])}
    world.named["pipeline"] = str(pipeline["id"])


def _fill_plans(world: World) -> None:
    words, say = world.words, world.words.say
    for place, kind in ((world.project, "project"), (world.group, "group")):
        text = words.write("When water comes in.")
        leak = world.post(f"{place.url}/labels", name=say(f"{kind} leak"), color="#d9534f", description=say("Wet"))
        title = say(f"Spring of the {kind}")
        plan = world.post(f"{place.url}/milestones", title=title, description=text, due_date="2030-04-01")
        board, _ = (
            world.post(f"{place.url}/boards", name=say(f"{name} of the {kind}")) for name in ("Board", "Second")
        )
        world.post(f"{place.url}/boards/{board['id']}/lists", label_id=leak["id"])
        world.named |= {f"{kind} label": str(leak["id"]), f"{kind} milestone": str(plan["iid"])}
        world.named |= {f"{kind} milestone id": str(plan["id"]), f"{kind} board": str(board["id"])}
    here, leak = world.project.url, say("project leak")
    issue = world.post(
        f"{here}/issues",
        title=say("Water in the hold"),
        description=words.write("- [ ] find it\n- [x] tell @root\n\nSee #2 and !1"),
        label_ids=[],
        milestone_id=int(world.named["project milestone id"]),
        assignee_ids=[world.owner.id],
        due_date="2020-01-01",
    )
    world.put(f"{here}/issues/1", add_labels=[leak] if "," not in leak else [])
    world.post(f"{here}/issues", title=say("Paint the mast"), confidential=True)
    world.post(f"{here}/issues/1/links", target_project_id=str(world.project.id), target_issue_iid="2")
    world.post(f"{here}/issues/1/time_estimate", duration="3h")
    world.post(f"{here}/issues/1/add_spent_time", duration="1h", summary=say("Looked"))
    world.post(f"{here}/issues/1/award_emoji", name="tada")
    world.post(f"{here}/issues", title="Done already")
    world.put(f"{here}/issues/3", state_event="close")
    world.named["issue id"] = str(issue["id"])


def _fill_talk(world: World) -> None:
    here, words, say = world.project.url, world.words, world.words.say
    talk = world.post(f"{here}/issues/1/discussions", body=words.write(f"Seen **twice**, @{world.colleague.username}"))
    world.post(f"{here}/issues/1/discussions/{talk['id']}/notes", world.colleague, body=words.write("@all Me too"))
    world.post(f"{here}/issues/1/notes", world.colleague, body=words.write(f"Ask @{world.owner.username}"))
    world.named |= {"issue discussion": talk["id"], "issue note": str(talk["notes"][0]["id"])}
    files = [{"file_path": words.file("a.py"), "content": _CODE}, {"file_path": "b.md", "content": words.write("# B")}]
    sent: dict[str, Any] = {"title": say("Kept"), "description": words.write("For later"), "visibility": "public"}
    kept = world.post(f"{here}/snippets", **sent, files=files)
    talk = world.post(f"{here}/snippets/{kept['id']}/discussions", body=words.write("Nice"))
    world.named |= {"snippet": str(kept["id"]), "snippet discussion": talk["id"]}
    world.named["snippet note"] = str(talk["notes"][0]["id"])
    own = world.post("/snippets", **sent, file_name=words.file("own.py"), content=_CODE + words.write(""))
    world.named["own snippet"] = str(own["id"])
    home = world.post(f"{here}/wikis", title="home", content=words.write("# Welcome\n\nto it"))
    page = world.post(
        f"{here}/wikis", title=say("Ropes/Knots", 100), content=words.write("[[home]]"), message=say("Tie")
    )
    world.named |= {"wiki home": home["slug"], "wiki": page["slug"]}


def _fill_offers(world: World) -> None:
    here, words, say = world.project.url, world.words, world.words.say
    branch, text = world.named["branch"], words.write("Closes #1")
    offer = {"source_branch": branch, "target_branch": "master", "title": say("Count to thirteen")}
    made = world.post(f"{here}/merge_requests", **offer, description=text, assignee_id=world.colleague.id)
    talk = world.post(f"{here}/merge_requests/1/discussions", body=words.write("Is it?"))
    refs = made["diff_refs"]
    line = {"position_type": "text", "old_path": world.named["file"], "new_path": world.named["file"], "new_line": 3}
    world.post(f"{here}/merge_requests/1/discussions", body=words.write("Here"), position={**refs, **line})
    world.post(f"{here}/merge_requests/1/notes", world.colleague, body=words.write("Good"))
    world.post(f"{here}/merge_requests/1/award_emoji", name="heart")
    world.post(f"{here}/merge_requests/1/add_spent_time", duration="1h", summary=say("Read"))
    world.named |= {"offer discussion": talk["id"], "offer note": str(talk["notes"][0]["id"])}
    # One that cannot be merged, and one that was.
    for name, target in (("clash", "master"), ("done", "main")):
        world.post(f"{here}/repository/branches", branch=name, ref="master")
        change = [{"action": "update", "file_path": "tides.py", "content": f"{name}\n"}]
        world.post(f"{here}/repository/commits", branch=name, commit_message=say(name), actions=change)
        if target == "main":
            world.post(f"{here}/repository/branches", branch="main", ref="master")
        world.post(f"{here}/merge_requests", source_branch=name, target_branch=target, title=say(name))
    world.post(f"{here}/merge_requests", source_branch="clash", target_branch=branch, title=say("Into the other"))
    change[0]["content"] = "other\n"
    world.post(f"{here}/repository/commits", branch="master", commit_message=say("Other"), actions=change)
    world.put(f"{here}/merge_requests/3/merge", merge_commit_message=say("Merge it"))


def _fill_settings(world: World) -> None:
    words, say = world.words, world.words.say
    hook = {
        "name": say("Builds"),
        "description": say("Tells the builder"),
        "push_events_branch_filter": words.ref("topic"),
    }
    badge = {"link_url": words.address("https://ci.example/"), "image_url": words.address("https://ci.example/b.svg")}
    for place, kind in ((world.project, "project"), (world.group, "group")):
        url = words.address("https://ci.example.org/hook")
        made = world.post(f"{place.url}/hooks", **hook, url=url, token="secret")
        world.named[f"{kind} hook"] = str(made["id"])
        for word, key in (("custom_headers", "X-Harbour"), ("url_variables", "WHERE")):
            world.put(f"{place.url}/hooks/{made['id']}/{word}/{key}", value=say("north"))
        world.post(f"{place.url}/badges", **badge, name=say("built"))
        value = {"key": "HARBOUR", "value": say("north"), "environment_scope": "prod"}
        world.post(f"{place.url}/variables", **value, description=say("Where to"))
        world.post(f"{place.url}/deploy_tokens", name=say("Cranes"), username="crane", scopes=["read_repository"])
    here = world.project.url
    world.post(f"{here}/deploy_keys", title=say("Crane"), key=ed25519_line())
    world.post(f"{here}/environments", name="sea", external_url=words.address("https://sea.example/"))
    world.post(f"{here}/triggers", description=say("By hand"))
    world.post(f"{here}/protected_branches", name=words.ref("stable-*"))
    world.post(f"{here}/protected_tags", name=words.ref("v*"))
    world.put(here, description=words.write("Of the sea"), ci_config_path=words.file("build.yml"))
    world.put(world.group.url, description=words.write("All about the sea"))
    world.put(f"/users/{world.owner.id}", world.make.root, name=say("Ada Anchor"))
    if words.hostile:
        _fill_services(world)


def _fill_services(world: World) -> None:
    """Every text of every service."""
    for slug, integration in REGISTRY.items():
        texts = {each.name: world.words.say("x") for each in integration.properties if each.kind in ("text", "secret")}
        texts |= {
            each.name: world.words.address("https://chat.example/")
            for each in integration.properties
            if each.kind.endswith("address")
        }
        texts |= {name: _CHOSEN[name] for name in texts.keys() & _CHOSEN.keys()}
        world.put(f"{world.project.url}/integrations/{slug}", **texts)


def _fill_people(world: World) -> None:
    words, say, owner = world.words, world.words.say, world.owner
    texts = {name: say(name) for name in ("bio", "location", "organization", "skype", "linkedin", "twitter")}
    world.put(f"/users/{owner.id}", world.make.root, **texts, website_url=words.address("https://ada.example/"))
    world.put(f"/users/{owner.id}", world.make.root, provider=say("harbour", 100), extern_uid=say(owner.username))
    world.put("/user/status", owner, message=say("At sea", 100), emoji="palm_tree")
    world.post("/user/keys", owner, title=say("Laptop"), key=ed25519_line())
    world.post("/user/gpg_keys", owner, key=gpg_key())
    world.post("/user/emails", owner, email=f"{owner.username}@sea.example")
    token = {"name": say("Crane"), "scopes": ["api"]}
    world.post(f"/users/{owner.id}/impersonation_tokens", world.make.root, **token, description=say("x"))
    world.post(f"/users/{owner.id}/personal_access_tokens", world.make.root, **token, description=say("For cranes"))
    vault = world.house.app.database.vault
    kept = UnsubscribeRequest(owner.id, "issue", int(world.named["issue id"]))
    world.named[":key"] = unsubscribe_key(vault, kept)
    for purpose in ("password", "confirmation"):
        world.named[f"{purpose} token"] = f"{purpose} of {world.colleague.username}"
        world.house.app.database.write(partial(_make_link, world, purpose))


def _make_link(world: World, purpose: str, db: Connection) -> None:
    """As if a mail had been sent."""
    db.insert(
        one_time_links,
        user_id=world.colleague.id,
        purpose=purpose,
        email_id=None,
        digest=db.vault.digest(world.named[f"{purpose} token"]),
        expires_at=add_duration(db.now, hours=1),
    )


def _fill_instance(world: World) -> None:
    words, say, root = world.words, world.words.say, world.make.root
    vault = world.house.app.database.vault
    made = world.post("/applications", root, name=say("Harbour"), redirect_uri="https://app.example/", scopes="api")
    world.named |= {"instance application": str(made["id"]), "client": made["application_id"]}
    hook = world.post(
        "/hooks", root, url=words.address("https://ci.example.org/all"), name=say("All"), description=say("x")
    )
    world.named["system hook"] = str(hook["id"])
    topic = world.post(
        "/topics", root, name=f"{world.make.name('topic')} {say('')}", title=say("Sea"), description=words.write("")
    )
    name, there = say("Cranes"), "https://app.example/"
    own, _ = world.house.app.database.write(
        lambda db: create_application(db, world.owner.id, name, there, ["api"], confidential=True)
    )
    world.named["own application"] = str(own.id)
    going = DeletionToken(world.owner.id, "project", world.project.path, 1, world.house.app.database.clock())
    world.named["farewell"] = sign_value(vault, "deleting", going)
    world.named |= {"topic": str(topic["id"]), "variable": world.make.name("KEY").replace("-", "_")}
    world.post("/admin/ci/variables", root, key=world.named["variable"], value=say("x"))
