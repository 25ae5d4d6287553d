"""Use of a page by mouse or by keyboard alone, so that a test can be written once for both."""

from typing import Protocol

from playwright.sync_api import Locator, Page

_MOST_STEPS = 200
# The key that leads from the focused element to the target: within a group of radio buttons and a toolbar, an arrow.
_NEXT_KEY = """target => {
  const focused = document.activeElement;
  if (focused === target) return "";
  if (focused.type === "radio" && focused.name === target.name && focused.form === target.form) return "ArrowDown";
  return focused.closest("[role=toolbar]")?.contains(target) ? "ArrowRight" : "Tab";
}"""


class Hands(Protocol):
    """User of a page."""

    def press(self, target: Locator) -> None:
        """Press a button or follow a link."""

    def choose(self, target: Locator) -> None:
        """Select a checkbox or radio button."""

    def write(self, target: Locator, text: str) -> None:
        """Write a text into a field, in place of the current one."""


class Mouse:
    """User with a mouse."""

    def press(self, target: Locator) -> None:
        """Click on an element."""
        target.click()

    def choose(self, target: Locator) -> None:
        """Click on an element unless it is selected."""
        target.check()

    def write(self, target: Locator, text: str) -> None:
        """Click into a field and write."""
        target.click()
        target.fill(text)


class Keyboard:
    """User without a mouse, who reaches each element with the Tab and arrow keys."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def press(self, target: Locator) -> None:
        """Move the focus to an element and press Enter."""
        self._reach(target)
        self._page.keyboard.press("Enter")

    def choose(self, target: Locator) -> None:
        """Move the focus to an element and press Space unless it is selected."""
        self._reach(target)
        if not target.is_checked():
            self._page.keyboard.press("Space")

    def write(self, target: Locator, text: str) -> None:
        """Move the focus to a field, select its text and write."""
        self._reach(target)
        self._page.keyboard.press("Control+a")
        self._page.keyboard.insert_text(text)

    def _reach(self, target: Locator) -> None:
        target.wait_for()
        for _ in range(_MOST_STEPS):
            key = target.evaluate(_NEXT_KEY)
            if not key:
                return
            self._page.keyboard.press(key)
        raise AssertionError(f"The keyboard does not reach {target}")
