"""python-gitlab against the server: the calls of its functional tests and of typical users."""

from collections.abc import Iterator
from typing import Any

import gitlab
import pytest
from gitlab.exceptions import (
    GitlabAuthenticationError,
    GitlabCreateError,
    GitlabGetError,
    GitlabHttpError,
)

from tests.api.users.test_gpg_keys import EXPORTED
from tests.client import Api, Make
from tests.conftest import Instance
from tests.ssh_public_keys import ed25519_line


@pytest.fixture
def gl(instance: Instance, make: Make) -> Iterator[gitlab.Gitlab]:
    """Yield the client of the administrator."""
    with gitlab.Gitlab(instance.url, private_token=make.root.token) as client:
        yield client


def _created(gl: gitlab.Gitlab, make: Make, **more: Any) -> Any:
    username = make.name("client")
    sent = {"username": username, "email": f"{username}@example.org", "name": username, "password": "long-enough"}
    return gl.users.create({**sent, **more})


@pytest.mark.parametrize("how", ["private_token", "oauth_token"])
def test_current_user(instance: Instance, make: Make, how: str) -> None:
    user = make.user()
    credentials: dict[str, Any] = {how: user.token}
    with gitlab.Gitlab(instance.url, **credentials) as client:
        client.auth()
        assert client.user is not None
        assert (client.user.id, client.user.username) == (user.id, user.username)
        version, revision = client.version()
        assert version[0].isdigit()
        assert revision != "unknown"


def test_a_wrong_token_is_an_authentication_error(instance: Instance) -> None:
    with gitlab.Gitlab(instance.url, private_token="nonsense") as client, pytest.raises(GitlabAuthenticationError):
        client.auth()


def test_users_are_created_found_changed_and_deleted(gl: gitlab.Gitlab, make: Make) -> None:
    user = _created(gl, make)
    assert gl.users.get(user.id).email == user.email
    (found,) = gl.users.list(username=user.username, get_all=True)
    assert found.id == user.id
    assert [each.id for each in gl.users.list(search=user.email, get_all=True)] == [user.id]

    user.bio = "Changed"
    user.save()
    assert gl.users.get(user.id).bio == "Changed"

    with pytest.raises(GitlabCreateError) as taken:
        _created(gl, make, username=user.username)
    assert (taken.value.response_code, taken.value.error_message) == (409, "Username has already been taken")
    user.delete()
    assert gl.users.list(username=user.username, get_all=True) == []
    with pytest.raises(GitlabGetError) as gone:
        gl.users.get(user.id)
    assert gone.value.response_code == 404


def test_create_a_user_with_an_avatar(gl: gitlab.Gitlab, make: Make) -> None:
    user = _created(gl, make)
    user.avatar = b"\x89PNG\r\n\x1a\n"

    user.save()

    assert gl.users.get(user.id).avatar_url.startswith(gl.url)


def test_block_returns_its_result(gl: gitlab.Gitlab, make: Make) -> None:
    user = _created(gl, make)

    assert [user.block(), user.block()] == [True, None]
    assert [each.id for each in gl.users.list(blocked=True, search=user.username, get_all=True)] == [user.id]
    assert [user.unblock(), user.unblock()] == [True, False]
    assert user.ban() is True
    assert gl.users.get(user.id).state == "banned"
    assert user.unban() is True
    assert user.deactivate() is True
    assert user.activate() is True
    assert gl.users.get(user.id).state == "active"


def test_keys_and_emails(gl: gitlab.Gitlab, make: Make) -> None:
    user = _created(gl, make)

    key = user.keys.create({"title": "Key", "key": ed25519_line()})
    email = user.emails.create({"email": f"{make.name()}@example.org"})
    assert [each.id for each in user.keys.list(get_all=True)] == [key.id]
    assert [each.email for each in user.emails.list(get_all=True)] == [email.email]
    key.delete()
    email.delete()
    assert user.keys.list(get_all=True) == []
    assert user.emails.list(get_all=True) == []


