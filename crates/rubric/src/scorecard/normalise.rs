//! Formulas that normalise a raw score to the scale from 0 to 1.

use std::fmt;

use crate::{TOLERANCE, UnitInterval};

/// Maximum length of a formula; a longer one is a mistake.
const MAX_LENGTH: usize = 500;

/// A formula over `x`, `min` and `max` with numbers, `+ - * /` and parentheses, and nothing else.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalisationFormula {
    text: String,
    /// In reverse Polish notation, so that evaluation needs no recursion.
    steps: Vec<FormulaStep>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum FormulaStep {
    Number(f64),
    X,
    Min,
    Max,
    Negate,
    Operator(u8),
}

/// Error in a formula.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct NormalisationError {
    /// Byte offset in the formula.
    pub at: usize,
    /// Description of the error.
    pub message: String,
}

fn parse_error<T>(at: usize, message: impl Into<String>) -> Result<T, NormalisationError> {
    Err(NormalisationError { at, message: message.into() })
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum PendingOperator {
    Open(usize),
    Negate,
    Operator(u8),
}

fn precedence(waiting: PendingOperator) -> u8 {
    match waiting {
        PendingOperator::Open(_) => 0,
        PendingOperator::Operator(b'+' | b'-') => 1,
        PendingOperator::Operator(_) => 2,
        PendingOperator::Negate => 3,
    }
}

fn pop_operators(waiting: &mut Vec<PendingOperator>, steps: &mut Vec<FormulaStep>, least: u8) {
    while let Some(top) = waiting.pop_if(|top| precedence(*top) >= least) {
        match top {
            PendingOperator::Operator(operator) => steps.push(FormulaStep::Operator(operator)),
            PendingOperator::Negate => steps.push(FormulaStep::Negate),
            PendingOperator::Open(_) => {}
        }
    }
}

impl NormalisationFormula {
    /// Parses a formula such as `x`, `x/100` or `(x-min)/(max-min)`.
    pub fn parse(text: &str) -> Result<Self, NormalisationError> {
        if text.len() > MAX_LENGTH {
            return parse_error(0, format!("the formula has more than {MAX_LENGTH} characters"));
        }

        let bytes = text.as_bytes();
        let (mut steps, mut waiting) = (Vec::new(), Vec::new());
        let mut value_next = true;
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            match bytes[at] {
                b' ' | b'\t' | b'\n' | b'\r' => at += 1,
                b'(' if value_next => {
                    waiting.push(PendingOperator::Open(at));
                    at += 1;
                }
                b')' if !value_next => {
                    pop_operators(&mut waiting, &mut steps, 1);
                    if waiting.pop().is_none() {
                        return parse_error(at, "this `)` closes nothing");
                    }
                    at += 1;
                }
                b'-' if value_next => {
                    waiting.push(PendingOperator::Negate);
                    at += 1;
                }
                b'+' if value_next => at += 1,
                b'*' if bytes.get(at + 1) == Some(&b'*') => {
                    return parse_error(at, "there are no powers; multiply instead");
                }
                operator @ (b'+' | b'-' | b'*' | b'/') if !value_next => {
                    let operator_waits = PendingOperator::Operator(operator);
                    pop_operators(&mut waiting, &mut steps, precedence(operator_waits));
                    waiting.push(operator_waits);
                    value_next = true;
                    at += 1;
                }
                b'0'..=b'9' | b'.' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                    while at < bytes.len()
                        && (bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'.' | b'_'))
                    {
                        at += 1;
                    }

                    let step = parse_word(&text[start..at], start)?;

                    if !value_next {
                        return parse_error(start, "an operator is missing before this");
                    }

                    steps.push(step);
                    value_next = false;
                }
                _ => {
                    let found = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
                    let expected =
                        if value_next { "a number, `x`, `min`, `max` or `(`" } else { "`+ - * /` or `)`" };
                    return parse_error(
                        at,
                        format!("found `{}` where {expected} is expected", found.escape_default()),
                    );
                }
            }
        }

        if value_next {
            let message =
                if steps.is_empty() { "the formula is empty" } else { "the formula ends too early" };
            return parse_error(text.len(), message);
        }

        pop_operators(&mut waiting, &mut steps, 1);

        if let Some(PendingOperator::Open(open)) = waiting.pop() {
            return parse_error(open, "this `(` is not closed");
        }

        Ok(Self { text: text.trim().to_owned(), steps })
    }

    /// Normalises a raw score on a scale from `min` to `max`. `None` if the result is outside 0 to 1 or not
    /// finite, such as after a division by zero.
    pub fn apply(&self, x: f64, min: f64, max: f64) -> Option<UnitInterval> {
        let value = self.value(x, min, max).filter(|value| value.is_finite())?;
        // 0.1 + 0.7 + 0.2 may exceed 1 by a rounding error.
        let slack = -TOLERANCE..=1.0 + TOLERANCE;
        UnitInterval::new(if slack.contains(&value) { value.clamp(0.0, 1.0) } else { value }).ok()
    }

    /// The value of the formula, not checked against 0 to 1. `None` only for steps that [`Self::parse`] can't
    /// produce.
    pub fn value(&self, x: f64, min: f64, max: f64) -> Option<f64> {
        let mut stack: Vec<f64> = Vec::new();
        for step in &self.steps {
            let value = match *step {
                FormulaStep::Number(number) => number,
                FormulaStep::X => x,
                FormulaStep::Min => min,
                FormulaStep::Max => max,
                FormulaStep::Negate => -stack.pop()?,
                FormulaStep::Operator(operator) => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    match operator {
                        b'+' => left + right,
                        b'-' => left - right,
                        b'*' => left * right,
                        _ => left / right,
                    }
                }
            };
            stack.push(value);
        }

        stack.pop()
    }
}

