"""Objects that no POST of their collection creates, by the path that names them."""

from collections.abc import Callable
from typing import Any

from tests.api.write_matrix.bodies import new_name
from tests.api.write_matrix.special_bodies import Place
from tests.ci.artifacts.files import upload, zip_of
from tests.ci.runner_client import project_runner
from tests.packages.test_npm import document

Create = Callable[[Place], Any]


def _ok(answer: Any) -> Any:
    assert answer.is_success, f"{answer.request.url}: {answer.status_code} {answer.text}"
    return answer.json() if answer.content and "json" in answer.headers.get("content-type", "") else None


def _put(key: str, **fields: Any) -> Create:
    """Return a function that creates an object with PUT."""

    def create(place: Place) -> str:
        name = new_name(key)
        owner, root = place.world.roles.owner, place.world.make.root
        caller = root if "custom_attributes" in place.path or place.path.startswith("/hooks") else owner
        _ok(place.world.make.api.put(f"{place.path}/{name}", caller, **fields))
        return name

    return create


def _named(stem: str) -> Create:
    """Return a function that returns a new name, because the operation creates the object."""
    return lambda _: new_name(stem)


def _access_request(place: Place) -> str:
    person = place.world.make.user()
    _ok(place.world.make.api.post(place.path, person))
    return str(person.id)


def _invitation(place: Place) -> str:
    email = f"{new_name('invited')}@example.org"
    world = place.world
    _ok(world.make.api.post(place.path, world.make.root, email=email, access_level=10))
    return email


def _file(place: Place) -> str:
    name = new_name("file")
    sent = {"branch": "topic", "content": "x", "commit_message": "Add"}
    _ok(place.world.make.api.post(f"{place.path}/{name}", place.world.roles.owner, **sent))
    return name


def _job(place: Place) -> str:
    url = place.path.removesuffix("/jobs")
    jobs = place.world.get(f"{url}/pipelines/{place.world.pipeline(url)}/jobs")
    return str(next(job["id"] for job in jobs if job["name"] == "a"))


def _manual_job(place: Place) -> str:
    url = place.path.removesuffix("/jobs")
    jobs = place.world.get(f"{url}/pipelines/{place.world.pipeline(url)}/jobs")
    return str(next(job["id"] for job in jobs if job["name"] == "b"))


def _finished_job(place: Place) -> str:
    project_id = int(place.path.split("/")[2])
    _job(place)
    job = project_runner(place.world.make, project_id).must_take()
    job.trace(b"output")
    assert job.upload({"a.txt": b"x"}, expire_in="1 day").status_code == 201
    job.finish()
    return str(job.id)


def _npm_package(place: Place) -> str:
    name = new_name(f"@{place.world.group.path}/npm")
    encoded = name.replace("/", "%2F")
    url = f"{place.world.project_url}/packages/npm/{encoded}"
    _ok(place.world.make.api.request("PUT", url, place.world.roles.owner, json=document(name, "1.0.0")))
    return encoded


def _npm_tag(place: Place) -> str:
    tag = new_name("tag")
    _ok(place.world.make.api.request("PUT", f"{place.path}/{tag}", place.world.roles.owner, json="1.0.0"))
    return tag


def _package(place: Place) -> str:
    api, owner = place.world.make.api, place.world.roles.owner
    name = new_name("generic")
    _ok(api.request("PUT", f"{place.world.project_url}/packages/generic/{name}/1.0/a", owner, content=b"x"))
    return str(_ok(api.get(place.path, owner, package_name=name))[0]["id"])


def _package_file(place: Place) -> str:
    return str(_ok(place.world.make.api.get(place.path, place.world.roles.owner))[0]["id"])


def _upload(place: Place) -> dict[str, Any]:
    url = f"{place.world.project_url}/uploads"
    made = _ok(place.world.make.api.request("POST", url, place.world.roles.owner, files={"file": ("a.txt", b"x")}))
    return {"id": made["id"], "secret": made["full_path"].split("/")[-2]}


