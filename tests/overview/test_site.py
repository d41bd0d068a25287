"""The folder of the overview: safe names, nothing rewritten without need, nothing left over, no dead link."""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.datasets.bundled import bundled
from histeval.errors import HistevalError, UsageError
from histeval.overview.build import Input, overview
from histeval.overview.site import LOCK, Site
from histeval.overview.slugs import LONGEST, slug
from overview_sites import (
    TASKS,
    MadeSite,
    addresses,
    demo_input,
    invented_runs,
    make_site,
    snapshot,
    write_runs,
)
from support import examples

NAMES = st.text(max_size=80) | st.text(alphabet="aAbB01./\\-_ \u00e4%:", max_size=12)


@settings(max_examples=examples(200), deadline=None)
@given(NAMES, NAMES)
def test_slugs_are_safe_and_two_names_never_meet(one: str, two: str) -> None:
    for name in (one, two):
        made = slug(name)
        assert re.fullmatch(r"[a-z0-9]([a-z0-9._-]*[a-z0-9_])?", made)
        assert ".." not in made
        assert len(made) <= LONGEST + 7
        assert slug(name) == made
    if one != two:
        assert slug(one) != slug(two)


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../..", "CON", "con", "nul.txt", "index", "index.html", "a/b", "a\\b", "C:\\x", "a\x00b"),
        *("\ud800", "javascript:alert(1)", "%2e%2e%2f", "a?b#c", "e\u0301", "\u202eabc", "x" * 300, "letter01 "),
        "Letter01",
    ],
)
def test_names_that_systems_or_servers_treat_specially_are_changed(name: str) -> None:
    made = slug(name)
    assert made != name
    assert re.search(r"(^|-)[0-9a-f]{6}$", made)
    assert made == unicodedata.normalize("NFC", made)


def test_a_name_that_looks_like_a_changed_one_does_not_meet_it() -> None:
    assert slug(slug("Brief 1")) != slug("Brief 1")


@pytest.mark.parametrize(
    "path", ["../x.html", "/etc/x", "a/../../x", "a//b", "A.html", "a b.html", ".hidden", "a/.b", "a\\b", "", "a/"]
)
def test_a_site_takes_no_path_that_is_not_made_of_slugs(path: str, tmp_path: Path) -> None:
    site = Site(tmp_path / "site")
    with pytest.raises(ValueError, match="no path of a site"):
        site.write(path, "x")
    assert not (tmp_path / "x.html").exists()


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., MadeSite]:
    """Makes a small site of letters; options of `change` alter its runs before."""
    from histeval.datasets import load_dataset
    from histeval.tasks import get_task

    folder = tmp_path_factory.mktemp("small")
    dataset = load_dataset("letters", bundled("letters"))

    def make(out: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda runs: runs) -> MadeSite:
        runs = change(json.loads(json.dumps(invented_runs("letters")[:3])))
        file = write_runs(folder / "runs.jsonl", runs)
        return make_site(out, Input(get_task("letters"), dataset, [file]))

    return make


Make = Callable[..., MadeSite]


