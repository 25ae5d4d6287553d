"""Nodes of the instance: the machines that serve it, their roles and clocks."""
