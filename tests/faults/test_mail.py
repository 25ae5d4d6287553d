"""Operation without a mail server."""

import dataclasses
import io
import socket
import subprocess

import httpx

from ingot.core.jobs.admin import list_jobs, retry_job
from ingot.core.log import Log
from ingot.server.jobs import job_worker
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project


def test_unreachable_mail_server(instance: Instance, api: Api, make: Make) -> None:
    """Sign-in and git work, and queued mail is sent later."""
    instance.work()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        settings = dataclasses.replace(instance.settings, smtp_url=f"smtp://127.0.0.1:{closed.getsockname()[1]}")
        person = make.user(password="a long password")
        asking = {"username": make.name("mailed"), "name": "x", "reset_password": True}
        assert api.post("/users", make.root, **asking, email="late@example.org").status_code == 201
        worker = job_worker(settings, instance.app.database, Log("json", io.StringIO()))
        while worker.run_once():
            pass

    waiting = [job for job in instance.app.database.read(lambda db: list_jobs(db, "waiting", 100)[0]) if job.attempts]
    assert [(job.kind, job.attempts) for job in waiting] == [("mail", 1)]
    with httpx.Client(base_url=instance.url) as browser:
        page = browser.get("/users/sign_in").text
        token = page.split('name="authenticity_token" value="')[1].split('"')[0]
        form = {"user[login]": person.username, "user[password]": person.password, "authenticity_token": token}
        assert browser.post("/users/sign_in", data=form).status_code == 302
    project = make_project(make, person, initialize_with_readme=True)
    address = instance.url.replace("://", f"://{person.username}:{person.token}@") + f"/{project.path}.git"
    listed = subprocess.run(["git", "ls-remote", address], capture_output=True, check=True, timeout=60)
    assert b"refs/heads/master" in listed.stdout

    before = len(instance.mails())
    instance.app.database.write(lambda db: retry_job(db, waiting[0].id))
    sent = instance.mails()[before:]
    assert len(sent) == 1
    assert "late@example.org" in sent[0]
