"""Records of the tables that the sample data of pages leave empty, and rows that refer to later rows of a table."""

import secrets
import tempfile
from pathlib import Path

import httpx
from sqlalchemy import func, select

from ingot.core.db.connection import Connection
from ingot.integrations.commands.service import link_chat_name
from ingot.repositories.certificates.service import SeenCertificate, record_certificates
from ingot.webhooks.tables import hook_attempts
from tests.api.hooks.receiver import Receiver
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.api.merge_requests.stacks import make_stack, open_layer
from tests.api.merging.merge_calls import merged, tip
from tests.ci.runner_client import project_runner
from tests.client import Make
from tests.factories import make_group, make_project
from tests.lfs.conftest import LfsClient
from tests.oauth_client import register
from tests.packages.registry_client import RegistryClient
from tests.sample_data.records import SampleData
from tests.server.process import until
from tests.ssh_public_keys import ed25519_line
from tests.transport.conftest import Tree, over_http
from tests.web.authenticator import Authenticator
from tests.web.browser import Browser
from tests.web.test_passkeys import add_passkey
from tests.web.test_two_factor import enable_two_factor

_PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
_CI_FILE = """
start: {trigger: {include: child.yml}}
ship: {script: [make], resource_group: production, when: manual}
build: {script: [make], tags: [rare]}
wait: {script: [make], tags: [rare]}
"""


def fill_rare_tables(samples: SampleData, lfs: LfsClient, receiver: Receiver) -> None:
    """Create the records through the API, the pages and the protocols of other clients."""
    _fill_self_references(samples)
    _fill_accounts(samples)
    _fill_sessions(samples)
    _fill_sharing(samples)
    _fill_project(samples, lfs)
    _fill_merge_request(samples)
    _fill_packages(samples)
    _fill_deployments(samples)
    _fill_statistics(samples)
    _fill_pipelines(samples)
    _fill_certificates(samples)
    _fill_deliveries(samples, receiver)
    _fill_transfers(samples)


def _fill_self_references(samples: SampleData) -> None:
    """Move an issue and transfer a group below younger ones, and declare a project the fork of a younger one."""
    make, owner = samples.make, samples.owner
    older, younger = (make_group(make, owner) for _ in range(2))
    samples.post(f"{older.url}/transfer", group_id=younger.id)
    old_project, new_project = (make_project(make, owner) for _ in range(2))
    samples.post(f"{old_project.url}/fork/{new_project.id}", make.root)
    samples.post(f"{old_project.url}/issues", title="Moved")
    samples.post(f"{old_project.url}/issues/1/move", to_project_id=new_project.id)
    task = samples.post(f"{old_project.url}/issues", title="Task of a younger issue", issue_type="task")
    issue = samples.post(f"{old_project.url}/issues", title="Younger")
    incident = samples.post(f"{old_project.url}/issues", title="Outage", issue_type="incident")
    _fill_timeline(samples, incident["id"])
    samples.put(f"{old_project.url}/issues/{task['iid']}", parent_id=issue["id"])


def _fill_timeline(samples: SampleData, incident_id: int) -> None:
    sent = {"incidentId": f"gid://gitlab/Issue/{incident_id}", "note": "Alarm", "occurredAt": "2026-01-31T09:00:00Z"}
    query = "mutation($input: TimelineEventCreateInput!) { timelineEventCreate(input: $input) { errors } }"
    variables = {"input": {**sent, "timelineEventTagNames": ["Start time"]}}
    headers = {"PRIVATE-TOKEN": samples.owner.token}
    url = f"{samples.instance.url}/api/graphql"
    answer = httpx.post(url, headers=headers, json={"query": query, "variables": variables})
    assert answer.json()["data"]["timelineEventCreate"]["errors"] == [], answer.text


def _fill_accounts(samples: SampleData) -> None:
    owner, colleague, root = samples.owner, samples.colleague, samples.make.root
    samples.post(f"/users/{colleague.id}/follow")
    samples.put("/notification_settings", level="watch")
    samples.put(f"{samples.project.url}/notification_settings", level="custom", new_note=True)
    samples.put(f"/users/{owner.id}/custom_attributes/ship", root, value="Ada")
    samples.put(f"{samples.group.url}/custom_attributes/ship", root, value="Ben")
    samples.put(f"{samples.project.url}/custom_attributes/ship", root, value="Cy")
    samples.post("/features/rare_feature", root, value="true")
    picture = samples.make.api.request("PUT", "/user/avatar", owner, files={"avatar": ("a.png", _PNG)})
    assert picture.status_code == 200, picture.text


