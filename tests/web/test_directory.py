"""Sign-in by LDAP: a real server, and accounts after changes of the directory."""

import io
from collections.abc import Iterator

import httpx
import pytest

from ingot.core.log import Log
from ingot.server.jobs import job_worker
from tests.ldap_directory import BASE, BIND_USER, ENTRIES, SECRET, LdapServerProcess
from tests.oauth_client import by_password
from tests.second_instance import SecondInstance, serving
from tests.web.browser import Browser


@pytest.fixture(scope="module")
def server() -> Iterator[LdapServerProcess]:
    """Yield the LDAP server."""
    made = LdapServerProcess()
    made.begin(*ENTRIES.values())
    yield made
    made.end()


@pytest.fixture(scope="module")
def second(server: LdapServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecondInstance]:
    """Yield an instance with this LDAP server."""
    with serving(
        tmp_path_factory.mktemp("with_directory"),
        ldap_url=f"ldap://127.0.0.1:{server.port}",
        ldap_base=BASE,
        ldap_bind_dn=BIND_USER[0],
        ldap_bind_password=BIND_USER[1],
        ldap_filter="(!(employeeType=guest))",
        ldap_sign_up=True,
    ) as served:
        yield served


def _signs_in(second: SecondInstance, login: str, password: str = SECRET) -> bool:
    with Browser(second.url) as browser:
        return browser.sign_in(login, password).status_code == 302 and browser.is_signed_in()


def _user(second: SecondInstance, username: str) -> dict[str, object]:
    found = second.api.get("/users", second.make.root, username=username).json()
    shown: dict[str, object] = second.api.get(f"/users/{found[0]['id']}", second.make.root).json()
    return shown


def _check(second: SecondInstance) -> None:
    """Run the hourly synchronization job."""
    from ingot.accounts.identity_providers.directory_users import DirectoryCheck

    DirectoryCheck(second.settings).run(second.app.database, None)


def test_directory_users_sign_in_and_get_an_account(second: SecondInstance) -> None:
    assert _signs_in(second, "ann")
    assert _signs_in(second, "ann"), "A second sign-in uses the same account."
    shown = _user(second, "ann")
    assert (shown["name"], shown["email"]) == ("Ann of the directory", "ann@directory.example")
    assert shown["identities"] == [{"provider": "ldapmain", "extern_uid": f"uid=ann,{BASE}"}]
    signed = second.api.post("/session", login="ann", password=SECRET)
    assert (signed.status_code, signed.json()["username"]) == (201, "ann")
    token = httpx.post(
        f"{second.url}/oauth/token", data={"grant_type": "password", "username": "ann", "password": SECRET}
    )
    assert token.status_code == 200
    private = second.api.post("/projects", None, name="here", private_token=signed.json()["private_token"]).json()
    git = f"{second.url}/{private['path_with_namespace']}.git/info/refs?service=git-upload-pack"
    assert httpx.get(git, auth=("ann", SECRET)).status_code == 200
    assert httpx.get(git, auth=("ann", "wrong password")).status_code == 401


@pytest.mark.parametrize(
    ("login", "password"),
    [
        ("ben", "wrong password"),
        ("ben", ""),
        ("nobody", SECRET),
        ("*", SECRET),
        ("b*", SECRET),
        ("ben)(uid=*", SECRET),
        ("ben\0", SECRET),
        ("dan", SECRET),
        ("eve", SECRET),
        ("", SECRET),
    ],
)
def test_other_users_are_rejected(second: SecondInstance, login: str, password: str) -> None:
    """Guests excluded by the filter, disabled entries, and empty passwords."""
    assert not _signs_in(second, login, password)


def test_usernames_of_the_directory_are_separate(second: SecondInstance) -> None:
    """Attack: a directory user with the name of the administrator is another user."""
    root = second.make.root
    assert _signs_in(second, root.username, root.password)
    assert _signs_in(second, "root", SECRET)
    assert _user(second, "root2")["is_admin"] is False
    assert _user(second, "root")["identities"] == []


def test_a_local_password_does_not_open_a_directory_account(second: SecondInstance) -> None:
    assert _signs_in(second, "ben")
    number = _user(second, "ben")["id"]
    second.api.put(f"/users/{number}", second.make.root, password="a password of ours")
    with Browser(second.url) as browser:
        assert browser.sign_in("ben", "a password of ours").status_code == 401
        assert browser.sign_in("ben", SECRET).status_code == 302
        assert browser.get("/profile/account").status_code == 200, "No password change is required."
        page = browser.get("/profile/password/edit").text
        assert ("Change your password there" in page, 'name="user[current_password]"' in page) == (True, False)
        sent = {"user[current_password]": SECRET, "user[password]": "another one of ours"}
        sent |= {"user[password_confirmation]": sent["user[password]"], "authenticity_token": browser.token()}
        assert browser.post("/profile/password", data=sent).status_code == 422
        assert browser.submit("/users/password/new", "/users/password", fields={"user[email]": "ben@directory.example"})
        assert 'name="password"' not in browser.get("/profile/account").text, "No password field is shown."
    assert _signs_in(second, "ben")
    worker = job_worker(second.settings, second.app.database, Log("json", io.StringIO()))
    while worker.run_once():
        pass
    mails = [file.read_text() for file in (second.settings.data / "mail").glob("*.eml")]
    hints = [" ".join(mail.split()) for mail in mails if "ben@directory.example" in mail]
    assert ["your organization's directory" in mail for mail in hints] == [True]


def test_users_removed_from_the_directory_are_blocked(second: SecondInstance, server: LdapServerProcess) -> None:
    assert _signs_in(second, "cat")
    number = _user(second, "cat")["id"]
    token = second.make.token(int(str(number)))
    server.begin(*(entry for uid, entry in ENTRIES.items() if uid != "cat"))
    _check(second)
    assert _user(second, "cat")["state"] == "blocked"
    assert httpx.get(f"{second.url}/api/v4/user", headers={"PRIVATE-TOKEN": token}).status_code == 401
    for verb in ("block", "unblock"):
        refused = second.api.post(f"/users/{number}/{verb}", second.make.root)
        assert refused.status_code == 403
    assert not _signs_in(second, "cat")

    server.begin(*ENTRIES.values())
    _check(second)
    assert _user(second, "cat")["state"] == "active"
    assert _signs_in(second, "cat")


def test_an_unreachable_directory_does_not_affect_others(second: SecondInstance, server: LdapServerProcess) -> None:
    assert _signs_in(second, "ann"), "The account exists."
    server.end()
    root = second.make.root
    try:
        _check(second)
        assert _user(second, "ann")["state"] == "active", "An unreachable directory blocks no users."
        assert not _signs_in(second, "ann")
        assert _signs_in(second, root.username, root.password)
        assert by_password(second.url, root).status_code == 200
    finally:
        server.begin(*ENTRIES.values())
