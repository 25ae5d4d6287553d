"""Mails about comments on lines of a diff."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from ingot.git.diffs.line_positions import lines_before
from tests.api.merge_requests.factories import commit, filled_project
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, make_group


def _comment(api: Api, make: Make, project: Project, author: User, reviewer: User) -> str:
    """Comment on a line of a new merge request, and return the text."""
    branch, text = make.name("branch"), make.name("question")
    commit(make, project, branch, {"ten": "first\nsecond\n<third>\n"}, author, start="master")
    sent = {"source_branch": branch, "target_branch": "master", "title": "Ten"}
    made: dict[str, Any] = api.post(f"{project.url}/merge_requests", author, **sent).json()
    position = {"position_type": "text", "old_path": "ten", "new_path": "ten", **made["diff_refs"], "new_line": 3}
    url = f"{project.url}/merge_requests/{made['iid']}/discussions"
    begun = api.post(url, reviewer, body=text, position=position)
    assert begun.status_code == 201, begun.text
    return text


def _mail(instance: Instance, text: str) -> str:
    (mail,) = [mail for mail in instance.mails() if text in mail]
    return mail


def test_mails_show_the_lines(api: Api, make: Make, instance: Instance) -> None:
    author, reviewer = make.user(), make.user()
    group: Group = make_group(make, author, members={reviewer: Level.DEVELOPER})
    project = filled_project(make, author, namespace_id=group.id)
    for place, shown in ((project, True), (group, True), (project, False)):
        assert api.put(place.url, author, show_diff_preview_in_email=shown).status_code == 200
        mail = _mail(instance, _comment(api, make, project, author, reviewer))
        assert ("> +second\n> +<third>\n" in mail) is shown, (place, shown)
        assert ("&lt;third&gt;</pre>" in mail) is shown
    assert api.put(project.url, author, show_diff_preview_in_email=True).status_code == 200
    assert api.put(group.url, author, show_diff_preview_in_email=False).status_code == 200
    assert "> +second" not in _mail(instance, _comment(api, make, project, author, reviewer))


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        (1, 1, [" a"]),
        (2, None, [" a", "-b"]),
        (None, 2, ["-b", "+B"]),
        (9, 9, [" x"]),
        (None, 9, []),
        (7, 7, []),
    ],
)
def test_lines_before_a_line(old: int | None, new: int | None, shown: list[str]) -> None:
    patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -9 +9 @@\n x\n\\ No newline at end of file\n"
    assert lines_before(patch, old, new, 1) == shown
