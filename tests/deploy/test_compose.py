"""Example for Compose: settings that exist, containers without rights, data in a volume, and a proxy in front."""

import re
from dataclasses import fields
from ipaddress import ip_network
from typing import Any

import yaml

from ingot.core.settings import Settings, load_settings
from tests.server.process import ROOT

FOLDER = ROOT / "deploy"
DOCUMENT: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = DOCUMENT["services"]
OWN = ("ingot", "testing")


def _environment(name: str) -> dict[str, str]:
    """Return the variables of a service with the defaults of those that the caller may set."""
    return {key: re.sub(r"\$\{\w+:-(\w*)\}", r"\1", str(value)) for key, value in SERVICES[name]["environment"].items()}


def test_the_settings_exist_and_are_valid() -> None:
    names = {f"INGOT_{setting.name.upper()}" for setting in fields(Settings)}
    assert _environment("ingot").keys() <= names
    settings = load_settings({}, _environment("ingot"))
    assert settings.external_url == "https://localhost"
    (network,) = DOCUMENT["networks"]["default"]["ipam"]["config"]
    assert ip_network(settings.trusted_proxies) == ip_network(network["subnet"])
    assert "--testing" in SERVICES["testing"]["command"] and len(_environment("testing")["INGOT_TESTING_SECRET"]) >= 16


def test_containers_have_no_rights_and_keep_data_in_a_volume() -> None:
    image = (FOLDER / "Containerfile").read_text()
    for name in OWN:
        service = SERVICES[name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["tmpfs"] == ["/tmp"]
        assert (FOLDER / service["build"]["context"] / service["build"]["dockerfile"]).samefile(
            FOLDER / "Containerfile"
        )
    (volume,) = SERVICES["ingot"]["volumes"]
    assert volume == "data:/data" and "\nVOLUME /data\n" in image
    assert {each.split(":")[0] for name in SERVICES for each in SERVICES[name].get("volumes", [])} == {
        *DOCUMENT["volumes"],
        "./proxies/Caddyfile",
    }


def test_only_the_proxy_reaches_the_port_without_tls() -> None:
    """The server of tests is published to this machine alone."""
    assert SERVICES["ingot"]["ports"] == ["2222:2222"]
    assert SERVICES["testing"]["ports"] == ["127.0.0.1:8080:8080"]
    assert "profiles" not in SERVICES["proxy"] and SERVICES["testing"]["profiles"] == ["testing"]
    proxy = (FOLDER / "proxies" / "Caddyfile").read_text()
    assert set(re.findall(r"\{\$(\w+):", proxy)) == set(_environment("proxy"))
    assert _environment("proxy")["INGOT_UPSTREAM"] == "ingot:8080"
