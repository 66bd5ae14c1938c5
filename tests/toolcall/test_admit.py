from typing import Any

import pytest

from toolcall import nodes as n
from toolcall.admit import admits, member, same
from toolcall.automaton import lengths

TREE: dict[str, n.Node] = {
    "/t": n.Object((n.Property("v", n.Text(), required=True), n.Property("kids", n.Array(n.Ref("/t")), required=False)))
}


@pytest.mark.parametrize(
    ("node", "good", "bad"),
    [
        (n.ANY, [1, None, {}], []),
        (n.NEVER, [], [1, None]),
        (n.Text(lengths(1, None)), ["a"], ["", 1, None]),
        (n.Number(integer=True, low=0, high=3, open_high=True), [0, 2, 2.0], [-1, 3, 1.5, True, "1"]),
        (n.Boolean(), [True], [1, "true"]),
        (n.Null(), [None], [0, "null"]),
        (n.Literals(("7", 8)), ["7", 8, 8.0], [7, "8", True]),
        (n.Array(n.Null(), (n.Text(),), shortest=1, longest=2), [["a"], ["a", None]], [[], [None], ["a", None, None]]),
        (n.Object(extra=(n.Members(n.Null()),)), [{}, {"a": None}], [{"a": 1}, []]),
        (n.Ref("/t"), [{"v": "a", "kids": [{"v": "b"}]}], [{"v": "a", "kids": [{}]}, {"v": "a", "x": 1}]),
    ],
)
def test_a_node_admits_its_values_and_no_others(node: n.Node, good: list[Any], bad: list[Any]) -> None:
    assert [admits(TREE, node, value) for value in good] == [True] * len(good)
    assert [admits(TREE, node, value) for value in bad] == [False] * len(bad)


def test_a_member_belongs_to_its_name_then_its_pattern_then_the_rest() -> None:
    node = n.Object((n.Property("a", n.Text(), required=False),), (n.Members(n.Null(), "^x_"), n.Members(n.Boolean())))
    assert member(node, "a") == [n.Text()]
    assert member(node, "x_1") == [n.Null()]
    assert member(node, "other") == [n.Boolean()]
    assert member(n.Object(), "a") == []


def test_equality_is_that_of_json() -> None:
    assert same({"a": [1]}, {"a": [1.0]})
    assert not same([True], [1])
    assert not same({"a": 1}, {"b": 1})
