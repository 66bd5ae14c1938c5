"""Agent sessions, recorded or made up, and a simulation of what becomes of them: no clock, no sockets, no files."""
