"""What a reply is read as: however it is wrapped, and nothing where it says nothing."""

import pytest

import coupled_arena as ca
from coupled_arena.errors import ConfigurationError
from coupled_arena.studies.bench.offline import OFFLINE, offline_task
from coupled_arena.studies.bench.scoring import plain_number, strict_letter, whole_text


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("42", "42"),
        ("The answer is 42.", "42"),
        ("17 + 25 = 42", "42"),
        ("$1,234.50", "1234.5"),
        ("It went from 12 to -7", "-7"),
        ("10-3", "3"),
        ("**3.0**", "3"),
        ("#### 72", "72"),
        ("1,200,000 people", "1200000"),
        ("1, 2, 3", "3"),
        ("forty-two", None),
        ("", None),
    ],
)
def test_the_last_number_of_a_reply_counts(text: str, read: str | None) -> None:
    assert ca.last_number(text) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("B", "B"),
        ("b", "B"),
        (" C.", "C"),
        ("Answer: A", "A"),
        ("**A**", "A"),
        ("(D)", "D"),
        ("D) Paris", "D"),
        ("B: because A is wrong", "B"),
        ("The correct answer is (C).", "C"),
        ("Answer: A. No, wait. Answer: D", "D"),
        ("The answer is option B", "B"),
        ("I would choose C here", "C"),
        ("Either A or B", None),
        ("A cat sat on the mat", None),
        ("Dogs", None),
        ("E", None),
        ("", None),
    ],
)
def test_a_letter_is_found_however_it_is_wrapped(text: str, read: str | None) -> None:
    assert ca.letter(text) == read


def test_a_strict_letter_is_nothing_but_the_letter() -> None:
    assert [strict_letter(text) for text in ("A", " B. ", "Answer: A", "**A**", "a", "AB", "")] == [
        "A", "B", None, None, None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Yes.", "yes"),
        ("NO!", "no"),
        ("**Yes**, it is", "yes"),
        ("Yes, the answer is wrong", "yes"),
        ("The answer is no", "no"),
        ("I am sure it is not so: no.", "no"),
        ("Know that yesterday", None),
        ("Is it yes or is it no?", None),
        ("", None),
    ],
)
def test_yes_and_no_are_words_not_letters(text: str, read: str | None) -> None:
    assert ca.yes_or_no(text) == read


def test_numbers_and_texts_are_compared_in_one_form() -> None:
    assert [plain_number(text) for text in ("007", "1.50", "-0", "1e3".replace("e3", "000"))] == [
        "7",
        "1.5",
        "0",
        "1000",
    ]
    assert [whole_text(text) for text in ("**Paris**.", "  paris ", "**")] == ["paris", "paris", None]


@pytest.mark.parametrize("name", OFFLINE)
def test_an_offline_task_scores_its_own_gold_answers(name: str) -> None:
    task = offline_task(name)
    assert len(task.items) == len({item.text for item in task.items}) == 300
    assert {task.worth(item, item.gold) for item in task.items} == {1.0}
    assert {task.worth(item, "") for item in task.items} == {0.0}
    golds = [item.gold for item in task.items]
    assert max(map(golds.count, golds)) < 0.6 * len(golds)


def test_the_gold_answers_of_the_offline_tasks_are_right() -> None:
    for item in offline_task("arithmetic").items:
        a, sign, b = item.text.removeprefix("What is ").removesuffix("?").split()
        assert int(item.gold) == {"+": int(a) + int(b), "-": int(a) - int(b), "*": int(a) * int(b)}[sign]
    for item in offline_task("yes-no").items:
        if item.subject == "comparison":
            more, less = (int(word) for word in item.text.removesuffix("?").split() if word.isdigit())
            assert item.gold == ("yes" if more > less else "no")
        elif item.subject == "parity":
            assert item.gold == ("no" if int(item.text.split()[1]) % 2 else "yes")
    for item in offline_task("multiple-choice").items:
        options = {line[0]: line[3:] for line in item.text.splitlines()[1:]}
        assert list(options) == list("ABCD")
        assert len(set(options.values())) == 4
        if item.subject == "numbers":
            assert int(options[item.gold]) == max(map(int, options.values()))


ITEM = ca.Item("one", "What is 1 + 1?", "2")


def test_a_task_says_everything_that_is_wrong_with_it() -> None:
    with pytest.raises(ConfigurationError) as caught:
        ca.Task("", (ITEM, ITEM, ca.Item("two", " ", "")), ca.Exact(ca.last_number), max_tokens=0)
    assert [problem.key for problem in caught.value.problems] == ["name", "max_tokens", "one", "two.text", "two.gold"]
    for strange in (ca.Item("three", "What is 1 + 2?", 3), {"id": "three"}):  # type: ignore[arg-type]
        with pytest.raises(ConfigurationError, match="items: must be Items whose id, text and gold are text, not"):
            ca.Task("t", (ITEM, strange), ca.Exact(ca.last_number))  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="has none; give at least one"):
        ca.Task("empty", (), ca.Exact(ca.last_number))


def broken(item: ca.Item, text: str) -> float:
    return {"raises": 1 / len(text) if text else 1 / 0, "nan": float("nan"), "two": 2.0}[item.id]


@pytest.mark.parametrize(
    ("name", "message"),
    [("raises", "scorer raised ZeroDivisionError"), ("nan", "returned nan"), ("two", "not from 0 to 1")],
)
def test_a_scorer_that_fails_names_the_item(name: str, message: str) -> None:
    task = ca.Task("mine", (ca.Item(name, "text", "gold"),), broken)
    with pytest.raises(ConfigurationError, match=f"mine: {name}: .*{message}"):
        task.worth(task.items[0], "" if name == "raises" else "text")


def test_a_prompt_that_fails_names_the_item() -> None:
    task = ca.Task("mine", (ITEM,), ca.Exact(ca.last_number), lambda item: item.text["key"])  # type: ignore[index]
    with pytest.raises(ConfigurationError, match="mine: one: its prompt raised TypeError"):
        task.chat(ITEM)


def test_fewer_items_are_among_more_items_and_keep_their_order() -> None:
    task = offline_task("arithmetic")
    few, more = task.chosen(10, 7), task.chosen(40, 7)
    assert set(few) < set(more)
    assert len(few) == 10
    assert list(more) == [item for item in task.items if item in set(more)]
    assert few != task.chosen(10, 8)
    assert task.chosen(None, 7) == task.items
