"""A class in five browsers: a teacher's laptop and phone, a projector, two phones; and a lesson alone, by keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, drawn, laid, picture, tells, wait_state
from tests.e2e.test_accessible import PHONE, Judge, dress

WALL = {"width": 1024, "height": 768}


def teacher_page(classroom: Classroom, theme: str = "light", **options: Any) -> Page:
    context = classroom.context(**options)
    dress(context, classroom.server, theme, "en")
    page = classroom.watch(context.new_page())
    page.goto(classroom.created["url"])
    wait_state(page, lambda now: now["revision"], "the session is there")
    return page


def wall_page(classroom: Classroom) -> Page:
    """Open the session as the screen on the wall does: as a viewer, who may do nothing."""
    seat = classroom.session("POST", "/people", {"role": "viewer", "name": "Wall"})
    context = classroom.context(viewport=WALL)
    dress(context, classroom.server, "projector", "en")
    page = classroom.watch(context.new_page())
    page.goto(seat["url"])
    wait_state(page, lambda now: now["revision"], "the wall hangs")
    return page


def says(page: Page, words: str) -> None:
    expect(page.get_by_test_id("vote-status")).to_contain_text(words)


def look(judge: Judge, pages: dict[str, Page], phase: str) -> None:
    """Keep a picture of every screen in both languages, and have axe look at it."""
    for who, page in pages.items():
        drawn(page)
        picture(page, f"class-{phase}-{who}")
        judge.look(page, f"{phase} {who}")
        speak(page, "zh-Hans")
        expect(page.locator("h1")).to_have_text("抢占")
        picture(page, f"class-{phase}-{who}-zh")
        speak(page, "en")
        expect(page.locator("h1")).to_have_text("Preemption")


def speak(page: Page, lang: str) -> None:
    """Turn the page to a language, by its button."""
    page.locator(f".languages button[lang={lang}]").click()
    page.locator(f"html[lang={lang}]").wait_for(state="attached")
    drawn(page)


def tab_to(page: Page, test_id: str) -> None:
    """Go by the Tab key alone to a control, which says that it has the keyboard."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement?.dataset.testid ?? ''") == test_id:
            return
    raise AssertionError(f"{test_id} is not reached by the Tab key")


