"""Manifests for Kubernetes: references between them, commands and settings that exist, and the rights of containers."""

from dataclasses import fields
from typing import Any

import yaml

from ingot.cli.main import COMMANDS
from ingot.core.settings import Settings, load_settings
from tests.server.process import ROOT

FOLDER = ROOT / "deploy" / "kubernetes"
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
OBJECTS: list[dict[str, Any]] = [
    each for name in KUSTOMIZATION["resources"] for each in yaml.safe_load_all((FOLDER / name).read_text())
]
WORKLOADS = [each for each in OBJECTS if each["kind"] in ("Deployment", "Job")]
SECRETS = {"INGOT_DATABASE_URL", "INGOT_ROOT_PASSWORD", "INGOT_SMTP_URL"}
"""Those that the documentation puts into the secret."""


def _pod(workload: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = workload["spec"]["template"]["spec"]
    return spec


def _named(kind: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in OBJECTS if each["kind"] == kind}


def test_every_manifest_is_listed() -> None:
    assert {path.name for path in FOLDER.glob("*.yaml")} == {*KUSTOMIZATION["resources"], "kustomization.yaml"}
    names = [(each["kind"], each["metadata"]["name"]) for each in OBJECTS]
    assert len(set(names)) == len(names) >= 11


def test_containers_run_commands_without_rights() -> None:
    claims = _named("PersistentVolumeClaim")
    for workload in WORKLOADS:
        pod = _pod(workload)
        assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        assert volumes["data"]["persistentVolumeClaim"]["claimName"] in claims
        (container,) = pod["containers"]
        assert container["args"][0] in COMMANDS and container["image"] == KUSTOMIZATION["images"][0]["name"]
        rights = container["securityContext"]
        assert rights["readOnlyRootFilesystem"] and not rights["allowPrivilegeEscalation"]
        assert rights["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"] and container["resources"]["requests"]["cpu"]
        assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)


def test_selectors_and_ports_lead_to_pods() -> None:
    labels = {name: each["spec"]["template"]["metadata"]["labels"] for name, each in _named("Deployment").items()}
    ports = {
        name: {port["name"] for port in _pod(each)["containers"][0].get("ports", [])}
        for name, each in _named("Deployment").items()
    }
    for name, service in _named("Service").items():
        assert service["spec"]["selector"] == labels[name]
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports[name]
    for kind in ("PodDisruptionBudget", "Deployment"):
        for name, each in _named(kind).items():
            assert each["spec"]["selector"]["matchLabels"] == labels[name]
    for name, each in _named("HorizontalPodAutoscaler").items():
        assert each["spec"]["scaleTargetRef"]["name"] == name and name in labels
    (rule,) = _named("Ingress")["ingot"]["spec"]["rules"]
    service = rule["http"]["paths"][0]["backend"]["service"]
    assert service["port"]["name"] in {port["name"] for port in _named("Service")[service["name"]]["spec"]["ports"]}


def test_web_and_ssh_are_probed() -> None:
    for name, paths in (("ingot-web", {"/-/liveness", "/-/readiness"}), ("ingot-ssh", set())):
        container = _pod(_named("Deployment")[name])["containers"][0]
        probes = [container["livenessProbe"], container["readinessProbe"]]
        assert {probe["httpGet"]["path"] for probe in probes if "httpGet" in probe} == paths


def test_the_settings_exist_and_are_valid() -> None:
    (settings,) = KUSTOMIZATION["configMapGenerator"]
    given = dict(literal.split("=", 1) for literal in settings["literals"])
    names = {f"INGOT_{setting.name.upper()}" for setting in fields(Settings)}
    assert given.keys() | SECRETS <= names
    assert load_settings({}, given).ssh_address == "git.example.org:22"
    document = (ROOT / "docs" / "scaling.md").read_text()
    assert all(f"{name}=" in document for name in SECRETS)
