"""Release pages: assets, milestones, generated notes and the signature of the tag."""

from collections.abc import Callable

from tests.client import Api, Make
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD
from tests.web.test_code_writing import Desk, desk

__all__ = ["desk"]


def _merge(desk: Desk, make: Make, branch: str, title: str, labels: str = "") -> int:
    """Merge a new branch with one commit into ``work``; return the number of the merge request."""
    action = {"action": "create", "file_path": f"{branch}.txt", "content": "x"}
    commit = {"branch": branch, "start_branch": "work", "commit_message": "Add a file", "actions": [action]}
    assert desk.api.post(f"{desk.project.url}/repository/commits", make.root, **commit).status_code == 201
    fields = {"source_branch": branch, "target_branch": "work", "title": title, "labels": labels}
    request = desk.api.post(f"{desk.project.url}/merge_requests", make.root, **fields).json()
    merged = desk.api.put(f"{desk.project.url}/merge_requests/{request['iid']}/merge", make.root)
    assert merged.status_code == 200, merged.text
    return int(request["iid"])


def test_files_and_links_are_added_and_removed(desk: Desk, make: Make, open_browser: Callable[[], Browser]) -> None:
    desk.api.post(f"{desk.project.url}/releases", make.root, tag_name="v1", ref="work")
    page = desk("releases/v1")
    assert "Upload file" in desk.browser.get(page).text
    data = {"authenticity_token": desk.browser.token(), "name": ""}
    for name, content, status in (("one.txt", b"1", 302), ("two.txt", b"2", 302), ("two.txt", b"3", 422)):
        sent = desk.browser.post(f"{page}/links", data=data, files={"file": (name, content)})
        assert sent.status_code == status, sent.text
    assert "has already been taken" in sent.text
    assert desk.browser.post(f"{page}/links", data=data).status_code == 422
    link = {**data, "url": "https://example.org/tool", "link_type": "package"}
    assert desk.browser.post(f"{page}/links", data=link).headers["location"] == page
    left = desk.browser.get(f"{page}/links")
    assert (left.status_code, left.headers.get("location")) == (302, page), "A rejected form leaves this address."
    refused = desk.browser.post(f"{page}/links", data={**data, "url": "javascript:alert(1)"})
    assert (refused.status_code, "is blocked" in refused.text) == (422, True)

    links = desk.api.get(f"{desk.project.url}/releases/v1/assets/links", make.root).json()
    tool, two, one = links
    assert [each["name"] for each in links] == ["https://example.org/tool", "two.txt", "one.txt"]
    assert (tool["link_type"], two["external"], one["external"]) == ("package", False, False)
    path = one["url"].split("/", 3)[3]
    assert desk.browser.get(f"/{path}").content == b"1"

    seen = open_browser().get(page).text
    assert ("one.txt" in seen, "Upload file" in seen) == (True, False)
    guest = make.user(password=PASSWORD)
    other = open_browser().signed_in_as(guest)
    other.get(page)
    for address in (f"{page}/links", f"{page}/links/{one['id']}"):
        fields = {"authenticity_token": other.token(), "url": "https://example.org/x"}
        fields |= {"_method": "delete"} if address.endswith(str(one["id"])) else {}
        assert other.post(address, data=fields).status_code == 403
    sent = other.post(f"{page}/links", data={"authenticity_token": other.token()}, files={"file": ("x", b"x")})
    assert sent.status_code == 403

    assert len(desk.api.get(f"{desk.project.url}/releases/v1/assets/links", make.root).json()) == 3

    removed = desk.browser.submit(page, f"{page}/links/{one['id']}", does="delete")
    assert removed.headers["location"] == page
    assert "one.txt" not in desk.browser.get(page).text


