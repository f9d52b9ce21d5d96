from __future__ import annotations

from slotcache.cli.output import console, counts, progress, show, table


def _shown(*tables) -> str:
    with console.capture() as captured:
        show(*tables)
    return captured.get()


def test_output_never_interprets_markup() -> None:
    made = table("question", title="[red]title[/red]")
    made.add_row("[/bold] :smile:")
    assert all(text in _shown(made) for text in ("[red]title[/red]", "[/bold] :smile:"))


def test_output_title_is_wider_than_its_table() -> None:
    title = "a title that is a good deal longer than the columns below it"
    assert title in _shown(counts(title, [("a", 1)]))


def test_output_progress_gives_items_back() -> None:
    with progress("counting", 2) as step:
        assert [step(item) for item in ("a", "b")] == ["a", "b"]
