"""Pages of jobs: list, log, actions and artifacts."""

import re

import httpx

from tests.client import Make
from tests.web.browser import Browser
from tests.web.ci.scene import CiScene

FRAGMENT = {"HX-Request": "true"}


def _tail(page: httpx.Response) -> str:
    """Return the address from which a page requests the next lines."""
    match = re.search(r'log-tail" hx-get="([^"]+)"', page.text)
    assert match is not None
    return match[1].replace("&amp;", "&")


def test_a_job_that_no_online_runner_accepts_has_a_notice(scene: CiScene) -> None:
    number = scene.commit(f"job: {{script: [x], tags: [{scene.make.name('tag')}]}}")
    page = scene.browser().get(f"{scene.path}/-/jobs/{scene.job_ids(number)['job']}").text
    assert "No online runner" in page


def test_log_follows_a_running_job(scene: CiScene) -> None:
    number = scene.commit("job: {script: [x]}")
    address = f"{scene.path}/-/jobs/{scene.job_ids(number)['job']}"
    browser = scene.browser()
    waiting = browser.get(address)
    assert "Waiting for a runner" in waiting.text
    job = scene.runner.must_take()
    assert browser.get(_tail(waiting), headers=FRAGMENT).headers["hx-refresh"] == "true"
    job.trace(b"\x1b[32mone\nti")
    page = browser.get(address)
    assert 'id="L1"' in page.text
    assert '<span class="f2">one</span>' in page.text
    part = browser.get(_tail(page), headers=FRAGMENT)
    assert 'id="L1"' not in part.text
    assert "ti</span>" in part.text
    job.trace(b"ck\r50%\r100%\n<script>\n")
    part = browser.get(_tail(part), headers=FRAGMENT)
    assert 'id="L2"' in part.text
    assert "50%" not in part.text
    assert "&lt;script&gt;" in part.text
    assert "hx-refresh" not in part.headers
    assert 'class="log-line"' not in browser.get(_tail(part), headers=FRAGMENT).text
    job.finish("failed", failure_reason="script_failure", exit_code=1)
    assert browser.get(_tail(part), headers=FRAGMENT).headers["hx-refresh"] == "true"
    ended = browser.get(address).text
    assert "The script failed." in ended
    assert "log-tail" not in ended
    raw = browser.get(f"{address}/raw")
    assert raw.headers["content-type"].startswith("text/plain")
    assert raw.text == "\x1b[32mone\ntick\r50%\r100%\n<script>\n"
    assert browser.get(_tail(part)).status_code == 302


def test_pending_job_names_the_tags_that_no_runner_has(scene: CiScene) -> None:
    verified = scene.make.api.request("POST", "/runners/verify", json={"token": scene.runner.token})
    assert verified.status_code == 200
    number = scene.commit("a: {script: [x], tags: [linux]}\nb: {script: [x], tags: [linux, gpu]}")
    jobs, browser = scene.job_ids(number), scene.browser()
    assert "No online runner" not in browser.get(f"{scene.path}/-/jobs/{jobs['a']}").text
    assert "none has the tags gpu, linux" in browser.get(f"{scene.path}/-/jobs/{jobs['b']}").text


def test_actions(scene: CiScene) -> None:
    number = scene.commit("job: {script: [x]}")
    first = f"{scene.path}/-/jobs/{scene.job_ids(number)['job']}"
    browser = scene.browser()
    assert browser.submit(first, f"{first}/cancel").headers["location"] == first
    assert "Canceled" in browser.get(first).text
    second = browser.submit(first, f"{first}/retry").headers["location"]
    assert second != first
    assert f'This job was retried. <a href="{second}">' in browser.get(first).text
    scene.runner.run_all()
    assert "running job" in browser.get(second).text
    assert browser.submit(second, f"{second}/erase").status_code == 302
    erased = browser.get(second).text
    assert "Job erased" in erased
    assert "running job" not in erased
    token = browser.token()
    refused = browser.post(f"{second}/play", data={"authenticity_token": token})
    assert refused.status_code == 422
    assert 'role="alert"' in refused.text


def test_artifacts_are_browsed_downloaded_and_kept(scene: CiScene) -> None:
    number = scene.commit("job: {script: [x], artifacts: {paths: [out], expire_in: 1 day}}")
    address = f"{scene.path}/-/jobs/{scene.job_ids(number)['job']}"
    job = scene.runner.must_take()
    files = {"out/a.txt": b"alpha", "out/sub/<b>.html": b"<script>1</script>", "top.bin": b"x" * 2048}
    assert job.upload(files, expire_in="1 day").status_code == 201
    job.finish()
    browser = scene.browser()
    page = browser.get(address).text
    assert f"{address}/artifacts/browse" in page
    assert "expires" in page
    top = browser.get(f"{address}/artifacts/browse").text
    assert f'href="{address}/artifacts/browse/out"' in top
    assert "2.0 KiB" in top
    folder = browser.get(f"{address}/artifacts/browse/out/sub").text
    assert "&lt;b&gt;.html" in folder
    file = browser.get(f"{address}/artifacts/raw/out/sub/%3Cb%3E.html")
    assert file.content == files["out/sub/<b>.html"]
    assert file.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in file.headers["content-security-policy"]
    assert browser.get(f"{address}/artifacts/download").content[:2] == b"PK"
    for missing in ("browse/nowhere", "raw/out", "raw/../a", "browse/..%2F..", "raw/nowhere"):
        assert browser.get(f"{address}/artifacts/{missing}").status_code == 404, missing
    assert browser.submit(address, f"{address}/artifacts/keep").status_code == 302
    assert "expires" not in browser.get(address).text


def test_list_of_jobs(scene: CiScene) -> None:
    number = scene.commit()
    scene.runner.run_all()
    browser = scene.browser()
    page = browser.get(f"{scene.path}/-/jobs").text
    for name, job in scene.job_ids(number).items():
        assert f'href="{scene.path}/-/jobs/{job}">{name}</a>' in page
    assert "No jobs found" in browser.get(f"{scene.path}/-/jobs?status=failed").text


def test_guests_see_no_private_jobs(scene: CiScene, make: Make, browser: Browser) -> None:
    number = scene.commit("job: {script: [x], artifacts: {paths: [out]}}")
    job = scene.runner.must_take()
    job.trace(b"secret\n")
    job.upload({"a": b"b"})
    job.finish()
    stranger = make.user(password="correct horse battery")
    address = f"{scene.path}/-/jobs/{scene.job_ids(number)['job']}"
    visitor = scene.browser(stranger)
    for path in ("", "/log", "/raw", "/artifacts/download", "/artifacts/browse", "/artifacts/raw/a"):
        assert visitor.get(address + path).status_code == 404, path
    assert browser.get(address).status_code in (302, 404)
