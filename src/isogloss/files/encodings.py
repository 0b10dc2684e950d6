"""Encodings: which one a file is in, how its columns are separated, and text that was read in the wrong one."""

import codecs
import csv
import re
import unicodedata

from .. import languages

CODECS = {  # of each alphabet: the usual one of Windows first
    "western": ("cp1252", "mac_roman"),
    "central": ("cp1250", "iso8859_2", "mac_latin2"),
    "turkish": ("cp1254", "mac_turkish"),
    "baltic": ("cp1257", "iso8859_4"),
    "Cyrl": ("cp1251", "koi8_r", "iso8859_5", "mac_cyrillic"),
    "Grek": ("cp1253", "iso8859_7"),
    "Hebr": ("cp1255", "iso8859_8"),
    "Arab": ("cp1256", "iso8859_6"),
    "Thai": ("cp874",),
    "Jpan": ("cp932", "euc_jp"),
    "Kore": ("cp949",),
    "Hans": ("gb18030",),
    "Hant": ("big5", "gb18030"),
}
LETTERS = {  # those beyond ASCII that the languages of a Latin alphabet use
    "western": "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþßœÿ",
    "central": "ąćęłńóśźżáčďéěíňřšťúůýžäĺľôŕöőüűăâîșțşţđßë",
    "turkish": "çğıöşüâîûi̇",
    "baltic": "ąčęėįšųūžāēģīķļņōŗõäöüß",
}
ALPHABETS = {
    **dict.fromkeys(("pl", "cs", "sk", "hu", "ro", "hr", "sl", "bs", "sq"), "central"),
    **dict.fromkeys(("tr", "az", "ku"), "turkish"),
    **dict.fromkeys(("lt", "lv", "et"), "baltic"),
}
NAMES = {"mac_roman": "MacRoman", "latin-1": "Latin-1", "gb18030": "GB 18030", "koi8_r": "KOI8-R"}
MISREAD = ("cp1252", "mac_roman", "latin-1")
UTF_8 = "utf-8-sig"
SAMPLE = 100_000
SURE = 0.9  # of the letters beyond ASCII are letters of the alphabet
MANY = 4  # letters of another script that are no accident
QUOTES = frozenset("’‘‚“”„«»‹›…–—·°§€£¿¡\xa0")
LATIN = re.compile("[A-Za-z]")
WORDS = re.compile(r"[^\W\d_]+")
MOST_ACCENTED = 0.6
"""The most letters beyond ASCII, of all letters of the words that have one, in a Latin alphabet; of another script that was read
as Latin, nearly all are."""
LONGEST_HEADER = 100_000  # letters; a cell that csv can read is not much longer
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def encoding_name(codec: str) -> str:
    """What people call an encoding: Windows-1250 for cp1250."""
    if codec.startswith("cp125"):
        return f"Windows-{codec[2:]}"
    return NAMES.get(codec) or codec.replace("iso8859_", "ISO 8859-").replace("utf-", "UTF-").upper().replace("_", "-")


def find_encoding(head: bytes, language: str | None) -> str:
    """The codec of a file that begins so; UTF-8 where no other is certain, and its bad rows are reported one by one."""
    wide = wide_encoding(head[:64])
    if wide is not None:
        return wide
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
        return UTF_8
    except UnicodeDecodeError:
        pass
    sample = b"\n".join(line for line in head.splitlines() if not line.isascii())[:SAMPLE]
    odd = [letter for letter in sample.decode("utf-8", "surrogateescape") if letter > "\x7f"]
    if 2 * sum("\udc80" <= letter <= "\udcff" for letter in odd) < len(odd):
        return UTF_8  # most of it is; some rows are broken
    groups = list(CODECS)
    if language:
        script = languages.describe(language).script
        groups = [script if script in CODECS else ALPHABETS.get(language.split("-")[0], "western")]
    fits: dict[str, tuple[float, str]] = {}
    for group in groups:
        for codec in CODECS[group]:
            decoded = sample.decode(codec, "replace")
            fits[codec] = (round(_likelihood(decoded, group), 2), decoded)
    best = max(score for score, _ in fits.values())
    texts = {decoded for score, decoded in fits.values() if score == best}
    certain = best >= SURE and (len(texts) == 1 or language is not None)
    certain = certain and not (groups[0] in LETTERS and len(groups) == 1 and all(map(_is_another_script, texts)))
    return next(codec for codec, (score, _) in fits.items() if score == best) if certain else UTF_8


def _likelihood(text: str, group: str) -> float:
    """The share of the letters beyond ASCII that are usual there: no capital in a word, no Greek letter beside a Latin one."""
    letters = LETTERS.get(group)
    odd = fitting = 0
    for before, letter, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if letter > "\x7f":
            odd += 1
            if letter in QUOTES:
                fitting += 1
            elif letters is not None:
                fitting += letter.lower() in letters and not (letter.isupper() and before.islower())
            else:
                fitting += _is_letter_of(letter, group) and not LATIN.search(before + after)
    return fitting / odd if odd else 0.0


def _is_another_script(text: str) -> bool:
    """Whether text that was read in a Latin encoding is in another script: its words are nearly all letters beyond ASCII."""
    words: list[str] = [word for word in WORDS.findall(text) if not word.isascii()]
    accented = sum(letter > "\x7f" for word in words for letter in word)
    return accented > MOST_ACCENTED * sum(map(len, words))


def _is_letter_of(letter: str, script: str) -> bool:
    names = {"Cyrl": "CYRILLIC", "Grek": "GREEK", "Hebr": "HEBREW", "Arab": "ARABIC", "Thai": "THAI", "Kore": "HANGUL"}
    name = unicodedata.name(letter, "")
    return name.startswith(names.get(script, ("CJK", "HIRAGANA", "KATAKANA", "FULLWIDTH", "IDEOGRAPHIC")))


def wide_encoding(head: bytes) -> str | None:
    """UTF-16 or UTF-32, when a file begins with their mark or as their Latin text does; else nothing."""
    if head[:4] in (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff"):
        return "utf-32"
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if len(head) < 4 or 3 * head.count(0) < len(head):
        return None
    return "utf-16-be" if head[::2].count(0) > head[1::2].count(0) else "utf-16-le"


def find_separator(header: str, usual: str) -> str:
    """What separates the columns that a table's first line names: the sign that gives the most of them."""
    counts = {
        sign: len(next(csv.reader([header[:LONGEST_HEADER]], delimiter=sign), [])) for sign in (usual, *SEPARATORS)
    }
    return max(counts, key=lambda sign: counts[sign])


def misread_as(text: str) -> str | None:
    """The encoding that UTF-8 text was taken for when it was read, as 'Ã©' or '√©' for 'é'; nothing if it was not."""
    if text.isascii():
        return None
    for codec in MISREAD:
        try:
            meant = text.encode(codec).decode("utf-8")
        except UnicodeError:
            continue
        odd = [letter for letter in meant if letter > "\x7f"]
        if len(odd) >= MANY or all("\xa0" <= letter <= "\u017f" or letter in QUOTES for letter in odd):
            return encoding_name(codec)
    return None