def test_a_class_votes_talks_votes_again_and_the_engine_says_who_was_right(
    open_classroom: Callable[..., Classroom],
) -> None:
    classroom = open_classroom("", lesson="preemption")
    judge = Judge()
    teacher = teacher_page(classroom)
    remote = teacher_page(classroom, **PHONE)
    wall = wall_page(classroom)
    mei = classroom.student("Mei K.", **PHONE)
    lin = classroom.student("Lin W.", **PHONE)
    pages = {"teacher": teacher, "remote": remote, "wall": wall, "mei": mei, "lin": lin}

    classroom.session("POST", "/lesson", {"do": "skip"})
    # The phone leads: the run sheet goes to the third step, whose scene stands on every screen.
    main = remote.get_by_test_id("lead-main")
    main.wait_for()
    remote.get_by_text("Run sheet").click()
    remote.get_by_role("button", name="Start from here: Which node?").click()
    expect(teacher.get_by_test_id("lesson-title")).to_have_text("Which node?")
    expect(mei.get_by_test_id("lesson-title")).to_have_text("Which node?")
    expect(main).to_contain_text("Ask")
    look(judge, pages, "scene")
    main.click()
    expect(wall.get_by_test_id("wall-question")).to_contain_text("vip")
    expect(mei.get_by_test_id("vote-send")).to_be_disabled()

    # One votes by touch and says why, the other by keys alone.
    mei.get_by_test_id("vote-option-n1").click()
    mei.get_by_test_id("vote-send").click()
    mei.get_by_test_id("because-fewest-victims").click()
    says(mei, "Your vote is in: n1")
    lin.get_by_test_id("vote-option-n1").locator("input").focus()
    lin.keyboard.press("ArrowDown")
    lin.keyboard.press("ArrowDown")
    lin.keyboard.press("Enter")
    says(lin, "Your vote is in: n3")
    expect(remote.get_by_test_id("lead-count")).to_have_text("2 of 2 voted")
    assert wall.get_by_test_id("vote-bars").is_visible() is False, "nobody sees the votes but the teacher"
    look(judge, pages, "vote")

    # They talk, and vote again; one of them without a network for a moment. A reload keeps the vote.
    if main.get_attribute("data-deed") == "close":  # else its time is up meanwhile
        main.click()
    expect(main).to_have_attribute("data-deed", "reopen")
    says(mei, "Your vote: n1")
    mei.reload()
    says(mei, "Your vote: n1")
    expect(mei.get_by_test_id("because-fewest-victims")).to_have_attribute("aria-pressed", "true")
    main.click()
    expect(mei.get_by_test_id("vote-send")).to_have_text("Vote for n1")
    mei.get_by_test_id("vote-option-n2").click()
    mei.context.set_offline(True)
    mei.get_by_test_id("vote-send").click()
    says(mei, "Not sent yet: n2")
    mei.context.set_offline(False)
    says(mei, "Your vote is in: n2")
    lin.get_by_test_id("vote-send").click()
    says(lin, "Your vote is in: n3")
    look(judge, pages, "second")

    expect(main).to_have_attribute("data-deed", "reveal")
    main.click()
    for page, words in ((mei, "Right: n2"), (lin, "You said n3.")):
        says(page, words)
    expect(wall.get_by_test_id("wall-answer")).to_have_text("It chose n2")
    # It lies above whatever the step looks at, and says first why.
    wall.get_by_test_id("wall-answer").click(trial=True)
    expect(wall.locator(".wall-why")).to_contain_text("First criterion")
    expect(mei.get_by_test_id("vote-answer")).to_have_text("It chose n2")
    expect(mei.get_by_test_id("vote-changed")).to_have_text("1 changed, 1 to a right answer")
    expect(teacher.get_by_test_id("rail-sealed")).to_be_hidden()
    # Everybody's page shows what the step is about: its author wants the decision to be looked at.
    wait_state(teacher, lambda now: now["selected"] == {"resource": "pods", "key": "default/vip"}, "the lesson's view")
    expect(teacher.get_by_test_id("class-decision")).to_be_visible()
    # The remote steps through the worlds under the class's rules, where everybody looks.
    remote.get_by_test_id("lead-world").click()
    for page in (wall, teacher):
        expect(page.get_by_test_id("rules-world")).to_contain_text("lowest priority dies")
    judge.look(wall, "a world under a rule")
    laid(wall, "worlds.bottom <= innerHeight", "both worlds are seen at once", worlds=".rw-worlds")
    cut = "pods => pods.filter(pod => pod.scrollWidth > pod.clientWidth).map(pod => pod.textContent)"
    assert wall.locator(".rw-worlds .pod").evaluate_all(cut) == []
    picture(wall, "class-worlds-wall")
    # The wall speaks another language, and stays at the same world.
    wall.get_by_test_id("rules-scene").locator("button[lang=zh-Hans]").click()
    expect(wall.get_by_test_id("rules-world")).to_contain_text("优先级最低者被驱逐")
    wall.get_by_test_id("rules-scene").locator("button[lang=en]").click()
    expect(wall.get_by_test_id("rules-world")).to_contain_text("lowest priority dies")
    expect(wall.get_by_test_id("finder")).to_have_count(0)
    remote.get_by_test_id("lead-worldNext").click()
    expect(wall.get_by_test_id("rules-world")).not_to_contain_text("lowest priority dies")
    remote.get_by_test_id("lead-worldClose").click()
    for page in (wall, teacher):
        expect(page.get_by_test_id("rules-scene")).to_have_count(0)
    expect(wall.get_by_test_id("clock-play")).to_be_hidden()
    look(judge, pages, "reveal")
    main.click()
    expect(wall.get_by_test_id("board-so")).to_contain_text("fourth")
    expect(mei.get_by_test_id("lesson-so")).to_contain_text("fourth")
    expect(mei.get_by_test_id("lesson-copy")).to_have_text("Play on in my copy")
    expect(mei.get_by_test_id("lesson-copy")).to_be_visible()
    expect(lin.get_by_test_id("lesson-handout")).to_have_attribute("href", f"{session_path(classroom)}/handout?lang=en")
    look(judge, pages, "so")
    find_one(classroom, judge, teacher)
    read_again(mei, judge)
    take_home(classroom, judge, teacher, mei)
    judge.rule()


