"""Names and parameters of the strategies that clients of Unleash evaluate."""

import re
from collections.abc import Mapping

USER_LIST = "gitlabUserList"
PARAMETERS: dict[str, frozenset[str]] = {
    "default": frozenset(),
    USER_LIST: frozenset(),
    "gradualRolloutUserId": frozenset({"groupId", "percentage"}),
    "flexibleRollout": frozenset({"groupId", "rollout", "stickiness"}),
    "userWithId": frozenset({"userIds"}),
}
STICKINESS = ("default", "userId", "sessionId", "random")
_MAX_ID_LENGTH = 256
_GROUP = re.compile(r"[a-z]{1,32}")
_PERCENTAGE = re.compile(r"[0-9]{1,2}|100")
_LINE_BREAKS = re.compile(r"[\n\r\t]|,,")


def parameter_error(name: str, parameters: Mapping[str, str]) -> str | None:
    """Return why a strategy cannot have these parameters, or None if it can."""
    if name not in PARAMETERS:
        return "strategy name is invalid"
    if parameters.keys() != PARAMETERS[name]:
        return "parameters are invalid"
    if name == "userWithId":
        error = user_ids_error(parameters["userIds"])
        return None if error is None else f"userIds {error}"
    if "groupId" in parameters and not _GROUP.fullmatch(parameters["groupId"]):
        return "groupId parameter is invalid"
    for share in ("percentage", "rollout"):
        if share in parameters and not _PERCENTAGE.fullmatch(parameters[share]):
            return f"{share} must be a string between 0 and 100 inclusive"
    if parameters.get("stickiness", "default") not in STICKINESS:
        return "stickiness parameter must be default, userId, sessionId, or random"
    return None


def user_ids_error(text: str) -> str | None:
    """Return why a text is not a list of user ids, or None if it is one."""
    ids = text.split(",")
    valid = all(each and each.strip() == each and len(each) <= _MAX_ID_LENGTH for each in ids)
    if _LINE_BREAKS.search(text) or len(set(ids)) != len(ids) or not valid:
        return f"must be a string of unique comma separated values each {_MAX_ID_LENGTH} characters or less"
    return None
