"""Ten journeys of users, each in a wide and a narrow window, by mouse and by keyboard alone."""

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect

from tests.api.hooks.conftest import clock, dispatcher, receiver, running_dispatcher  # noqa: F401 - Fixtures of webhooks.
from tests.api.hooks.receiver import Receiver
from tests.api.merge_requests.factories import commit
from tests.browser.conftest import PASSWORD, BrowserWindow
from tests.browser.hands import Hands, Keyboard, Mouse
from tests.browser.test_passkeys import attach_authenticator
from tests.ci.runner_client import RunnerClient, project_runner
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project

_WIDTHS = {"wide": {"width": 1440, "height": 900}, "narrow": {"width": 390, "height": 844}}
_VARIANTS = [f"{width} {hands}" for width in _WIDTHS for hands in ("mouse", "keyboard")]


class Scene(NamedTuple):
    """User with a project that has a runner."""

    person: User
    project: Project
    runner: RunnerClient

    def branch(self, make: Make, name: str, before: str, after: str) -> str:
        """Create a merge request that changes the only line of a new file; return the path of its page."""
        commit(make, self.project, "master", {f"{name}.txt": before}, self.person)
        files = {f"{name}.txt": after}
        commit(make, self.project, name, files, self.person, start="master", action="update")
        sent = {"source_branch": name, "target_branch": "master", "title": f"Change {name}"}
        made = make.api.post(f"{self.project.url}/merge_requests", self.person, **sent)
        assert made.status_code == 201, made.text
        return f"/{self.project.path}/-/merge_requests/{made.json()['iid']}"


class Traveller(NamedTuple):
    """Window of the user, and the user's hands."""

    window: BrowserWindow
    page: Page
    hands: Hands
    variant: str

    def open(self, path: str) -> None:
        """Go to a page."""
        self.window.open(path)

    def button(self, name: str) -> None:
        """Press a button."""
        self.hands.press(self.page.get_by_role("button", name=name, exact=True).first)

    def link(self, name: str) -> None:
        """Follow a link."""
        self.hands.press(self.page.get_by_role("link", name=name, exact=True).first)

    def field(self, label: str, text: str) -> None:
        """Write into a field."""
        self.hands.write(self.page.get_by_label(label).first, text)

    def sees(self, text: str | re.Pattern[str]) -> None:
        """Wait until a text is shown."""
        expect(self.page.get_by_text(text).first).to_be_visible()


@pytest.fixture(scope="module")
def scene(make: Make) -> Scene:
    """Return a user with a project."""
    person = make.user(password=PASSWORD)
    project = make_project(make, person)
    commit(make, project, "master", {".gitlab-ci.yml": "build: {script: [x], only: [/^green-/]}\n"}, person)
    return Scene(person, project, project_runner(make, project.id))


@pytest.fixture(params=_VARIANTS)
def traveller(
    request: pytest.FixtureRequest, open_window: Callable[..., BrowserWindow], scene: Scene
) -> Iterator[Traveller]:
    """Yield the user in a window."""
    width, _, hands = request.param.partition(" ")
    window = open_window(viewport=_WIDTHS[width])
    if "passkey" not in request.node.name:
        window.set_session(scene.person)
    yield Traveller(
        window, window.page, Mouse() if hands == "mouse" else Keyboard(window.page), request.param.replace(" ", "-")
    )


def test_first_push(traveller: Traveller, scene: Scene, tmp_path: Path) -> None:
    traveller.open("/projects/new")
    traveller.hands.write(traveller.page.get_by_label("Name", exact=True), f"Tide {traveller.variant}")
    traveller.button("Create project")
    expect(traveller.page.get_by_role("heading", name=f"Tide {traveller.variant}")).to_be_visible()
    commands = "\n".join(traveller.page.locator("pre code").all_inner_texts())
    (tmp_path / "README.md").write_text("# High water\n")
    script = commands.replace("://", f"://{scene.person.username}:{scene.person.token}@", 1)
    names = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(
        ["sh", "-ec", script], cwd=tmp_path, check=True, capture_output=True, env={"PATH": "/usr/bin:/bin", **names}
    )
    traveller.page.reload()
    expect(traveller.page.get_by_role("heading", name="High water")).to_be_visible()