fn parse_word(text: &str, at: usize) -> Result<FormulaStep, NormalisationError> {
    match text {
        "x" | "X" => return Ok(FormulaStep::X),
        "min" | "MIN" | "min_value" => return Ok(FormulaStep::Min),
        "max" | "MAX" | "max_value" => return Ok(FormulaStep::Max),
        _ => {}
    }

    if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(FormulaStep::Number(number)),
            _ => parse_error(at, format!("`{text}` is not a number")),
        };
    }

    parse_error(at, format!("unknown name `{text}`; a formula has `x`, `min`, `max` and numbers"))
}

impl fmt::Display for NormalisationFormula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(formula: &str, x: f64) -> f64 {
        NormalisationFormula::parse(formula).expect(formula).value(x, 10.0, 20.0).expect("reckoned")
    }

    #[test]
    fn arithmetic_follows_the_usual_order() {
        for (formula, x, expected) in [
            ("x", 0.5, 0.5),
            ("x/100", 25.0, 0.25),
            ("(x-min)/(max-min)", 15.0, 0.5),
            ("(x - min_value) / (max_value - min_value)", 20.0, 1.0),
            ("1 - 2 - 3", 0.0, -4.0),
            ("2 + 3 * 4 / 6", 0.0, 4.0),
            ("-x + 1", 0.25, 0.75),
            ("1 - -x * 2", 3.0, 7.0),
            ("-(1 + 2) * 3", 0.0, -9.0),
            ("+((x))", 2.0, 2.0),
            ("1 - x/10", 10.0, 0.0),
        ] {
            assert_eq!(value(formula, x), expected, "{formula}");
        }
    }

    #[test]
    fn anything_else_is_refused_at_its_place() {
        for (formula, at, words) in [
            ("", 0, "empty"),
            ("x +", 3, "too early"),
            ("(x", 0, "not closed"),
            ("x)", 1, "closes nothing"),
            ("x 2", 2, "operator is missing"),
            ("x ** 2", 2, "powers"),
            ("sqrt(x)", 0, "unknown name `sqrt`"),
            ("1.2.3", 0, "not a number"),
            ("x; rm", 1, "found `;`"),
            ("()", 1, "found `)`"),
            ("2x", 0, "not a number"),
            ("x % 2", 2, "found `%`"),
            ("ü", 0, "found"),
        ] {
            let error = NormalisationFormula::parse(formula).expect_err(formula);
            assert!(error.at == at && error.message.contains(words), "{formula}: {error:?}");
        }
        assert!(NormalisationFormula::parse(&"(".repeat(400)).is_err());
        assert!(NormalisationFormula::parse(&"x+".repeat(400)).is_err());
    }

    #[test]
    fn only_scores_from_zero_to_one_come_out() {
        let formula = NormalisationFormula::parse("(x-min)/(max-min)").expect("sound");
        assert_eq!(formula.apply(7.0, 0.0, 10.0), UnitInterval::new(0.7).ok());
        assert_eq!(formula.apply(11.0, 0.0, 10.0), None);
        assert_eq!(formula.apply(1.0, 1.0, 1.0), None);
        assert_eq!(formula.to_string(), "(x-min)/(max-min)");
    }
}
