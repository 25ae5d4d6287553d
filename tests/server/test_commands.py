"""Commands other than ``serve``, on a running and a stopped instance."""

import json
import re
from pathlib import Path

import httpx
import pytest

from ingot.cli.main import COMMANDS
from tests.server.process import Server, ingot, serving

PASSWORD = "correct horse battery"


class CommandRunner:
    """Runner of commands on one instance."""

    def __init__(self, data_folder: Path, database_url: str) -> None:
        self.options = ["--data", str(data_folder)] + (["--database-url", database_url] if database_url else [])

    def __call__(self, *arguments: object, stdin: str = "") -> str:
        done = ingot(*arguments, *self.options, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def error_line(self, *arguments: object, stdin: str = "") -> str:
        """Return the one-line error of a command."""
        done = ingot(*arguments, *self.options, stdin=stdin)
        assert done.returncode == 1
        assert done.stderr.startswith("ingot: ") and done.stderr.count("\n") == 1, done.stderr
        return done.stderr


@pytest.fixture
def on_instance(data_folder: Path, empty_database: str) -> CommandRunner:
    return CommandRunner(data_folder, empty_database)


def _sign_in(server: Server, login: str, password: str) -> int:
    return httpx.post(f"{server.url}/api/v4/session", json={"login": login, "password": password}).status_code


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    explained = ingot(command, "--help")
    assert explained.returncode == 0
    assert explained.stderr == ""
    if command != "runner":  # Its help describes the risk instead.
        assert COMMANDS[command].split(",")[0][1:].split(":")[0] in " ".join(explained.stdout.split())


@pytest.mark.parametrize("verb", ["user create", "user password", "user admin", "user block", "token create"])
def test_every_subcommand_has_help(verb: str) -> None:
    explained = ingot(*verb.split(), "--help")
    assert explained.returncode == 0
    assert "--data" in explained.stdout


def test_the_list_of_commands_is_printed() -> None:
    explained = ingot("--help")
    assert explained.returncode == 0
    assert set(COMMANDS) <= set(explained.stdout.split())
    unknown = ingot("swerve")
    assert unknown.returncode == 2 and "invalid choice" in unknown.stderr


def test_users_of_a_stopped_instance(on_instance: CommandRunner, data_folder: Path, empty_database: str) -> None:
    on_instance("migrate")
    on_instance("user", "create", "nora", "--email", "nora@example.org", "--name", "Nora N", stdin=f"{PASSWORD}\n")
    on_instance("user", "create", "otto", "--email", "otto@example.org", "--password", PASSWORD, "--external")
    on_instance("user", "create", "uma", "--email", "uma@example.org", "--password", PASSWORD, "--admin")
    token = on_instance("token", "create", "uma", "--scopes", "api,sudo").strip()
    with serving(data_folder, empty_database) as server:
        people = {user["username"]: user for user in server.call("GET", "/users", token).json()}
        assert people["nora"]["name"] == "Nora N"
        assert people["otto"]["external"] is True
        assert people["uma"]["is_admin"] is True
        assert _sign_in(server, "nora@example.org", PASSWORD) == 201


def test_users_of_a_running_instance(server: Server, on_instance: CommandRunner) -> None:
    on_instance("user", "create", "nora", "--email", "nora@example.org", "--password", PASSWORD)
    token = on_instance("token", "create", "nora").strip()
    assert server.call("GET", "/user", token).json()["username"] == "nora"

    on_instance("user", "password", "nora@example.org", stdin="another long password\n")
    assert _sign_in(server, "nora", PASSWORD) == 401
    assert _sign_in(server, "nora", "another long password") == 201

    assert server.call("PUT", "/application/settings", json={"minimum_password_length": 30}).status_code == 200
    assert "minimum is 30" in on_instance.error_line("user", "password", "nora", stdin="another long password\n")
    on_instance("user", "create", "long", "--email", "long@example.org", "--password", "x" * 30)

    on_instance("user", "admin", "nora")
    assert server.call("GET", "/user", token).json()["is_admin"] is True
    on_instance("user", "admin", "nora", "--remove")
    assert server.call("GET", "/users?admins=true").json()[0]["username"] == "root"

    on_instance("user", "block", "nora")
    assert server.call("GET", "/user", token).status_code == 401
    nora = server.call("GET", "/users?username=nora").json()[0]["id"]
    assert server.call("POST", f"/users/{nora}/unblock").status_code == 201
    assert server.call("GET", "/user", token).status_code == 200

    on_instance("user", "block", "nora", "--directory")
    assert server.call("POST", f"/users/{nora}/unblock").status_code == 403
    on_instance("user", "block", "nora", "--remove")
    assert server.call("GET", "/user", token).status_code == 200


def test_errors_are_one_line(on_instance: CommandRunner) -> None:
    on_instance("migrate")
    assert "taken" in on_instance.error_line(
        "user", "create", "root", "--email", "r@example.org", "--password", PASSWORD
    )
    assert "username" in on_instance.error_line(
        "user", "create", "not a path", "--email", "r@example.org", "--password", PASSWORD
    )
    assert "too short" in on_instance.error_line("user", "create", "x", "--email", "x@example.org", stdin="short\n")
    assert "no user" in on_instance.error_line("user", "admin", "nobody")
    assert "administrator" in on_instance.error_line("user", "admin", "root", "--remove").lower()
    assert "no user" in on_instance.error_line("token", "create", "nobody")
    assert "scopes" in on_instance.error_line("token", "create", "root", "--scopes", "everything")
    assert "2027-01-31" in on_instance.error_line("token", "create", "root", "--expires-at", "tomorrow")


def test_a_token_can_expire(server: Server, on_instance: CommandRunner) -> None:
    past = on_instance("token", "create", "root", "--expires-at", "2020-01-31").strip()
    future = on_instance("token", "create", "root", "--expires-at", "2999-01-31", "--name", "Long").strip()
    assert server.call("GET", "/user", past).status_code == 401
    assert server.call("GET", "/user", future).status_code == 200


def test_migrating_twice_changes_nothing(on_instance: CommandRunner) -> None:
    first, second = on_instance("migrate"), on_instance("migrate")
    assert "Sign in as root" in first
    assert "Sign in as root" not in second
    assert second.splitlines()[-1] == first.splitlines()[-1]
    assert re.fullmatch(r"The database is at revision \d{4}\.", second.strip())


def test_routes_lists_permissions() -> None:
    plain, access = ingot("routes"), ingot("routes", "--access")
    assert plain.returncode == access.returncode == 0
    assert len(plain.stdout.splitlines()) == len(access.stdout.splitlines()) > 50
    (line,) = [line for line in access.stdout.splitlines() if re.match(r"GET +/user ", line)]
    assert "read_user" in line
    assert all(line.endswith("]") for line in access.stdout.splitlines())


def test_openapi_prints_the_served_document(server: Server) -> None:
    printed = ingot("openapi")
    assert printed.returncode == 0
    assert json.loads(printed.stdout)["paths"] == server.call("GET", "/openapi.json").json()["paths"]
