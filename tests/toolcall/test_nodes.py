from toolcall import nodes as n


def test_a_union_is_flat_and_without_repeats() -> None:
    text, null = n.Text(), n.Null()
    assert n.union([n.Union((text, null)), text, n.NEVER]) == n.Union((text, null))
    assert n.union([text, n.NEVER]) == text
    assert n.union([]) == n.NEVER
    assert n.union([text, n.ANY]) == n.ANY


def test_a_union_keeps_one_and_true_apart() -> None:
    assert n.union([n.Literals((1,)), n.Literals((True,))]) == n.Union((n.Literals((1,)), n.Literals((True,))))


def test_options_follow_references_and_end_in_circles() -> None:
    definitions: dict[str, n.Node] = {"/a": n.Union((n.Ref("/b"), n.Text())), "/b": n.Union((n.Ref("/a"), n.Null()))}
    assert set(map(repr, n.options(definitions, n.Ref("/a")))) == {repr(n.Text()), repr(n.Null())}


def test_an_object_that_lists_its_properties_offers_no_others_by_default() -> None:
    extra = (n.Members(n.ANY),)
    assert n.Object((), extra, implicit=True, listed=True).offered() == ()
    assert n.Object((), extra, implicit=True, listed=False).offered() == extra
    assert n.Object((), extra, implicit=False, listed=True).offered() == extra
