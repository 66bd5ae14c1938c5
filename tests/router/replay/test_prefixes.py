"""All prompts of a trace as one radix tree."""

from router.replay.prefixes import ROOT, Prefixes


def blocks(tree: Prefixes, path: list[int]) -> int:
    return sum(tree.count[node] for node in path)


def test_a_prompt_is_a_path_whose_nodes_add_up_to_it() -> None:
    tree = Prefixes()
    end = tree.insert([(0, 10), (50, 5)])
    tree.freeze()

    assert blocks(tree, tree.path(end)) == 15
    assert tree.depth[end] == 15


def test_an_end_stays_its_prompts_end_whatever_is_inserted_later() -> None:
    tree = Prefixes()
    long = tree.insert([(0, 10)])
    short = tree.insert([(0, 4)])
    fork = tree.insert([(0, 7), (90, 2)])
    tree.freeze()

    assert [blocks(tree, tree.path(end)) for end in (long, short, fork)] == [10, 4, 9]
    assert [tree.depth[end] for end in (long, short, fork)] == [10, 4, 9]


def test_prompts_share_exactly_the_nodes_of_their_common_prefix() -> None:
    tree = Prefixes()
    one = tree.insert([(0, 6), (100, 4)])
    other = tree.insert([(0, 6), (200, 3)])
    tree.freeze()

    shared = [node for node in tree.path(one) if node in tree.path(other)]
    assert blocks(tree, shared) == 6


def test_how_a_prompt_is_cut_into_runs_makes_no_difference() -> None:
    tree = Prefixes()
    tree.insert([(0, 3)])

    assert tree.insert([(0, 2), (2, 6), (8, 2)]) == tree.insert([(0, 10)])


def test_the_same_blocks_after_another_prefix_are_another_node() -> None:
    tree = Prefixes()
    one = tree.insert([(0, 4), (100, 4)])
    other = tree.insert([(20, 4), (100, 4)])
    tree.freeze()

    assert not set(tree.path(one)) & set(tree.path(other))


def test_an_empty_prompt_ends_at_the_root() -> None:
    tree = Prefixes()
    end = tree.insert([])
    tree.freeze()

    assert end == ROOT
    assert tree.path(end) == []
