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

/// Numbers between which a value lies; both are the same where it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ValueRange {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl ValueRange {
    /// A number that is known.
    pub(crate) const fn known(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// Returns true if both bounds are numbers. A division by something that may be zero has none, for example.
    pub(crate) const fn is_bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    const UNBOUNDED: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    fn is_known(self) -> bool {
        self.low.to_bits() == self.high.to_bits()
    }

    fn holds_zero(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// Range from the least to the greatest of these; without bounds if one is no number.
    fn around(values: &[f64]) -> Self {
        if values.iter().any(|value| value.is_nan()) {
            return Self { low: f64::NAN, high: f64::NAN };
        }

        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        Self { low, high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max) }
    }

    /// Values of a function of both numbers whose extremes are at the ends of the ranges.
    fn corners(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        if self.is_known() && other.is_known() {
            return Self::known(of(self.low, other.low));
        }

        let (a, b) = (self, other);
        Self::around(&[of(a.low, b.low), of(a.low, b.high), of(a.high, b.low), of(a.high, b.high)])
    }

    /// Values of a function that never falls.
    fn rising(self, of: impl Fn(f64) -> f64) -> Self {
        Self { low: of(self.low), high: of(self.high) }
    }

    fn negated(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }

    fn divided(self, other: Self) -> Self {
        if !other.is_known() && other.holds_zero() {
            return Self::UNBOUNDED;
        }

        self.corners(other, |a, b| a / b)
    }

    fn power(self, exponent: Self) -> Self {
        let is_whole = exponent.is_known() && exponent.low.fract() == 0.0;
        if (self.is_known() && exponent.is_known()) || self.low > 0.0 {
            return self.corners(exponent, f64::powf);
        }
        // Zero to a negative power, and a negative number to a broken one.
        if exponent.low < 0.0 || (self.low < 0.0 && !is_whole) {
            return Self::UNBOUNDED;
        }

        let range = self.corners(exponent, f64::powf);
        let is_even = is_whole && exponent.low % 2.0 == 0.0;
        // `x ^ 0` is 1 for zero, too.
        let dips = is_even && self.holds_zero() && exponent.low > 0.0;
        if dips { Self { low: 0.0, ..range } } else { range }
    }

    fn absolute(self) -> Self {
        let range = Self::around(&[self.low.abs(), self.high.abs()]);
        if self.holds_zero() { Self { low: 0.0, ..range } } else { range }
    }
}

/// Value of a formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FormulaValue {
    /// Bounds of interval arithmetic: the value is not outside, but may not reach them where a name occurs twice.
    pub(crate) range: ValueRange,
    /// True if all names in the formula have values.
    pub(crate) is_known: bool,
}

/// Computes a formula; `values` are the ranges of the names.
///
/// # Errors
/// When it can't be read, or has no value although all names in it do.
pub(crate) fn evaluate(
    formula: &str,
    values: &BTreeMap<String, ValueRange>,
) -> Result<FormulaValue, FormulaError> {
    if formula.len() > MAX_BYTES {
        return Err(FormulaError::Syntax(format!("it is longer than {MAX_BYTES} bytes")));
    }

    let mut parser = FormulaParser { rest: formula, values, misses: false, depth: 0 };
    let range = parser.sum()?;
    parser.skip_space();
    if !parser.rest.is_empty() {
        return Err(parser.unexpected());
    }

    let is_known = !parser.misses;
    if is_known && !range.is_bounded() {
        return Err(FormulaError::Undefined);
    }
    Ok(FormulaValue { range, is_known })
}

/// Problem of a formula whatever its values are, with these names: it can't be read, or has another name.
pub(crate) fn problem<'n>(formula: &str, names: impl Iterator<Item = &'n String>) -> Option<String> {
    let any = ValueRange { low: 0.0, high: 1.0 };
    match evaluate(formula, &names.map(|name| (name.clone(), any)).collect()) {
        Ok(_) | Err(FormulaError::Undefined) => None,
        Err(FormulaError::Syntax(why)) => Some(format!("the formula can't be read: {why}")),
        Err(FormulaError::UnknownName(name)) => Some(format!("`{name}` is none of the graders")),
    }
}

struct FormulaParser<'a> {
    rest: &'a str,
    values: &'a BTreeMap<String, ValueRange>,
    /// True if a name without a value was read.
    misses: bool,
    depth: usize,
}

type Computed = Result<ValueRange, FormulaError>;

