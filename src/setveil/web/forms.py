"""Fields of forms: made from the parameters of promises and methods, and read back as words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from setveil.errors import ParameterError
from setveil.parameters import Parameter
from setveil.report.markup import Markup, joined, tag
from setveil.web.wording import label_of

WAYS = "One per line: an item, a pattern such as dx:*, or under:NODE of the hierarchy."
Form = Mapping[str, str]


def control(name: str, label: str, inside: Markup, help: str = "") -> Markup:
    """A field with its label and what it means."""
    hint = tag("p", help, class_="hint", id=f"{_id(name)}-hint") if help else None
    return tag("div", tag("label", label, for_=_id(name)), hint, inside, class_="field")


def text_field(
    name: str, label: str, value: object = "", help: str = "", **attributes: Any
) -> Markup:
    """A line of text or a number."""
    given = {"type": "text", "autocomplete": "off", "spellcheck": "false", **attributes}
    box = tag("input", id=_id(name), name=name, value=_text(value), **_hinted(name, help), **given)
    return control(name, label, box, help)


def choice_field(
    name: str, label: str, options: Mapping[str, str], value: str = "", help: str = ""
) -> Markup:
    """One of several words."""
    made = (
        tag("option", shown, value=key, selected=key == value) for key, shown in options.items()
    )
    box = tag("select", *made, id=_id(name), name=name, **_hinted(name, help))
    return control(name, label, box, help)


def lines_field(name: str, label: str, value: Iterable[str] = (), help: str = "") -> Markup:
    """Several lines."""
    inside = Markup("\n") + "\n".join(map(_escaped, value))
    how = {"rows": 4, "spellcheck": "false", **_hinted(name, help)}
    box = tag("textarea", Markup(inside), id=_id(name), name=name, **how)
    return control(name, label, box, help)


def check_field(name: str, label: str, checked: bool = False, help: str = "") -> Markup:
    """Yes or no."""
    box = tag(
        "input", type="checkbox", id=_id(name), name=name, value="yes", checked=checked,
        **_hinted(name, help),
    )  # fmt: skip
    hint = tag("p", help, class_="hint", id=f"{_id(name)}-hint") if help else None
    return tag("div", box, tag("label", label, for_=_id(name)), hint, class_="field check")


def radios(
    name: str, legend: str, options: Sequence[tuple[str, str, str]], value: str, help: str = ""
) -> Markup:
    """One of several, each with a title and a sentence."""
    made = (
        tag(
            "label",
            tag("input", type="radio", name=name, value=key, checked=key == value),
            tag("span", tag("strong", title), tag("span", more) if more else None),
            class_="choice",
        )
        for key, title, more in options
    )
    hint = tag("p", help, class_="hint") if help else None
    return tag("fieldset", tag("legend", legend), hint, *made)


def parameter_field(
    parameter: Parameter, value: Any = None, prefix: str = "", *, optional: bool = False
) -> Markup:
    """The field of a parameter of a promise or a method, whatever its type."""
    required = parameter.required and not optional
    name, label = f"{prefix}{parameter.name}", label_of(parameter.name)
    help = parameter.about.help.replace("`", "")
    default = None if parameter.required else parameter.default
    if parameter.holds_items:
        return lines_field(name, label, value or (), f"{help} {WAYS}")
    if parameter.choices:
        options = {choice: choice for choice in parameter.choices}
        if default is None or not isinstance(default, str):
            options = {"": "as usual", **options}
        return choice_field(name, label, options, str(value or default or ""), help)
    if bool in parameter.kinds:
        usual = bool(default) if value is None else bool(value)
        return choice_field(name, label, {"yes": "yes", "no": "no"}, "yes" if usual else "no", help)
    shown = parameter.about.shown(default if value is None else value)
    if parameter.about.words:
        words = " or ".join(parameter.about.words)
        return text_field(name, label, shown, f"{help} A number, or {words}.", required=required)
    step = "1" if int in parameter.kinds and float not in parameter.kinds else "any"
    least = parameter.about.least
    more = {"type": "number", "step": step, "min": None if least is None else f"{least:g}"}
    return text_field(name, label, shown, help, required=required, **more)


def parameter_value(parameter: Parameter, form: Form, prefix: str = "") -> Any:
    """What a form says about a parameter; None if nothing, or only its default.

    Raises:
        ParameterError: if it is no number where one is needed.
    """
    given = form.get(f"{prefix}{parameter.name}", "").strip()
    if not given:
        return None
    if parameter.holds_items:
        return item_words(parameter.name, given)
    value: Any = given
    if bool in parameter.kinds:
        value = given == "yes"
    elif given.lower() in parameter.about.words:
        value = given.lower()
    elif not parameter.choices:
        value = _number(parameter, given)
    shown = parameter.about.shown(parameter.default)
    return None if not parameter.required and value == shown else value


def item_words(name: str, given: str) -> list[str]:
    """Items that a user has typed, one per line.

    On the command line a word may also be a file with items; here it must not read one."""
    words = [line.strip() for line in given.splitlines() if line.strip()]
    for word in words:
        if word.startswith(("/", "~", ".")) or "\\" in word:
            raise ParameterError(name, word, "type or paste the items, one per line, not a file")
    return words


def whole_number(name: str, form: Form, least: int = 0) -> int | None:
    """A whole number of a form; None if the field is empty."""
    given = form.get(name, "").strip().replace(",", "")
    if not given:
        return None
    if not given.isdecimal() or len(given) > 12 or int(given) < least:
        raise ParameterError(name, given, f"it must be a whole number of {least} or more")
    return int(given)


def form_tag(action: str, csrf: str, *inside: str | None, **attributes: Any) -> Markup:
    """A form that may be sent to this page."""
    value = tag("input", type="hidden", name="csrf", value=csrf)
    return tag("form", value, *inside, method="post", action=action, **attributes)


def button(label: str, kind: str = "", **attributes: Any) -> Markup:
    """A button that sends its form."""
    return tag("button", label, type="submit", class_=kind or None, **attributes)


def details(title: str, *inside: str | None, opened: bool = False) -> Markup:
    """What most people do not need to see."""
    return tag("details", tag("summary", title), joined(*inside), open=opened)


def _number(parameter: Parameter, given: str) -> int | float:
    try:
        if int in parameter.kinds and float not in parameter.kinds:
            return int(given)
        number = float(given)
    except ValueError:
        kind = "a whole number" if int in parameter.kinds else "a number"
        raise ParameterError(parameter.name, given, f"it must be {kind}") from None
    return int(number) if number.is_integer() and int in parameter.kinds else number


def _hinted(name: str, help: str) -> dict[str, Any]:
    return {"aria_describedby": f"{_id(name)}-hint"} if help else {}


def _id(name: str) -> str:
    return f"f-{name.replace('.', '-').replace('_', '-')}"


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _escaped(line: str) -> str:
    return tag("i", line)[3:-4]
