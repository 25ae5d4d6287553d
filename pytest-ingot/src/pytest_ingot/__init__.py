"""Test server for programs that use GitLab's API, and its fixtures for pytest; needs nothing of the server's code."""

from pytest_ingot.control import ControlError
from pytest_ingot.launch import ServerFailed
from pytest_ingot.locations import ServerNotFound
from pytest_ingot.records import (
    FaultInjection,
    HookDelivery,
    ReceivedRequest,
    SeededData,
    SeededGroup,
    SeededHook,
    SeededItem,
    SeededPipeline,
    SeededProject,
    SeededUser,
)
from pytest_ingot.server import Server

__all__ = [
    "ControlError",
    "FaultInjection",
    "HookDelivery",
    "ReceivedRequest",
    "SeededData",
    "SeededGroup",
    "SeededHook",
    "SeededItem",
    "SeededPipeline",
    "SeededProject",
    "SeededUser",
    "Server",
    "ServerFailed",
    "ServerNotFound",
]
