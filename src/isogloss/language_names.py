"""Names of languages by CLDR: the name of a tag, and the tag for a name in any language."""

import langcodes

UNKNOWN = "Unknown language"  # what langcodes says of a tag that CLDR has no name for


def english_name(tag: str) -> str:
    """The English name of a language; its tag where CLDR has none."""
    name = langcodes.get(tag).display_name()
    return tag if name.startswith(UNKNOWN) else str(name)


def own_name(tag: str) -> str:
    """The name of a language in that language; the English one where CLDR has none."""
    name = str(langcodes.get(tag).autonym())
    return english_name(tag) if name.startswith(UNKNOWN) or name == tag else name


def find_name(name: str) -> str | None:
    """The tag of the language with that name, in whatever language the name is: Ukrainian, українська, ucraniano."""
    try:
        return str(langcodes.find(name).to_tag())
    except LookupError:
        return None