def changed(before: dict[str, tuple[bytes, int]], after: dict[str, tuple[bytes, int]]) -> set[str]:
    """Files that were written anew, whether or not they differ."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def test_a_build_without_a_change_writes_nothing(demo_site: MadeSite) -> None:
    before = snapshot(demo_site.out)
    again = overview(demo_site.inputs, demo_site.out)
    assert again.written == ()
    assert again.removed == ()
    assert set(demo_site.built.written) <= set(again.kept)
    assert changed(before, snapshot(demo_site.out)) == set()


def test_two_builds_of_the_same_are_the_same_files(letters: Make, tmp_path: Path) -> None:
    one, two = letters(tmp_path / "one"), letters(tmp_path / "two")
    files = [{name: data for name, (data, _) in snapshot(site.out).items()} for site in (one, two)]
    assert files[0].keys() == files[1].keys()
    # PNG files of a plotting library are no promise of ours
    differing = {name for name in files[0] if files[0][name] != files[1][name] and not name.endswith(".png")}
    assert differing == set()


def test_a_changed_answer_rewrites_only_what_shows_it(letters: Make, tmp_path: Path) -> None:
    site = letters(tmp_path / "site")
    worst = worst_document(site)
    before = snapshot(site.out)

    def fail(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        runs[1]["answers"][worst] = {"error": "provider_error"}
        return runs

    again = letters(site.out, fail)
    written = set(again.built.written)
    files = {name for name in changed(before, snapshot(site.out)) if name != "manifest.json"}
    assert files == written
    documents = {name for name in written if name.startswith("documents/") and not name.startswith("documents/index")}
    assert documents == {f"documents/{slug(worst)}.html", f"documents/{slug(worst)}.js"}
    runs = {name for name in written if name.startswith("runs/")}
    assert f"runs/{slug('T02')}.html" in runs
    assert {"index.html", "published.html", "corrected.html", "exports/leaderboard.json"} <= written
    assert not {name for name in written if name.startswith(("images/", "assets/"))}


def worst_document(site: MadeSite) -> str:
    """The document that has no worse one."""
    for path, tree in site.pages.items():
        if path.startswith("documents/") and any("1st worst" in text for text in tree.itertext()):
            return tree.findtext(".//h1").strip()  # type: ignore[no-any-return]
    raise AssertionError("no page says that its document is the worst")


def test_a_run_that_is_gone_leaves_no_page(letters: Make, tmp_path: Path) -> None:
    site = letters(tmp_path / "site")
    page = f"runs/{slug('T03')}.html"
    assert (site.out / page).is_file()
    (site.out / "notes.txt").write_text("mine", encoding="utf-8")
    again = letters(site.out, lambda runs: runs[:2])
    assert page in again.built.removed
    assert not (site.out / page).exists()
    fresh = letters(tmp_path / "fresh", lambda runs: runs[:2])
    assert set(snapshot(site.out)) == {*snapshot(fresh.out), "notes.txt"}  # what is not ours stays
    assert not any("T03" in (site.out / name).read_text("utf-8") for name in again.pages)


def test_a_page_that_was_damaged_is_written_again(letters: Make, tmp_path: Path) -> None:
    site = letters(tmp_path / "site")
    before = snapshot(site.out)
    (site.out / "index.html").write_text("spoilt", encoding="utf-8")
    (site.out / "documents" / "letter03.html").unlink()
    again = letters(site.out)
    assert set(again.built.written) == {"index.html", "documents/letter03.html"}
    assert {name: data for name, (data, _) in snapshot(site.out).items()} == {n: d for n, (d, _) in before.items()}


def test_an_image_that_is_gone_is_made_again(letters: Make, tmp_path: Path) -> None:
    site = letters(tmp_path / "site")
    image = min((site.out / "images").iterdir())
    image.unlink()
    letters(site.out)
    assert image.is_file()


@pytest.mark.parametrize("kind", ["file", "folder", "damaged", "foreign"])
def test_a_folder_that_is_no_overview_is_refused_and_stays_as_it_is(letters: Make, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "mine"
    if kind == "file":
        out.write_text("mine", encoding="utf-8")
    else:
        out.mkdir()
        (out / "index.html").write_text("mine", encoding="utf-8")
        if kind != "folder":
            (out / "manifest.json").write_text('{"name": "an app"}' if kind == "foreign" else "{", encoding="utf-8")
    before = snapshot(tmp_path)
    with pytest.raises(UsageError, match="--out"):
        letters(out)
    assert snapshot(tmp_path) == before


def test_what_is_said_of_a_damaged_overview_helps(letters: Make, tmp_path: Path) -> None:
    """What the message advises can be done, and works."""
    site = letters(tmp_path / "site")
    (site.out / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match=r"name another folder with --out, or remove .*site and what is in it"):
        letters(site.out)
    assert letters(tmp_path / "another").built.index.is_file()
    shutil.rmtree(site.out)
    assert letters(site.out).built.index.is_file()


def test_folders_in_which_nothing_is_left_go_with_their_files(tmp_path: Path) -> None:
    def build(*paths: str) -> None:
        with Site(tmp_path / "site") as site:
            for path in paths:
                site.write(path, "x")
            site.finish()

    build("index.html", "datasets/a/runs/one.html", "datasets/b/runs/one.html", "datasets/b/two.html")
    (tmp_path / "site" / "datasets" / "b" / "mine.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "site" / "empty").mkdir()
    build("index.html")
    left = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*")}
    assert left == {"index.html", "manifest.json", "datasets", "datasets/b", "datasets/b/mine.txt", "empty"}


def test_an_empty_folder_is_taken(letters: Make, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert letters(tmp_path / "empty").built.index.is_file()


class KilledError(Exception):
    """What stands for the end of the process."""


def kill_after(monkeypatch: pytest.MonkeyPatch, writes: int) -> None:
    """The next build stops after so many files; nothing it would still do is done."""
    write, count = Site.write, [0]

    def write_some(self: Site, path: str, content: str | bytes, **more: Any) -> None:
        count[0] += 1
        if count[0] > writes:
            raise KilledError
        write(self, path, content, **more)

    monkeypatch.setattr(Site, "write", write_some)


@pytest.mark.parametrize("writes", [0, 1, 5, 12])
def test_the_build_after_a_killed_first_build_is_whole(
    letters: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    with monkeypatch.context() as patch:
        kill_after(patch, writes)
        with pytest.raises(KilledError):
            letters(tmp_path / "site")
    assert_like_fresh(letters, tmp_path)


@pytest.mark.parametrize("writes", [1, 6, 20])
def test_the_build_after_a_killed_rebuild_is_whole(
    letters: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    """Also where the killed build was of other runs: what it wrote and nothing lists any more goes."""

    def others(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**run, "run_id": f"other-{run['run_id']}"} for run in runs]

    letters(tmp_path / "site")
    with monkeypatch.context() as patch:
        kill_after(patch, writes)
        with pytest.raises(KilledError):
            letters(tmp_path / "site", others)
    (tmp_path / "site" / ".index.html.part").write_text("half a page", encoding="utf-8")
    assert_like_fresh(letters, tmp_path)


def test_two_builds_never_write_into_one_folder(letters: Make, tmp_path: Path) -> None:
    site = letters(tmp_path / "site")
    before = snapshot(site.out)
    with Site(site.out), pytest.raises(UsageError, match="another process is writing to the overview"):
        letters(tmp_path / "site")
    assert snapshot(site.out) == before
    (site.out / LOCK).write_bytes(b"")  # a killed build leaves it, but the system has let it go
    assert letters(tmp_path / "site").built.written == ()
    assert snapshot(site.out) == before


def assert_like_fresh(letters: Make, tmp_path: Path) -> None:
    letters(tmp_path / "site")
    fresh = letters(tmp_path / "fresh")
    after = {name: data for name, (data, _) in snapshot(tmp_path / "site").items()}
    wanted = {name: data for name, (data, _) in snapshot(fresh.out).items()}
    after.pop(".index.html.part", None)
    assert sorted(after) == sorted(wanted)
    assert {name for name in wanted if after[name] != wanted[name] and not name.endswith((".png", ".json"))} == set()


def test_runs_whose_folders_have_one_name_have_pages_of_their_own(letters: Make, tmp_path: Path) -> None:
    from histeval.datasets import load_dataset
    from histeval.tasks import get_task
    from overview_sites import answers_of, run_folder

    dataset = load_dataset("letters", bundled("letters"))
    folders = []
    for kind in ("careful", "hasty"):
        facts = {"task": "letters", "system": f"acme/{kind}", "model": kind}
        folders.append(run_folder(tmp_path / kind / "run", facts, answers_of("letters", kind)))
    site = make_site(tmp_path / "site", Input(get_task("letters"), dataset, folders))
    tree = site.pages["index.html"]
    links = {link.get("href") for link in tree.xpath("//table[@data-board='main']//a")}
    assert len(links) == 2


def test_a_folder_of_files_of_answers_stands_for_all_of_them(letters: Make, tmp_path: Path) -> None:
    from histeval.datasets import load_dataset
    from histeval.tasks import get_task
    from overview_sites import answers_of, run_folder

    folder = tmp_path / "answers"
    facts = {"task": "letters", "system": "acme/careful", "model": "careful"}
    run_folder(folder / "one", facts, answers_of("letters", "careful"))
    write_runs(folder / "two.jsonl", invented_runs("letters")[:2])
    site = make_site(
        tmp_path / "site",
        Input(get_task("letters"), load_dataset("letters", bundled("letters")), [folder]),
    )
    assert len(site.pages["index.html"].xpath("//table[@data-board='main']/tbody/tr")) == 3


def test_a_first_build_says_that_it_wrote_everything_and_a_second_that_it_wrote_nothing(
    letters: Make, tmp_path: Path
) -> None:
    """Images are shared with nothing before them: they are written, too."""
    first = letters(tmp_path / "site").built
    assert any(name.endswith(".jpg") for name in first.written)
    assert first.kept == ()
    second = letters(tmp_path / "site").built
    assert second.written == ()
    assert set(second.kept) == set(first.written)


def test_a_document_without_an_image_says_so(letters: Make, tmp_path: Path) -> None:
    from histeval.datasets import load_dataset
    from histeval.tasks import get_task

    dataset = load_dataset("letters", bundled("letters"))
    documents = dict(dataset.documents)
    bare = next(iter(documents))
    documents[bare] = replace(documents[bare], images=())
    runs = write_runs(tmp_path / "runs.jsonl", invented_runs("letters")[:2])
    site = make_site(tmp_path / "site", Input(get_task("letters"), replace(dataset, documents=documents), [runs]))
    said = {
        name: "The dataset has none of this document." in page.text_content()
        for name, page in site.pages.items()
        if name.startswith("documents/")
    }
    assert [name for name, here in said.items() if here] == [f"documents/{bare}.html"]


def test_what_cannot_be_built_is_said_in_one_sentence(letters: Make, tmp_path: Path) -> None:
    from histeval.datasets import load_dataset
    from histeval.tasks import get_task

    dataset = load_dataset("letters", bundled("letters"))
    runs = write_runs(tmp_path / "runs.jsonl", invented_runs("letters")[:2])
    one = Input(get_task("letters"), dataset, [runs])
    cases: list[tuple[list[Input], dict[str, Any]]] = [
        ([], {}),
        ([one, one], {}),
        ([replace(one, answers=[])], {}),
        ([replace(one, answers=[runs, runs])], {}),
        ([replace(one, answers=[tmp_path / "missing.jsonl"])], {}),
        ([one], {"protocol": "none"}),
        ([one], {"rules": {"unknown": True}}),
        ([one], {"by": ["no_such_attribute"]}),
    ]
    for inputs, options in cases:
        with pytest.raises(HistevalError) as caught:
            overview(inputs, tmp_path / "site", **options)
        assert "\n" not in str(caught.value)
    with pytest.raises(HistevalError, match="no such file"):
        overview([replace(one, answers=[tmp_path / "missing.jsonl"])], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_every_address_leads_to_a_file_of_the_site(demo_site: MadeSite) -> None:
    targets: set[str] = set()
    root = demo_site.out.resolve()
    for path, tree in demo_site.pages.items():
        anchors = {element.get("id") for element in tree.iter() if isinstance(element.tag, str) and element.get("id")}
        for attribute, address in addresses(tree):
            where = f"{path}: {attribute}={address!r}"
            parts = urlsplit(address)
            if attribute == "href" and address == "data:,":
                continue  # the icon that no browser need ask for
            assert not parts.scheme, where
            assert not parts.netloc, where
            assert not parts.path.startswith("/"), where
            if not parts.path:
                assert parts.fragment in anchors | fragments(tree) | {""}, where
                continue
            target = (demo_site.out / path).parent.joinpath(unquote(parts.path)).resolve()
            assert target.is_relative_to(root), where
            assert target.is_file(), where
            targets.add(target.relative_to(root).as_posix())
    own = {name for name in snapshot(demo_site.out) if name != "manifest.json"}
    # every file is reached from some page, apart from where one starts
    assert own - targets - {"index.html"} == set()


def fragments(tree: Any) -> set[str]:
    """What the script of a document's page takes as the name of a system."""
    return {row.get("data-row") for row in tree.xpath("//*[@data-row]")}


