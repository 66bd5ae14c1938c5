"""What is promised under load, on sessions made up."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks.router.cases import LARGE, cases, named
from benchmarks.router.cases import replay as run
from benchmarks.router.loads import met, report
from graphs.commands.replay.ask import Ask
from graphs.commands.replay.results import Results
from router.costs import Costs
from router.replay.cluster import Cluster
from router.replay.generator import generate
from router.replay.select import truncate

(RUN,) = run(cases(truncate(generate(4, 1), 2), LARGE)[0], {"sticky": named("sticky")}, (0,))


def results(light: Mapping[str, float], saturated: Mapping[str, float]) -> Results:
    runs = [
        replace(RUN, policy=policy, spacing_s=spacing_s, measures=replace(RUN.measures, user_tokens_per_s=speed))
        for spacing_s, speeds in ((240.0, light), (30.0, saturated))
        for policy, speed in speeds.items()
    ]
    return Results(Ask(Path("t"), tuple(light), None, None, (0,), (), None), Cluster(), Costs(), [], runs)


@pytest.mark.parametrize(("light", "saturated", "kept"), [(68.0, 25.0, True), (67.0, 25.0, False), (68.0, 24.0, False)])
def test_nobody_is_faster_and_affinity_is_a_quarter_slower(light: float, saturated: float, *, kept: bool) -> None:
    found = results(
        {"sticky": light, "kv": 68.2, "kv-affinity": 60.0}, {"sticky": saturated, "kv": 10.0, "kv-affinity": 20.0}
    )

    assert met(found) is kept


def test_the_report_compares_within_a_load() -> None:
    lines = report(results({"sticky": 60.0, "kv": 30.0}, {"sticky": 10.0, "kv": 20.0})).splitlines()

    assert [line.split(" | ")[:3] for line in lines[2:]] == [
        ["| 240 s", "sticky", "1.00"],
        ["| 240 s", "kv", "2.00"],
        ["| 30 s", "sticky", "1.00"],
        ["| 30 s", "kv", "0.50"],
    ]
