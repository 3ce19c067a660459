"""The parameters of all methods: held to the types that their fields declare."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal, get_origin, get_type_hints

import numpy as np
import pytest

from setveil.errors import ParameterError
from setveil.methods import METHODS, SSC, Disassociation, HgHs, Suppression

PARAMETERS = [(name, field.name) for name, kind in METHODS.items() for field in fields(kind)]


@pytest.mark.parametrize(("method", "parameter"), PARAMETERS)
def test_no_parameter_takes_any_object(method: str, parameter: str) -> None:
    with pytest.raises(
        ParameterError, match=f"{parameter} = .* is not allowed: it must be "
    ) as error:
        METHODS[method](**{parameter: object()})
    assert error.value.name == parameter


@pytest.mark.parametrize(("method", "parameter"), PARAMETERS)
def test_a_text_is_no_truth_value_and_no_number(method: str, parameter: str) -> None:
    with pytest.raises(ParameterError, match=f"{parameter} = 'no' is not allowed"):
        METHODS[method](**{parameter: "no"})


@pytest.mark.parametrize(("method", "parameter"), PARAMETERS)
def test_only_switches_take_true(method: str, parameter: str) -> None:
    hint = get_type_hints(METHODS[method])[parameter]
    if hint is bool:
        assert getattr(METHODS[method](**{parameter: True}), parameter) is True
    else:
        with pytest.raises(ParameterError, match=f"{parameter} = True is not allowed"):
            METHODS[method](**{parameter: True})


@pytest.mark.parametrize(("method", "parameter"), PARAMETERS)
def test_none_is_taken_only_where_it_is_the_default(method: str, parameter: str) -> None:
    kind = METHODS[method]
    if next(field.default for field in fields(kind) if field.name == parameter) is None:
        assert getattr(kind(**{parameter: None}), parameter) is None
    else:
        with pytest.raises(ParameterError, match=f"{parameter} = None is not allowed"):
            kind(**{parameter: None})


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (SSC, {"exact": "no"}, "exact = 'no' is not allowed: it must be True or False"),
        (SSC, {"omega": "ten"}, "omega = 'ten' is not allowed: it must be a number or None"),
        (
            SSC,
            {"typical": "mode"},
            "typical = 'mode' is not allowed: it must be one of majority, mixed, slots, generalized",
        ),
        (
            SSC,
            {"exchanges": 1.5},
            "exchanges = 1.5 is not allowed: it must be a whole number of 0 or more",
        ),
        (
            SSC,
            {"variant": "paper", "omega": float("nan")},
            "omega = nan is not allowed: it must be above term_epsilon = 4 and at most 10000",
        ),
        (
            Disassociation,
            {"arrangement": "20"},
            "arrangement = '20' is not allowed: it must be one of search, small, head, hubs, all, safe, "
            "paper or a whole number",
        ),
        (Disassociation, {"refine": 1}, "refine = 1 is not allowed: it must be True or False"),
        (
            Suppression,
            {"weights": 3},
            "weights = 3 is not allowed: it must be one of occurrences, items or a mapping",
        ),
        (
            HgHs,
            {"restarts": -1},
            "restarts = -1 is not allowed: it must be a whole number of 0 or more",
        ),
    ],
)
def test_the_message_says_what_is_allowed(
    kind: Any, given: dict[str, object], message: str
) -> None:
    with pytest.raises(ParameterError) as error:
        kind(**given)
    assert str(error.value) == message


def test_numbers_of_numpy_become_plain_ones() -> None:
    method = SSC(
        variant="paper", term_epsilon=np.int32(3), omega=np.float32(8), exact=np.bool_(True)
    )  # type: ignore[arg-type]
    assert [type(value) for value in (method.term_epsilon, method.omega, method.exact)] == [
        int,
        float,
        bool,
    ]
    assert method.to_dict()["term_epsilon"] == 3


def test_a_method_does_not_change_with_what_it_was_given() -> None:
    weights = {"milk": 2.0}
    method = Suppression(weights=weights)
    weights["milk"] = 7.0
    assert method == Suppression(weights={"milk": 2.0})


def test_every_declared_type_is_one_that_can_be_checked() -> None:
    for method, parameter in PARAMETERS:
        hint = get_type_hints(METHODS[method])[parameter]
        assert (
            hint in (bool, int, float) or get_origin(hint) is Literal or hasattr(hint, "__args__")
        ), (method, parameter)
