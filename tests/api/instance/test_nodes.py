"""Machines that serve the instance."""

import io
from dataclasses import replace
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.log import Log
from ingot.core.nodes.heartbeat import Heartbeat
from ingot.core.nodes.tables import nodes
from tests.client import Api, Make
from tests.conftest import Instance


def _heartbeat(instance: Instance, name: str, *roles: str, log: io.StringIO | None = None) -> Heartbeat:
    settings = replace(instance.settings, node_name=name, host="0.0.0.0")
    return Heartbeat(settings, instance.app.database, roles, Log("json", log or io.StringIO()))


def _nodes(api: Api, make: Make) -> dict[str, dict[str, Any]]:
    return {node["name"]: node for node in api.get("/admin/nodes", as_user=make.root).json()}


def test_nodes_are_listed_with_their_roles(instance: Instance, api: Api, make: Make) -> None:
    """One that was not seen for a while is offline; one that ends is no longer listed."""
    names = [make.name("node") for _ in range(3)]
    _heartbeat(instance, names[0], "web").beat()
    _heartbeat(instance, names[0], "jobs", "ssh").beat()
    _heartbeat(instance, names[1], "web").beat()
    with _heartbeat(instance, names[2], "web"):
        pass

    def lose(db: Connection) -> None:
        seen, expired = add_duration(db.now, days=-1), add_duration(db.now, hours=-23)
        db.run(update(nodes).where(nodes.c.name == names[1]).values(last_seen_at=seen, expires_at=expired))

    instance.app.database.write(lose)
    listed = _nodes(api, make)
    assert listed[names[0]]["roles"] == ["jobs", "ssh", "web"]
    assert listed[names[0]]["address"].endswith(f":{instance.settings.port}")
    assert abs(listed[names[0]]["clock_offset"]) < 1
    assert [listed[name]["online"] for name in names[:2]] == [True, False]
    assert names[2] not in listed
    metrics = httpx.get(f"{instance.url}/-/metrics").text
    assert f'ingot_node_online{{node="{names[0]}",role="jobs"}} 1.0' in metrics
    assert f'ingot_node_online{{node="{names[1]}",role="web"}} 0.0' in metrics
    assert f'ingot_node_clock_offset_seconds{{node="{names[0]}"}}' in metrics


def test_nodes_are_for_administrators(api: Api, make: Make) -> None:
    assert api.get("/admin/nodes").status_code == 401
    assert api.get("/admin/nodes", as_user=make.user()).status_code == 403


def test_a_wrong_clock_is_logged_once(instance: Instance, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    heartbeat = _heartbeat(instance, make.name("node"), "web", log=log)
    monkeypatch.setattr(instance.app.database.engine, "clock_offset", lambda: -61.0)
    heartbeat.beat()
    heartbeat.beat()
    assert log.getvalue().count("clock differs from the database server's") == 1
