"""GLM's markup: the eight marker tokens of a turn, as text.

Each is one vocabulary entry in GLM-4.5 to GLM-5.3. Token ids differ between models, so everything here works on text.
"""

from typing import Final

THINK: Final = "<think>"
THINK_END: Final = "</think>"
CALL: Final = "<tool_call>"
CALL_END: Final = "</tool_call>"
KEY: Final = "<arg_key>"
KEY_END: Final = "</arg_key>"
VALUE: Final = "<arg_value>"
VALUE_END: Final = "</arg_value>"

ALL: Final = (THINK, THINK_END, CALL, CALL_END, KEY, KEY_END, VALUE, VALUE_END)
"""Every marker, openers before their closers."""
