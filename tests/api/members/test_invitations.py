"""Invitations of email addresses into groups and projects."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ingot.projects.invitations.service import delete_expired_invitations
from ingot.projects.namespaces.tables import invitations
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Group, Project, day, ids, make_group, make_project, statements_of
from tests.smtp_server import mailbox, text_of
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

KINDS = pytest.mark.parametrize("kind", ["group", "project"])
LATER = "2888-06-15"
SUCCESS = {"status": "success"}
SETTINGS = {
    "signup_enabled": False,
    "send_user_confirmation_email": False,
    "domain_whitelist": [],
    "domain_blacklist": [],
    "domain_blacklist_enabled": False,
}


@pytest.fixture
def configure(api: Api, make: Make) -> Iterator[Callable[..., None]]:
    """Yield a function that changes settings of the instance until the end of the test."""

    def change(**settings: Any) -> None:
        assert api.put("/application/settings", make.root, **settings).status_code == 200

    yield change
    change(**SETTINGS)


@pytest.fixture
def browser(instance: Instance) -> Iterator[Browser]:
    """Yield a browser of a visitor."""
    with Browser(instance.url) as opened:
        yield opened


def _source(
    make: Make, kind: str, owner: User, members: dict[User, int] | None = None, **attributes: Any
) -> Group | Project:
    return (make_group if kind == "group" else make_project)(make, owner, members=members, **attributes)


def _address(make: Make) -> str:
    return f"{make.name('invited')}@example.org"


def _level(api: Api, source: Group | Project, owner: User, user_id: int) -> int | None:
    answer = api.get(f"{source.url}/members/{user_id}", owner)
    return answer.json()["access_level"] if answer.status_code == 200 else None


def _link(text: str) -> str:
    match = re.search(r"/-/invites/[\w-]+", text)
    assert match, text
    return match[0]


def _invite_by_mail(api: Api, instance: Instance, source: Group | Project, owner: User, address: str) -> str:
    """Invite an address and return the path of the link in its mail."""
    with mailbox(instance) as box:
        assert api.post(f"{source.url}/invitations", owner, email=address, access_level=30).json() == SUCCESS
        (mail,) = box.to(address)
    return _link(text_of(mail))


@KINDS
def test_users_and_proven_addresses_become_members_at_once(api: Api, make: Make, instance: Instance, kind: str) -> None:
    owner, known, also = make.user(), make.user(), make.user()
    source = _source(make, kind, owner)
    address = api.get(f"/users/{known.id}", make.root).json()["email"]
    with mailbox(instance) as box:
        sent = {"email": address.upper(), "user_id": also.id, "access_level": 20, "expires_at": LATER}
        invited = api.post(f"{source.url}/invitations", owner, **sent)
        assert (invited.status_code, invited.json()) == (201, SUCCESS)
        assert box.to(address) == []
    assert _level(api, source, owner, known.id) == _level(api, source, owner, also.id) == 20
    assert api.get(f"{source.url}/members/{known.id}", owner).json()["expires_at"] == LATER
    assert api.get(f"{source.url}/invitations", owner).json() == []
    again = api.post(f"{source.url}/invitations", owner, email=address, user_id=f"{also.id},{2**40}", access_level=20)
    exists = "User already exists in source"
    expected = {address: exists, also.username: exists, str(2**40): "User does not exist"}
    assert (again.status_code, again.json()) == (201, {"status": "error", "message": expected})


@KINDS
def test_an_unknown_address_gets_a_pending_invitation(api: Api, make: Make, instance: Instance, kind: str) -> None:
    owner = make.user(name="Ada <b>")
    source = _source(make, kind, owner)
    one, two = _address(make), _address(make)
    path = f"{source.url}/invitations"
    with mailbox(instance) as box:
        assert api.post(path, owner, email=f"{one}, {two}", access_level=30, expires_at=LATER).json() == SUCCESS
        mails = dict(box.receive())
    assert set(mails) == {one, two}
    text = text_of(mails[one])
    assert f"the {kind} " in text and "as Developer" in text and "Ada <b>" in text
    link = _link(text)
    listed = api.get(path, owner).json()
    assert [(each["invite_email"], each["access_level"], each["expires_at"]) for each in listed] == [
        (one, 30, LATER),
        (two, 30, LATER),
    ]
    assert set(listed[0]) == {"id", "invite_email", "created_at", "access_level", "expires_at", "created_by_name"}
    assert listed[0]["created_by_name"] == "Ada <b>"
    assert [each["invite_email"] for each in api.get(path, owner, query=two.upper()).json()] == [two]
    token = link.rpartition("/")[2]
    stored = make.database.read(lambda db: db.rows(invitations.select().where(invitations.c.email == one)))
    assert token not in repr(list(stored)), "only a digest is stored"

    changed = api.put(f"{path}/{one}", owner, access_level=20, expires_at="")
    assert (changed.status_code, changed.json()) == (200, {**listed[0], "access_level": 20, "expires_at": None})
    assert api.put(f"{path}/{one}", owner).status_code == 400
    assert api.put(f"{path}/{one}", owner, access_level=99).status_code == 400
    assert api.delete(f"{path}/{two}", owner).status_code == 204
    assert api.delete(f"{path}/{two}", owner).status_code == 404
    assert api.put(f"{path}/{two}", owner, access_level=20).status_code == 404
    assert len(api.get(path, owner).json()) == 1


def test_invalid_addresses_are_reported_and_the_others_invited(
    api: Api, make: Make, configure: Callable[..., None]
) -> None:
    owner = make.user()
    source = make_project(make, owner)
    path, address = f"{source.url}/invitations", _address(make)
    invited = api.post(path, owner, email=f"{address},nonsense,{address}", access_level=30)
    assert invited.json() == {"status": "error", "message": {"nonsense": "Invite email is invalid"}}
    taken = api.post(path, owner, email=[address], access_level=30).json()
    assert taken == {"status": "error", "message": {address: "Invite email has already been taken"}}
    configure(domain_whitelist=["corp.example"])
    other = _address(make)
    refused = api.post(path, owner, email=other, access_level=30).json()
    assert refused == {"status": "error", "message": {other: "Invite email is not from an allowed domain"}}
    assert api.post(path, owner, access_level=30).status_code == 400
    assert api.post(path, owner, email=other).status_code == 400
    assert api.post(path, owner, email=other, access_level=50).status_code == 400, "no owners of projects"
    assert api.post(path, owner, email=other, access_level=30, expires_at="2001-01-01").status_code == 400
    many = ",".join(f"{number}@corp.example" for number in range(101))
    assert api.post(path, owner, email=many, access_level=30).status_code == 400


@KINDS
def test_permissions_are_those_of_members(api: Api, make: Make, kind: str) -> None:
    owner, developer, stranger = make.user(), make.user(), make.user()
    source = _source(make, kind, owner, {developer: 30}, visibility="private")
    path, address = f"{source.url}/invitations", _address(make)
    sent = {"email": address, "access_level": 10}
    for caller, status in ((None, 401), (stranger, 404), (developer, 403), (owner, 201)):
        assert api.post(path, caller, **sent).status_code == status
    for caller, status in ((None, 401), (stranger, 404), (developer, 403)):
        assert api.get(path, caller).status_code == status
        assert api.put(f"{path}/{address}", caller, access_level=20).status_code == status
        assert api.delete(f"{path}/{address}", caller).status_code == status
    assert len(api.get(path, owner).json()) == 1


def test_levels_and_archived_projects(api: Api, make: Make) -> None:
    owner, maintainer = make.user(), make.user()
    group = make_group(make, owner)
    project = make_project(make, owner, group=group, members={maintainer: 40})
    path = f"{group.url}/invitations"
    address = _address(make)
    assert api.post(path, owner, email=address, access_level=50).json() == SUCCESS
    assert api.post(f"{project.url}/invitations", maintainer, email=address, access_level=40).json() == SUCCESS
    assert api.post(f"{project.url}/archive", owner).status_code == 201
    assert api.post(f"{project.url}/invitations", maintainer, email="x@a.b", access_level=10).status_code == 403
    assert api.delete(f"{project.url}/invitations/{address}", maintainer).status_code == 204


@KINDS
def test_the_recipient_accepts_on_the_page(
    api: Api, make: Make, instance: Instance, browser: Browser, kind: str
) -> None:
    owner, other = make.user(), make.user(password=PASSWORD)
    source = _source(make, kind, owner)
    address = _address(make)
    link = _invite_by_mail(api, instance, source, owner, address)
    page = browser.get(link)
    assert source.name in page.text and "redirect_to=" in page.text
    assert browser.get("/-/invites/unknown").status_code == 404
    browser.sign_in(other.username, PASSWORD)
    assert "does not have this email address" in browser.get(link).text
    refused = browser.post(f"{link}/accept", data={"authenticity_token": browser.token()})
    assert refused.status_code == 403
    # An address of the account that nobody has confirmed suffices here, because the link proves it.
    assert api.post("/user/emails", other, email=address).status_code == 201
    accepted = browser.submit(link, f"{link}/accept")
    assert accepted.status_code == 302
    assert _level(api, source, owner, other.id) == 30
    assert browser.get(link).status_code == 404
    assert api.get(f"{source.url}/invitations", owner).json() == []


def test_the_recipient_declines_without_an_account(api: Api, make: Make, instance: Instance, browser: Browser) -> None:
    owner = make.user()
    source = make_project(make, owner)
    link = _invite_by_mail(api, instance, source, owner, _address(make))
    assert "Invitation declined" in browser.submit(link, f"{link}/decline").text
    assert api.get(f"{source.url}/invitations", owner).json() == []
    assert browser.get(link).status_code == 404


@pytest.mark.parametrize("confirms", [False, True])
def test_sign_up_by_the_link_proves_the_address_and_accepts(
    api: Api, make: Make, instance: Instance, browser: Browser, configure: Callable[..., None], confirms: bool
) -> None:
    owner = make.user()
    group, project = make_group(make, owner), make_project(make, owner)
    address, name = _address(make), make.name()
    link = _invite_by_mail(api, instance, group, owner, address)
    assert api.post(f"{project.url}/invitations", owner, email=address, access_level=20).json() == SUCCESS
    configure(signup_enabled=True, send_user_confirmation_email=confirms)
    sign_up = f"/users/sign_up?invitation={link.rpartition('/')[2]}"
    assert sign_up in browser.get(link).text
    assert f'value="{address}"' in browser.get(sign_up).text
    fields = {f"user[{key}]": value for key, value in {"name": name, "username": name, "password": PASSWORD}.items()}
    assert browser.submit(sign_up, "/users", fields=fields).status_code == 302
    (user,) = api.get("/users", make.root, username=name).json()
    assert (_level(api, group, owner, user["id"]), _level(api, project, owner, user["id"])) == (30, 20)


def test_registration_accepts_only_with_a_proven_address(
    api: Api, make: Make, instance: Instance, browser: Browser, configure: Callable[..., None]
) -> None:
    owner = make.user()
    source = make_project(make, owner)
    address, name = _address(make), make.name()
    assert api.post(f"{source.url}/invitations", owner, email=address, access_level=30).json() == SUCCESS
    configure(signup_enabled=True, send_user_confirmation_email=True)
    typed = {"name": name, "username": name, "email": address, "password": PASSWORD}
    with mailbox(instance) as box:
        browser.submit("/users/sign_up", "/users", fields={f"user[{key}]": value for key, value in typed.items()})
        (user,) = api.get("/users", make.root, username=name).json()
        assert _level(api, source, owner, user["id"]) is None
        (mail,) = box.to(address)
    link = re.search(r"/users/confirmation\?\S+", text_of(mail))
    assert link
    browser.submit(link[0], "/users/confirmation")
    assert _level(api, source, owner, user["id"]) == 30

    other = _address(make)
    assert api.post(f"{source.url}/invitations", owner, email=other, access_level=20).json() == SUCCESS
    created = make.user(email=other)
    assert _level(api, source, owner, created.id) == 20, "an administrator vouches for the address"


def test_expired_invitations_cannot_be_accepted_and_are_deleted(api: Api, make: Make, instance: Instance) -> None:
    owner = make.user()
    source = make_project(make, owner)
    path, soon, old = f"{source.url}/invitations", _address(make), _address(make)
    assert api.post(path, owner, email=soon, access_level=30, expires_at=LATER).json() == SUCCESS
    assert api.post(path, owner, email=old, access_level=30).json() == SUCCESS
    with day(instance, LATER):
        assert api.get(path, owner).json() == []
        assert [_level(api, source, owner, make.user(email=each).id) for each in (soon, old)] == [None, None]
        assert make.database.write(delete_expired_invitations) >= 2
        assert make.database.write(delete_expired_invitations) == 0


def test_mails_are_limited(api: Api, make: Make, instance: Instance) -> None:
    owner = make.user()
    projects = [make_project(make, owner) for _ in range(6)]
    address = _address(make)
    answers = [api.post(f"{each.url}/invitations", owner, email=address, access_level=30).json() for each in projects]
    assert answers[:5] == [SUCCESS] * 5
    assert "too many invitations" in answers[5]["message"][address]
    first = ",".join(_address(make) for _ in range(94))
    assert api.post(f"{projects[0].url}/invitations", owner, email=first, access_level=30).json() == SUCCESS
    refused = api.post(f"{projects[0].url}/invitations", owner, email=_address(make), access_level=30)
    assert refused.status_code == 429


@KINDS
def test_the_members_page_shows_and_revokes_invitations(api: Api, make: Make, browser: Browser, kind: str) -> None:
    owner, developer = make.user(password=PASSWORD), make.user(password=PASSWORD)
    source = _source(make, kind, owner, {developer: 30})
    page = f"/{source.path}/-/project_members" if kind == "project" else f"/groups/{source.path}/-/group_members"
    address = f"a/b+{_address(make)}"
    browser.sign_in(owner.username, PASSWORD)
    fields = {"invitation[email]": address, "invitation[access_level]": "20"}
    assert browser.submit(page, f"{page}/invitations", fields=fields).status_code == 302
    again = browser.submit(page, f"{page}/invitations", fields=fields)
    assert again.status_code == 422 and "already been taken" in again.text
    shown = browser.get(page).text
    assert address in shown and "Pending invitations" in shown
    action = re.search(rf'action="({re.escape(page)}/invitations/[^"]+(?<!/resend))"', shown)
    assert action
    assert browser.submit(page, action[1]).status_code == 302
    assert address not in browser.get(page).text
    api.post(f"{source.url}/invitations", owner, email=address, access_level=10)
    browser.submit("/", "/users/sign_out")
    browser.sign_in(developer.username, PASSWORD)
    assert address not in browser.get(page).text


@KINDS
def test_an_invitation_is_sent_again_with_a_new_link(
    api: Api, make: Make, instance: Instance, browser: Browser, kind: str
) -> None:
    owner, developer = make.user(password=PASSWORD), make.user(password=PASSWORD)
    source = _source(make, kind, owner, {developer: 30})
    page = f"/{source.path}/-/project_members" if kind == "project" else f"/groups/{source.path}/-/group_members"
    address = _address(make)
    first = _invite_by_mail(api, instance, source, owner, address)
    action = f"{page}/invitations/{address.replace('@', '%40')}/resend"
    browser.sign_in(owner.username, PASSWORD)
    with mailbox(instance) as box:
        assert browser.submit(page, action).status_code == 302
        (mail,) = box.to(address)
    assert "Invitation sent again." in browser.get(page).text
    second = _link(text_of(mail))
    assert second != first and browser.get(first).status_code == 404
    assert "Developer" in browser.get(second).text
    for _ in range(3):
        assert browser.submit(page, action).status_code == 302
    assert browser.submit(page, action).status_code == 422, "Five mails to an address in an hour."
    token = browser.token()
    unknown = f"{page}/invitations/nobody%40example.org/resend"
    assert browser.post(unknown, data={"authenticity_token": token}).status_code == 422
    browser.submit("/", "/users/sign_out")
    browser.sign_in(developer.username, PASSWORD)
    refused = browser.post(action, data={"authenticity_token": browser.token()})
    assert refused.status_code in (403, 404, 422)
    with mailbox(instance) as box:
        assert list(box.to(address)) == []


def test_invitations_end_with_their_source_and_a_list_has_a_fixed_cost(api: Api, make: Make) -> None:
    owner = make.user()
    source = make_project(make, owner)
    path, address = f"{source.url}/invitations", _address(make)
    costs = []
    for count in (2, 6):
        emails = ",".join(_address(make) for _ in range(count))
        assert api.post(path, owner, email=emails, access_level=30).json() == SUCCESS
        costs.append(statements_of(make, lambda: api.get(path, owner)))
    assert costs[0] == costs[1]
    assert api.post(path, owner, email=address, access_level=30).json() == SUCCESS
    assert api.delete(source.url, owner).status_code == 200
    created = make.user(email=address)
    assert ids(api.get("/projects", created, membership=True)) == []
    left = make.database.read(lambda db: list(db.rows(invitations.select().where(invitations.c.email == address))))
    assert left == []
