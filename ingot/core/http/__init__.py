"""What every door over HTTP shares: where a request came from, its log line, its metrics, and health."""
