"""Keys of `evenkeel top`: what a terminal sends, and what they change."""

from __future__ import annotations

import itertools
from functools import reduce

import pytest

from evenkeel.engine.cli.keyboard import KEYS, keys_in
from evenkeel.engine.cli.top_state import Page, TopState

PAGE = Page(groups=[f"group-{n}" for n in range(10)], rows=4, lines=9)


def after(*keys: str, page: Page = PAGE, state: TopState | None = None) -> TopState | None:
    """The state after some keys."""
    pressed = lambda state, key: state and state.pressed(key, page)  # noqa: E731
    return reduce(pressed, keys, state or TopState())


def test_keys_that_come_together_are_told_apart():
    """A slow connection sends several at once."""
    for one, other in itertools.product(KEYS, KEYS):
        assert keys_in(f"{one}q{other}") == [KEYS[one], "q", KEYS[other]]


def test_keys_without_a_meaning_are_left_out():
    """Function keys, keys with Ctrl, and the mouse."""
    assert keys_in("\x1b[15~a\x01\x1b[1;5A\x1b[<0;3;4M\x1bOP") == ["a"]


@pytest.mark.parametrize(
    ("keys", "group"),
    [
        (["down", "j"], "group-2"),
        (["down", "down", "up"], "group-1"),
        (["page down"], "group-4"),
        (["end"], "group-9"),
        (["G", "down"], "group-9"),
        (["end", "page up"], "group-5"),
        (["end", "home"], None),
        (["down", "k", "up"], None),
        (["down", "x"], "group-1"),
    ],
)
def test_arrows_select_a_group(keys, group):
    """They stop at both ends; at the top, whichever group is the worst is selected."""
    assert after(*keys) == TopState(group=group)


def test_the_selection_follows_its_group():
    """The next snapshot may list it elsewhere, or not at all."""
    state = after("down", "down")
    assert state.place(["group-7", "group-2", "group-1"]) == 1
    assert state.place(["group-7", "group-1"]) == 0


@pytest.mark.parametrize("key", ["enter", "right", "l"])
@pytest.mark.parametrize("back", ["escape", "left", "h", "backspace"])
def test_a_group_opens_and_closes(key, back):
    """It stays selected; the first one is opened without a selection."""
    assert after("down", key) == TopState(group="group-1", is_open=True)
    assert after("down", key, "down", back, key) == after("down", key)
    assert after(key).group == "group-0"


@pytest.mark.parametrize(
    ("keys", "first"),
    [(["down"], 1), (["page down"], 4), (["end"], 5), (["end", "down"], 5), (["up"], 0)],
)
def test_an_open_group_scrolls_to_its_last_line(keys, first):
    """Its nine lines on a screen of four."""
    assert after("enter", *keys).first == first
    assert after("enter", *keys, "escape", "enter").first == 0


def test_a_name_is_typed_and_kept_until_escape():
    """While it is typed, q is a letter; keys without one do nothing."""
    typed = after("/", "q", "x", "backspace", "up", "1")
    assert typed == TopState(name="q1", is_typing=True)
    assert after("enter", state=typed) == TopState(name="q1")
    assert after("escape", state=typed) == after("enter", "escape", state=typed) == TopState()
    assert after("backspace", "backspace", "backspace", state=typed).name == ""


def test_a_name_is_found_in_upper_and_lower_case():
    """Anywhere in the name of a group."""
    assert [TopState(name="Pay").lists(one) for one in ("payments", "orders-PAY", "play")] == [
        True,
        True,
        False,
    ]


def test_nothing_is_selected_where_nothing_is_listed():
    """The name can still be changed."""
    nothing = Page(groups=[], rows=4)
    for key in ("enter", "down", "end"):
        assert after(key, page=nothing) == TopState()
    assert after("/", "a", page=nothing).name == "a"


@pytest.mark.parametrize("before", [[], ["down"], ["enter"], ["/", "a", "enter"]])
def test_q_quits(before):
    """From everywhere but a name that is typed."""
    assert after(*before, "q") is None