def test_gpg_keys(gl: gitlab.Gitlab, make: Make) -> None:
    user = _created(gl, make)

    key = user.gpgkeys.create({"key": EXPORTED})
    try:
        assert [each.id for each in user.gpgkeys.list(get_all=True)] == [key.id]
        assert user.gpgkeys.get(key.id).key.strip() == EXPORTED.strip()
    finally:
        key.delete()
    assert user.gpgkeys.list(get_all=True) == []


def test_keys_and_emails_of_the_current_user(instance: Instance, make: Make) -> None:
    with gitlab.Gitlab(instance.url, private_token=make.user().token) as client:
        client.auth()
        assert client.user is not None
        key = client.user.keys.create({"title": "Own", "key": ed25519_line()})
        email = client.user.emails.create({"email": f"{make.name()}@example.org"})
        assert [each.id for each in client.user.keys.list(get_all=True)] == [key.id]
        assert [each.id for each in client.user.emails.list(get_all=True)] == [email.id]
        key.delete()
        email.delete()


def test_impersonation_tokens(gl: gitlab.Gitlab, instance: Instance, make: Make) -> None:
    user = _created(gl, make)

    token = user.impersonationtokens.create({"name": "Acting", "scopes": ["api", "read_user"]})
    with gitlab.Gitlab(instance.url, private_token=token.token) as acting:
        acting.auth()
        assert acting.user is not None
        assert acting.user.id == user.id
    assert [each.id for each in user.impersonationtokens.list(state="active", get_all=True)] == [token.id]
    user.impersonationtokens.get(token.id).delete()
    assert user.impersonationtokens.list(state="active", get_all=True) == []
    assert [each.id for each in user.impersonationtokens.list(state="inactive", get_all=True)] == [token.id]


def test_personal_access_tokens(gl: gitlab.Gitlab, instance: Instance, make: Make) -> None:
    user = _created(gl, make)
    token = user.personal_access_tokens.create({"name": "Own", "scopes": ["api"]})
    listed = gl.personal_access_tokens.list(user_id=user.id, get_all=True)
    assert [each.id for each in listed] == [token.id]

    with gitlab.Gitlab(instance.url, private_token=token.token) as client:
        own = client.personal_access_tokens.get("self")
        assert (own.id, own.scopes) == (token.id, ["api"])
        own.rotate()
        successor = own.token
        with pytest.raises(GitlabAuthenticationError):
            client.auth()
    with gitlab.Gitlab(instance.url, private_token=successor) as client:
        client.personal_access_tokens.get("self").delete()
        with pytest.raises(GitlabAuthenticationError):
            client.auth()
    assert gl.personal_access_tokens.list(user_id=user.id, state="active", get_all=True) == []


def test_status(instance: Instance, gl: gitlab.Gitlab, make: Make) -> None:
    user = make.user()
    with gitlab.Gitlab(instance.url, private_token=user.token) as client:
        client.auth()
        assert client.user is not None
        status = client.user.status.get()
        status.message = "Testing"
        status.emoji = "thumbsup"
        status.save()

    shown = gl.users.get(user.id).status.get()
    assert (shown.message, shown.emoji) == ("Testing", "thumbsup")


def test_custom_attributes(gl: gitlab.Gitlab, make: Make) -> None:
    user = _created(gl, make)

    attribute = user.customattributes.set("team", "red")
    assert (attribute.key, attribute.value) == ("team", "red")
    assert user.customattributes.set("team", "blue").value == "blue"
    assert user.customattributes.get("team").value == "blue"
    assert len(user.customattributes.list(get_all=True)) == 1
    attribute.delete()
    assert user.customattributes.list(get_all=True) == []


def test_identities(gl: gitlab.Gitlab, make: Make) -> None:
    user = _created(gl, make, provider="github", extern_uid=make.name("uid"))
    assert user.identities[0]["provider"] == "github"

    user.identityproviders.delete("github")

    assert gl.users.get(user.id).identities == []


