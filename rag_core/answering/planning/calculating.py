"""Sums for an agent: numbers and the signs between them, nothing else of Python."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

_MOST_CHARS = 200
_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "*", "÷": "/", "\u00a0": " "})
_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}


def calculate(expression: str) -> float:
    """The value of a sum, as "(1,496.5 − 1,202.9) / 1,202.9 * 100". Raises ValueError for anything else."""
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", expression.translate(_SIGNS)).strip()
    if len(text) > _MOST_CHARS:
        raise ValueError("The sum is too long.")
    try:
        value = _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ArithmeticError, MemoryError, RecursionError) as error:
        raise ValueError(f"{expression[:_MOST_CHARS]} cannot be worked out.") from error
    if isinstance(value, complex):
        raise ValueError(f"{expression} has no real value.")
    return value


def _value(node: ast.expr) -> float:
    match node:
        # As floats: powers of whole numbers could fill the memory.
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left), _value(right))
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _UNARY:
            return _UNARY[type(sign)](_value(operand))
    raise ValueError("A sum has numbers and + - * / ** alone.")
