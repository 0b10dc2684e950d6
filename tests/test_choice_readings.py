"""Answers to labeled options: what they pick in several languages, and why some pick none."""

from __future__ import annotations

import pytest

from isogloss.chat.choice_readings import read_choice

ENGLISH = ("The aunt", "Not known", "The niece")
SPANISH = ("La tía", "No se sabe", "La sobrina")
TURKISH = ("Teyze", "Bilinmiyor", "Yeğen")
CHINESE = ("阿姨", "不知道", "侄女")
LIST = "A) The aunt\nB) Not known\nC) The niece"


@pytest.mark.parametrize(
    ("answer", "options", "language", "outcome"),
    [
        ("La respuesta es B.", SPANISH, "es", 1),
        ("Respuesta: (C)", SPANISH, "es", 2),
        ("La respuesta a la pregunta es difícil.", SPANISH, "es", "off_topic"),
        ("la sobrina", SPANISH, "es", 2),
        ("Cevap: A", TURKISH, "tr", 0),
        ("Bilinmiyor.", TURKISH, "tr", 1),
        ("答案：C", CHINESE, "zh", 2),
        ("Răspuns final: B", SPANISH, "ro", 1),  # 'final' is a form of another word in the lists
        ("答えはB", CHINESE, "ja", 1),
        ("我选侄女。", CHINESE, "zh", 2),
        ("C) 侄女", CHINESE, "zh", 2),
        ("Resposta: B", SPANISH, "ca", 1),
        ("No puedo responder a eso.", SPANISH, "es", "refused"),
        ("A is the correct answer. The text states that", ENGLISH, "en", 0),
        ("A, B, C.", ENGLISH, "en", "restated"),
        (LIST, ENGLISH, "en", "restated"),
        (f"{LIST}\n\nAnswer: C", ENGLISH, "en", 2),
        (f"The options are:\n{LIST}", ENGLISH, "en", "restated"),
        ("B) Not known\nC)", ENGLISH, "en", 1),
        ("It was the aunt, not the niece.", ENGLISH, "en", "unreadable"),
        ('{"answer": "B"}', ENGLISH, "en", 1),
        ("<think>The aunt? No.</think>C", ENGLISH, "en", 2),
        ("A person forgot it.", ENGLISH, "en", "off_topic"),
    ],
)
def test_an_answer_is_read_in_its_language(answer, options, language, outcome):
    assert read_choice(answer, options, language=language) == outcome


def test_an_option_that_is_part_of_another_is_not_picked_with_it():
    assert read_choice("The old man", ("man", "old man", "neither"), language="en") == 1


KOREAN = ("손자", "알 수 없음", "할아버지")


@pytest.mark.parametrize(
    ("answer", "options", "language", "outcome"),
    [
        ("Unknown", ENGLISH, "en", 1),
        ("It cannot be determined from the text.", ENGLISH, "en", 1),
        ("It cannot be determined whether the aunt or the niece forgot.", ENGLISH, "en", 1),
        ("It was the aunt or the niece; which of them cannot be determined.", ENGLISH, "en", "unreadable"),
        ("The aunt, who cannot answer the phone.", ENGLISH, "en", 0),
        ("I'm sorry, I can't answer that.", ENGLISH, "en", "refused"),
        (f"{LIST}\nNot enough information.", ENGLISH, "en", 1),
        ("No hay suficiente información para saberlo.", SPANISH, "es", 1),
        ("Not enough information", SPANISH, "es", 1),
        ("Yeterli bilgi yok.", TURKISH, "tr", 1),
        ("信息不足，无法判断。", CHINESE, "zh", 1),
        ("알 수 없습니다.", KOREAN, "ko", 1),
        ("손자가 늦었습니다.", KOREAN, "ko", 0),
        ("정답은 C입니다.", KOREAN, "ko", 2),
        ("Cevap: Ali", TURKISH, "tr", "off_topic"),
    ],
)
def test_another_wording_of_unknown_picks_it(answer, options, language, outcome):
    assert read_choice(answer, options, language=language, unknown=1) == outcome


def test_without_an_option_that_means_unknown_its_wordings_pick_nothing():
    assert read_choice("Unknown", ("The aunt", "The niece", "A tree"), language="en") == "off_topic"
