from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path


def test_no_other_distribution_owns_the_command_dynamo() -> None:
    owners = {
        f"{each.name} {each.version}"
        for each in distributions()
        for entry in each.entry_points
        if entry.group in {"console_scripts", "gui_scripts"} and entry.name == "dynamo"
    }
    scripts = {
        f"{each.name} {each.version}"
        for each in distributions()
        for path in each.files or ()
        if Path(str(path)).parent.name in {"bin", "scripts"} and Path(str(path)).stem == "dynamo"
    }
    assert {name.split()[0] for name in owners | scripts} == {"dynamo-glm"}, (
        f"`dynamo` is installed by {owners | scripts}"
    )


def test_dynamo_is_a_namespace_and_this_project_adds_nothing_to_it() -> None:
    spec = find_spec("dynamo")
    assert spec is not None
    assert spec.origin is None, f"{spec.origin} makes `dynamo` one package and hides NVIDIA's others"
    assert not (Path(__file__).parents[2] / "dynamo").exists()
