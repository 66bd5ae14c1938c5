"""Where a request goes.

A policy is a pure function of the request, what is known of the workers, and the time; a :class:`Router` owns the book
and asks the policy. Nothing here reads a clock, opens a socket or imports an engine, so a replay of a million requests
runs the code that serves.
"""

from router.costs import Costs
from router.decision import Candidate, Choice, Decision, Terms
from router.fit import Fit
from router.fleet import Fleet, Worker
from router.placement import Outcome, Overlap, Placement, RouteRequest
from router.policy import Plain, Policy
from router.ranks import Rank
from router.router import Router
from router.sticky import Sticky, Weights
from router.store import Store

__all__ = [
    "Candidate",
    "Choice",
    "Costs",
    "Decision",
    "Fit",
    "Fleet",
    "Outcome",
    "Overlap",
    "Placement",
    "Plain",
    "Policy",
    "Rank",
    "RouteRequest",
    "Router",
    "Sticky",
    "Store",
    "Terms",
    "Weights",
    "Worker",
]
