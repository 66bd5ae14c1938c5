"""What Mooncake's wheel links and does not bring."""

import ctypes

import pytest

NAMES = ("libibverbs.so.1", "libnl-3.so.200", "libnl-route-3.so.200", "libnuma.so.1")


def _missing() -> list[str]:
    found = []
    for name in NAMES:
        try:
            ctypes.CDLL(name)
        except OSError:
            found.append(name)
    return found


missing = _missing()
needs_mooncake = pytest.mark.skipif(
    bool(missing), reason=f"Mooncake needs {', '.join(missing)}: see docs/engines.md for the packages"
)
