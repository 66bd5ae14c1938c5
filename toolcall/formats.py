"""The `format` keywords whose syntax the tag holds the model to, as xgrammar EBNF.

Those of RFC 3339 and RFC 4122 that admit no doubt. A time without an offset passes, because many clients send and
expect local times under `date-time`. All other formats are annotations, as in JSON Schema Draft 7.
"""

from typing import Final

_DATE: Final = '[0-9] [0-9] [0-9] [0-9] "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01])'
_TIME: Final = '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" ([0-5] [0-9] | "60") ("." [0-9]{1,9})?'
_OFFSET: Final = '([zZ] | [+\\-] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9])?'
_HEX: Final = "[0-9a-fA-F]"

GRAMMARS: Final = {
    "date": _DATE,
    "time": f"{_TIME} {_OFFSET}",
    "date-time": f"{_DATE} [tT ] {_TIME} {_OFFSET}",
    "uuid": ' "-" '.join(f"{_HEX}{{{count},{count}}}" for count in (8, 4, 4, 4, 12)),
}
"""By format, an expression without quotes."""
