"""The class ``Server`` of the distribution pytest-ingot, which the extra ``testing`` installs, under its first name."""

from pytest_ingot import ControlError, FaultInjection, HookDelivery, ReceivedRequest, Server, ServerFailed

__all__ = ["ControlError", "FaultInjection", "HookDelivery", "ReceivedRequest", "Server", "ServerFailed"]
