import pytest

from toolcall import nodes as n
from toolcall.automaton import lengths
from toolcall.intersect import intersect

TEXT, NULL = n.Text(), n.Null()
SOME = lengths(1, None)


def meet(left: n.Node, right: n.Node) -> n.Node:
    return intersect({}, left, right, pytest.fail)


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        (n.ANY, TEXT, TEXT),
        (n.NEVER, TEXT, n.NEVER),
        (TEXT, NULL, n.NEVER),
        (n.Union((TEXT, NULL)), n.Union((NULL, n.Boolean())), NULL),
        (n.Literals((1, "a", None)), n.Union((TEXT, NULL)), n.Literals(("a", None))),
        (n.Text(SOME), n.Text(format="date"), n.Text(SOME, format="date")),
        (n.Text(SOME), n.Text(lengths(0, 0)), n.NEVER),
        (n.Text(SOME), n.Text(lengths(0, 1)), n.Text(lengths(1, 1))),
        (n.Number(low=0), n.Number(integer=True, low=0, open_low=True), n.Number(integer=True, low=0, open_low=True)),
        (n.Number(integer=True, low=0, open_low=True), n.Number(high=1, open_high=True), n.NEVER),
        (n.Array(TEXT, shortest=2), n.Array(n.ANY, longest=3), n.Array(TEXT, shortest=2, longest=3)),
        (n.Array(TEXT), n.Array(NULL), n.Array(n.NEVER, longest=0)),
        (n.Array(TEXT, shortest=1), n.Array(NULL), n.NEVER),
    ],
)
def test_what_two_nodes_have_in_common(left: n.Node, right: n.Node, both: n.Node) -> None:
    assert meet(left, right) == both
    assert meet(right, left) == both


def test_objects_join_their_properties() -> None:
    open_end = (n.Members(n.ANY),)
    left = n.Object((n.Property("a", n.ANY, required=True, sources=("/l",)),), open_end, implicit=True, listed=True)
    right = n.Object((n.Property("a", TEXT, required=False, sources=("/r",)), n.Property("b", NULL, required=False)))
    joined = meet(left, right)
    assert isinstance(joined, n.Object)
    assert joined.properties[0] == n.Property("a", TEXT, required=True, sources=("/l", "/r"))
    assert [known.name for known in joined.properties] == ["a", "b"]
    assert joined.extra == ()


def test_a_closed_object_drops_what_only_the_other_names() -> None:
    left = n.Object((n.Property("a", TEXT, required=False),))
    assert meet(left, n.Object((n.Property("b", TEXT, required=False),))) == n.Object()
    assert meet(left, n.Object((n.Property("b", TEXT, required=True),))) == n.NEVER


def test_what_is_wider_than_the_true_intersection_is_told() -> None:
    told: list[str] = []
    wide = n.Union(tuple(n.Text(format=str(at)) for at in range(9)))
    intersect({}, n.Union((*wide.options, NULL)), wide, told.append)
    assert told
