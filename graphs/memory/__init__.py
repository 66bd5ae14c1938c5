"""Where an engine's GPU memory goes: weights, buffers, and what is left for KV."""
