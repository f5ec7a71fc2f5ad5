//! Formulas that normalise a raw score to the scale from 0 to 1.

use std::fmt;

use crate::{TOLERANCE, Unit};

/// Longest accepted formula; a longer one is a mistake.
const MAX_LENGTH: usize = 500;

/// A formula over `x`, `min` and `max` with numbers, `+ - * /` and parentheses, and nothing else.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalisation {
    text: String,
    /// Reverse Polish order, so that evaluation needs no recursion.
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
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
pub struct NormaliseError {
    /// Byte offset in the formula.
    pub at: usize,
    /// Description of the error.
    pub message: String,
}

fn error<T>(at: usize, message: impl Into<String>) -> Result<T, NormaliseError> {
    Err(NormaliseError { at, message: message.into() })
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Waiting {
    Open(usize),
    Negate,
    Operator(u8),
}

fn strength(waiting: Waiting) -> u8 {
    match waiting {
        Waiting::Open(_) => 0,
        Waiting::Operator(b'+' | b'-') => 1,
        Waiting::Operator(_) => 2,
        Waiting::Negate => 3,
    }
}

fn release(waiting: &mut Vec<Waiting>, steps: &mut Vec<Step>, least: u8) {
    while let Some(top) = waiting.pop_if(|top| strength(*top) >= least) {
        match top {
            Waiting::Operator(operator) => steps.push(Step::Operator(operator)),
            Waiting::Negate => steps.push(Step::Negate),
            Waiting::Open(_) => {}
        }
    }
}

impl Normalisation {
    /// Parses a formula such as `x`, `x/100` or `(x-min)/(max-min)`.
    pub fn parse(text: &str) -> Result<Self, NormaliseError> {
        if text.len() > MAX_LENGTH {
            return error(0, format!("the formula has more than {MAX_LENGTH} characters"));
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
                    waiting.push(Waiting::Open(at));
                    at += 1;
                }
                b')' if !value_next => {
                    release(&mut waiting, &mut steps, 1);
                    if waiting.pop().is_none() {
                        return error(at, "this `)` closes nothing");
                    }
                    at += 1;
                }
                b'-' if value_next => {
                    waiting.push(Waiting::Negate);
                    at += 1;
                }
                b'+' if value_next => at += 1,
                b'*' if bytes.get(at + 1) == Some(&b'*') => {
                    return error(at, "there are no powers; multiply instead");
                }
                operator @ (b'+' | b'-' | b'*' | b'/') if !value_next => {
                    let operator_waits = Waiting::Operator(operator);
                    release(&mut waiting, &mut steps, strength(operator_waits));
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
                    let step = word(&text[start..at], start)?;
                    if !value_next {
                        return error(start, "an operator is missing before this");
                    }
                    steps.push(step);
                    value_next = false;
                }
                _ => {
                    let found = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
                    let expected =
                        if value_next { "a number, `x`, `min`, `max` or `(`" } else { "`+ - * /` or `)`" };
                    return error(
                        at,
                        format!("found `{}` where {expected} is expected", found.escape_default()),
                    );
                }
            }
        }
        if value_next {
            let message =
                if steps.is_empty() { "the formula is empty" } else { "the formula ends too early" };
            return error(text.len(), message);
        }
        release(&mut waiting, &mut steps, 1);
        if let Some(Waiting::Open(open)) = waiting.pop() {
            return error(open, "this `(` is not closed");
        }
        Ok(Self { text: text.trim().to_owned(), steps })
    }

    /// Normalises a raw score on a scale from `min` to `max`. `None` if the result is not finite, for example
    /// after a division by zero, or lies outside 0 to 1.
    pub fn apply(&self, x: f64, min: f64, max: f64) -> Option<Unit> {
        let value = self.value(x, min, max).filter(|value| value.is_finite())?;
        // 0.1 + 0.7 + 0.2 of ten thirds may exceed 1 by a rounding error.
        let slack = -TOLERANCE..=1.0 + TOLERANCE;
        Unit::new(if slack.contains(&value) { value.clamp(0.0, 1.0) } else { value }).ok()
    }

    /// The unchecked value of the formula. `None` only for steps that [`Self::parse`] can't produce.
    pub fn value(&self, x: f64, min: f64, max: f64) -> Option<f64> {
        let mut stack: Vec<f64> = Vec::new();
        for step in &self.steps {
            let value = match *step {
                Step::Number(number) => number,
                Step::X => x,
                Step::Min => min,
                Step::Max => max,
                Step::Negate => -stack.pop()?,
                Step::Operator(operator) => {
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

fn word(text: &str, at: usize) -> Result<Step, NormaliseError> {
    match text {
        "x" | "X" => return Ok(Step::X),
        "min" | "MIN" | "min_value" => return Ok(Step::Min),
        "max" | "MAX" | "max_value" => return Ok(Step::Max),
        _ => {}
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Step::Number(number)),
            _ => error(at, format!("`{text}` is not a number")),
        };
    }
    error(at, format!("`{text}` is not known; a formula is reckoned from `x`, `min`, `max` and numbers"))
}

impl fmt::Display for Normalisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(formula: &str, x: f64) -> f64 {
        Normalisation::parse(formula).expect(formula).value(x, 10.0, 20.0).expect("reckoned")
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
            ("sqrt(x)", 0, "`sqrt` is not known"),
            ("1.2.3", 0, "not a number"),
            ("x; rm", 1, "found `;`"),
            ("()", 1, "found `)`"),
            ("2x", 0, "not a number"),
            ("x % 2", 2, "found `%`"),
            ("ü", 0, "found"),
        ] {
            let error = Normalisation::parse(formula).expect_err(formula);
            assert!(error.at == at && error.message.contains(words), "{formula}: {error:?}");
        }
        assert!(Normalisation::parse(&"(".repeat(400)).is_err());
        assert!(Normalisation::parse(&"x+".repeat(400)).is_err());
    }

    #[test]
    fn only_scores_from_zero_to_one_come_out() {
        let formula = Normalisation::parse("(x-min)/(max-min)").expect("sound");
        assert_eq!(formula.apply(7.0, 0.0, 10.0), Unit::new(0.7).ok());
        assert_eq!(formula.apply(11.0, 0.0, 10.0), None);
        assert_eq!(formula.apply(1.0, 1.0, 1.0), None);
        assert_eq!(formula.to_string(), "(x-min)/(max-min)");
    }
}
