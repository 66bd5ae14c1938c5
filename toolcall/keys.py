"""Grammar rules of keys that are none of the declared ones."""

from toolcall.ebnf import Rules, literal, other_than


def other_key(rules: Rules, names: list[str], free: str, *, stop: str, end: str, follow: str, spaced: bool) -> str:
    """A rule for a key that is none of these.

    It follows the names character by character; once a key has left them all, the rest is free.

    Args:
        rules: Where the rules go.
        names: The declared keys, spelled as they would be written.
        free: The rule of the rest once it is none of the names.
        stop: Characters that cannot stand in a key.
        end: The expression of the last character, `""` for nothing.
        follow: What stands behind the key; see `free_text`.
        spaced: Whether spaces may stand inside a key but not at its ends, with `free` and "_space" behind one; the
            empty key is then none.
    """
    ahead = f" (={follow})" if follow else ""

    def follow_names(names: list[str], prefix: str) -> str:
        longer = [name for name in names if name != prefix]
        following = "".join(dict.fromkeys(name[len(prefix)] for name in longer))
        options = [f"{other_than(following + stop)} {free}"]
        if len(longer) == len(names) and not (spaced and (not prefix or prefix.endswith(" "))):
            options.append(end)
        if spaced and prefix and " " not in following:
            options.append(f'" " {free}_space')
        for character in following:
            here = prefix + character
            below = [name for name in longer if name.startswith(here)]
            options.append(f"{literal(character)} {follow_names(below, here)}")
        return rules.share("unlike", f"({' | '.join(options)}){ahead}")

    return follow_names(names, "")
