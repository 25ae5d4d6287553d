"""Test server for programs that use GitLab's API; imports nothing of the server itself."""

from ingot.testing.control import ControlError, FaultInjection, HookDelivery, ReceivedRequest
from ingot.testing.server import Server, ServerFailed

__all__ = ["ControlError", "FaultInjection", "HookDelivery", "ReceivedRequest", "Server", "ServerFailed"]