def test_following(gl: gitlab.Gitlab, make: Make) -> None:
    user = _created(gl, make)

    user.follow()
    assert make.root.id in [each.id for each in user.followers_users.list(get_all=True)]
    user.unfollow()
    assert user.followers_users.list(get_all=True) == []


def test_settings_are_read_and_changed(gl: gitlab.Gitlab) -> None:
    settings = gl.settings.get()
    before = settings.default_projects_limit
    try:
        settings.default_projects_limit = before + 1
        settings.save()
        assert gl.settings.get().default_projects_limit == before + 1
    finally:
        gl.settings.update(new_data={"default_projects_limit": before})
    assert gl.settings.get().default_projects_limit == before


def test_broadcast_messages(gl: gitlab.Gitlab) -> None:
    message = gl.broadcastmessages.create({"message": "this is the message"})
    message.color = "#444444"
    message.save()

    assert gl.broadcastmessages.get(message.id).color == "#444444"
    assert message.id in [each.id for each in gl.broadcastmessages.list(get_all=True)]
    message.delete()
    assert message.id not in [each.id for each in gl.broadcastmessages.list(get_all=True)]


def test_features(gl: gitlab.Gitlab, make: Make) -> None:
    name = make.name("feature")

    feature = gl.features.set(name, 30)
    assert feature.name == name
    assert name in [each.name for each in gl.features.list(get_all=True)]
    feature.delete()
    assert name not in [each.name for each in gl.features.list(get_all=True)]


def test_namespaces(gl: gitlab.Gitlab, make: Make) -> None:
    user = make.user()

    (found,) = gl.namespaces.list(search=user.username, get_all=True)

    assert (found.path, found.kind) == (user.username, "user")
    assert gl.namespaces.get(user.username).id == found.id
    assert gl.namespaces.exists(user.username).exists is True


def test_lists_by_page(gl: gitlab.Gitlab, make: Make) -> None:
    stem = make.name("walked")
    made = sorted(make.user(username=f"{stem}-{letter}").id for letter in "abcde")

    iterator = gl.users.list(search=stem, per_page=2, iterator=True)
    assert (iterator.total, iterator.total_pages, iterator.per_page) == (5, 3, 2)
    assert (iterator.current_page, iterator.prev_page, iterator.next_page) == (1, None, 2)
    assert sorted(each.id for each in iterator) == made
    assert len(gl.users.list(search=stem, per_page=2, page=3)) == 1


def test_lists_by_keyset(gl: gitlab.Gitlab, make: Make) -> None:
    stem = make.name("keyed")
    made = sorted(make.user(username=f"{stem}-{letter}").id for letter in "abcde")

    walked = gl.users.list(search=stem, per_page=2, pagination="keyset", order_by="id", sort="asc", iterator=True)

    assert [each.id for each in walked] == made


def test_head_returns_the_total(gl: gitlab.Gitlab) -> None:
    headers = gl.users.head() if hasattr(gl.users, "head") else gl.http_head("/users")

    assert int(headers["x-total"]) > 1


def test_sudo(gl: gitlab.Gitlab, api: Api, make: Make) -> None:
    user = make.user()

    key = gl.http_post("/user/keys", post_data={"title": "By sudo", "key": ed25519_line()}, sudo=user.username)

    assert [each["id"] for each in api.get("/user/keys", user).json()] == [key["id"]]  # type: ignore[index]
    assert gl.http_get("/user", sudo=user.id)["id"] == user.id  # type: ignore[index]
    with pytest.raises(GitlabHttpError) as unknown:
        gl.http_get("/user", sudo="no-such-user")
    assert unknown.value.error_message == "404 Not Found: No user id or username for: no-such-user"


def test_errors_have_messages(gl: gitlab.Gitlab, make: Make) -> None:
    with pytest.raises(GitlabCreateError) as wrong:
        _created(gl, make, password="short")
    assert wrong.value.response_code == 400
    assert "too short" in str(wrong.value.error_message)
