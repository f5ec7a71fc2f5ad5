//! Arithmetic over named scores: `0.7 * quality + 0.3 * min(length, 1)`. The language has numbers, names,
//! `+ - * / % ^`, comparisons, `and`, `or`, `not`, `condition ? a : b`, parentheses and a few functions, and
//! nothing else.
//!
//! A score may be unknown within bounds, so a formula is evaluated with interval arithmetic: every operation
//! maps ranges to a range that contains all possible results. A known value is a range whose ends are equal.

use std::collections::{BTreeMap, BTreeSet};

use assize_limits::FORMULA_BYTES as MAX_BYTES;
use assize_limits::FORMULA_DEPTH as MAX_DEPTH;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Numbers count as equal for `==` up to this relative difference, as in mathjs.
const EQUALITY_TOLERANCE: f64 = 1e-12;
/// Functions, for error messages.
const KNOWN_FUNCTIONS: &str =
    "known functions: min, max, sum, mean, abs, floor, ceil, round, sqrt, pow, exp, log, log2 and log10";
/// Words that are operators and not names.
const WORD_OPERATORS: [&str; 4] = ["and", "or", "not", "mod"];

/// A metric of a suite that is computed from the named scores of its cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DerivedMetricFormula")]
pub struct DerivedMetricSpec {
    /// Name; metrics that follow may use it.
    pub name: String,
    /// Formula over the sums of named scores, and `__count`, the number of results.
    pub formula: String,
}

impl DerivedMetricSpec {
    /// Name of the number of results in formulas.
    pub const COUNT: &str = "__count";
}

/// Why a formula has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormulaError {
    /// It can't be parsed.
    Syntax(String),
    /// A name in it has no value.
    UnknownName(String),
    /// Its value is not a number, such as after a division by zero.
    Undefined,
}

/// Range of a value; both ends are equal if the value is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueRange {
    /// Lowest possible value.
    pub low: f64,
    /// Highest possible value.
    pub high: f64,
}

impl ValueRange {
    /// Creates the range of a known number.
    pub const fn known(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// Returns true if both bounds are numbers. A division by a value that may be zero has none, for example.
    pub const fn is_bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    const UNBOUNDED: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// A truth value as a number; the range from 0 to 1 if it is unknown.
    const fn truth(value: Option<bool>) -> Self {
        match value {
            Some(true) => Self::known(1.0),
            Some(false) => Self::known(0.0),
            None => Self { low: 0.0, high: 1.0 },
        }
    }

    /// Returns whether the value is a true condition, which is any number except zero; `None` if unknown.
    fn is_true(self) -> Option<bool> {
        match self {
            _ if !self.holds_zero() => Some(true),
            _ if self.is_known() => Some(false),
            _ => None,
        }
    }

    const fn is_nan(self) -> bool {
        self.low.is_nan() || self.high.is_nan()
    }

    /// Compares with another value. If either one is NaN, so is the result.
    fn compared(self, operator: &str, other: Self) -> Self {
        if self.is_nan() || other.is_nan() {
            return Self::known(f64::NAN);
        }

        let near = |a: f64, b: f64| (a - b).abs() <= EQUALITY_TOLERANCE * a.abs().max(b.abs());
        let equal = if self.is_known() && other.is_known() {
            Some(self.low == other.low || near(self.low, other.low))
        } else if self.high < other.low || other.high < self.low {
            Some(false)
        } else {
            None
        };
        let less = match equal {
            Some(true) => Some(false),
            _ if self.high < other.low => Some(true),
            _ if self.low >= other.high => Some(false),
            _ => None,
        };
        let greater = match equal {
            Some(true) => Some(false),
            _ if self.low > other.high => Some(true),
            _ if self.high <= other.low => Some(false),
            _ => None,
        };
        Self::truth(match operator {
            "==" => equal,
            "!=" => equal.map(|equal| !equal),
            "<" => less,
            "<=" => greater.map(|greater| !greater),
            ">" => greater,
            _ => less.map(|less| !less),
        })
    }

    /// Returns `yes` if a condition holds and `no` if not; the range of both if the condition is unknown.
    fn chosen(condition: Self, yes: Self, no: Self) -> Self {
        match condition.is_true() {
            _ if condition.is_nan() => condition,
            Some(true) => yes,
            Some(false) => no,
            None => Self::around(&[yes.low, yes.high, no.low, no.high]),
        }
    }

    /// Combines two conditions. If one of them is `deciding`, it alone determines the result: true for `or`, false for
    /// `and`.
    fn joined(self, other: Self, deciding: bool) -> Self {
        let conditions = [self.is_true(), other.is_true()];
        if self.is_nan() || other.is_nan() {
            Self::known(f64::NAN)
        } else if conditions.contains(&Some(deciding)) {
            Self::truth(Some(deciding))
        } else {
            Self::truth(conditions[0].and(conditions[1]))
        }
    }

    /// Remainder with the sign of the divisor, as in mathjs.
    fn remainder(self, other: Self) -> Self {
        let divisor = other.low;
        if !other.is_known() {
            return Self::UNBOUNDED;
        }
        if divisor == 0.0 {
            return self;
        }
        if !self.is_known() {
            return Self { low: divisor.min(0.0), high: divisor.max(0.0) };
        }

        Self::known(self.low - divisor * (self.low / divisor).floor())
    }

    fn is_known(self) -> bool {
        self.low.to_bits() == self.high.to_bits()
    }

    fn holds_zero(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// Smallest range that contains all of these values; NaN if one of them is.
    fn around(values: &[f64]) -> Self {
        if values.iter().any(|value| value.is_nan()) {
            return Self { low: f64::NAN, high: f64::NAN };
        }

        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        Self { low, high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max) }
    }

    /// Range of a function of two numbers whose extremes are at the ends of the ranges.
    fn corners(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        if self.is_known() && other.is_known() {
            return Self::known(f(self.low, other.low));
        }

        let (a, b) = (self, other);
        Self::around(&[f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)])
    }

