"""``ingot config check``: origins of settings, secrets, mistakes and warnings."""

from pathlib import Path

from tests.server.process import ingot


def test_every_setting_is_explained_with_its_origin(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "ingot.toml").write_text('default_branch = "trunk"\nhost = "0.0.0.0"\n')
    (data / "ingot.toml").chmod(0o644)
    variables = tmp_path / "ingot.env"
    variables.write_text(
        "# Settings of the team\nINGOT_EXTERNAL_URL=https://git.example.org\n"
        'INGOT_SMTP_URL="smtp://ingot:hunter22@mail.example.org:587"\nINGOT_LDAP_BIND_PASSWORD=hunter23\n'
    )
    done = ingot("config", "check", "--data", data, "--env-file", variables, INGOT_CACHE_MB="32")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for line in (
        f"data = {data}  (--data)",
        f"default_branch = trunk  ({data}/ingot.toml)",
        "cache_mb = 32  (INGOT_CACHE_MB)",
        "external_url = https://git.example.org  (INGOT_EXTERNAL_URL)",
        "smtp_url = smtp://ingot:…@mail.example.org:587  (INGOT_SMTP_URL)",
        "ldap_bind_password = (set)  (INGOT_LDAP_BIND_PASSWORD)",
        "root_password = (not set)  (default)",
        "port = 8080  (default)",
        "    Port for HTTP; 0 chooses a free port.",
    ):
        assert line in lines
    assert "hunter2" not in done.stdout
    warnings = [line for line in lines if line.startswith("warning: ")]
    expected = ("trusted_proxies is empty", "host is 0.0.0.0", "mail_from is", "can be read by other users")
    assert len(warnings) == len(expected)
    for warning, part in zip(warnings, expected, strict=True):
        assert part in warning
    changed = ingot("config", "check", "--data", data, "--changed").stdout
    assert "default_branch = trunk" in changed and "cache_mb" not in changed


def test_mistakes_are_reported_with_their_place(tmp_path: Path) -> None:
    variables = tmp_path / "ingot.env"
    for text, message in (
        ("INGOT_PORT\n", "line 1: expected NAME=value"),
        ("INGOT_PORT='1\n", "line 1: No closing quotation"),
        ("INGOT_PORT=many\n", "port cannot be 'many'"),
    ):
        variables.write_text(text)
        done = ingot("config", "check", "--data", tmp_path, "--env-file", variables)
        assert done.returncode == 1 and message in done.stderr
    done = ingot("config", "check", "--data", tmp_path, INGOT_EXTERN_URL="https://git.example.org")
    assert done.returncode == 1 and "problem: INGOT_EXTERN_URL is not the variable of a setting" in done.stdout
    done = ingot("config", "check", "--env-file", tmp_path / "absent")
    assert done.returncode == 1 and "cannot be read" in done.stderr
