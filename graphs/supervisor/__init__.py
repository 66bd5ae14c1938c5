"""The process supervisor of `dynamo serve`: `run` starts the processes of a `Plan`, keeps them, and leaves nothing.

Exit codes:

- 0: stopped by SIGINT, SIGTERM or SIGHUP, and each process ended by itself within its limit.
- 130, 143, 129: stopped by that signal, and a process had to be killed: its limit passed, or a second signal came.
- 1: the graph failed: a process was not ready in time, died where its death is final, or died too often; or nobody
  reads the output any more.
"""

from graphs.supervisor.restarts import RestartPolicy
from graphs.supervisor.supervise import Options, run

__all__ = ["Options", "RestartPolicy", "run"]
