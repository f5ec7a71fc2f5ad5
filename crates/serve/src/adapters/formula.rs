//! Arithmetic over the results of graders: `0.7 * quality + 0.3 * min(length, 1)`. Numbers, names, `+ - * / ^`, parentheses and a
//! few functions; nothing else is read.

use std::collections::BTreeMap;

/// Levels of parentheses and functions.
const MAX_DEPTH: usize = 64;
/// Longest formula, in bytes.
const MAX_BYTES: usize = 4_096;

/// Reason a formula has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FormulaError {
    /// It can't be read.
    Syntax(String),
    /// A name in it is no grader.
    UnknownName(String),
    /// Its value is no number: a division by zero, for example.
    Undefined,
}

/// Computes a formula; `values` are the numbers of the names, `None` for those that have none.
///
/// # Errors
/// When it can't be read or has no value. `Ok(None)` if a name in it has none.
pub(crate) fn evaluate(
    formula: &str,
    values: &BTreeMap<String, Option<f64>>,
) -> Result<Option<f64>, FormulaError> {
    if formula.len() > MAX_BYTES {
        return Err(FormulaError::Syntax(format!("it is longer than {MAX_BYTES} bytes")));
    }

    let mut parser = FormulaParser { rest: formula, values, misses: false, depth: 0 };
    let value = parser.sum()?;
    parser.skip_space();
    if !parser.rest.is_empty() {
        return Err(parser.unexpected());
    }
    if parser.misses {
        return Ok(None);
    }
    if value.is_finite() { Ok(Some(value)) } else { Err(FormulaError::Undefined) }
}

struct FormulaParser<'a> {
    rest: &'a str,
    values: &'a BTreeMap<String, Option<f64>>,
    /// True if a name without a value was read.
    misses: bool,
    depth: usize,
}

type Computed = Result<f64, FormulaError>;

