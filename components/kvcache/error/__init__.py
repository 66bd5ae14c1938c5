"""The error that KV rows make: of latents, of attention over them, and of a model that reads its own rows."""
