"""Internal ids (iids): numbers that are unique within a project or group and never reused."""
