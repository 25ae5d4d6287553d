"""Creation of the described data through the API, so that it differs in nothing from what clients create."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ingot.core.errors import Invalid
from ingot.server.test_control.in_process_api import InProcessApi
from ingot.server.test_control.seed_description import (
    SeedDescription,
    SeedGroup,
    SeedHook,
    SeedIssue,
    SeedMergeRequest,
    SeedPipeline,
    SeedProject,
    SeedUser,
)

_LEVELS = {"guest": 10, "reporter": 20, "developer": 30, "maintainer": 40, "owner": 50}
_LABEL_COLOR = "#428BCA"


class Seeder:
    """Creates the data of one description; returns the ids and tokens of what it has created."""

    def __init__(self, api: InProcessApi, receiver_url: str) -> None:
        self._api = api
        self._receiver_url = receiver_url
        self._user_ids: dict[str, int] = {}

    async def create(self, description: SeedDescription) -> dict[str, list[dict[str, Any]]]:
        """Create users, groups and projects."""
        return {
            "users": [await self._create_user(user) for user in description.users],
            "groups": [await self._create_group(group) for group in description.groups],
            "projects": [await self._create_project(project) for project in description.projects],
        }

    async def _create_user(self, user: SeedUser) -> dict[str, Any]:
        created = await self._api.call(
            "POST",
            "/users",
            {
                "username": user.username,
                "name": user.name or user.username.capitalize(),
                "email": user.email or f"{user.username}@example.com",
                "password": user.password,
                "admin": user.admin,
                "skip_confirmation": True,
            },
        )
        path = f"/users/{created['id']}/impersonation_tokens"
        token = await self._api.call("POST", path, {"name": "seed", "scopes": ["api"]})
        return {"id": created["id"], "username": user.username, "token": token["token"]}

    async def _create_group(self, group: SeedGroup) -> dict[str, Any]:
        parent, _, path = group.path.rpartition("/")
        document: dict[str, Any] = {"name": group.name or path, "path": path, "visibility": group.visibility}
        if parent:
            document["parent_id"] = (await self._api.call("GET", f"/groups/{quote(parent, safe='')}"))["id"]
        created = await self._api.call("POST", "/groups", document)
        await self._add_members(f"/groups/{created['id']}", group.members)
        return {"id": created["id"], "full_path": created["full_path"]}

    async def _add_members(self, parent: str, members: Mapping[str, str]) -> None:
        for username, level in members.items():
            if level not in _LEVELS:
                raise Invalid(f"{level} is not an access level; use one of {', '.join(_LEVELS)}")
            document = {"user_id": await self._user_id(username), "access_level": _LEVELS[level]}
            await self._api.call("POST", f"{parent}/members", document)

    async def _user_id(self, username: str) -> int:
        if username not in self._user_ids:
            found = await self._api.call("GET", f"/users?username={quote(username, safe='')}")
            if not found:
                raise Invalid(f"There is no user {username}")
            self._user_ids[username] = found[0]["id"]
        return self._user_ids[username]

    async def _create_project(self, project: SeedProject) -> dict[str, Any]:
        namespace, _, path = project.path.rpartition("/")
        document: dict[str, Any] = {
            "name": project.name or path,
            "path": path,
            "description": project.description,
            "visibility": project.visibility,
        }
        if project.default_branch:
            document["default_branch"] = project.default_branch
        if namespace:
            found = await self._api.call("GET", f"/namespaces/{quote(namespace, safe='')}")
            document["namespace_id"] = found["id"]
        created = await self._api.call("POST", "/projects", document, "" if namespace else project.owner)
        base = f"/projects/{created['id']}"
        main = project.default_branch or created["default_branch"] or "master"
        await self._add_members(base, project.members)
        await self._add_contents(base, main, project)
        return {
            "id": created["id"],
            "path_with_namespace": created["path_with_namespace"],
            "default_branch": main,
            "issues": [await self._create_issue(base, issue) for issue in project.issues],
            "merge_requests": [await self._create_merge_request(base, main, each) for each in project.merge_requests],
            "pipelines": [await self._create_pipeline(base, main, pipeline) for pipeline in project.pipelines],
            "hooks": [await self._create_hook(base, hook) for hook in project.hooks],
        }

    async def _add_contents(self, base: str, main: str, project: SeedProject) -> None:
        if project.files or project.branches or project.pipelines or project.tags:
            await self._commit(base, main, "", project.files or {"README.md": f"# {project.path}\n"})
        for branch, files in project.branches.items():
            if files:
                await self._commit(base, branch, main, files, set(project.files) or {"README.md"})
            else:
                await self._api.call("POST", f"{base}/repository/branches", {"branch": branch, "ref": main})
        for tag in project.tags:
            await self._api.call("POST", f"{base}/repository/tags", {"tag_name": tag, "ref": main})
        for label in project.labels:
            await self._api.call("POST", f"{base}/labels", {"name": label, "color": _LABEL_COLOR})
        for title in project.milestones:
            await self._api.call("POST", f"{base}/milestones", {"title": title})

    async def _commit(
        self, base: str, branch: str, start: str, files: Mapping[str, str], existing: set[str] | None = None
    ) -> None:
        actions = [
            {"action": "update" if path in (existing or ()) else "create", "file_path": path, "content": content}
            for path, content in files.items()
        ]
        document: dict[str, Any] = {
            "branch": branch,
            "commit_message": f"Add files to {branch}",
            "actions": actions,
        }
        if start:
            document["start_branch"] = start
        await self._api.call("POST", f"{base}/repository/commits", document)

    async def _create_issue(self, base: str, issue: SeedIssue) -> dict[str, Any]:
        document: dict[str, Any] = {"title": issue.title, "description": issue.description}
        if issue.labels:
            document["labels"] = ",".join(issue.labels)
        if issue.assignee:
            document["assignee_ids"] = [await self._user_id(issue.assignee)]
        created = await self._api.call("POST", f"{base}/issues", document, issue.author)
        place = f"{base}/issues/{created['iid']}"
        for comment in issue.comments:
            await self._api.call("POST", f"{place}/notes", {"body": comment}, issue.author)
        if issue.state == "closed":
            await self._api.call("PUT", place, {"state_event": "close"})
        return {"id": created["id"], "iid": created["iid"]}

    async def _create_merge_request(self, base: str, main: str, request: SeedMergeRequest) -> dict[str, Any]:
        document = {
            "title": request.title,
            "description": request.description,
            "source_branch": request.source_branch,
            "target_branch": request.target_branch or main,
            "labels": ",".join(request.labels),
        }
        created = await self._api.call("POST", f"{base}/merge_requests", document, request.author)
        place = f"{base}/merge_requests/{created['iid']}"
        if request.state == "closed":
            await self._api.call("PUT", place, {"state_event": "close"})
        elif request.state == "merged":
            await self._api.call("PUT", f"{place}/merge")
        return {"id": created["id"], "iid": created["iid"]}

    async def _create_pipeline(self, base: str, main: str, pipeline: SeedPipeline) -> dict[str, Any]:
        ref = pipeline.ref or main
        commit = await self._api.call("GET", f"{base}/repository/commits/{quote(ref, safe='')}")
        for name, state in pipeline.statuses.items():
            document = {"state": state, "name": name, "ref": ref}
            await self._api.call("POST", f"{base}/statuses/{commit['id']}", document)
        created = await self._api.call("GET", f"{base}/pipelines?sha={commit['id']}&ref={quote(ref, safe='')}")
        return {"id": created[0]["id"], "sha": commit["id"], "status": created[0]["status"]}

    async def _create_hook(self, base: str, hook: SeedHook) -> dict[str, Any]:
        document: dict[str, Any] = {"url": hook.url or f"{self._receiver_url}/{hook.receiver}", "push_events": False}
        document |= dict.fromkeys(hook.events, True)
        if hook.token:
            document["token"] = hook.token
        created = await self._api.call("POST", f"{base}/hooks", document)
        for event in hook.events:
            if event not in created:
                raise Invalid(f"{event} is not an event of webhooks")
        return {"id": created["id"], "url": created["url"]}
