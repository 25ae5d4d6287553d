"""Fields that the OpenAPI document does not require alone: combinations, files, and names of existing objects."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

from ingot.integrations.registry import REGISTRY
from tests.api.users.gpg import gpg_key
from tests.api.write_matrix.bodies import new_name
from tests.packages.test_npm import document
from tests.ssh_public_keys import ed25519_line

if TYPE_CHECKING:  # The types named here are built from this.
    from tests.api.write_matrix.objects import World


class Place(NamedTuple):
    """An operation on existing objects."""

    world: "World"
    method: str
    template: str
    path: str
    values: list[str]


Fields = dict[str, Any] | Callable[[Place], dict[str, Any]]


def _ssh_key(_: Place) -> dict[str, Any]:
    return {"key": ed25519_line()}


def _gpg_key(_: Place) -> dict[str, Any]:
    return {"key": gpg_key()}


def _title(_: Place) -> dict[str, Any]:
    return {"title": new_name("title")}


def _snippet(_: Place) -> dict[str, Any]:
    return {"file_name": "a.txt", "content": "x"}


def _invited(_: Place) -> dict[str, Any]:
    return {"email": f"{new_name('invited')}@example.org", "access_level": 10}


def _file(_: Place) -> dict[str, Any]:
    return {"files": {"file": (f"{new_name('file')}.txt", b"content")}}


def _archive(place: Place) -> dict[str, Any]:
    parent = {"namespace": place.world.group.path} if "projects" in place.path else {"parent_id": place.world.group.id}
    return {"files": {"file": ("a.tar.gz", b"content")}, "data": {"path": new_name("path"), "name": "x", **parent}}


def _pypi(_: Place) -> dict[str, Any]:
    name = new_name("pypi")
    digest = hashlib.sha256(b"x").hexdigest()
    data = {":action": "file_upload", "name": name, "version": "1.0", "sha256_digest": digest}
    return {"data": data, "files": {"content": (f"{name}-1.0.tar.gz", b"x", "application/octet-stream")}}


def _npm(place: Place) -> dict[str, Any]:
    return {"json": document(place.values[-1].replace("%2F", "/").replace("%40", "@"), f"{new_name('1.0.')}")}


def _emoji(_: Place) -> dict[str, Any]:
    return {"name": next(_EMOJI)}


def _prepared(path: Callable[[Place], str], fields: dict[str, Any], **prepared: Any) -> Fields:
    """Return fields of an operation before which the owner sends another POST."""

    def prepare(place: Place) -> dict[str, Any]:
        place.world.post(path(place), **prepared)
        return fields

    return prepare


def _same_path(place: Place) -> str:
    return place.path


def _mirrored(place: Place) -> dict[str, Any]:
    sent = {"enabled": True, "url": "http://example.org/a.git"}
    assert place.world.make.api.put(place.path, place.world.roles.owner, **sent).is_success
    return {}


def _approved(place: Place) -> dict[str, Any]:
    path = place.path.replace("unapprove", "approve")
    assert place.world.make.api.post(path, place.world.roles.developer).is_success
    return {}


def _trigger_token(place: Place) -> dict[str, Any]:
    token = place.world.post(f"{place.world.project_url}/triggers", description="x")["token"]
    return {"token": token, **({} if "{ref}" in place.template else {"ref": "topic"})}


def _namespace(place: Place) -> dict[str, Any]:
    return {"target_namespace": place.world.group.path}


def _entities(place: Place) -> dict[str, Any]:
    entity = {
        "source_type": "project_entity",
        "source_full_path": "a/b",
        "destination_slug": new_name("imported"),
        "destination_namespace": place.world.group.path,
    }
    return {"configuration": {"url": "http://example.org", "access_token": "x"}, "entities": [entity]}


def _two_topics(place: Place) -> dict[str, Any]:
    first, second = (place.world.value("/topics/{id}") for _ in range(2))
    return {"source_topic_id": int(first), "target_topic_id": int(second)}


def _a_month_ago() -> str:
    return (datetime.now(UTC) - timedelta(days=30)).isoformat()


_IRKER = {"recipients": "irc://irc.example.org/#x", "server_host": "gateway.example.org"}
_EMOJI = cycle(("tada", "rocket", "heart", "eyes", "smile", "clap", "fire"))
_ISSUE = "/projects/{id}/issues/{issue_iid}"
_MERGE_REQUEST = "/projects/{id}/merge_requests/{merge_request_iid}"
EXTRA_FIELDS: dict[str, Fields] = {
    "POST /groups": lambda place: {"parent_id": place.world.group.id},
    "POST /projects/{id}/environments/stop_stale": lambda _: {"before": _a_month_ago()},
    "POST /user/runners": lambda place: {"runner_type": "project_type", "project_id": int(place.world.project_id)},
    "POST /groups/{id}/invitations": _invited,
    "POST /projects/{id}/invitations": _invited,
    "PUT /groups/{id}/invitations/{email}": {"access_level": 20},
    "PUT /projects/{id}/invitations/{email}": {"access_level": 20},
    "PUT /application/appearance": {"profile_image_guidelines": ""},
    "POST /bulk_imports": _entities,
    "POST /bulk_imports/plan": _entities,
    "POST /projects/remote-import": lambda place: {"namespace": place.world.group.path},
    "POST /import/gitea": _namespace,
    "POST /import/github": _namespace,
    "PUT /groups/{id}/push_rule": _prepared(_same_path, {"max_file_size": 1}, max_file_size=2),
    "PUT /projects/{id}/push_rule": _prepared(_same_path, {"max_file_size": 1}, max_file_size=2),
    "DELETE /groups/{id}/push_rule": _prepared(_same_path, {}, max_file_size=2),
    "DELETE /projects/{id}/push_rule": _prepared(_same_path, {}, max_file_size=2),
    "DELETE /projects/{id}/catalog": _prepared(_same_path, {}),
    "POST /projects/{id}/mirror/pull": _mirrored,
    "PUT /groups/{id}/integrations/{slug}": {"api_key": "x"},
    "PUT /projects/{id}/integrations/{slug}": {"api_key": "x"},
    "PUT /projects/{id}/services/{slug}": {"api_key": "x"},
    "PUT /groups/{id}/integrations/irker": _IRKER,
    "PUT /projects/{id}/integrations/irker": _IRKER,
    "PUT /projects/{id}/services/irker": _IRKER,
    f"PUT {_ISSUE}/reorder": lambda place: {
        "move_after_id": place.world.post(f"{place.world.project_url}/issues", title="x")["id"]
    },
    f"POST {_MERGE_REQUEST}/unapprove": _approved,
    "POST /projects/{id}/trigger/pipeline": _trigger_token,
    "POST /projects/{id}/ref/{ref}/trigger/pipeline": _trigger_token,
    "PUT /projects/{id}/repository/tags/{tag_name}/release": _prepared(_same_path, {}, description="x"),
    "PUT /suggestions/batch_apply": lambda place: {"ids": [place.world.suggestion()]},
    "PUT /application/plan_limits": {"plan_name": "default", "ci_needs_size_limit": 50},
    "PUT /application/settings": {"after_sign_out_path": ""},
    "POST /applications": {"scopes": "api"},
    "POST /deploy_keys": _ssh_key,
    "POST /features/{name}": {"value": "true"},
    "POST /groups/{id}/access_tokens": {"scopes": ["read_api"], "access_level": 10},
    "PUT /groups/{id}/badges/{badge_id}": {"name": "x"},
    "DELETE /groups/{id}/labels": lambda place: {"name": place.world.label("groups")["name"]},
    "PUT /groups/{id}/labels": lambda place: {"name": place.world.label("groups")["name"], "color": "#00ff00"},
    "PUT /groups/{id}/labels/{label_id}": {"color": "#00ff00"},
    "POST /groups/{id}/boards/{board_id}/lists": lambda place: {"label_id": place.world.label("groups")["id"]},
    "PUT /groups/{id}/boards/{board_id}/lists/{list_id}": {"position": 0},
    "POST /projects/{id}/boards/{board_id}/lists": lambda place: {"label_id": place.world.label("groups")["id"]},
    "PUT /projects/{id}/boards/{board_id}/lists/{list_id}": {"position": 0},
    "PUT /groups/{id}/milestones/{milestone_id}": _title,
    "POST /groups/{id}/share": lambda place: {"group_id": place.world.new_group().id},
    "POST /projects/{id}/share": lambda place: {"group_id": place.world.new_group().id},
    "PUT /groups/{id}/wikis/{slug}": {"content": "y"},
    "PUT /projects/{id}/wikis/{slug}": {"content": "y"},
    "POST /project_repository_storage_moves": {"source_storage_name": "default"},
    "POST /projects": lambda place: {"name": new_name("project"), "namespace_id": place.world.group.id},
    "POST /projects/user/{user_id}": lambda _: {"name": new_name("project")},
    "PUT /projects/{id}": {"description": "changed"},
    "PUT /groups/{id}": {"description": "changed"},
    "POST /projects/{id}/access_tokens": {"scopes": ["read_api"], "access_level": 10},
    "PUT /projects/{id}/deploy_keys/{key_id}": _title,
    "POST /projects/{id}/deploy_keys": _ssh_key,
    "POST /projects/{id}/deployments": lambda place: {"sha": place.world.sha(), "ref": "topic", "status": "running"},
    "POST /projects/{id}/issues": _title,
    "PUT /projects/{id}/issues/{issue_iid}": _title,
    "POST /projects/{id}/job_token_scope/allowlist": lambda place: {
        "target_project_id": int(place.world.new_project())
    },
    "POST /projects/{id}/job_token_scope/groups_allowlist": lambda place: {
        "target_group_id": place.world.new_group().id
    },
    "DELETE /projects/{id}/labels": lambda place: {"name": place.world.label("projects")["name"]},
    "PUT /projects/{id}/labels": lambda place: {"name": place.world.label("projects")["name"], "color": "#00ff00"},
    "POST /projects/{id}/pages/domains": lambda _: {"domain": f"{new_name('site')}.example"},
    "POST /groups/{id}/protected_environments": {"name": "staging", "deploy_access_levels": [{"access_level": 30}]},
    "PUT /groups/{id}/protected_environments/{name}": {"deploy_access_levels": [{"access_level": 60}]},
    "POST /projects/{id}/protected_environments": {"deploy_access_levels": [{"access_level": 30}]},
    "PUT /projects/{id}/protected_environments/{name}": {"deploy_access_levels": [{"access_level": 60}]},
    "POST /projects/{id}/freeze_periods": {"freeze_start": "0 23 * * 5", "freeze_end": "0 7 * * 1"},
    "PUT /projects/{id}/freeze_periods/{freeze_period_id}": {"freeze_end": "0 8 * * 1"},
    "PUT /projects/{id}/labels/{label_id}": {"color": "#00ff00"},
    "POST /projects/{id}/merge_requests": lambda place: {"source_branch": place.world.branch(place.path)},
    "PUT /projects/{id}/merge_requests/{merge_request_iid}": _title,
    "PUT /projects/{id}/merge_requests/{merge_request_iid}/discussions/{discussion_id}/notes/{note_id}": {"body": "y"},
    "PUT /projects/{id}/merge_requests/{merge_request_iid}/draft_notes/{draft_note_id}": {"note": "y"},
    "PUT /projects/{id}/milestones/{milestone_id}": _title,
    "PUT /projects/{id}/mirror/pull": {"enabled": True, "url": "http://example.org/a.git"},
    "POST /projects/{id}/packages/protection/rules": {"minimum_access_level_for_push": "maintainer"},
    "PATCH /projects/{id}/packages/protection/rules/{package_protection_rule_id}": {
        "minimum_access_level_for_push": "owner"
    },
    "POST /projects/{id}/pipeline": {"ref": "topic"},
    "POST /projects/{id}/pipeline_schedules": {"ref": "topic"},
    "PUT /projects/{id}/pipeline_schedules/{pipeline_schedule_id}": {"description": "changed"},
    "POST /projects/{id}/registry/protection/repository/rules": lambda place: {
        "repository_path_pattern": f"{place.world.project_path()}/{new_name('x')}*",
        "minimum_access_level_for_push": "maintainer",
    },
    "PATCH /projects/{id}/registry/protection/repository/rules/{protection_rule_id}": {
        "minimum_access_level_for_push": "owner"
    },
    "DELETE /projects/{id}/registry/repositories/{repository_id}/tags": {"name_regex_delete": "x.*"},
    "POST /projects/{id}/releases": {"ref": "topic", "description": "x"},
    "PUT /projects/{id}/releases/{tag_name}": {"description": "y"},
    "PUT /projects/{id}/releases/{tag_name}/assets/links/{link_id}": {"name": "changed"},
    "POST /projects/{id}/repository/branches": lambda _: {"branch": new_name("branch")},
    "POST /projects/{id}/repository/changelog": {"branch": "topic", "from": "master"},
    "POST /projects/{id}/repository/commits": lambda _: {
        "actions": [{"action": "create", "file_path": new_name("file"), "content": "x"}]
    },
    "POST /projects/{id}/repository/commits/{sha}/cherry_pick": {"branch": "picks"},
    "POST /projects/{id}/repository/commits/{sha}/revert": {"branch": "reverts"},
    "PUT /projects/{id}/repository/files/{file_path}": lambda _: {"content": new_name("content")},
    "POST /projects/{id}/repository/tags": {"ref": "topic"},
    "POST /projects/{id}/repository_storage_moves": {"destination_storage_name": "default"},
    "POST /projects/{id}/runners": lambda place: {"runner_id": place.world.project_runner()},
    "POST /projects/{id}/snippets": _snippet,
    "PUT /projects/{id}/snippets/{snippet_id}": _title,
    "POST /projects/{id}/statuses/{sha}": {"ref": "topic"},
    "PUT /projects/{id}/transfer": lambda place: {"namespace": place.world.other_group.id},
    "POST /projects/{id}/triggers": {"description": "x"},
    "POST /projects/{id}/variables": {"value": "a value of a variable"},
    "PUT /projects/{id}/variables/{key}": {"value": "another value"},
    "POST /snippets": _snippet,
    "PUT /snippets/{id}": _title,
    "POST /topics/merge": _two_topics,
    "PUT /topics/{id}": _title,
    "POST /topics": _title,
    "POST /user/gpg_keys": _gpg_key,
    "POST /user/keys": _ssh_key,
    "POST /user/personal_access_tokens": {"scopes": ["k8s_proxy"]},
    "POST /users/{user_id}/personal_access_tokens": {"scopes": ["read_api"]},
    "POST /users": {"password": "a long password of a user"},
    "PUT /users/{id}": {"name": "changed"},
    "POST /users/{id}/gpg_keys": _gpg_key,
    "POST /users/{id}/keys": _ssh_key,
    "PUT /runners/{id}": {"description": "changed"},
    **{
        f"POST {parent}/award_emoji": _emoji
        for parent in (
            "/projects/{id}/issues/{issue_iid}",
            "/projects/{id}/issues/{issue_iid}/notes/{note_id}",
            "/projects/{id}/merge_requests/{merge_request_iid}",
            "/projects/{id}/merge_requests/{merge_request_iid}/notes/{note_id}",
            "/projects/{id}/snippets/{snippet_id}",
            "/projects/{id}/snippets/{snippet_id}/notes/{note_id}",
        )
    },
}
# Required secrets are optional in the description of the API, because stored ones may be left out.
for _integration in REGISTRY.values():
    _secrets = {
        each.name: "https://hooks.example.org/x" if each.address else "x"
        for each in _integration.properties
        if each.required and each.secret
    }
    for _parent in ("groups/{id}/integrations", "projects/{id}/integrations", "projects/{id}/services"):
        EXTRA_FIELDS.setdefault(f"PUT /{_parent}/{_integration.slug}", _secrets)
FILES: dict[str, Callable[[Place], dict[str, Any]]] = {
    **dict.fromkeys(
        (
            "POST /projects/{id}/uploads",
            "POST /projects/{id}/wikis/attachments",
            "POST /groups/{id}/wikis/attachments",
        ),
        _file,
    ),
    "POST /projects/{id}/secure_files": lambda _: {"data": {"name": new_name("key")}, "files": {"file": ("a", b"x")}},
    "POST /projects/{id}/terraform/state/{name}": lambda _: {"json": {"version": 4, "serial": int(new_name("9"))}},
    "POST /projects/import": _archive,
    "POST /groups/import": _archive,
    "POST /projects/{id}/packages/pypi": _pypi,
    "PUT /projects/{id}/packages/npm/{package_name}": _npm,
    "PUT /projects/{id}/packages/npm/-/package/{package_name}/dist-tags/{tag}": lambda _: {"json": "1.0.0"},
    "PUT /projects/{id}/packages/maven/{path}/{file_name}": lambda _: {"content": b"x"},
    "PUT /projects/{id}/packages/generic/{package_name}/{package_version}/{file_name}": lambda _: {"content": b"x"},
}