def find_one(classroom: Classroom, judge: Judge, teacher: Page) -> None:
    """Find the smallest cluster on which a rule goes wrong, read it in both languages, and open it."""
    teacher.keyboard.press("]")
    teacher.get_by_test_id("decision-rules").click()
    scene = teacher.get_by_test_id("rules-scene")
    teacher.get_by_test_id("finder-rule").select_option("emptiest-node")
    teacher.get_by_test_id("finder-find").click()
    result = teacher.get_by_test_id("finder-result")
    expect(result.get_by_test_id("rules-world")).to_contain_text("emptiest node")
    expect(result.get_by_test_id("rules-engine")).to_be_visible()
    judge.look(teacher, "the finder")
    scene.locator("button[lang=zh-Hans]").click()
    expect(result).to_contain_text("个集群")
    expect(teacher.get_by_test_id("finder-rule")).to_have_value("emptiest-node")
    scene.locator("button[lang=en]").click()
    # All is told anew: a press that begins before counts on what is told then no more.
    expect(result).to_contain_text("looked at")
    teacher.get_by_test_id("finder-open").click()
    link = teacher.get_by_test_id("finder-open-link")
    expect(link).to_be_focused()
    picture(teacher, "class-finder")
    own = classroom.watch(classroom.context().new_page())
    own.goto(link.get_attribute("href") or "")
    wait_state(own, lambda now: (now["held"] or {}).get("pod") == "default/new", "the found pod is in hand")
    own.close()
    teacher.keyboard.press("Escape")
    expect(scene).to_have_count(0)
    teacher.keyboard.press("]")


def take_home(classroom: Classroom, judge: Judge, teacher: Page, student: Page) -> None:
    """Set homework; somebody follows its link, answers twice, and the sheet tells of it."""
    teacher.keyboard.press("[")
    # A question of the teacher's own, with what is right said as a predicate.
    teacher.get_by_test_id("palette-ask").click()
    teacher.get_by_test_id("ask-kind-choice").click()
    teacher.get_by_test_id("ask-question").fill("Where is web?")
    for at, (label, right) in enumerate((("gone", "!pod('web').exists"), ("on n2", "pod('web').node == 'n2'"))):
        teacher.get_by_test_id(f"ask-answer-{at}").fill(label)
        teacher.get_by_test_id(f"ask-right-{at}").fill(right)
    judge.look(teacher, "ask the class")
    teacher.get_by_test_id("dialog-submit").click()
    expect(student.get_by_test_id("vote-question")).to_have_text("Where is web?")
    expect(student.locator(".vote-option")).to_have_count(2)
    teacher.get_by_test_id("palette-homework").click()
    # Before it is set the teacher sees what such a task looks like.
    expect(teacher.get_by_test_id("homework-example")).to_be_hidden()
    teacher.get_by_test_id("homework-about").select_option("first-in-list")
    teacher.get_by_test_id("homework-example").locator("summary").click()
    teacher.get_by_test_id("finder-find").click()
    expect(teacher.get_by_test_id("finder-result").get_by_test_id("rules-engine")).to_be_visible()
    teacher.get_by_test_id("homework-title").fill("Friday")
    teacher.get_by_test_id("homework-set").click()
    expect(teacher.get_by_test_id("homework-1")).to_contain_text("0 of 2 have begun")
    judge.look(teacher, "homework, set")
    student.goto(f"{classroom.server.url}/s/{classroom.code}?homework=1")
    student.get_by_test_id("homework-0-none").wait_for()
    tight = """all => all.map(one => [one.textContent, getComputedStyle(one)])
      .filter(([, style]) => parseFloat(style.lineHeight) < 1.2 * parseFloat(style.fontSize)).map(([words]) => words)"""
    assert student.locator("dialog[open] h3").evaluate_all(tight) == [], "lines of a title that wraps lie apart"
    task = student.locator("dialog[open] .rw-head h3", has_text="Task 1 of 1")
    low = "one => one.getBoundingClientRect().height < 30"
    tells(task, low, True, "beside what the pod asks for, or above it, in one line")
    student.get_by_test_id("homework-0-none").click()
    student.get_by_test_id("homework-0-send").click()
    expect(student.get_by_test_id("homework-0-said")).to_contain_text("one more answer")
    judge.look(student, "homework, once more")
    student.get_by_test_id("homework-0-send").click()
    expect(student.get_by_test_id("homework-done")).to_have_text("1 of 1 done")
    expect(student.get_by_test_id("rules-engine")).to_be_visible()
    judge.look(student, "homework, over")
    picture(student, "class-homework-mei")
    # The cluster of a task that is over is played on: in a session of one's own, where the new pod is in hand.
    student.get_by_test_id("homework-0-play").click()
    link = student.get_by_test_id("homework-0-play-link")
    expect(link).to_be_focused()
    picture(student, "class-homework-play")
    own = classroom.watch(classroom.context().new_page())
    own.goto(link.get_attribute("href") or "")
    wait_state(own, lambda now: (now["held"] or {}).get("pod") == "default/new", "the task's pod is in hand")
    picture(own, "class-homework-cluster")
    rows = classroom.session("GET", "/homework/results")
    assert [one["second"] for one in rows if one["name"] == "Mei K."] == ["none"]
    assert (
        teacher.get_by_test_id("homework-sheet").get_attribute("href")
        == f"{session_path(classroom)}/homework/results?format=csv"
    )


