"""First steps of a new user: sign-in, project, first push, and the project page."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.browser.conftest import BrowserWindow
from tests.client import User


def test_from_sign_in_to_a_first_push(window: BrowserWindow, person: User, tmp_path: Path) -> None:
    """The commands shown by the empty project are copied and run."""
    page = window.sign_in(person).page
    page.get_by_role("link", name="New project").click()
    page.get_by_label("Name", exact=True).fill("Tide tables")
    page.get_by_role("button", name="Create project").click()
    page.get_by_role("heading", name="Tide tables").wait_for()
    commands = "\n".join(page.locator("pre code").all_inner_texts())
    (tmp_path / "README.md").write_text("# High water\n")

    _shell(commands.replace("://", f"://{person.username}:{person.token}@", 1), tmp_path)

    page.reload()
    page.get_by_role("heading", name="High water").wait_for()
    assert page.get_by_text("First commit").count() >= 1


def test_a_wrong_password_is_rejected(window: BrowserWindow, person: User) -> None:
    page = window.open("/users/sign_in")
    page.get_by_label("Username or email").fill(person.username)
    page.get_by_label("Password").fill("a wrong one")
    page.get_by_role("button", name="Sign in").click()

    page.get_by_role("alert").wait_for()
    assert page.get_by_label("Username or email").input_value() == person.username, "The input stays in the form."


def test_light_and_dark(open_window: Callable[..., BrowserWindow]) -> None:
    """The system's preference applies until the user chooses."""
    window = open_window(color_scheme="dark")
    page = window.open("/explore")
    ground = "() => getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)

    with page.expect_navigation():
        page.get_by_role("button", name="Light").click()
    assert page.evaluate(ground) != dark
    with page.expect_navigation():
        page.get_by_role("button", name="Dark").click()
    assert page.evaluate(ground) == dark


def test_keyboard_navigation(window: BrowserWindow, person: User) -> None:
    page = window.sign_in(person).page
    page.keyboard.press("/")
    assert page.evaluate("() => document.activeElement.name") == "search"
    page.goto(window.url + "/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.url.endswith("#main"), "Tab first reaches the skip link."


def _shell(commands: str, folder: Path) -> None:
    person = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    for line in commands.splitlines():
        for command in line.split(" && "):
            words = [word.strip('"') for word in command.replace('"First commit"', '"First_commit"').split()]
            words = ["First commit" if word == "First_commit" else word for word in words]
            subprocess.run(["git", *person, *words[1:]], cwd=folder, check=True, capture_output=True)
