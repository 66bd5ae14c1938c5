from benchmarks.machine import cpu_model, describe


def test_the_processor_is_named_as_linux_names_it() -> None:
    assert cpu_model("processor\t: 0\nmodel name\t: A: CPU @ 2 GHz\nmodel name\t: B\n") == "A: CPU @ 2 GHz"


def test_a_processor_without_a_name_is_named_by_its_architecture() -> None:
    assert cpu_model("processor : 0\n")


def test_the_line_names_the_versions() -> None:
    assert "uvloop 0." in describe(["uvloop"])
    assert "\n" not in describe([])
