import os
import threading

import pytest

from graphs.supervisor import output
from graphs.supervisor.output import Output
from tests.graphs.supervisor.harness import until


def read_all(fd: int) -> bytes:
    with os.fdopen(fd, "rb") as reader:
        return reader.read()


def test_writes_come_out_whole_and_in_order() -> None:
    reader, writer = os.pipe()
    written: list[bytes] = []
    reading = threading.Thread(target=lambda: written.append(read_all(reader)))
    reading.start()
    out = Output(writer, lambda: None)
    lines = [f"{at} {'x' * 1000}\n".encode() for at in range(1000)]
    assert all(out.write(line) for line in lines)
    out.close(limit_s=30)
    os.close(writer)
    reading.join()
    assert written == [b"".join(lines)]


def test_a_reader_that_does_not_read_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "HELD_BYTES", 1_000_000)
    reader, writer = os.pipe()
    out = Output(writer, lambda: None)
    accepted = [out.write(b"x" * 10_000) for _ in range(200)]
    assert accepted == [True] * 100 + [False] * 100
    out.close(limit_s=0)
    assert read_exactly(reader, 1_000_000) == b"x" * 1_000_000
    until(lambda: out.write(b"more"))
    out.close(limit_s=30)
    os.close(writer)
    os.close(reader)


def read_exactly(fd: int, count: int) -> bytes:
    data = b""
    while len(data) < count:
        data += os.read(fd, count - len(data))
    return data


def test_a_descriptor_that_does_not_block_is_waited_for() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    out = Output(writer, lambda: None)
    out.write(b"x" * 1_000_000)
    assert read_exactly(reader, 1_000_000) == b"x" * 1_000_000
    out.close(limit_s=30)
    os.close(writer)
    os.close(reader)


def test_a_reader_that_left_is_told_once_and_writing_goes_on_into_nothing() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    told: list[str] = []
    out = Output(writer, lambda: told.append("broken"))
    for _ in range(10):
        assert out.write(b"x")
    out.close(limit_s=30)
    os.close(writer)
    assert told == ["broken"]
