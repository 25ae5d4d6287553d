"""``ingot serve``: first start, rejected settings, and file permissions."""

import os
import re
import socket
import stat
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.process import PASSWORD, TOKEN, Server, ingot, serving, until

FIRST = re.compile(r"Sign in as root with the password (\S+)")
NO_CREDENTIALS: dict[str, Any] = {"INGOT_ROOT_PASSWORD": "", "INGOT_ROOT_TOKEN": ""}


def test_the_first_start_prints_a_password_once(stopped: Server) -> None:
    stopped.start_by_interpreter(**NO_CREDENTIALS)
    printed = FIRST.findall(stopped.output())
    assert len(printed) == 1
    signed_in = httpx.post(f"{stopped.url}/api/v4/session", json={"login": "root", "password": printed[0]})
    assert signed_in.status_code == 201
    assert stopped.stop() == 0

    stopped.start_by_interpreter(**NO_CREDENTIALS)
    assert FIRST.findall(stopped.output()) == printed
    assert printed[0] not in stopped.log()


def test_root_gets_the_configured_password_and_token(server: Server) -> None:
    assert not FIRST.search(server.output())
    assert server.call("GET", "/user", TOKEN).json()["username"] == "root"
    assert server.call("GET", "/user", TOKEN, params={"sudo": "root"}).status_code == 200
    signed_in = httpx.post(f"{server.url}/api/v4/session", json={"login": "root", "password": PASSWORD})
    assert signed_in.status_code == 201
    assert TOKEN not in server.log() + server.output()
    assert PASSWORD not in server.log() + server.output()


def test_initial_credentials_count_at_the_first_start_only(stopped: Server) -> None:
    stopped.start_by_interpreter()
    stopped.stop()
    stopped.start_by_interpreter(INGOT_ROOT_TOKEN="another-token", INGOT_ROOT_PASSWORD="another-password")
    assert stopped.call("GET", "/user", "another-token").status_code == 401
    assert stopped.call("GET", "/user", TOKEN).status_code == 200


def test_the_data_directory_is_private(server: Server) -> None:
    def mode(name: str) -> int:
        return stat.S_IMODE((server.data / name).stat().st_mode)

    assert mode(".") == mode("secrets") == 0o700
    files = ["secrets/instance.key"] + ([] if server.database_url else ["ingot.db", "ingot.db-wal", "ingot.db-shm"])
    assert {name: mode(name) for name in files} == dict.fromkeys(files, 0o600)


def test_a_data_directory_that_others_can_list(stopped: Server) -> None:
    """The server accepts a directory with the usual mode and protects its contents, so the doctor accepts it too."""
    stopped.data.mkdir(mode=0o755)
    stopped.data.chmod(0o755)
    (stopped.data / "ingot.toml").write_text("default_branch = 'main'\n")
    (stopped.data / "ingot.toml").chmod(0o644)
    options = ["--data", stopped.data, *(["--database-url", stopped.database_url] if stopped.database_url else [])]
    for number in range(2):
        stopped.start_by_interpreter()
        assert stopped.call("POST", "/projects", json={"name": f"p{number}"}).status_code == 201
        assert ingot("doctor", *options).stdout == "No problems found.\n"
        assert stat.S_IMODE(stopped.data.stat().st_mode) == 0o755
        exposed = [path for path in stopped.data.iterdir() if path.stat().st_mode & 0o077 and path.stat().st_size]
        assert exposed == []
        assert stopped.stop() == 0
        (stopped.data / "repositories").chmod(0o755)
    assert "repositories can be read by others (mode 0755" in ingot("doctor", *options).stdout


def test_a_data_directory_that_others_can_change(stopped: Server) -> None:
    """Nothing in it is safe, which the server and the doctor report in the same words."""
    stopped.data.mkdir()
    stopped.data.chmod(0o777)
    stopped.start_by_interpreter()
    problem = f"{stopped.data} can be changed by others (mode 0777 instead of 0700)"
    assert [event["problem"] for event in stopped.events("permissions")] == [problem]
    options = ["--data", stopped.data, *(["--database-url", stopped.database_url] if stopped.database_url else [])]
    assert ingot("doctor", *options).stdout == f"problem: {problem} (--repair fixes it)\n"


def test_an_existing_empty_directory_is_accepted(stopped: Server) -> None:
    stopped.data.mkdir()
    stopped.start_by_interpreter()
    assert stopped.call("GET", "/user").status_code == 200


def test_a_second_server_on_the_same_data_is_rejected(server: Server) -> None:
    if server.database_url:
        pytest.skip("Any number of servers may share a PostgreSQL database.")
    second = ingot("serve", "--data", server.data, "--port", 0, "--ssh-port", 0)
    assert second.returncode == 1
    assert second.stderr == (
        f"ingot: another server is running on {server.data}; stop it first, or use another --data\n"
    )
    assert server.ready() == 200


