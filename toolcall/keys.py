"""Grammar rules of keys that are none of the declared ones."""

from collections.abc import Callable

from toolcall.ebnf import Rules, literal, other_than


def other_key(
    rules: Rules,
    names: list[str],
    free: Callable[[int], str],
    *,
    guard: str,
    stop: str,
    end: str,
    follow: str,
    spaced: bool,
) -> str:
    """A rule for a key that is none of these.

    It follows the names character by character; once a key has left them all, the rest is free.

    Args:
        rules: Where the rules go.
        names: The declared keys, spelled as they would be written.
        free: The rule of the rest once it is none of the names, behind so many characters of the guard.
        guard: Text that a key must not hold, whose first character does not occur in it again; empty for none.
        stop: Characters that cannot stand in a key.
        end: The expression of the last character, `""` for nothing.
        follow: What stands behind the key; see `free_text`.
        spaced: Whether spaces may stand inside a key but not at its ends, with `free` and "_space" behind one; the
            empty key is then none.
    """
    ahead = f" (={follow})" if follow else ""

    def leave(prefix: str, following: str) -> list[str]:
        """The ways off the names behind a prefix of them."""
        seen = next(at for at in reversed(range(len(guard) + 1)) if prefix.endswith(guard[:at]))
        steps = {guard[at]: at + 1 for at in (0, seen) if at < len(guard)}
        off = [(character, at) for character, at in steps.items() if character not in following and at < len(guard)]
        away = other_than(following + stop + "".join(steps))
        return [f"{away} {free(0)}", *(f"{literal(character)} {free(at)}" for character, at in off)]

    def follow_names(names: list[str], prefix: str) -> str:
        longer = [name for name in names if name != prefix]
        following = "".join(dict.fromkeys(name[len(prefix)] for name in longer))
        options = leave(prefix, following)
        if len(longer) == len(names) and not (spaced and (not prefix or prefix.endswith(" "))):
            options.append(end)
        if spaced and prefix and " " not in following:
            options.append(f'" " {free(0)}_space')
        for character in following:
            here = prefix + character
            below = [name for name in longer if name.startswith(here)]
            if not guard or guard not in here:
                options.append(f"{literal(character)} {follow_names(below, here)}")
        return rules.share("unlike", f"({' | '.join(options)}){ahead}")

    return follow_names(names, "")