def test_a_refused_file_is_not_stored(desk: Desk, make: Make, open_browser: Callable[[], Browser]) -> None:
    """Neither a protected tag nor a wrong field of the form leaves a file without a link."""
    url, page = desk.project.url, desk("releases/held")
    assert desk.api.post(f"{url}/releases", make.root, tag_name="held", ref="work").status_code == 201
    developer = make.user(password=PASSWORD)
    desk.api.post(f"{url}/members", make.root, user_id=developer.id, access_level=30)
    rule = desk.api.post(f"{url}/protected_tags", make.root, name="held", create_access_level=40)
    assert rule.status_code == 201, rule.text
    other = open_browser().signed_in_as(developer)
    other.get(page)
    before = desk.api.get(f"{url}/uploads", make.root).json()
    assert isinstance(before, list)
    data = {"authenticity_token": other.token(), "name": ""}
    sent = other.post(f"{page}/links", data=data, files={"file": ("new.txt", b"new")})
    assert sent.status_code in (403, 422), sent.text
    data["authenticity_token"] = desk.browser.token()
    for fields in ({"link_type": "unknown"}, {"name": "x" * 300}):
        refused = desk.browser.post(f"{page}/links", data=data | fields, files={"file": ("new.txt", b"new")})
        assert refused.status_code == 422, refused.text
    assert desk.api.get(f"{url}/uploads", make.root).json() == before
    assert desk.api.get(f"{url}/releases/held/assets/links", make.root).json() == []


def test_milestones_are_chosen_in_the_form(desk: Desk, make: Make, api: Api) -> None:
    ids = [
        str(api.post(f"{desk.project.url}/milestones", make.root, title=title).json()["id"])
        for title in ("First", "Second")
    ]
    form = desk.browser.form(desk("releases/new"), desk("releases"))
    fields = {**form.fields, "tag_name": "v1", "ref": "work", "milestone_ids[]": ids[0]}
    assert desk.browser.post(desk("releases"), data=fields).status_code == 302
    assert ">First</a>" in desk.browser.get(desk("releases/v1")).text

    fields = {"authenticity_token": fields["authenticity_token"], "_method": "put", "milestones_offered": "1"}
    desk.browser.post(desk("releases/v1"), data={**fields, "name": "One", "milestone_ids[]": ids[1]})
    (milestone,) = api.get(f"{desk.project.url}/releases/v1", make.root).json()["milestones"]
    assert milestone["title"] == "Second"
    refused = desk.browser.post(desk("releases/v1"), data={**fields, "name": "Kept", "milestone_ids[]": "999999"})
    assert (refused.status_code, 'value="Kept"' in refused.text) == (422, True)
    desk.browser.post(desk("releases/v1"), data={**fields, "name": "One"})
    assert api.get(f"{desk.project.url}/releases/v1", make.root).json()["milestones"] == []


def test_notes_are_generated_from_merge_requests_since_the_last_release(desk: Desk, make: Make) -> None:
    before = _merge(desk, make, "before", "Not in the notes")
    desk.api.post(f"{desk.project.url}/releases", make.root, tag_name="v1", ref="work")
    shown = desk.browser.get(desk("releases/new")).text
    assert shown.index("Create release</button>") < shown.index("Generate notes</button>"), "Enter presses the first."
    form = desk.browser.form(desk("releases/new"), desk("releases")).fields
    fields = {**form, "tag_name": "v2", "ref": "work", "description": "Hello", "generate_notes": "1"}
    nothing = desk.browser.post(desk("releases"), data=fields)
    assert (nothing.status_code, "No merge requests were merged" in nothing.text) == (422, True)

    plain = _merge(desk, make, "plain", "Add a table")
    labeled = _merge(desk, make, "labeled", "Repair the table", "bug")
    filled = desk.browser.post(desk("releases"), data=fields)
    assert (filled.status_code, 'value="v2"' in filled.text) == (200, True)
    author = make.root.username
    notes = f"Hello\n\n### bug\n\n- Repair the table (!{labeled}) by @{author}\n\n"
    assert f"{notes}### Other changes\n\n- Add a table (!{plain}) by @{author}<" in filled.text
    assert f"!{before}" not in filled.text
    assert desk.api.get(f"{desk.project.url}/releases/v2", make.root).status_code == 404

    old = {"authenticity_token": form["authenticity_token"], "_method": "put", "name": "One", "generate_notes": "1"}
    again = desk.browser.post(desk("releases/v1"), data=old)
    assert f"- Not in the notes (!{before}) by @{author}" in again.text and "Repair" not in again.text
