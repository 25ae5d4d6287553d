"""Page of secure files."""

from tests.client import Make
from tests.web.ci.scene import CiScene


def test_secure_files_are_uploaded_and_deleted(scene: CiScene, make: Make) -> None:
    browser, address = scene.browser(), f"{scene.path}/-/settings/secure_files"
    assert "No secure files" in browser.get(address).text
    data = {"authenticity_token": browser.token(), "secure[name]": ""}
    for _, status in (("new", 302), ("again", 422)):
        sent = browser.post(address, data=data, files={"secure[file]": ("key.jks", b"secret")})
        assert sent.status_code == status, sent.text
    assert browser.post(address, data=data).status_code == 422
    (file,) = make.api.get(f"{scene.project.url}/secure_files", scene.owner).json()
    page = browser.get(address).text
    assert "key.jks" in page and file["checksum"] in page
    download = f"/api/v4{scene.project.url}/secure_files/{file['id']}/download"
    assert download in page and browser.get(download).content == b"secret"
    assert browser.submit(address, f"{address}/{file['id']}", does="delete").status_code == 302
    assert "No secure files" in browser.get(address).text


def test_only_maintainers_see_the_page(scene: CiScene, make: Make) -> None:
    developer = make.user(password="correct horse battery")
    make.api.post(f"{scene.project.url}/members", scene.owner, user_id=developer.id, access_level=30)
    assert scene.browser(developer).get(f"{scene.path}/-/settings/secure_files").status_code == 404
