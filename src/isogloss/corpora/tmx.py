"""TMX, the translation memory format, unit by unit; entities that a file declares itself are refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO
from xml.parsers import expat

from ..errors import BadData

BLOCK = 1 << 16
LANGUAGE = ("xml:lang", "lang")
LONGEST = 1_000_000
MARKUP = ("bpt", "ept", "it", "ph", "ut")  # elements that hold codes of the source format, not text


class _Units:
    """Collects the units that were closed so far: each maps languages to text."""

    def __init__(self, path: Path) -> None:
        self.path, self.done = path, list[dict[str, str]]()
        self.unit: dict[str, str] = {}
        self.language = ""
        self.text: list[str] | None = None
        self.hidden = self.length = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "tu":
            self.unit = {}
        elif name == "tuv":
            self.language = next((attributes[key].lower() for key in LANGUAGE if key in attributes), "")
        elif name == "seg":
            self.text, self.hidden, self.length = [], 0, 0
        elif self.text is not None and name in MARKUP:
            self.hidden += 1

    def letters(self, text: str) -> None:
        if self.text is not None and not self.hidden:
            self.text.append(text)
            self.length += len(text)
            self.check(self.length)

    def end(self, name: str) -> None:
        if name == "seg" and self.text is not None:
            self.unit[self.language], self.text = " ".join("".join(self.text).split()), None
        elif name == "tu":
            self.done.append(self.unit)
        elif self.text is not None and name in MARKUP:
            self.hidden -= 1

    def check(self, length: int) -> None:
        """Refuse a sentence, or a tag that has not ended yet, of more characters than any has."""
        if length > LONGEST:
            problem = f"a sentence or tag of more than {LONGEST:,} characters. Is it a TMX file of sentences?"
            raise BadData(self.path, None, problem)

    def refuse(self, *declared: object) -> None:
        problem = f"it declares the entity '{declared[0]}', which could grow without end. Remove its entities."
        raise BadData(self.path, None, problem)


def read_units(path: Path, file: IO[bytes]) -> Iterator[dict[str, str]]:
    """Each unit of a TMX file as a map from language tags to text, a block of the file at a time."""
    units = _Units(path)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = units.start
    parser.EndElementHandler = units.end
    parser.CharacterDataHandler = units.letters
    parser.EntityDeclHandler = units.refuse
    fed = 0
    try:
        while block := file.read(BLOCK):
            parser.Parse(block, False)
            fed += len(block)
            units.check(fed - parser.CurrentByteIndex)
            yield from units.done
            units.done.clear()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise BadData(path, error.lineno, f"not TMX: {expat.ErrorString(error.code)}.") from error
    except (ValueError, LookupError) as error:  # by Python's own decoder of the encoding that the file names
        raise BadData(path, None, "its encoding is not one that is read here. Save the file as UTF-8.") from error
    yield from units.done
