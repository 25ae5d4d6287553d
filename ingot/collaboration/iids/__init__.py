"""Numbers within a project or group: never given twice."""
