"""Where a request goes.

A policy is a pure function of the request, the fleet and the time; a :class:`Router` owns the book of what is in flight
and asks the policy. Nothing here reads a clock, opens a socket or imports an engine, so a replay of a million requests
runs the code that serves.
"""

from router.fleet import Fleet, Worker
from router.placement import Outcome, Placement, Policy, RouteRequest, plain
from router.router import Router

__all__ = ["Fleet", "Outcome", "Placement", "Policy", "RouteRequest", "Router", "Worker", "plain"]
