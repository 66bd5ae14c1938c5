"""The KV cache of GLM-5.x: its rows, and how blocks of them lie in memory."""