def _site(place: Place) -> str:
    """Publish a site of the project, and return its deployment."""
    world = place.world
    project_id = int(place.path.split("/")[2])
    actions = [{"action": "create", "file_path": ".gitlab-ci.yml", "content": "pages: {script: x}"}]
    world.post(f"/projects/{project_id}/repository/commits", branch="master", commit_message="Add", actions=actions)
    job = project_runner(world.make, project_id).must_take()
    archive = zip_of({"public/index.html": b"x"})
    sent = upload(world.make.api, job.id, job.token, archive, artifact_type="archive", artifact_format="zip")
    assert sent.status_code == 201, sent.text
    job.finish()
    world.instance.work()
    return str(world.get(place.path)[0]["id"])


def _state(place: Place) -> str:
    name = new_name("state")
    sent = {"version": 4, "serial": 1}
    url = f"{place.world.project_url}/terraform/state/{name}"
    _ok(place.world.make.api.request("POST", url, place.world.roles.owner, json=sent))
    return name


def _todo(place: Place) -> str:
    api, owner = place.world.make.api, place.world.roles.owner
    issue = _ok(api.post(f"{place.world.project_url}/issues", owner, title=new_name("issue")))["iid"]
    return str(_ok(api.post(f"{place.world.project_url}/issues/{issue}/todo", owner))["id"])


def _personal_token(place: Place) -> str:
    api, owner = place.world.make.api, place.world.roles.owner
    made = _ok(
        api.post(
            f"/users/{owner.id}/personal_access_tokens", place.world.make.root, name=new_name("token"), scopes=["api"]
        )
    )
    return str(made["id"])


def _merge_request(place: Place) -> str:
    url = place.path.replace("/merge_trains", "")
    return str(place.world.post(url, title="x", source_branch="topic", target_branch="master")["iid"])


def _suggestion(place: Place) -> str:
    return str(place.world.suggestion())


def _protected_tier(name: str) -> Create:
    """Return a function that protects a tier of a group, of which there are few."""
    sent = {"name": name, "deploy_access_levels": [{"access_level": 30}]}
    return lambda place: place.world.post(place.path, **sent)["name"]