def test_issue_with_upload(traveller: Traveller, scene: Scene) -> None:
    traveller.open(f"/{scene.project.path}/-/issues")
    traveller.link("New issue")
    traveller.field("Title", "Water in the cellar")
    with traveller.page.expect_file_chooser() as chooser:
        traveller.button("Attach files")
    chooser.value.set_files({"name": "level.txt", "mimeType": "text/plain", "buffer": b"high"})
    expect(traveller.page.get_by_label("Description")).to_have_value(re.compile(r"\[level\.txt\]\(/uploads/"))
    traveller.button("Create issue")
    traveller.sees("Issue created.")
    expect(traveller.page.get_by_role("link", name="level.txt")).to_be_visible()


def test_review_with_suggestion(traveller: Traveller, scene: Scene, make: Make) -> None:
    traveller.open(scene.branch(make, f"review-{traveller.variant}", "low\n", "low\nhigh\n") + "/diffs")
    if isinstance(traveller.hands, Keyboard):
        traveller.page.keyboard.press("j")
        traveller.page.keyboard.press("Enter")
    else:
        traveller.page.locator("tr.add td > a").first.click()
    traveller.button("Suggest a change")
    expect(traveller.page.locator("form.line-comment textarea")).to_have_value(re.compile("```suggestion"))
    traveller.page.keyboard.type("higher")  # The inserted line is selected.
    traveller.button("Add comment now")
    traveller.button("Apply suggestion")
    traveller.sees("Suggestions applied.")


def test_conflict_in_the_browser(traveller: Traveller, scene: Scene, make: Make) -> None:
    name = f"conflict-{traveller.variant}"
    address = scene.branch(make, name, "low\n", "high\n")
    commit(make, scene.project, "master", {f"{name}.txt": "ebb\n"}, scene.person, action="update")
    traveller.open(address)
    traveller.link("Resolve conflicts")
    traveller.hands.choose(traveller.page.get_by_label(f"Use {name} source"))
    traveller.button("Commit to source branch")
    traveller.sees("Conflicts resolved.")
    traveller.button("Merge")
    traveller.sees("Merge request merged.")


def test_merge_on_green_pipeline_with_live_log(
    traveller: Traveller, scene: Scene, make: Make, instance: Instance
) -> None:
    name = f"green-{traveller.variant}"
    address = scene.branch(make, name, "low\n", "high\n")
    traveller.open(address)
    traveller.button("Merge when pipeline succeeds")
    traveller.sees("Merges when the pipeline succeeds.")
    traveller.open(f"{address}/pipelines")
    traveller.hands.press(traveller.page.locator(".ci-rows .title").first)
    traveller.link("build")
    traveller.sees("Waiting for a runner")
    job = scene.runner.must_take()
    job.trace(b"the tide is rising\n")
    traveller.sees("the tide is rising")
    job.finish()
    traveller.sees(re.compile("Passed after"))
    traveller.open(address)
    instance.work()
    expect(traveller.page.get_by_role("heading", name="Merged", exact=True)).to_be_visible()


