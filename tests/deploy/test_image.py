"""Image of deploy/Containerfile, as far as it can be checked without a builder: its files, user and health check."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.deploy.test_proxies import free_port
from tests.server.process import ROOT
from tests.testing.temporary_server import temporary_server

TEXT = (ROOT / "deploy" / "Containerfile").read_text()


def test_the_server_is_not_root_and_keeps_its_data_in_the_volume() -> None:
    final = TEXT[TEXT.rindex("\nFROM ") :]
    assert "\nUSER ingot\n" in final and "\nVOLUME /data\n" in final and "INGOT_DATA=/data" in final
    assert final.index("USER ingot") < final.index("ENTRYPOINT")
    for name in re.findall(r"/source/([\w.-]+)", TEXT):
        assert (ROOT / name).exists(), name


def test_the_health_check_detects_a_server_that_is_ready(tmp_path: Path) -> None:
    words = json.loads(TEXT.split("HEALTHCHECK")[1].splitlines()[0].partition(" CMD ")[2])

    def status(port: str) -> int:
        script = words[2].replace(":8080/", f":{port}/")
        return subprocess.run([sys.executable, words[1], script], capture_output=True, check=False).returncode

    with temporary_server(tmp_path / "server") as server:
        assert status(server.url.rpartition(":")[2]) == 0
    assert status(str(free_port())) != 0