def test_every_run_and_every_document_has_a_page(demo_site: MadeSite) -> None:
    for task in TASKS:
        one, folder = demo_site.input(task), demo_site.folder(task)
        shown = one.selection.documents or tuple(one.dataset.documents)
        documents = {path for path in demo_site.pages if path.startswith(f"{folder}documents/")}
        assert {f"{folder}documents/{slug(name)}.html" for name in shown} <= documents
        number = 6 + (3 if task == "letters" else 0)
        assert len([path for path in demo_site.pages if path.startswith(f"{folder}runs/")]) == number


def test_pages_are_made_to_be_read_by_all(demo_site: MadeSite) -> None:
    titles: dict[str, str] = {}
    for path, tree in demo_site.pages.items():
        assert tree.get("lang") == "en", path
        assert len(tree.xpath("//h1")) == 1, path
        assert len(tree.xpath("//main")) == 1, path
        levels = [int(element.tag[1]) for element in tree.iter() if element.tag in ("h1", "h2", "h3", "h4", "h5", "h6")]
        assert levels[0] == 1, path
        assert all(after - before <= 1 for before, after in pairwise(levels)), path
        title = " ".join(tree.findtext(".//title").split())
        assert title, path
        titles.setdefault(title, path)
        for table in tree.xpath("//table"):
            assert table.xpath(".//th[@scope='col']"), path
        for image in tree.xpath("//img"):
            assert image.get("alt") is not None, path
        identifiers = [element.get("id") for element in tree.xpath("//*[@id]")]
        assert len(identifiers) == len(set(identifiers)), path
    assert len(titles) == len(demo_site.pages)