def _fill_sessions(samples: SampleData) -> None:
    """Sign in, activate a second factor and a passkey, and authorize an application."""
    url = samples.instance.url.replace("127.0.0.1", "localhost")
    with Browser(url) as browser:
        browser.signed_in_as(samples.owner)
        application = register(browser)
        answer = application.exchange(application.code(browser))
        assert answer.status_code == 200, answer.text
        application.code(browser)
        data = {"authenticity_token": browser.token(), "file": "tides.py", "digest": "0" * 40, "viewed": "1"}
        page = f"/{samples.project.path}/-/merge_requests/1/viewed"
        assert browser.post(page, data=data).status_code == 302
        view = {"authenticity_token": data["authenticity_token"], "name": "Closed", "query": "state=closed"}
        for base in (f"/{samples.project.path}/-", f"/groups/{samples.group.path}/-", "/dashboard"):
            assert browser.post(f"{base}/saved_views/issues", data=view).status_code == 302
        enable_two_factor(browser)
        add_passkey(browser, Authenticator(url, credential_id=secrets.token_bytes(16)))
    with Browser(url) as stranger:
        assert stranger.sign_in(samples.colleague.username, "wrong").status_code == 401


def _fill_sharing(samples: SampleData) -> None:
    make, owner, colleague, here = samples.make, samples.owner, samples.colleague, samples.project.url
    other = make_group(make, owner, visibility="public")
    for place in (here, samples.group.url):
        samples.post(f"{place}/share", group_id=other.id, group_access=30)
    samples.post(f"{other.url}/access_requests", colleague)
    samples.post(f"{here}/star", colleague)
    samples.put(here, topics=["tides", "sea"])
    renamed = make_group(make, owner)
    within = make_project(make, owner, group=renamed)
    samples.put(within.url, path=make.name("renamed"))
    samples.put(renamed.url, path=make.name("renamed"))


def _fill_project(samples: SampleData, lfs: LfsClient) -> None:
    api, owner, here = samples.make.api, samples.owner, samples.project.url
    key = {"files": {"file": ("a.jks", b"key")}, "data": {"name": "a.jks"}}
    assert api.request("POST", f"{here}/secure_files", owner, **key).status_code == 201
    state = f"{here}/terraform/state/production"
    assert api.request("POST", state, owner, json={"version": 4, "serial": 1}).status_code == 200
    assert api.request("PATCH", f"{here}/pages", owner, json={"pages_https_only": True}).status_code == 200
    samples.post(f"{here}/pages/domains", domain="www.sample-data.example")
    upload = api.request("POST", f"{here}/uploads", owner, files={"file": ("a.txt", b"text")})
    assert upload.status_code == 201, upload.text
    lfs.upload(samples.project, owner, b"large")
    assert lfs.json(samples.project, "info/lfs/locks", owner, path="big.psd").status_code == 201
    samples.put(f"{here}/labels/{samples.named['project label']}", priority=1)
    key = samples.post(f"{here}/deploy_keys", title="Pusher", key=ed25519_line(), can_push=True)
    access = [{"deploy_key_id": key["id"]}]
    samples.post(f"{here}/protected_branches", name="by-key", allowed_to_push=access)
    allowed = [{"access_level": 40}]
    samples.post(f"{samples.group.url}/protected_environments", name="production", deploy_access_levels=allowed)
    milestone = api.get(f"{here}/milestones", owner).json()[0]["title"]
    samples.post(f"{here}/releases", tag_name="rare", ref="master", milestones=[milestone])
    strategy = {"name": "default", "parameters": {}, "scopes": [{"environment_scope": "production"}]}
    samples.post(f"{here}/feature_flags", name="rare_flag", version="new_version_flag", strategies=[strategy])
    mirror = {"url": "https://mirror.example/a.git", "enabled": False}
    samples.post(f"{here}/remote_mirrors", **mirror)
    samples.put(f"{samples.empty.url}/mirror/pull", **mirror)
    samples.put(f"{here}/integrations/slack", webhook="https://chat.example/hook")
    samples.put(f"{samples.group.url}/integrations/mattermost", webhook="https://chat.example/hook")
    command = {"token": "chat", "team_id": "T", "user_id": "U"}
    samples.put(f"{here}/integrations/slack-slash-commands", token="chat")
    reply = samples.post(f"{here}/integrations/slack_slash_commands/trigger", **command)
    token = reply["text"].partition("token=")[2].partition("|")[0]
    samples.make.database.write(lambda db: link_chat_name(db, owner.id, token))
    samples.post(f"{here}/issues/1/subscribe", samples.make.root)


def _fill_merge_request(samples: SampleData) -> None:
    here = f"{samples.project.url}/merge_requests/1"
    samples.put(here, reviewer_ids=[samples.colleague.id])
    samples.post(f"{here}/approve", samples.colleague)


def _fill_packages(samples: SampleData) -> None:
    api, here, owner = samples.make.api, samples.project.url, samples.owner
    rule = {"minimum_access_level_for_push": "maintainer"}
    samples.post(f"{here}/packages/protection/rules", package_name_pattern="a-*", package_type="npm", **rule)
    samples.post(
        f"{here}/registry/protection/repository/rules", repository_path_pattern=f"{samples.project.path}/a", **rule
    )
    document = {
        "name": "rare",
        "versions": {"1.0.0": {"name": "rare", "version": "1.0.0"}},
        "dist-tags": {"latest": "1.0.0"},
    }
    document["_attachments"] = {
        "rare-1.0.0.tgz": {"content_type": "application/octet-stream", "data": "eA==", "length": 1}
    }
    sent = api.request("PUT", f"{here}/packages/npm/rare", owner, json=document)
    assert sent.is_success, sent.text
    registry = RegistryClient(samples.instance, owner.username, owner.token)
    registry.push_image(samples.project.path.lower(), "rare", b"layer")
    assert registry("POST", f"/v2/{samples.project.path.lower()}/blobs/uploads/").status_code == 202
    registry.close()


