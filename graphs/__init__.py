"""Graphs that `dynamo serve` runs, and what a graph of one's own is made of."""

from graphs.glm53 import glm53
from graphs.model import Graph, Link, Service, Topology, dep, tp
from graphs.worker import Worker

__all__ = ["Graph", "Link", "Service", "Topology", "Worker", "dep", "glm53", "tp"]
