//! Computed figures beside the published ones.

use std::fmt::Write as _;

use serde_json::Value;

use crate::output;

/// All figures so far, as a table.
#[derive(Default)]
pub(super) struct FigureTable {
    text: String,
    right: usize,
    wrong: usize,
    skipped: Vec<String>,
}

impl FigureTable {
    /// Begins a table.
    pub(super) fn title(&mut self, name: &str) {
        writeln!(self.text, "\n{name}\n  {:<52} {:>16} {:>14}", "figure", "computed", "expected")
            .expect("a string takes everything");
    }

    /// Adds a figure that must match in every decimal of `expected`. `undefined` means that there must be no
    /// value.
    pub(super) fn figure(&mut self, name: &str, computed: &Value, expected: &str) {
        let shown = match computed.as_f64() {
            None => "undefined".to_owned(),
            Some(value) if value != 0.0 && value.abs() < 1e-4 => format!("{value:.6e}"),
            Some(value) => format!("{value:.6}"),
        };

        let agrees = match (computed.as_f64(), expected) {
            (None, "undefined") => computed.is_null(),
            (Some(computed), expected) => agree(computed, expected),
            (None, _) => false,
        };
        self.line(name, &shown, expected, agrees);
    }

    /// Adds a count.
    pub(super) fn count(&mut self, name: &str, computed: &Value, expected: u64) {
        self.line(name, &computed.to_string(), &expected.to_string(), computed.as_u64() == Some(expected));
    }

    /// Adds a condition that must hold, such as a refusal.
    pub(super) fn holds(&mut self, name: &str, does: bool) {
        self.line(name, if does { "yes" } else { "no" }, "yes", does);
    }

    fn line(&mut self, name: &str, computed: &str, expected: &str, agrees: bool) {
        let mark = if agrees { "" } else { "  <-- differs" };
        writeln!(self.text, "  {name:<52} {computed:>16} {expected:>14}{mark}")
            .expect("a string takes everything");

        if agrees {
            self.right += 1;
        } else {
            self.wrong += 1;
        }
    }

    /// Records a part whose data is missing. It is named on the terminal even if everything else matches.
    pub(super) fn skip(&mut self, part: &str) {
        self.skipped.push(part.to_owned());
    }

    /// Prints the table. Fails with it if a figure differs or none was computed.
    pub(super) fn finish(self) -> Result<(), String> {
        if !self.skipped.is_empty() {
            let parts = self.skipped.join(", ");
            println!("SKIPPED {} parts of a data set: no {parts}", self.skipped.len());
        }

        let text = format!("{}\n{} figures agree, {} differ", self.text, self.right, self.wrong);
        if self.wrong == 0 && self.right > 0 {
            output::print(&text);
            return Ok(());
        }

        Err(text)
    }
}

/// Whether a number rounds to the written one, to within half a unit of the last decimal. With an exponent, the
/// decimals of the digits before it count.
fn agree(computed: f64, written: &str) -> bool {
    let (digits, exponent) = written.split_once('e').unwrap_or((written, "0"));
    let (Ok(value), Ok(power)) = (written.parse::<f64>(), exponent.parse::<i32>()) else { return false };
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let unit = 10f64.powi(power - i32::try_from(decimals).unwrap_or(0));
    (computed - value).abs() <= unit * (0.5 + 1e-6)
}

#[cfg(test)]
mod tests {
    use super::agree;

    #[test]
    fn written_decimals_must_agree() {
        assert!(agree(0.730_145_4, ".7301454"));
        assert!(agree(0.730_145_44, ".7301454"));
        assert!(!agree(0.730_146, ".7301454"));
        assert!(agree(2.74e-36, "2.7e-36"));
        assert!(!agree(2.8e-36, "2.7e-36"));
        assert!(!agree(0.0, "undefined"));
    }
}