impl FormulaParser<'_> {
    fn sum(&mut self) -> Computed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(FormulaError::Syntax(format!("it is nested more than {MAX_DEPTH} levels deep")));
        }

        let mut value = self.product()?;
        loop {
            if self.takes('+') {
                value = value.plus(self.product()?);
            } else if self.takes('-') {
                value = value.plus(self.product()?.negated());
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
                value = value.corners(self.signed()?, |a, b| a * b);
            } else if self.takes('/') {
                value = value.divided(self.signed()?);
            } else {
                return Ok(value);
            }
        }
    }

    /// Signs before a power; counted instead of nested, however many there are.
    fn signed(&mut self) -> Computed {
        let mut is_negative = false;
        loop {
            if self.takes('-') {
                is_negative = !is_negative;
            } else if !self.takes('+') {
                break;
            }
        }

        // `2^3^2` is 2 to the power of 9.
        let mut powers = vec![self.atom()?];
        while self.takes('^') {
            let is_inverse = self.takes('-');
            let exponent = self.atom()?;
            powers.push(if is_inverse { exponent.negated() } else { exponent });
        }
        let power = powers.into_iter().rev().reduce(|exponent, base| base.power(exponent));
        let power = power.unwrap_or(ValueRange::known(f64::NAN));
        Ok(if is_negative { power.negated() } else { power })
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
        Ok(ValueRange::known(value))
    }

    fn name(&mut self, word: &str) -> Computed {
        let range = self.values.get(word).ok_or_else(|| FormulaError::UnknownName(word.to_owned()))?;
        self.misses |= !range.is_known();
        Ok(*range)
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
        let both = |of: fn(f64, f64) -> f64| {
            let all = arguments.iter().copied();
            all.reduce(|a, b| ValueRange { low: of(a.low, b.low), high: of(a.high, b.high) }).unwrap_or(first)
        };
        match (word, arguments.len()) {
            ("min", _) => Ok(both(f64::min)),
            ("max", _) => Ok(both(f64::max)),
            ("abs", 1) => Ok(first.absolute()),
            ("floor", 1) => Ok(first.rising(f64::floor)),
            ("ceil", 1) => Ok(first.rising(f64::ceil)),
            ("exp", 1) => Ok(first.rising(f64::exp)),
            ("sqrt", 1) => Ok(first.rising(f64::sqrt)),
            ("log", 1) => Ok(first.rising(f64::ln)),
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

    fn computed(formula: &str) -> Result<FormulaValue, FormulaError> {
        let values = [
            ("a", ValueRange::known(0.5)),
            ("b_2", ValueRange::known(2.0)),
            ("open", ValueRange { low: 0.0, high: 1.0 }),
            ("wide", ValueRange { low: -1.0, high: 3.0 }),
        ];
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
            let found = computed(formula).unwrap();
            let ends = [found.range.low, found.range.high];
            assert!(
                found.is_known && ends.iter().all(|end| (end - value).abs() < 1e-9),
                "{formula} = {found:?}"
            );
        }
    }

    #[test]
    fn what_is_not_known_leaves_bounds() {
        for (formula, low, high) in [
            ("0.7 * a + 0.3 * open", 0.35, 0.65),
            ("a - open", -0.5, 0.5),
            ("-open", -1.0, 0.0),
            ("wide * wide", -3.0, 9.0),
            ("wide ^ 2", 0.0, 9.0),
            ("wide ^ 3", -1.0, 27.0),
            ("wide ^ 0", 1.0, 1.0),
            ("b_2 ^ wide", 0.5, 8.0),
            ("abs(wide)", 0.0, 3.0),
            ("abs(open - 2)", 1.0, 2.0),
            ("1 / (1 + open)", 0.5, 1.0),
            ("min(open, a) + max(open, a)", 0.5, 1.5),
            ("exp(open - open * 0) + floor(wide / 2)", 0.0, 1.0_f64.exp() + 1.0),
            ("0 * open", 0.0, 0.0),
        ] {
            let found = computed(formula).unwrap();
            let differs = |found: f64, expected: f64| (found - expected).abs() > 1e-9;
            assert!(!found.is_known, "{formula}: what is not known stays unknown");
            assert!(
                !differs(found.range.low, low) && !differs(found.range.high, high),
                "{formula}: {found:?}"
            );
        }
        for formula in
            ["1 / open", "a / wide", "wide ^ -1", "wide ^ 0.5", "open ^ -1", "log(open)", "sqrt(wide)"]
        {
            let found = computed(formula).unwrap();
            assert!(!found.is_known && !found.range.is_bounded(), "{formula}: {found:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_value_lies_between_the_bounds(x in -1.0_f64..3.0, y in 0.0_f64..1.0, choice in 0_usize..8) {
            let formula = [
                "wide * open - wide", "wide ^ 2 + open", "(wide - open) ^ 3", "wide / (open + 1)", "min(wide, open) * wide",
                "abs(wide) ^ open", "max(wide, open) - abs(open - wide)", "(2 + wide) ^ (open - 2)",
            ][choice];
            let bounds = computed(formula).unwrap().range;
            let values = [("wide", x), ("open", y)].map(|(name, value)| (name.to_owned(), ValueRange::known(value)));
            let value = evaluate(formula, &values.into()).unwrap().range.low;
            proptest::prop_assert!(value >= bounds.low - 1e-9 && value <= bounds.high + 1e-9, "{formula}: {value} {bounds:?}");
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
        assert!(computed(&"(".repeat(4_000)).is_err());
        assert!(computed(&"-".repeat(4_000)).is_err());
        assert!(computed(&"1+".repeat(4_000)).is_err());
    }
}
