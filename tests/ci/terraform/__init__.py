"""Terraform states."""
