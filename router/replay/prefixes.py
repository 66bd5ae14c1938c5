"""All prompts of a trace as one radix tree, built before the replay: a prompt is then a path of few nodes."""

from collections.abc import Iterable

ROOT = 0

Run = tuple[int, int]
"""Blocks with successive ids: the first id, and how many."""


class Prefixes:
    """A radix tree over block ids. Nodes are numbers; what belongs to a node stands in lists.

    Attributes:
        count: Blocks of a node.
        parent: Its parent; the root's is -1.
        depth: Blocks from the root to its end; filled by `freeze`.
    """

    def __init__(self) -> None:
        self.count = [0]
        self.parent = [-1]
        self.depth = [0]
        self._children: list[dict[int, int]] = [{}]

    def __len__(self) -> int:
        return len(self.count)

    def insert(self, runs: Iterable[Run]) -> int:
        """Insert a prompt; returns the node it ends with, which stays its end whatever is inserted later."""
        node = ROOT
        for first, count in runs:
            start, left = first, count
            while left:
                child = self._children[node].get(start)
                if child is None:
                    child, taken = self._add(node, start, left), left
                elif left < self.count[child]:
                    child, taken = self._split(node, child, start, left), left
                else:
                    taken = self.count[child]
                node, start, left = child, start + taken, left - taken
        return node

    def _add(self, parent: int, first: int, count: int) -> int:
        node = len(self.count)
        self.count.append(count)
        self.parent.append(parent)
        self._children.append({})
        self._children[parent][first] = node
        return node

    def _split(self, parent: int, child: int, first: int, count: int) -> int:
        """Put a node of the child's first blocks between it and its parent."""
        node = self._add(parent, first, count)
        self.count[child] -= count
        self.parent[child] = node
        self._children[node][first + count] = child
        return node

    def freeze(self) -> None:
        """Fill in the depths, once all prompts are inserted."""
        self.depth = [0] * len(self.count)
        todo = [ROOT]
        for node in todo:
            for child in self._children[node].values():
                self.depth[child] = self.depth[node] + self.count[child]
                todo.append(child)
        # Much of the memory, and of no more use.
        self._children.clear()

    def path(self, end: int) -> list[int]:
        """Return the nodes from below the root to a prompt's end."""
        nodes = []
        while end != ROOT:
            nodes.append(end)
            end = self.parent[end]
        nodes.reverse()
        return nodes
