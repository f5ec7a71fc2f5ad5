"""Grades answers of a shop's assistant, with a judge that is a Python function: `python examples/python/returns.py`."""

from __future__ import annotations

import re

import assize

RUBRIC: assize.RubricLike = {
    "threshold": 0.8,
    "criteria": [
        {"id": "window", "outcome": "Names the 30 days in which goods can be returned", "weight": 2, "required": True},
        {"id": "receipt", "outcome": "Asks for the receipt", "required": False},
        {"id": "blame", "outcome": "Blames the customer", "weight": -1, "required": False},
    ],
}

ANSWERS: list[assize.Sample] = [
    {"id": "good", "input": "Can I return the lamp?", "output": "Yes, within 30 days. Please bring the receipt."},
    {"id": "vague", "input": "Can I return the lamp?", "output": "Sure, just come by."},
    {"id": "rude", "input": "Can I return the lamp?", "output": "You should have read the terms: 30 days."},
]

PATTERNS = {"window": r"\b30 days\b", "receipt": r"\breceipt\b", "blame": r"\byou should have\b"}


@assize.judge(version="1")
def patterns(question: assize.Question) -> dict[str, assize.Judgement]:
    """Decides by regular expressions, and quotes what they found."""
    decisions = {}
    for criterion in question.criteria:
        found = re.search(PATTERNS[criterion.id], question.answer, re.IGNORECASE)
        quotes = [found.group()] if found else []
        decisions[criterion.id] = assize.Judgement(found is not None, "looked for the words", quotes)
    return decisions


def main() -> None:
    results = assize.grade(ANSWERS, RUBRIC, judge=patterns, reward="gated")
    for result in results:
        print(f"{result.id:6} {result.verdict:5} reward {result.reward:.2f}  {result.components}")


if __name__ == "__main__":
    main()
