"""HTTP parts that all components share: requests and their origin, log lines, metrics and health."""
