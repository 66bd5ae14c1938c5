from benchmarks.results import replace_section

DOCUMENT = "# Results\n\n## a\n\nold\n\n| x |\n\n## a b\n\nkept\n"


def test_a_section_is_replaced_and_the_others_are_kept() -> None:
    assert replace_section(DOCUMENT, "a", "new\n") == "# Results\n\n## a\n\nnew\n\n## a b\n\nkept\n"


def test_the_last_section_is_replaced() -> None:
    assert replace_section(DOCUMENT, "a b", "new").endswith("| x |\n\n## a b\n\nnew\n")


def test_a_new_section_is_added_at_the_end() -> None:
    assert replace_section("# Results\n", "a", "new") == "# Results\n\n## a\n\nnew\n"


def test_writing_twice_changes_nothing() -> None:
    once = replace_section(DOCUMENT, "a", "new")
    assert replace_section(once, "a", "new") == once