CREATE: dict[str, Create] = {
    "/projects/{id}": lambda place: place.world.new_project(),
    "/groups/{id}": lambda place: str(place.world.new_group(place.world.group).id),
    "/users/{id}": lambda place: str(place.world.make.user().id),
    "/users/{user_id}": lambda place: str(place.world.make.user().id),
    "/projects/user/{user_id}": lambda place: str(place.world.make.user().id),
    "/features/{name}": _named("feature"),
    "/feature_flags/unleash/{project_id}": lambda place: place.world.project_id,
    "/groups/{id}/custom_attributes/{key}": _put("key", value="x"),
    "/projects/{id}/custom_attributes/{key}": _put("key", value="x"),
    "/users/{id}/custom_attributes/{key}": _put("key", value="x"),
    "/groups/{id}/hooks/{hook_id}/custom_headers/{key}": _put("key", value="x"),
    "/projects/{id}/hooks/{hook_id}/custom_headers/{key}": _put("key", value="x"),
    "/groups/{id}/hooks/{hook_id}/url_variables/{key}": _put("key", value="x"),
    "/projects/{id}/hooks/{hook_id}/url_variables/{key}": _put("key", value="x"),
    "/hooks/{id}/url_variables/{key}": _put("key", value="x"),
    "/groups/{id}/hooks/{hook_id}/test/{trigger}": lambda _: "push_events",
    "/projects/{id}/hooks/{hook_id}/test/{trigger}": lambda _: "push_events",
    "/groups/{id}/projects/{project_id}": lambda place: place.world.new_project(place.world.other_group),
    "/groups/{id}/access_requests/{user_id}": _access_request,
    "/projects/{id}/access_requests/{user_id}": _access_request,
    "/groups/{id}/invitations/{email}": _invitation,
    "/projects/{id}/invitations/{email}": _invitation,
    "/groups/{id}/share/{group_id}": lambda place: place.world.shared_group(place.path),
    "/projects/{id}/share/{group_id}": lambda place: place.world.shared_group(place.path),
    "/groups/{id}/members/{user_id}": lambda place: place.world.member(place.path),
    "/projects/{id}/members/{user_id}": lambda place: place.world.member(place.path),
    "/personal_access_tokens/{id}": _personal_token,
    "/projects/{id}/fork/{forked_from_id}": lambda place: place.world.new_project(),
    "PUT /groups/{id}/protected_environments/{name}": _protected_tier("testing"),
    "DELETE /groups/{id}/protected_environments/{name}": _protected_tier("development"),
    "/groups/{id}/integrations/{slug}": lambda _: "asana",
    "/projects/{id}/integrations/{slug}": lambda _: "asana",
    "/projects/{id}/services/{slug}": lambda _: "asana",
    "/projects/{id}/jobs/{job_id}": _job,
    "POST /projects/{id}/jobs/{job_id}/play": _manual_job,
    "POST /projects/{id}/jobs/{job_id}/retry": _finished_job,
    "POST /projects/{id}/jobs/{job_id}/erase": _finished_job,
    "POST /projects/{id}/jobs/{job_id}/artifacts/keep": _finished_job,
    "DELETE /projects/{id}/jobs/{job_id}/artifacts": _finished_job,
    "POST /projects/{id}/repository/files/{file_path}": _named("file"),
    "/users/{id}/identities/{provider}": lambda _: "saml",
    "/projects/{id}/pages/deployments/{deployment_id}": _site,
    "/projects/{id}/pipelines/{pipeline_id}": lambda place: str(place.world.pipeline()),
    "/projects/{id}/packages/npm/{package_name}": _npm_package,
    "/projects/{id}/packages/npm/-/package/{package_name}": _npm_package,
    "/projects/{id}/packages/npm/-/package/{package_name}/dist-tags/{tag}": _npm_tag,
    "/projects/{id}/packages/maven/{path}": lambda _: f"org%2Fexample%2F{new_name('a')}%2F1.0",
    "/projects/{id}/packages/maven/{path}/{file_name}": lambda place: f"{place.path.split('%2F')[-2]}-1.0.jar",
    "/projects/{id}/packages/generic/{package_name}": _named("generic"),
    "/projects/{id}/packages/generic/{package_name}/{package_version}": lambda _: "1.0",
    "/projects/{id}/packages/generic/{package_name}/{package_version}/{file_name}": _named("file"),
    "/projects/{id}/packages/{package_id}": _package,
    "/projects/{id}/packages/{package_id}/package_files/{package_file_id}": _package_file,
    "/projects/{id}/repository/commits/{sha}": lambda place: place.world.sha(),
    "/projects/{id}/statuses/{sha}": lambda place: place.world.sha(),
    "/projects/{id}/repository/files/{file_path}": _file,
    "/projects/{id}/ref/{ref}": lambda _: "topic",
    "/projects/{id}/registry/repositories/{repository_id}": lambda place: place.world.image(),
    "/projects/{id}/registry/repositories/{repository_id}/tags/{tag_name}": lambda _: "latest",
    "/projects/{id}/resource_groups/{key}": lambda place: place.world.resource_group(),
    "/projects/{id}/runners/{runner_id}": lambda place: place.world.project_runner(shared=True),
    "/projects/{id}/terraform/state/{name}": _state,
    "/projects/{id}/terraform/state/{name}/versions/{serial}": lambda _: "1",
    "/projects/{id}/uploads/{upload_id}": _upload,
    "/projects/{id}/uploads/{secret}": _upload,
    "/projects/{id}/uploads/{secret}/{filename}": lambda _: "a.txt",
    "/projects/{id}/merge_trains/merge_requests/{merge_request_iid}": _merge_request,
    "/runners/{id}": lambda place: str(place.world.project_runner()),
    "/suggestions/{id}": _suggestion,
    "/todos/{id}": _todo,
    "/projects/{id}/merge_requests/{merge_request_iid}/reviewers/{user_id}": lambda place: place.world.reviewer(
        place.path
    ),
}
