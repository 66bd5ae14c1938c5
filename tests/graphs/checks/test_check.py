from graphs.checks.check import Check


def test_a_check_is_one_line_and_fails_by_its_mend() -> None:
    good, bad = Check("GPUs", "8"), Check("GPUs", "8 are needed and this machine has 0", "buy some")
    assert (good.ok, str(good)) == (True, "GPUs: 8")
    assert (bad.ok, str(bad)) == (False, "GPUs: 8 are needed and this machine has 0: buy some")
