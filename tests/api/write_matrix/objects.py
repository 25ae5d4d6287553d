"""Objects that the paths of writing operations name, created through the API when they are needed."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx

from tests.api.write_matrix.bodies import BodyGenerator, new_name
from tests.api.write_matrix.special_bodies import EXTRA_FIELDS, FILES, Place
from tests.api.write_matrix.special_objects import CREATE, Create
from tests.ci.runner_client import project_runner
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Group, make_group, make_project
from tests.packages.registry_client import RegistryClient
from tests.roles import UsersByRole

_PARAMETER = re.compile(r"\{(\w+)\}")
_IDENTIFIERS = ("id", "iid", "key", "slug", "name", "tag_name", "username")
_SHARED = ("/projects", "/groups")
# Operations that change the project or group itself, so that each gets its own.
_OWN_PARENT = re.compile(
    r"(PUT|DELETE) /(projects|groups)/\{id\}|POST /projects/\{id\}/(archive|unarchive|fork.*)"
    r"|DELETE /projects/\{id\}/(fork|artifacts|push_rule)|PUT /projects/\{id\}/transfer"
    r"|POST /groups/\{id\}/(transfer|projects/.*)|DELETE /groups/\{id\}/push_rule"
    r"|(POST|PUT) /\w+/\{id\}/push_rule|(POST|PUT) /projects/\{id\}/mirror/pull"
    r"|POST /projects/\{id\}/jobs/\{job_id\}/(retry|erase|artifacts/keep)|DELETE /projects/\{id\}/jobs/.*"
    r"|(PUT|POST) /projects/\{id\}/merge_requests/\{merge_request_iid\}/(stack/)?(merge|rebase)"
    r"|POST /projects/\{id\}/merge_trains/.*|\w+ /projects/\{id\}/pages/deployments/.*"
)
CONFIGURATION = "a: {script: [x], resource_group: one}\nb: {script: [x], when: manual}\n"


class World:
    """A public group with a user of each role, its project, and objects of all kinds that belong to the owner."""

    def __init__(self, instance: Instance, make: Make, roles: UsersByRole) -> None:
        self.instance: Instance = instance
        self.make: Make = make
        self.roles: UsersByRole = roles
        self.bodies = BodyGenerator(self._id_for)
        self.group: Group = make_group(make, roles.owner, members=roles.members, visibility="public")
        self.other_group: Group = make_group(make, roles.owner, visibility="public")
        self._objects: dict[str, str] = {"/groups": str(self.group.id)}
        self.project_id: str = self.new_project()
        self._objects["/projects"] = self.project_id
        self.project_url: str = f"/projects/{self.project_id}"
        self.other_project = self.new_project()
        self._sha: str = self.get(f"{self.project_url}/repository/branches/topic")["commit"]["id"]
        for branch, start in (("picks", "master"), ("reverts", "topic")):
            self.post(f"{self.project_url}/repository/branches", branch=branch, ref=start)

    def get(self, path: str, **query: Any) -> Any:
        """Read as the owner."""
        answer = self.make.api.get(path, self.roles.owner, **query)
        assert answer.is_success, f"{path}: {answer.text}"
        return answer.json()

    def post(self, path: str, **fields: Any) -> Any:
        """Create as the owner."""
        answer = self.make.api.post(path, self.roles.owner, **fields)
        assert answer.is_success, f"{path}: {answer.text}"
        return answer.json()

    def new_group(self, parent: Group | None = None) -> Group:
        """Create a public group of the owner."""
        return make_group(self.make, self.roles.owner, parent=parent, visibility="public")

    def new_project(self, group: Group | None = None) -> str:
        """Create a public project with a second branch."""
        project = make_project(
            self.make,
            self.roles.owner,
            group=group or self.group,
            visibility="public",
            initialize_with_readme=True,
            merge_pipelines_enabled=True,
            merge_trains_enabled=True,
        )
        actions = [
            {"action": "create", "file_path": "a.txt", "content": "one\n"},
            {"action": "create", "file_path": ".gitlab-ci.yml", "content": CONFIGURATION},
        ]
        self.post(
            f"{project.url}/repository/commits",
            branch="topic",
            start_branch="master",
            commit_message="Change [skip ci]",
            actions=actions,
        )
        return str(project.id)

    def sha(self) -> str:
        """Return the id of a commit of the second branch."""
        return self._sha

    def project_path(self) -> str:
        """Return the full path of the project."""
        path: str = self.get(self.project_url)["path_with_namespace"]
        return path

    def label(self, parents: str) -> dict[str, Any]:
        """Create a label."""
        parent = self.project_url if parents == "projects" else f"/groups/{self.group.id}"
        made: dict[str, Any] = self.post(f"{parent}/labels", name=new_name("label"), color="#ff0000")
        return made

    def branch(self, path: str = "") -> str:
        """Create a branch with a commit that the default branch lacks, in the project of a path."""
        name = new_name("branch")
        project = "/".join(path.split("/")[:3]) or self.project_url
        self.post(f"{project}/repository/branches", branch=name, ref="topic")
        return name

    def pipeline(self, url: str = "") -> int:
        """Create a pipeline."""
        url = url or self.project_url
        pipeline: int = self.post(f"{url}/pipeline", ref=self.branch(url))["id"]
        return pipeline

    def project_runner(self, *, shared: bool = False) -> str:
        """Create a runner of another project, which the project uses too if it is shared."""
        runner = project_runner(self.make, int(self.other_project)).id
        if shared:
            self.post(f"{self.project_url}/runners", runner_id=runner)
        return str(runner)

    def shared_group(self, path: str) -> str:
        """Share the project or group with another group."""
        group = self.new_group()
        self.post(path, group_id=group.id, group_access=30)
        return str(group.id)

    def member(self, path: str) -> str:
        """Add a member."""
        person = self.make.user()
        self.post(path, user_id=person.id, access_level=10)
        return str(person.id)

    def image(self) -> str:
        """Push an image with one tag."""
        name = f"{self.project_path()}/{new_name('image')}"
        client = RegistryClient(self.instance, self.roles.owner.username, self.roles.owner.token)
        client.push_image(name, "latest", b"layer")
        client.close()
        listed = self.get(f"{self.project_url}/registry/repositories", per_page=100)
        return str(next(each["id"] for each in listed if each["path"] == name))

    def resource_group(self) -> str:
        """Return the key of a resource group."""
        self.pipeline()
        return "one"

    def suggestion(self) -> int:
        """Comment on a merge request with a suggestion."""
        request = self.post(
            f"{self.project_url}/merge_requests", title="x", source_branch=self.branch(), target_branch="master"
        )
        url = f"{self.project_url}/merge_requests/{request['iid']}"
        position = {
            **{key: request["diff_refs"][key] for key in ("base_sha", "start_sha", "head_sha")},
            "position_type": "text",
            "new_path": "a.txt",
            "old_path": "a.txt",
            "new_line": 1,
        }
        made = self.post(f"{url}/discussions", body="```suggestion\ntwo\n```\n", position=position)
        suggestion: int = made["notes"][0]["suggestions"][0]["id"]
        return suggestion

    def reviewer(self, path: str) -> str:
        """Add a reviewer to the merge request of a path."""
        url = path.removesuffix("/reviewers")
        answer = self.make.api.put(url, self.roles.owner, reviewer_ids=[self.roles.developer.id])
        assert answer.is_success, answer.text
        return str(self.roles.developer.id)

    def value(self, template: str) -> str:
        """Create the object that the last parameter of a path names."""
        return self.place_of("GET", template).values[-1]

    def place_of(self, method: str, template: str) -> Place:
        """Return an operation on existing objects, of which the last one is new."""
        own_parent = bool(_OWN_PARENT.fullmatch(f"{method} {template}"))
        found = list(_PARAMETER.finditer(template))
        path, start, values = "", 0, []
        for parameter in found:
            collection = template[: parameter.start()].rstrip("/")
            path += template[start : parameter.start()]
            is_first, is_last = parameter is found[0], parameter is found[-1]
            is_new = own_parent if is_first and collection in _SHARED else is_last
            create = CREATE.get(f"{method} {template}") if is_last else None
            values.append(self._object(collection, parameter[1], path.rstrip("/"), is_new=is_new, create=create))
            path, start = path + values[-1], parameter.end()
        return Place(self, method, template, path + template[start:], values)

    def _object(self, collection: str, parameter: str, path: str, *, is_new: bool, create: Create | None) -> str:
        if not is_new and collection in self._objects:
            return self._objects[collection]
        create = create or CREATE.get(f"{collection}/{{{parameter}}}", self._post)
        made = create(Place(self, "POST", collection, path, []))
        value = made if isinstance(made, str) else quote(str(_identifier(parameter, made)), safe="")
        if not is_new:
            self._objects[collection] = value
        return value

    def _post(self, place: Place) -> Any:
        request = self.request_of(place)
        answer = self.send(place, self.roles.owner, request)
        if answer.status_code == 403:
            answer = self.send(place, self.make.root, request)
        assert answer.is_success, f"POST {place.path}: {answer.status_code} {answer.text}"
        return answer.json()

    def request_of(self, place: Place) -> dict[str, Any]:
        """Return the query and the body of a valid request."""
        operation = f"{place.method} {place.template}"
        query = self.bodies.required_query(place.method, place.template)
        body = self.bodies.required_body(place.method, place.template)
        extra: dict[str, Any] | Callable[[Place], dict[str, Any]] = EXTRA_FIELDS.get(operation, {})
        fields = extra(place) if callable(extra) else extra
        if operation in FILES:
            return FILES[operation](place)
        if body is not None:
            return {"params": query, "json": {**body, **fields}}
        return {"params": {**query, **fields}}

    def send(self, place: Place, caller: User | None, request: dict[str, Any]) -> httpx.Response:
        """Send a request to a place."""
        return self.make.api.request(place.method, place.path, caller, **request)

    def _id_for(self, name: str) -> int:
        if "user" in name or "assignee" in name:
            return self.make.user().id
        if name == "target_issue_iid":
            iid: int = self.post(f"{self.project_url}/issues", title="x")["iid"]
            return iid
        if name == "label_id":
            label: int = self.label("groups")["id"]
            return label
        if "group" in name or "namespace" in name:
            return self.other_group.id
        return int(self.other_project) if "project" in name else 1


def _identifier(parameter: str, item: dict[str, Any]) -> Any:
    names = ("iid", *_IDENTIFIERS) if parameter.endswith("iid") else (parameter, *_IDENTIFIERS)
    return next(item[name] for name in names if item.get(name) not in (None, ""))
