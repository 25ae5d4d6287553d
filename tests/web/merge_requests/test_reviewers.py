"""Results of reviews in the list and on the page of a merge request, and the request for another review."""

from tests.api.merge_requests.factories import make_merge_request
from tests.client import Make
from tests.web.browser import Browser
from tests.web.merge_requests.scene import Open, Scene


def test_results_of_reviews_are_shown_and_requested_again(
    make: Make, scene: Scene, browser: Browser, open_browser: Open
) -> None:
    reviewers = [scene.owner.id, scene.reporter.id]
    request = make_merge_request(make, scene.project, scene.developer, reviewer_ids=reviewers)
    page, api = scene.page(request), f"{scene.project.url}/merge_requests/{request['iid']}"
    again = f"{page}/reviewers/{scene.owner.id}/request_review"

    def states() -> dict[int, str]:
        return {one["user"]["id"]: one["state"] for one in make.api.get(f"{api}/reviewers", scene.owner).json()}

    shown = browser.get(page).text
    assert shown.count("Review pending") == 2 and "Re-request review" not in shown

    assert make.api.post(f"{api}/approve", scene.owner).status_code == 201
    shown = browser.get(page).text
    assert "approved</span>" in shown and f'action="{again}"' in shown and shown.count("Review pending") == 1
    assert again not in open_browser().signed_in_as(scene.reporter).get(page).text, "Reporters do not edit it."
    answer = browser.submit(page, again)
    assert (answer.status_code, answer.headers["location"]) == (302, page)
    assert "Review requested." in browser.get(page).text
    assert states() == dict.fromkeys(reviewers, "unreviewed")
    todos = make.api.get("/todos?action=review_requested", scene.owner).json()
    assert request["id"] in {todo["target"]["id"] for todo in todos}

    review = {"reviewer_state": "requested_changes", "note": "Please explain."}
    assert make.api.post(f"{api}/draft_notes/bulk_publish", scene.reporter, **review).status_code == 204
    assert states()[scene.reporter.id] == "requested_changes"
    listed = f"/{scene.project.path}/-/merge_requests"
    assert "changes requested</span>" in browser.get(listed).text
    assert "changes requested</span>" in browser.get(page).text

    token = browser.token()
    unknown = f"{page}/reviewers/{scene.stranger.id}/request_review"
    assert browser.post(unknown, data={"authenticity_token": token}).status_code == 404
    reporter = open_browser().signed_in_as(scene.reporter)
    assert reporter.post(again, data={"authenticity_token": reporter.token()}).status_code == 403


def test_the_field_of_reviewers_shows_results_after_an_edit(
    make: Make, scene: Scene, browser: Browser, open_browser: Open
) -> None:
    request = make_merge_request(make, scene.project, scene.developer, reviewer_ids=[scene.owner.id])
    page, api = scene.page(request), f"{scene.project.url}/merge_requests/{request['iid']}"
    field, headers = f"{page}/sidebar/reviewers?shown=1", {"HX-Request": "true"}
    assert make.api.post(f"{api}/approve", scene.owner).status_code == 201
    fragment = browser.get(field, headers=headers).text
    assert ("approved</span>" in fragment, "Re-request review" in fragment) == (True, True)
    reporter = open_browser().signed_in_as(scene.reporter)
    assert reporter.get(field, headers=headers).status_code == 404, "Reporters do not edit it."
    assert make.api.put(api, scene.owner, state_event="close").status_code == 200
    fragment = browser.get(field, headers=headers).text
    assert ("approved</span>" in fragment, "Re-request review" in fragment) == (True, False)