def test_no_page_holds_what_its_policy_would_refuse(demo_site: MadeSite) -> None:
    for path, tree in demo_site.pages.items():
        policies = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
        assert len(policies) == 1, path
        assert "default-src 'none'" in policies[0], path
        assert "unsafe" not in policies[0], path
        for script in tree.xpath("//script"):
            assert script.get("src"), path
            assert not (script.text or "").strip(), path
        assert not tree.xpath("//style|//@style|//iframe|//object|//embed|//base|//form[@action]"), path
        names = {name for element in tree.iter() if isinstance(element.tag, str) for name in element.attrib}
        assert not {name for name in names if name.lower().startswith("on")}, path


def test_values_in_attributes_are_those_shown(demo_site: MadeSite) -> None:
    """What sorts a cell is what stands in it, on every page, to the digits shown."""
    checked = 0
    for path, tree in demo_site.pages.items():
        for cell in tree.xpath("//td[@data-v][contains(@class, 'number')]"):
            value = float(cell.get("data-v"))
            text = cell.text_content().split()[0]
            if "$" in text:
                assert float(text.strip("$").replace(",", "")) == pytest.approx(value, rel=0.05, abs=0.005), path
                continue
            number = re.match(r"-?[\d,]+(\.\d+)?", text)
            assert number is not None, (path, text)
            digits = len(number[1] or ".") - 1
            shares = (value, 100 * value) if "%" in cell.text_content() else (value,)
            assert any(f"{one:.{digits}f}" == number[0].replace(",", "") for one in shares), (path, text, value)
            checked += 1
    assert checked > 200


def test_by_shows_only_what_is_asked_for(tmp_path: Path) -> None:
    one = demo_input("letters", tmp_path / "answers")
    attributes = sorted({key for document in one.dataset.documents.values() for key in document.attributes})
    assert attributes
    site = make_site(tmp_path / "site", replace(one, answers=one.answers[:1]), by=[attributes[0]])
    assert site.built.index.is_file()
    assert any(attributes[0].replace("_", " ") in " ".join(tree.itertext()).lower() for tree in site.pages.values())
