"""Fields of forms: made from the parameters of promises and methods, and read back as words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setveil.errors import ParameterError
from setveil.parameters import Parameter
from setveil.web.wording import label_of

WAYS = "One per line: an item, a pattern such as dx:*, or under:NODE of the hierarchy."
YES_NO = {"yes": "yes", "no": "no"}
Form = Mapping[str, str]
Field = dict[str, Any]


def form_field(name: str, value: object = "", help: str = "", **more: Any) -> Field:
    """A field as the template takes it: its name, label, value, what it means, its `kind` (choice,
    lines, check, or a type of input), its `options` and attributes."""
    return {"name": name, "label": label_of(name), "value": value, "help": help, **more}


def parameter_field(
    parameter: Parameter, value: Any = None, prefix: str = "", *, optional: bool = False
) -> Field:
    """The field of a parameter of a promise or a method, whatever its type."""
    help = parameter.about.help.replace("`", "")
    default = None if parameter.required else parameter.default
    made = form_field(f"{prefix}{parameter.name}", label=label_of(parameter.name), help=help)
    if parameter.holds_items:
        return made | {"kind": "lines", "value": value or (), "help": f"{help} {WAYS}"}
    if parameter.choices and not parameter.words:
        options = {choice: choice for choice in parameter.choices}
        if default is None or not isinstance(default, str):
            options = {"": "as usual", **options}
        return made | {"kind": "choice", "value": str(value or default or ""), "options": options}
    if bool in parameter.kinds:
        usual = bool(default) if value is None else bool(value)
        return made | {"kind": "choice", "value": "yes" if usual else "no", "options": YES_NO}
    made |= {"value": parameter.about.shown(default if value is None else value)}
    made |= {"required": parameter.required and not optional}
    if parameter.words:
        *most, last = parameter.words
        words = f"{', '.join(most)} or {last}" if most else last
        return made | {"help": f"{help} A number, or {words}."}
    step = "1" if int in parameter.kinds and float not in parameter.kinds else "any"
    least = parameter.about.least
    return made | {"kind": "number", "step": step, "min": None if least is None else f"{least:g}"}


def parameter_value(parameter: Parameter, form: Form, prefix: str = "") -> Any:
    """What a form says about a parameter; None if nothing, or only its default.

    Raises:
        ParameterError: if it is no number where one is needed.
    """
    given = form.get(f"{prefix}{parameter.name}", "").strip()
    if not given:
        return None
    if parameter.holds_items:
        return item_words(given)
    value: Any = given
    if bool in parameter.kinds:
        value = given == "yes"
    elif given.lower() in parameter.words:
        value = given.lower()
    elif parameter.words or not parameter.choices:
        value = _number(parameter, given)
    shown = parameter.about.shown(parameter.default)
    return None if not parameter.required and value == shown else value


def item_words(given: str) -> list[str]:
    """Items that a user has typed, one per line."""
    return [line.strip() for line in given.splitlines() if line.strip()]


def whole_number(name: str, form: Form, least: int = 0) -> int | None:
    """A whole number of a form; None if the field is empty."""
    given = form.get(name, "").strip().replace(",", "")
    if not given:
        return None
    if not given.isdecimal() or len(given) > 12 or int(given) < least:
        raise ParameterError(name, given, f"it must be a whole number of {least} or more")
    return int(given)


def _number(parameter: Parameter, given: str) -> int | float:
    try:
        if int in parameter.kinds and float not in parameter.kinds:
            return int(given)
        number = float(given)
    except ValueError:
        kind = "a whole number" if int in parameter.kinds else "a number"
        raise ParameterError(parameter.name, given, f"it must be {kind}") from None
    return int(number) if number.is_integer() and int in parameter.kinds else number