    /// Range of a non-decreasing function.
    fn rising(self, f: impl Fn(f64) -> f64) -> Self {
        Self { low: f(self.low), high: f(self.high) }
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
        // Zero to a negative power, or a negative number to a fractional one, is not a number.
        if exponent.low < 0.0 || (self.low < 0.0 && !is_whole) {
            return Self::UNBOUNDED;
        }

        let range = self.corners(exponent, f64::powf);
        let is_even = is_whole && exponent.low % 2.0 == 0.0;
        // An even power has its minimum at zero. `x ^ 0` does not: it is 1 for zero, too.
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
pub struct FormulaValue {
    /// Bounds by interval arithmetic. The value is within them, but may not reach them if a name occurs
    /// twice.
    pub range: ValueRange,
    /// True if all names in the formula have values.
    pub is_known: bool,
}

/// Evaluates a formula; `values` are the ranges of the names.
///
/// # Errors
/// If the formula can't be parsed, or is undefined although all names in it have values.
pub fn evaluate_formula(
    formula: &str,
    values: &BTreeMap<String, ValueRange>,
) -> Result<FormulaValue, FormulaError> {
    let mut parser = FormulaParser::new(formula, Some(values));
    let range = parser.whole()?;
    let is_known = !parser.misses;
    if is_known && !range.is_bounded() {
        return Err(FormulaError::Undefined);
    }

    Ok(FormulaValue { range, is_known })
}

/// Returns the names in a formula.
///
/// # Errors
/// If the formula can't be parsed; the error is a message.
pub fn formula_names(formula: &str) -> Result<BTreeSet<String>, String> {
    let mut parser = FormulaParser::new(formula, None);
    match parser.whole() {
        Err(FormulaError::Syntax(why)) => Err(why),
        Ok(_) | Err(FormulaError::UnknownName(_) | FormulaError::Undefined) => Ok(parser.names),
    }
}

struct FormulaParser<'a> {
    rest: &'a str,
    /// Ranges of the names; `None` if any name is allowed.
    values: Option<&'a BTreeMap<String, ValueRange>>,
    names: BTreeSet<String>,
    /// True if a name without a value was read.
    misses: bool,
    depth: usize,
}

type Computed = Result<ValueRange, FormulaError>;

impl<'a> FormulaParser<'a> {
    const fn new(formula: &'a str, values: Option<&'a BTreeMap<String, ValueRange>>) -> Self {
        Self { rest: formula, values, names: BTreeSet::new(), misses: false, depth: 0 }
    }

    fn whole(&mut self) -> Computed {
        if self.rest.len() > MAX_BYTES {
            return Err(FormulaError::Syntax(format!("it is longer than {MAX_BYTES} bytes")));
        }

        let value = self.conditional()?;
        self.skip_space();
        if self.rest.is_empty() { Ok(value) } else { Err(self.unexpected()) }
    }

