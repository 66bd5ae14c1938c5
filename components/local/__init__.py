"""The local stand-in for a model: its folder, and a decode worker that samples it under real constraints."""
