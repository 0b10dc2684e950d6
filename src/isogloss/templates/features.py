"""Features of words: Universal Dependencies' names and values, and the short forms one writes by hand."""

import difflib
import re
from collections.abc import Iterable, Mapping

Features = tuple[tuple[str, str], ...]

VALUES = {  # of each feature, by their short forms
    "Number": "sg=Sing pl=Plur du=Dual",
    "Gender": "masc=Masc fem=Fem neut=Neut com=Com",
    "Case": "nom=Nom gen=Gen dat=Dat acc=Acc voc=Voc loc=Loc ins=Ins abl=Abl obl=Obl erg=Erg "
    "par=Par ess=Ess tra=Tra ine=Ine ela=Ela ill=Ill ade=Ade",
    "Person": "1=1 2=2 3=3",
    "Definite": "def=Def ind=Ind cons=Cons",
    "Animacy": "anim=Anim inan=Inan hum=Hum",
    "Degree": "pos=Pos cmp=Cmp sup=Sup",
    "Polarity": "neg=Neg",
    "Evident": "nfh=Nfh",  # reported, as in Korean -다고 한다
    "VerbForm": "part=Part",  # before a noun, as in Korean -은 사람
    "Inflection": "weak=Weak strong=Strong mixed=Mixed",
    "Variant": "long=Long brief=Short",
    "Ezafe": "ezafe=Yes",
    "Use": "adj=Adj place=Place state=State poss=Poss art=Art",
}
SHORT = {
    short: (name, value)
    for name, pairs in VALUES.items()
    for short, value in (pair.split("=") for pair in pairs.split())
}
LONG = {pair: short for short, pair in SHORT.items()}
USES = ("adj", "place", "state", "poss", "art")
AGREE = ("Gender", "Number", "Case", "Person", "Definite", "Animacy")
DEFAULTS = {
    "Number": "Sing",
    "Case": "Nom",
    "Person": "3",
    "Definite": "Ind",
    "Degree": "Pos",
    "Polarity": "Pos",
    "Evident": "Fh",
    "VerbForm": "Fin",
}

# the order in which features are shown, as one reads them: adj fem pl nom
ORDER = ("Use", "Gender", "Animacy", "Number", "Case", "Person", "Definite")
PAIR = re.compile(r"[A-Z][A-Za-z]*=[A-Za-z0-9]+")


def parse_features(text: str) -> Features:
    """The features that a text names, in their order of display; a ValueError says what is wrong with it."""
    features: dict[str, str] = {}
    for word in re.split(r"[\s,;]+", text.strip()):
        if not word:
            continue
        if word.casefold() in SHORT:
            name, value = SHORT[word.casefold()]
        elif PAIR.fullmatch(word):
            name, value = word.split("=")
        else:
            near = difflib.get_close_matches(word.casefold(), SHORT, n=1, cutoff=0.6)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise ValueError(f"'{word}' is not a feature.{hint} Use short forms such as 'pl' or 'nom', or Name=Value.")
        if features.get(name, value) != value:
            raise ValueError(f"{name} is given twice: '{features[name]}' and '{value}'.")
        features[name] = value
    return make_features(features)


def make_features(pairs: Mapping[str, str]) -> Features:
    """Features in their order of display."""
    rank = {name: index for index, name in enumerate(ORDER)}
    return tuple(sorted(pairs.items(), key=lambda pair: (rank.get(pair[0], len(ORDER)), pair)))


def show_features(features: Iterable[tuple[str, str]]) -> str:
    """Features as one writes them: short where there is a short form."""
    return " ".join(LONG.get(pair, "=".join(pair)) for pair in make_features(dict(features)))
