"""States and visibilities as elements of pages; lists have one per row, and a template takes three times as long."""

from markupsafe import Markup, escape

from ingot.web.display_zone import translate_label
from ingot.web.icons import icon_element

_STATE_ICONS = {
    "issue": {"opened": "issue-opened", "closed": "issue-closed"},
    "merge_request": {
        "opened": "merge-request",
        "closed": "merge-request-closed",
        "merged": "merged",
        "locked": "merge-request",
    },
    "milestone": {"active": "milestone", "closed": "check"},
}
_STATE_NAMES = {"opened": "Open", "blocked_pending_approval": "Pending approval"}
_VISIBILITY_ICONS = {"private": "lock", "internal": "shield"}


def state_icon(state: str, kind: str = "issue") -> Markup:
    """Return the state of an issue, merge request or milestone as an icon with its name."""
    label = translate_label(_STATE_NAMES.get(state, state.capitalize()))
    return icon_element(_STATE_ICONS[kind].get(state, "info"), label, _state_class(state, kind))


def state_element(state: str, kind: str = "") -> Markup:
    """Return a state as a badge; that of an issue, merge request or milestone has an icon."""
    icon = f"{icon_element(_STATE_ICONS[kind].get(state, 'info'))} " if kind else ""
    name = state.capitalize() if state == "opened" and not kind else _STATE_NAMES.get(state, state.capitalize())
    text = f"{icon}{escape(translate_label(name))}"
    return Markup(f'<span class="state {escape(_state_class(state, kind))}">{text}</span>')  # noqa: S704 - All values are escaped.


def visibility_element(visibility: str | None) -> Markup:
    """Return the visibility of a project, group or snippet as a badge; nothing without one."""
    if not visibility:
        return Markup()
    icon = icon_element(_VISIBILITY_ICONS.get(visibility, "globe"))
    return Markup(f'<span class="badge">{icon} {escape(translate_label(visibility))}</span>')  # noqa: S704 - All values are escaped.


def _state_class(state: str, kind: str) -> str:
    return "issue-closed" if kind == "issue" and state == "closed" else state