impl FormulaParser<'_> {
    fn sum(&mut self) -> Computed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(FormulaError::Syntax(format!("it is nested more than {MAX_DEPTH} levels deep")));
        }

        let mut value = self.product()?;
        loop {
            if self.takes('+') {
                value += self.product()?;
            } else if self.takes('-') {
                value -= self.product()?;
            } else {
                self.depth -= 1;
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Computed {
        let mut value = self.signed()?;
        loop {
            if self.takes('*') {
                value *= self.signed()?;
            } else if self.takes('/') {
                value /= self.signed()?;
            } else {
                return Ok(value);
            }
        }
    }

    /// Signs before a power; counted instead of nested, however many there are.
    fn signed(&mut self) -> Computed {
        let mut sign = 1.0;
        loop {
            if self.takes('-') {
                sign = -sign;
            } else if !self.takes('+') {
                break;
            }
        }

        // `2^3^2` is 2 to the power of 9.
        let mut powers = vec![self.atom()?];
        while self.takes('^') {
            let negative = self.takes('-');
            let exponent = self.atom()?;
            powers.push(if negative { -exponent } else { exponent });
        }
        let power = powers.into_iter().rev().reduce(|exponent, base| base.powf(exponent));
        Ok(sign * power.unwrap_or(f64::NAN))
    }

    fn atom(&mut self) -> Computed {
        if self.takes('(') {
            let value = self.sum()?;
            return if self.takes(')') { Ok(value) } else { Err(self.unexpected()) };
        }

        self.skip_space();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match self.rest.chars().next() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if is_word(c) => {
                let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                if self.takes('(') { self.function(word) } else { self.name(word) }
            }
            _ => Err(self.unexpected()),
        }
    }

    fn number(&mut self) -> Computed {
        let is_digit = |c: char| c.is_ascii_digit() || c == '.';
        let mut end = self.rest.find(|c| !is_digit(c)).unwrap_or(self.rest.len());
        let after = &self.rest[end..];
        let signless =
            after.strip_prefix(['e', 'E']).map(|power| power.strip_prefix(['-', '+']).unwrap_or(power));
        if let Some(digits) = signless.filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit())) {
            let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            end = self.rest.len() - digits.len() + length;
        }

        let (number, rest) = self.rest.split_at(end);
        let value = number.parse().map_err(|_| FormulaError::Syntax(format!("`{number}` is no number")))?;
        self.rest = rest;
        Ok(value)
    }

    fn name(&mut self, word: &str) -> Computed {
        match self.values.get(word) {
            Some(Some(value)) => Ok(*value),
            Some(None) => {
                self.misses = true;
                Ok(0.0)
            }
            None => Err(FormulaError::UnknownName(word.to_owned())),
        }
    }

    fn function(&mut self, word: &str) -> Computed {
        let mut arguments = vec![self.sum()?];
        while self.takes(',') {
            arguments.push(self.sum()?);
        }
        if !self.takes(')') {
            return Err(self.unexpected());
        }

        let first = arguments[0];
        match (word, arguments.len()) {
            ("min", _) => Ok(arguments.into_iter().fold(f64::INFINITY, f64::min)),
            ("max", _) => Ok(arguments.into_iter().fold(f64::NEG_INFINITY, f64::max)),
            ("abs", 1) => Ok(first.abs()),
            ("floor", 1) => Ok(first.floor()),
            ("ceil", 1) => Ok(first.ceil()),
            ("exp", 1) => Ok(first.exp()),
            ("sqrt", 1) => Ok(first.sqrt()),
            ("log", 1) => Ok(first.ln()),
            _ => Err(FormulaError::Syntax(format!(
                "`{word}` with {} values is no function; known are min, max, abs, floor, ceil, exp, sqrt, log",
                arguments.len()
            ))),
        }
    }

    fn takes(&mut self, c: char) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn unexpected(&self) -> FormulaError {
        FormulaError::Syntax(match self.rest.chars().next() {
            None => "it ends too early".to_owned(),
            Some(c) => format!("`{}` is not expected there", c.escape_debug()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn computed(formula: &str) -> Result<Option<f64>, FormulaError> {
        let values = [("a", Some(0.5)), ("b_2", Some(2.0)), ("open", None)];
        evaluate(formula, &values.map(|(name, value)| (name.to_owned(), value)).into())
    }

    #[test]
    fn formulas_follow_the_usual_rules() {
        for (formula, value) in [
            ("0.7 * a + 0.3", 0.65),
            ("1 - 2 - 3", -4.0),
            ("2 + 3 * 4 / 6", 4.0),
            ("-2 ^ 2", -4.0),
            ("2 ^ 3 ^ 2", 512.0),
            ("2 ^ -1", 0.5),
            ("(1 + a) * -b_2", -3.0),
            ("min(a, b_2, 0.1) + max(1, 2) + abs(-1)", 3.1),
            ("floor(1.9) + ceil(1.1) + sqrt(4) + exp(0) + log(1)", 6.0),
            ("1.5e2 + 2E-1", 150.2),
        ] {
            let found = computed(formula).unwrap().unwrap();
            assert!((found - value).abs() < 1e-9, "{formula} = {found}");
        }
    }

    #[test]
    fn nothing_else_is_read() {
        for wrong in [
            "", "1 +", "(1", "1)", "a b_2", "a.b", "__import__('os')", "1;2", "x = 1", "min()", "sin(1)",
            "1..2",
        ] {
            assert!(
                matches!(computed(wrong), Err(FormulaError::Syntax(_) | FormulaError::UnknownName(_))),
                "{wrong}"
            );
        }
        assert_eq!(computed("c"), Err(FormulaError::UnknownName("c".into())));
        assert_eq!(computed("1 / 0"), Err(FormulaError::Undefined));
        assert_eq!(computed("0 * open"), Ok(None), "what is not known stays unknown");
        assert!(computed(&"(".repeat(4_000)).is_err());
        assert!(computed(&"-".repeat(4_000)).is_err());
        assert!(computed(&"1+".repeat(4_000)).is_err());
    }
}
