from graphs.nearest import did_you_mean


def test_the_nearest_name_is_offered() -> None:
    assert did_you_mean("blok-size", ["block-size", "model"]) == "did you mean 'block-size'?"


def test_underscores_and_case_do_not_hide_the_name() -> None:
    assert did_you_mean("Block_Size", ["block-size", "model"]) == "did you mean 'block-size'?"


def test_a_short_list_is_shown_when_nothing_is_near() -> None:
    assert did_you_mean("xyz", ["model", "block-size"]) == "valid: block-size, model"


def test_a_long_list_gives_way_to_its_nearest_name() -> None:
    hint = did_you_mean("xyz", [f"setting-{number}" for number in range(30)])
    assert hint.startswith("the nearest is 'setting-")
    assert hint.endswith("`dynamo config schema` has them all")


def test_no_name_at_all_is_said() -> None:
    assert did_you_mean("xyz", []) == "valid: none"