    fn conditional(&mut self) -> Computed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(FormulaError::Syntax(format!("it is nested more than {MAX_DEPTH} levels deep")));
        }

        let mut value = self.either()?;
        if self.takes("?") {
            let yes = self.conditional()?;
            if !self.takes(":") {
                return Err(self.unexpected());
            }
            let no = self.conditional()?;
            value = ValueRange::chosen(value, yes, no);
        }
        self.depth -= 1;
        Ok(value)
    }

    fn either(&mut self) -> Computed {
        let mut value = self.both()?;
        while self.takes_word("or") {
            value = value.joined(self.both()?, true);
        }
        Ok(value)
    }

    fn both(&mut self) -> Computed {
        let mut value = self.comparison()?;
        while self.takes_word("and") {
            value = value.joined(self.comparison()?, false);
        }
        Ok(value)
    }

    fn comparison(&mut self) -> Computed {
        let value = self.sum()?;
        let Some(operator) =
            ["==", "!=", "<=", ">=", "<", ">"].into_iter().find(|operator| self.takes(operator))
        else {
            return Ok(value);
        };
        Ok(value.compared(operator, self.sum()?))
    }

    fn sum(&mut self) -> Computed {
        let mut value = self.product()?;
        loop {
            if self.takes("+") {
                value = value.plus(self.product()?);
            } else if self.takes("-") {
                value = value.plus(self.product()?.negated());
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Computed {
        let mut value = self.signed()?;
        loop {
            if self.takes("*") {
                value = value.corners(self.signed()?, |a, b| a * b);
            } else if self.takes("/") {
                value = value.divided(self.signed()?);
            } else if self.takes("%") || self.takes_word("mod") {
                value = value.remainder(self.signed()?);
            } else {
                return Ok(value);
            }
        }
    }

    /// Parses the signs before a power. They are counted and not nested, so that any number of them is
    /// possible.
    fn signed(&mut self) -> Computed {
        if self.takes_word("not") {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(FormulaError::Syntax(format!("it is nested more than {MAX_DEPTH} levels deep")));
            }
            let value = self.signed()?;
            self.depth -= 1;
            return Ok(if value.is_nan() { value } else { ValueRange::truth(value.is_true().map(|is| !is)) });
        }

        let mut is_negative = false;
        loop {
            if self.takes("-") {
                is_negative = !is_negative;
            } else if !self.takes("+") {
                break;
            }
        }

        // The operator is right-associative: `2^3^2` is 2 to the power of 9.
        let mut powers = vec![self.atom()?];
        while self.takes("^") {
            let is_inverse = self.takes("-");
            let exponent = self.atom()?;
            powers.push(if is_inverse { exponent.negated() } else { exponent });
        }
        let power = powers.into_iter().rev().reduce(|exponent, base| base.power(exponent));
        let power = power.unwrap_or(ValueRange::known(f64::NAN));
        Ok(if is_negative { power.negated() } else { power })
    }

    fn atom(&mut self) -> Computed {
        if self.takes("(") {
            let value = self.conditional()?;
            return if self.takes(")") { Ok(value) } else { Err(self.unexpected()) };
        }

        self.skip_space();
        match self.rest.chars().next() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if is_word(c) => {
                let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                if WORD_OPERATORS.contains(&word) {
                    return Err(FormulaError::Syntax(format!("`{word}` is not expected there")));
                }
                self.rest = rest;
                if self.takes("(") { self.function(word) } else { self.name(word) }
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
        let value =
            number.parse().map_err(|_| FormulaError::Syntax(format!("`{number}` is not a number")))?;
        self.rest = rest;
        Ok(ValueRange::known(value))
    }

    fn name(&mut self, word: &str) -> Computed {
        let Some(values) = self.values else {
            self.names.insert(word.to_owned());
            return Ok(ValueRange { low: 0.0, high: 1.0 });
        };
        let range = values.get(word).ok_or_else(|| FormulaError::UnknownName(word.to_owned()))?;
        self.misses |= !range.is_known();
        Ok(*range)
    }

    fn function(&mut self, word: &str) -> Computed {
        let mut arguments = vec![self.conditional()?];
        while self.takes(",") {
            arguments.push(self.conditional()?);
        }
        if !self.takes(")") {
            return Err(self.unexpected());
        }

        let first = arguments[0];
        let both = |f: fn(f64, f64) -> f64| {
            let all = arguments.iter().copied();
            all.reduce(|a, b| ValueRange { low: f(a.low, b.low), high: f(a.high, b.high) }).unwrap_or(first)
        };
        let total = || arguments[1..].iter().fold(first, |sum, value| sum.plus(*value));
        match (word, arguments.len()) {
            ("min", _) => Ok(both(f64::min)),
            ("max", _) => Ok(both(f64::max)),
            ("abs", 1) => Ok(first.absolute()),
            ("floor", 1) => Ok(first.rising(f64::floor)),
            ("ceil", 1) => Ok(first.rising(f64::ceil)),
            ("exp", 1) => Ok(first.rising(f64::exp)),
            ("sqrt", 1) => Ok(first.rising(f64::sqrt)),
            ("log", 1) => Ok(first.rising(f64::ln)),
            ("log", 2) => Ok(first.rising(f64::ln).divided(arguments[1].rising(f64::ln))),
            ("log2", 1) => Ok(first.rising(f64::log2)),
            ("log10", 1) => Ok(first.rising(f64::log10)),
            ("round", 1) => Ok(first.rising(f64::round)),
            ("pow", 2) => Ok(first.power(arguments[1])),
            ("sum", _) => Ok(total()),
            ("mean", count) => Ok(total().divided(ValueRange::known(count as f64))),
            (_, 1) => {
                Err(FormulaError::Syntax(format!("`{word}` is not a known function; {KNOWN_FUNCTIONS}")))
            }
            (_, count) => {
                Err(FormulaError::Syntax(format!("`{word}` does not take {count} values; {KNOWN_FUNCTIONS}")))
            }
        }
    }

    fn takes(&mut self, operator: &str) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(operator);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Reads a word operator if it comes next.
    fn takes_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(word).filter(|rest| !rest.starts_with(is_word));
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

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
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
        evaluate_formula(formula, &values.map(|(name, value)| (name.to_owned(), value)).into())
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
            ("7 % 4 + 7 mod 4 - (-1) % 3", 4.0),
            ("a > 0 ? 1 / a : 0", 2.0),
            ("a == 0 ? 0 : a < 1 and not (b_2 >= 3) ? 5 : 6", 5.0),
            ("a - 0.5 == 0 ? 0 : 1 / (a - 0.5)", 0.0),
            ("0.1 + 0.2 == 0.3 or 0", 1.0),
            ("round(1.5) + pow(2, 3) + log10(100) + log2(8) + log(8, 2)", 18.0),
            ("sum(1, 2, 3) + mean(1, 2, 3)", 8.0),
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
            ("open > 2 ? 1 : 3", 3.0, 3.0),
            ("open > a ? 1 : 3", 1.0, 3.0),
            ("wide % 2", 0.0, 2.0),
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

    #[test]
    fn names_are_found_without_values() {
        let names = formula_names("2 * tp / (2 * tp + fp) + min(größe, __count)").unwrap();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["__count", "fp", "größe", "tp"]);
        assert!(formula_names("tp / (tp").is_err());
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
            let value = evaluate_formula(formula, &values.into()).unwrap().range.low;
            proptest::prop_assert!(value >= bounds.low - 1e-9 && value <= bounds.high + 1e-9, "{formula}: {value} {bounds:?}");
        }
    }

    #[test]
    fn nothing_else_is_read() {
        for wrong in [
            "", "1 +", "(1", "1)", "a b_2", "a.b", "__import__('os')", "1;2", "x = 1", "min()", "sin(1)",
            "1..2", "a ? 1", "a and", "not", "mod(1, 2)", "a < 1 < 2",
        ] {
            assert!(
                matches!(computed(wrong), Err(FormulaError::Syntax(_) | FormulaError::UnknownName(_))),
                "{wrong}"
            );
        }
        assert_eq!(computed("c"), Err(FormulaError::UnknownName("c".into())));
        assert_eq!(computed("1 / 0"), Err(FormulaError::Undefined));
        assert_eq!(computed("0 / 0 > 1 ? 1 : 2"), Err(FormulaError::Undefined));
        assert!(computed(&"not ".repeat(1_000)).is_err());
        assert!(computed(&"(".repeat(4_000)).is_err());
        assert!(computed(&"-".repeat(4_000)).is_err());
        assert!(computed(&"1+".repeat(4_000)).is_err());
    }
}