def read_again(phone: Page, judge: Judge) -> None:
    """A step that is done is read again on a phone, where no strip of steps has room."""
    phone.get_by_test_id("lesson-past").locator("summary").click()
    phone.get_by_test_id("lesson-past-does-it-help").click()
    expect(phone.get_by_test_id("lesson-again")).to_have_text("Does it help?")
    judge.look(phone, "read again")
    phone.get_by_test_id("lesson-again-back").click()
    expect(phone.get_by_test_id("lesson-again")).to_be_hidden()


def session_path(classroom: Classroom) -> str:
    return f"/api/sessions/{classroom.code}"


HEARS = """
  window.heard = [];
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      const live = (target.nodeType === 1 ? target : target.parentElement)?.closest("[data-testid=vote-said]");
      if (live && window.heard.at(-1) !== live.textContent) window.heard.push(live.textContent);
    }
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
"""
"""Keeps what a screen reader would read out of the poll."""


def hears(page: Page, words: str) -> None:
    """Wait until somebody who listens has heard the words: they are told a frame after they are shown."""
    wait_state(page, lambda now: any(words in one for one in page.evaluate("window.heard")), f"{words!r} is heard")


def test_somebody_learns_alone_by_keys_and_hears_what_happens(open_classroom: Callable[..., Classroom]) -> None:
    classroom = open_classroom("", lesson="preemption", alone=True)
    page = teacher_page(classroom)
    judge = Judge()
    page.evaluate(HEARS)
    following = page.get_by_test_id("lesson-next")
    expect(page.get_by_test_id("lesson-title")).to_have_text("Does it help?")
    tab_to(page, "lesson-next")
    page.keyboard.press("Enter")
    # Nothing is revealed to who has not answered, and said why.
    expect(page.get_by_test_id("lesson-missing")).to_have_text("Choose an answer first.")
    expect(following).to_be_hidden()
    page.locator("body").press("2")
    page.keyboard.press("Enter")
    says(page, "Your vote is in")
    expect(page.get_by_test_id("lesson-missing")).to_have_text("Now say why: one tap.")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    expect(following).to_have_text("Reveal")
    judge.look(page, "alone: a vote")
    tab_to(page, "lesson-next")
    page.keyboard.press("Enter")
    says(page, "The engine chose otherwise.")
    for words in ("How many pods die for it?", "Your vote is in", "What came true: None"):
        hears(page, words)
    expect(following).to_have_text("What to write down")
    following.press("Enter")
    expect(page.get_by_test_id("lesson-so")).to_contain_text("A high priority is served first.")
    judge.look(page, "alone: the line to write down")
    following.press("Enter")
    expect(page.get_by_test_id("lesson-title")).to_have_text("Who dies on one node?")
    # What is done is read again, and left again.
    tab_to(page, "lesson-step-does-it-help")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("lesson-again")).to_have_text("Does it help?")
    judge.look(page, "alone: a step read again")
    tab_to(page, "lesson-again-back")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("lesson-title")).to_be_visible()
    judge.rule()