def _fill_deployments(samples: SampleData) -> None:
    """Deploy a merged merge request."""
    make, owner = samples.make, samples.owner
    project = filled_project(make, owner)
    merged(make.api, project, make_merge_request(make, project, owner), owner)
    deployed = {"sha": tip(make.api, project, owner)["id"], "ref": "master", "tag": False, "status": "success"}
    deployment = samples.post(f"{project.url}/deployments", environment="live", **deployed)
    shown = make.api.get(f"{project.url}/deployments/{deployment['id']}/merge_requests", owner)
    assert len(shown.json()) == 1


def _fill_statistics(samples: SampleData) -> None:
    """Record the languages of a project, clone it, and wait until this is counted."""
    api, owner, here = samples.make.api, samples.owner, samples.project.url
    with tempfile.TemporaryDirectory() as folder:
        Tree(Path(folder)).git("clone", "-q", over_http(samples.instance, samples.project, owner), "clone")
    samples.post(f"{here}/housekeeping")
    samples.instance.work()
    until("the count", lambda: api.get(f"{here}/statistics", owner).json()["fetches"]["total"])


def _fill_certificates(samples: SampleData) -> None:
    """Record the certificate of a signature, as the page of a commit with a trusted one does."""
    seen = SeenCertificate(2**80, "CN=PKI", "01:02", b"certificate", "http://pki.example.com/pki.crl")
    samples.make.database.write(lambda db: record_certificates(db, [seen]))


def _fill_pipelines(samples: SampleData) -> None:
    """Start a pipeline with a child, a waiting job, a running job and a job with variables."""
    make, owner = samples.make, samples.owner
    project = make_project(make, owner)
    here = project.url
    runner = project_runner(make, project.id, tag_list="rare")
    samples.post("/runners/reset_registration_token", make.root)
    samples.post(f"{here}/job_token_scope/allowlist", target_project_id=samples.project.id)
    samples.put(here, ci_default_git_depth=3)
    # The first pipeline takes the status of the second one.
    mirror = f"mirror: {{needs: {{pipeline: {project.path}}}}}\n"
    files = {".gitlab-ci.yml": _CI_FILE + mirror, "child.yml": "child: {script: [make], tags: [rare]}\n"}
    actions = [{"action": "create", "file_path": name, "content": content} for name, content in files.items()]
    samples.post(f"{here}/repository/commits", branch="master", commit_message="Build", actions=actions)
    variables = [{"key": "DEPTH", "value": "full"}]
    pipeline = samples.post(f"{here}/pipeline", ref="master", variables=variables)
    samples.instance.work()
    assert runner.poll().status_code == 201
    jobs = make.api.get(f"{here}/pipelines/{pipeline['id']}/jobs", owner).json()
    (manual,) = [job for job in jobs if job["name"] == "ship"]
    samples.post(f"{here}/jobs/{manual['id']}/play", job_variables_attributes=variables)


def _fill_deliveries(samples: SampleData, receiver: Receiver) -> None:
    """Send an event to a webhook."""
    samples.post(f"{samples.project.url}/hooks", url=receiver.url(), issues_events=True)
    samples.post(f"{samples.project.url}/issues", title="Sent to the webhook")
    until("the delivery", lambda: samples.instance.app.database.read(_has_attempts))


def _has_attempts(db: Connection) -> bool:
    return bool(db.value(select(func.count()).select_from(hook_attempts)))


def _fill_transfers(samples: SampleData) -> None:
    """Export a project, and import its archive."""
    api, owner, here = samples.make.api, samples.owner, samples.project.url
    samples.post(f"{here}/export")
    samples.instance.work()
    archive = api.get(f"{here}/export/download", owner)
    assert archive.status_code == 200, archive.text
    sent = {"data": {"path": samples.make.name("imported")}, "files": {"file": ("project.tar.gz", archive.content)}}
    started = api.request("POST", "/projects/import", owner, **sent)
    assert started.status_code == 201, started.text
    samples.instance.work()


def leave_rewritten_commits(make: Make) -> None:
    """Squash the bottom of a stack, so that the merge request above contains commits to be left out."""
    owner = make.user()
    project = filled_project(make, owner)
    commit(make, project, "bottom", {"first": "x\n"}, owner, start="master")
    commit(make, project, "bottom", {"second": "x\n"}, owner)
    bottom = open_layer(make, project, owner, "bottom", "master", squash=True)
    make_stack(make, project, owner, ["top"], base="bottom")
    merged(make.api, project, bottom, owner)
