from toolcall import SchemaError
from toolcall.errors import json_path


def test_the_message_names_the_place_and_the_problem() -> None:
    error = SchemaError("tools[0].function.name", "must be a name")
    assert str(error) == "tools[0].function.name: must be a name"
    assert (error.path, error.problem) == ("tools[0].function.name", "must be a name")


def test_a_path_quotes_what_is_no_identifier() -> None:
    assert json_path("$", "a", 0, "b c", "$ref") == "$.a[0]['b c'].$ref"
    assert json_path("tools", 3) == "tools[3]"
