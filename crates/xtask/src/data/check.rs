//! Computed beside expected.

use serde_json::Value;

/// Every figure so far.
#[derive(Default)]
pub(super) struct Table {
    set: &'static str,
    right: usize,
    wrong: usize,
}

impl Table {
    /// Begins the figures of a set.
    pub(super) fn set(&mut self, name: &'static str) {
        self.set = name;
        println!("\n{name}\n  {:<52} {:>16} {:>14}", "figure", "computed", "expected");
    }

    /// A figure that must agree in every decimal that is written. `undefined` expects none.
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

    /// A number of things.
    pub(super) fn count(&mut self, name: &str, computed: &Value, expected: u64) {
        self.line(name, &computed.to_string(), &expected.to_string(), computed.as_u64() == Some(expected));
    }

    /// Something that must hold, such as a refusal.
    pub(super) fn holds(&mut self, name: &str, does: bool) {
        self.line(name, if does { "yes" } else { "no" }, "yes", does);
    }

    fn line(&mut self, name: &str, computed: &str, expected: &str, agrees: bool) {
        let mark = if agrees { "" } else { "  <-- differs" };
        println!("  {name:<52} {computed:>16} {expected:>14}{mark}");
        if agrees {
            self.right += 1;
        } else {
            self.wrong += 1;
        }
    }

    /// Fails if a figure differs.
    pub(super) fn finish(self) -> Result<(), String> {
        println!("\n{} figures agree, {} differ", self.right, self.wrong);
        if self.wrong == 0 && self.right > 0 {
            Ok(())
        } else if self.right == 0 {
            Err("no figure was computed".to_owned())
        } else {
            Err(format!("{} figures differ from what is published", self.wrong))
        }
    }
}

/// Whether a number rounds to what is written, half a unit of the last decimal allowed either way. With an exponent,
/// the decimals are those of the digits before it.
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
