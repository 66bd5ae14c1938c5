"""What of ours runs inside vLLM's engines."""