def test_release_with_two_files(traveller: Traveller, scene: Scene) -> None:
    traveller.open(f"/{scene.project.path}/-/releases")
    traveller.link("New release")
    traveller.field("Tag name", f"v-{traveller.variant}")
    traveller.field("Release title", f"Spring {traveller.variant}")
    traveller.button("Create release")
    traveller.sees("Release created.")
    expect(traveller.page.get_by_role("heading", name=f"Spring {traveller.variant}")).to_be_visible()
    for name in ("tide.txt", "moon.txt"):
        traveller.hands.press(traveller.page.locator("summary", has_text="Upload file"))
        with traveller.page.expect_file_chooser() as chooser:
            traveller.hands.press(traveller.page.get_by_label("File", exact=True))
        chooser.value.set_files({"name": name, "mimeType": "text/plain", "buffer": name.encode()})
        traveller.hands.press(traveller.page.locator("button", has_text="Upload file"))
        expect(traveller.page.get_by_role("link", name=name, exact=True)).to_be_visible()
        traveller.sees("Asset added.")
    traveller.hands.press(traveller.page.locator("summary", has_text="Upload file"))
    with traveller.page.expect_file_chooser() as chooser:
        traveller.hands.press(traveller.page.get_by_label("File", exact=True))
    chooser.value.set_files({"name": "moon.txt", "mimeType": "text/plain", "buffer": b"again"})
    traveller.hands.press(traveller.page.locator("button", has_text="Upload file"))
    expect(traveller.page.get_by_role("alert")).to_contain_text("already")
    assert traveller.window.violations() == []


def test_protect(traveller: Traveller, scene: Scene) -> None:
    traveller.open(f"/{scene.project.path}/-/settings/repository")
    traveller.hands.press(traveller.page.locator("summary", has_text="Protect a branch"))
    form = traveller.page.locator("form", has=traveller.page.get_by_label("Allowed to merge")).last
    traveller.hands.write(form.get_by_label("Branch"), f"stable-{traveller.variant}")
    traveller.hands.press(form.get_by_role("button", name="Protect"))
    traveller.sees("Branch protected.")
    traveller.sees(f"stable-{traveller.variant}")


@pytest.mark.usefixtures("dispatcher")
def test_webhook_with_delivery(
    traveller: Traveller,
    scene: Scene,
    receiver: Receiver,  # noqa: F811 - The fixture.
    instance: Instance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allowed = replace(instance.settings, allow_local_requests=True)
    monkeypatch.setattr(instance.app.pages._visits._client._runner, "settings", allowed)
    traveller.open(f"/{scene.project.path}/-/hooks")
    url = receiver.url(f"/{traveller.variant}")
    traveller.hands.write(traveller.page.get_by_label("URL", exact=True), url)
    traveller.button("Add webhook")
    traveller.sees("Webhook added.")
    traveller.link(url)
    traveller.button("Send test event")
    assert receiver.next().path == f"/{traveller.variant}"
    expect(traveller.page.locator(".state", has_text="200").first).to_be_visible()
    expect(traveller.page.locator("#deliveries summary").first).to_contain_text("Pushes")


def test_token(traveller: Traveller, scene: Scene, api: Api) -> None:
    traveller.open("/profile/personal_access_tokens")
    traveller.field("Name", f"Script {traveller.variant}")
    traveller.hands.choose(traveller.page.get_by_label("read_api"))
    traveller.button("Create personal access token")
    token = traveller.page.locator("#created-personal-access-token").input_value()
    shown = api.get("/user", None, private_token=token)
    assert shown.json()["username"] == scene.person.username


def test_passkey(traveller: Traveller, make: Make) -> None:
    person = make.user(password=PASSWORD)
    attach_authenticator(traveller.window)
    traveller.window.set_session(person).open("/profile/two_factor_auth")
    traveller.field("Passkey name", "Laptop")
    traveller.hands.write(traveller.page.locator("#proof_for_new_passkey"), PASSWORD)
    traveller.button("Add passkey")
    traveller.button("Create passkey")
    expect(traveller.page.locator("#recovery_codes li")).to_have_count(10)
    traveller.window.context.clear_cookies()
    traveller.open("/users/sign_in")
    traveller.hands.press(traveller.page.get_by_role("button", name="Use a passkey"))
    expect(traveller.page).to_have_url(f"{traveller.window.url}/")
