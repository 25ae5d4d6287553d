"""The password that a project demands before approvals."""

from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.web.browser import Browser


def test_page_asks_for_the_password(browser: Browser, api: Api, make: Make, person: User) -> None:
    author = make.user()
    project = filled_project(make, person, members={author: 30})
    api.post(f"{project.url}/approvals", person, require_password_to_approve=True)
    made = make_merge_request(make, project, author)
    own = browser.signed_in_as(person)
    address = f"/{project.path}/-/merge_requests/{made['iid']}"
    page = own.get(address)
    assert page.text.count('name="approval_password"') >= 1
    fields = {"approved": "true", "approval_password": "wrong"}
    refused = own.submit(address, f"{address}/approval", fields=fields)
    assert refused.status_code == 422
    assert "requires your password" in refused.text
    fields["approval_password"] = person.password
    assert own.submit(address, f"{address}/approval", fields=fields).status_code == 302
    assert len(api.get(f"{project.url}/merge_requests/{made['iid']}/approvals", person).json()["approved_by"]) == 1
