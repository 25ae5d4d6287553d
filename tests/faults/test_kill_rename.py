"""Killing every process while projects and groups are renamed: each has its old or its new path, and is whole."""

import os
import random
from functools import partial
from pathlib import Path
from urllib.parse import quote

import httpx

from tests.faults.load_generator import WRITERS, LoadGenerator, check_projects
from tests.faults.test_kill_projects import SECONDS, created, filled_project, start
from tests.server.process import TOKEN, Server, ingot, until
from tests.transport.conftest import Tree

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "2"))
RECENT = 5


class Renames:
    """Projects in a group, all of which get new paths again and again; the group too, by the first writer."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.group: int = created(server.call("POST", "/groups", json={"name": "group", "path": "group-0"}))["id"]
        source = filled_project(server, folder)
        self.projects = []
        for writer in range(1, WRITERS):
            sent = {"name": f"p-{writer}", "path": f"p-{writer}", "namespace": self.group}
            self.projects.append(created(server.call("POST", f"/projects/{source}/fork", json=sent))["id"])
        self.current = {writer: f"p-{writer}" for writer in range(1, WRITERS)} | {0: "group-0"}
        self.begun = dict(self.current)

    def rename(self, round_number: int, writer: int, number: int) -> httpx.Response:
        """Give the writer's project, or the group, the next path."""
        path = f"{self.current[writer].partition('.')[0]}.{round_number}-{number}"
        self.begun[writer] = path
        if writer == 0:
            answer = self.server.call("PUT", f"/groups/{self.group}", json={"path": path})
        else:
            sent = {"path": path, "name": path}
            answer = self.server.call("PUT", f"/projects/{self.projects[writer - 1]}", json=sent)
        if answer.status_code == 200:
            self.current[writer] = path
        return answer

    def check(self, folder: Path) -> None:
        """Compare the paths with what was acknowledged, and clone each project by its path."""
        group = self.server.call("GET", f"/groups/{self.group}").json()["full_path"]
        assert group in (self.current[0], self.begun[0])
        self.current[0] = group
        for writer, project_id in enumerate(self.projects, 1):
            project = self.server.call("GET", f"/projects/{project_id}").json()
            assert project["path"] in (self.current[writer], self.begun[writer])
            assert project["path_with_namespace"] == f"{group}/{project['path']}"
            self.current[writer] = project["path"]
            found = self.server.call("GET", f"/projects/{quote(project['path_with_namespace'], safe='')}")
            assert (found.status_code, found.json()["id"]) == (200, project_id)
            url = self.server.url.replace("http://", f"http://root:{TOKEN}@")
            listed = Tree(folder).git("ls-remote", f"{url}/{project['path_with_namespace']}.git")
            assert "refs/heads/master" in listed


def test_renames_are_cut_off(stopped: Server, tmp_path: Path) -> None:
    server, dice = stopped, random.Random(ROUNDS)
    start(server)
    renames = Renames(server, tmp_path)
    for round_number in range(ROUNDS):
        load = LoadGenerator(partial(renames.rename, round_number))
        enough = dice.randint(1, 20)
        with load.running():
            until("some answers", partial(load.has_acknowledged, enough), SECONDS)
            server.kill()
        assert load.other == []
        start(server)
        check_projects(server)
        renames.check(tmp_path)
        for writer, _, answer in load.acknowledged[-RECENT:]:
            if writer:  # A path that was acknowledged leads to the project, unless too many came after it.
                path = quote(f"{renames.current[0]}/{answer['path']}", safe="")
                found = server.call("GET", f"/projects/{path}")
                assert (found.status_code, found.json()["id"]) == (200, renames.projects[writer - 1])
    options = ["--database-url", server.database_url] if server.database_url else []
    assert ingot("doctor", "--data", server.data, *options).stdout == "No problems found.\n"