def test_a_port_in_use_is_reported_at_once(data_folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = ingot("serve", "--data", data_folder, "--port", port, "--ssh-port", 0)
    assert refused.returncode == 1
    assert refused.stderr == f"ingot: cannot listen on 127.0.0.1:{port}: Address already in use\n"
    assert not (data_folder / "ingot.db").exists()


INVALID = [
    (["--port", "70000"], {}, "", "port must be between"),
    (["--workers", "-1"], {}, "", "workers must not be negative"),
    (["--external-url", "ftp://forge.example"], {}, "", "external_url must look like"),
    (["--database-url", "mysql://localhost/ingot"], {}, "", "database_url must look like postgresql://"),
    ([], {"INGOT_WORKERS": "many"}, "", "workers cannot be 'many'"),
    ([], {"INGOT_ALLOW_LOCAL_REQUESTS": "maybe"}, "", "allow_local_requests cannot be 'maybe'"),
    ([], {"INGOT_TRUSTED_PROXIES": "somewhere"}, "", "trusted_proxies: "),
    ([], {"INGOT_ROOT_PASSWORD": "short"}, "", "root_password must have at least 8 characters"),
    ([], {"INGOT_ROOT_TOKEN": "short"}, "", "root_token must have at least 8 characters"),
    ([], {}, "colour = 'blue'", "settings that do not exist: colour"),
    ([], {}, "port = = 1", "not valid TOML"),
]


@pytest.mark.parametrize(("flags", "variables", "written", "said"), INVALID)
def test_an_invalid_setting_is_reported_in_one_line(
    data_folder: Path, flags: list[str], variables: dict[str, str], written: str, said: str
) -> None:
    data_folder.mkdir()
    if written:
        (data_folder / "ingot.toml").write_text(written)
    refused = ingot("serve", "--data", data_folder, *flags, **variables)
    assert refused.returncode == 1
    assert refused.stderr.startswith("ingot: ") and refused.stderr.count("\n") == 1
    assert said in refused.stderr


def test_a_directory_that_cannot_be_created_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = ingot("serve", "--data", tmp_path / "file" / "data", "--port", 0, "--ssh-port", 0)
    assert refused.returncode == 1
    assert refused.stderr.startswith("ingot: The data directory cannot be created") and refused.stderr.count("\n") == 1


def test_an_unreachable_database_is_reported_in_one_line(data_folder: Path) -> None:
    refused = ingot(
        "serve",
        "--data",
        data_folder,
        "--port",
        0,
        "--ssh-port",
        0,
        "--database-url",
        f"postgresql:///x?host={data_folder}",
    )
    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    assert refused.stderr.startswith("ingot: The database does not answer")


def test_precedence_of_flags_variables_and_file(data_folder: Path, empty_database: str) -> None:
    data_folder.mkdir()
    (data_folder / "ingot.toml").write_text(
        "external_url = 'http://file.example'\nreported_version = '1.0.0'\nssh_address = 'git.example:2200'\n"
    )
    variables = {"INGOT_EXTERNAL_URL": "http://variable.example", "INGOT_REPORTED_VERSION": "2.0.0"}
    with serving(data_folder, empty_database, "--external-url", "http://flag.example", **variables) as server:
        assert server.call("GET", "/user").json()["web_url"] == "http://flag.example/root"
        assert server.call("GET", "/version").json()["version"].startswith("2.0.0")
        project = server.call("POST", "/projects", data={"name": "one"}).json()
        assert project["ssh_url_to_repo"] == "ssh://git@git.example:2200/root/one.git"


FORWARDED = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}


@pytest.mark.parametrize(
    ("trusted", "url"), [("127.0.0.0/8", "https://evil.example/"), ("192.0.2.1", "http://127.0.0.1:")]
)
def test_forwarded_headers_require_a_trusted_proxy(
    data_folder: Path, empty_database: str, trusted: str, url: str
) -> None:
    with serving(data_folder, empty_database, INGOT_TRUSTED_PROXIES=trusted) as server:
        link = server.call("GET", "/users?per_page=1", headers=FORWARDED).headers["link"]
        assert link.startswith(f"<{url}")


@pytest.mark.parametrize(("url", "secure"), [("https://forge.example", True), ("http://forge.example", False)])
def test_cookies_are_secure_with_https_only(data_folder: Path, empty_database: str, url: str, secure: bool) -> None:
    with serving(data_folder, empty_database, "--external-url", url) as server:
        cookie = httpx.get(f"{server.url}/users/sign_in").headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
        assert ("Secure" in cookie) is secure


def test_an_ephemeral_server_leaves_no_files(stopped: Server, tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    stopped.start_by_interpreter("--ephemeral", wait=False, TMPDIR=str(room))
    serving_at = until("the address", lambda: stopped.events("serving"))[0]
    stopped.url = serving_at["url"]
    until("readiness", lambda: stopped.ready() == 200)
    assert [Path(serving_at["data"])] == list(room.iterdir())
    assert not stopped.data.exists()
    assert stopped.stop() == 0
    assert list(room.iterdir()) == []


def test_metrics_are_summed_over_the_workers(data_folder: Path, empty_database: str) -> None:
    with serving(data_folder, empty_database, "--workers", 2) as server:
        for _ in range(30):
            assert server.call("GET", "/version").status_code == 200
        pattern = re.compile(
            r'^ingot_http_request_seconds_count\{[^}]*route="[^"]*version"[^}]*\} (\S+)$', re.MULTILINE
        )

        def counted() -> float:
            return sum(map(float, pattern.findall(httpx.get(f"{server.url}/-/metrics").text)))

        until("all thirty", lambda: counted() == 30)
        os.kill(server.child("web-0"), 9)
        until("the numbers of a worker that ended", lambda: server.ready() == 200 and counted() == 30)
