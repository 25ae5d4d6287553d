"""Types and sizes of SSH keys that an instance allows."""

from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric import ec

from tests.client import Api, Make
from tests.factories import changed_settings, make_project
from tests.instance_settings import PATH
from tests.ssh_public_keys import SK_ECDSA, SK_ED25519, ecdsa_line, ed25519_line, line_of, point, raw_ed25519, rsa_line


def test_new_keys_of_users_and_projects(api: Api, make: Make) -> None:
    person = make.user()
    project = make_project(make, owner=person)
    paths = ["/user/keys", f"{project.url}/deploy_keys"]

    with changed_settings(make, rsa_key_restriction=3072, ed25519_key_restriction=-1):
        for path in paths:
            short = api.post(path, person, title="x", key=rsa_line(2048))
            assert (short.status_code, short.json()) == (
                400,
                {"message": {"key": ["is too short (minimum is 3072 bits)"]}},
            )
            assert api.post(path, person, title="x", key=rsa_line(3072)).status_code == 201
            forbidden = api.post(path, person, title="x", key=ed25519_line())
            reason = "type is forbidden. Must be one of: RSA, ECDSA, ECDSA_SK, ED25519_SK"
            assert (forbidden.status_code, forbidden.json()) == (400, {"message": {"key": [reason]}})
    for path in paths:
        assert api.post(path, person, title="x", key=ed25519_line()).status_code == 201


def test_keys_of_security_keys_and_elliptic_curves(api: Api, make: Make) -> None:
    person, application = make.user(), b"ssh:"
    lines: dict[str, Callable[[], str]] = {
        "ecdsa_key_restriction": lambda: ecdsa_line(ec.SECP256R1()),
        "ecdsa_sk_key_restriction": lambda: line_of(SK_ECDSA, b"nistp256", point(), application),
        "ed25519_sk_key_restriction": lambda: line_of(SK_ED25519, raw_ed25519(), application),
    }
    for name, line in lines.items():
        with changed_settings(make, **{name: -1}):
            refused = api.post("/user/keys", person, title="x", key=line())
            assert (refused.status_code, "type is forbidden" in refused.text) == (400, True), name
        assert api.post("/user/keys", person, title="x", key=line()).status_code == 201, name
    with changed_settings(make, ecdsa_key_restriction=384):
        assert api.post("/user/keys", person, title="x", key=ecdsa_line(ec.SECP256R1())).status_code == 400
        assert api.post("/user/keys", person, title="x", key=ecdsa_line(ec.SECP384R1())).status_code == 201


def test_invalid_sizes(api: Api, make: Make) -> None:
    for name, value in (("rsa", 1024), ("rsa", -2), ("ecdsa", 255), ("ed25519", 512), ("dsa", 0), ("ed25519_sk", "x")):
        assert api.put(PATH, make.root, **{f"{name}_key_restriction": value}).status_code == 400, (name, value)