def test_a_round_by_hand_is_played_on_a_phone_a_queue_a_seat_and_ends_beside_the_engine(
    open_classroom: Callable[..., Classroom],
) -> None:
    classroom = open_classroom("three-nodes")
    judge = Judge()
    mei = classroom.student("Mei K.", **PHONE)
    classroom.session("POST", "/byhand", {"queues": "seats", "pods": 2, "seed": 3})
    mei.get_by_role("tab", name="Create").click()
    mei.get_by_test_id("phone-by-hand").click()
    pods = mei.get_by_test_id("byhand-pod")
    expect(pods).to_have_count(2)
    judge.look(mei, "a round by hand on a phone")
    header = mei.locator("dialog.bh > header h2")
    tells(header, "one => one.getBoundingClientRect().height < 40", True, "the title has a line of its own")
    pods.first.click()
    mei.get_by_test_id("byhand-node").first.click()
    expect(pods).to_have_count(1)
    # What could not be read is said until it can be, also where nothing else has changed meanwhile.
    said = mei.get_by_test_id("byhand-said")
    mei.route("**/byhand", lambda route: route.abort())
    expect(said).to_have_class("bh-said bad")
    mei.unroute("**/byhand")
    expect(said).to_be_empty()
    # Somebody else places the other one: it is seen here as well, in whichever language.
    speak_in(mei, "zh-Hans")
    (left,) = [one["key"] for one in classroom.session("GET", "/byhand")["pods"] if not one["node"]]
    classroom.session("POST", "/byhand/place", {"pod": left, "node": "n2"})
    expect(pods).to_have_count(0)
    expect(mei.locator(".bh-left")).to_contain_text("所有 Pod 都有了节点")
    mei.get_by_test_id("byhand-compare").click()
    expect(mei.get_by_test_id("byhand-verdict")).to_contain_text("共 2 个 Pod：你放置了 2 个")
    speak_in(mei, "en")
    expect(mei.get_by_test_id("byhand-verdict")).to_contain_text("Of 2 pods you placed 2")
    for side in ("hand", "engine", "optimum"):
        expect(mei.get_by_test_id(f"byhand-{side}")).to_contain_text("2 of 2")
    judge.look(mei, "a round by hand, over")
    picture(mei, "class-byhand")
    judge.rule()


def speak_in(page: Page, lang: str) -> None:
    """Turn the page to a language by the button of the dialog that is open."""
    page.locator(f"dialog[open] .languages button[lang={lang}]").click()
    page.locator(f"html[lang={lang}]").wait_for(state="attached")


def test_the_handout_is_dark_on_white_paper_also_for_who_reads_in_the_dark(
    open_classroom: Callable[..., Classroom],
) -> None:
    classroom = open_classroom("", lesson="preemption")
    page = teacher_page(classroom, color_scheme="dark")
    page.goto(f"{classroom.server.url}{session_path(classroom)}/handout?lang=zh")
    expect(page.locator("h1")).to_have_text("抢占")
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator("body")).to_have_css("color", "rgb(0, 0, 0)")
    expect(page.locator(".screen-only")).to_be_hidden()


def test_a_long_title_is_read_whole_on_a_laptop_and_on_a_phone(open_classroom: Callable[..., Classroom]) -> None:
    classroom = open_classroom("", lesson="scheduling-framework")
    laptop = {"viewport": {"width": 1366, "height": 768}}
    for page in (teacher_page(classroom, **laptop), teacher_page(classroom, **PHONE)):
        title = page.locator(".top-bar h1")
        expect(title).to_have_text("The framework and your own plugin")
        whole = "one => one.scrollWidth <= one.clientWidth && one.scrollHeight < one.clientHeight + 10"
        tells(title, whole, True, "no line of it is cut off")
        cut = "all => all.filter(one => one.checkVisibility() && one.scrollWidth > one.clientWidth).length"
        assert page.locator(".top-bar .segmented").evaluate_all(cut) == 0, "what stands beside it gives no room away"


def test_alone_on_a_phone_the_button_has_the_whole_foot(open_classroom: Callable[..., Classroom]) -> None:
    classroom = open_classroom("", lesson="life-of-a-pod", alone=True)
    page = teacher_page(classroom, **PHONE)
    page.get_by_test_id("lesson-next").click()
    button = '[data-testid="vote-send"]'
    laid(page, "button.left === option.left", "they stand at the same edge", button=button, option=".vote-option")
