"""Lists of approval rules and of protected branches of groups: longer ones take no more statements."""

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make
from tests.factories import make_group, statements_of


def test_longer_lists_take_no_more_statements(api: Api, make: Make) -> None:
    owner = make.user()
    group = make_group(make, owner)
    project = filled_project(make, owner)
    request = make_merge_request(make, project, owner)
    request_url = f"{project.url}/merge_requests/{request['iid']}"
    lists: dict[str, Callable[[int], dict[str, Any]]] = {
        f"{project.url}/approval_rules": lambda number: {
            "name": f"rule {number}",
            "approvals_required": 1,
            "user_ids": [make.user().id],
            "group_ids": [make_group(make, owner).id],
        },
        f"{request_url}/approval_rules": lambda number: {
            "name": f"own {number}",
            "approvals_required": 1,
            "user_ids": [make.user().id],
        },
        f"/groups/{group.id}/protected_branches": lambda number: {"name": f"branch-{number}"},
    }
    for address, params in lists.items():
        costs = []
        for numbers in (range(1), range(1, 4)):
            for number in numbers:
                made = api.post(address, owner, **params(number))
                assert made.status_code == 201, made.text
            costs.append(statements_of(make, partial(api.get, address, owner)))
        assert costs[1] <= costs[0], address
