//! Resolves a case's pass and borderline thresholds.

use assize_model::{EvalFileFormat, ThresholdOverrides};
use assize_rubric::{ThresholdOrderError, UnitInterval, VerdictThresholds};

/// All sources of thresholds, in order of precedence.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThresholdSources {
    /// The command line.
    pub command: ThresholdOverrides,
    /// The case.
    pub case: ThresholdOverrides,
    /// The suite.
    pub suite: ThresholdOverrides,
    /// The configuration file.
    pub config: ThresholdOverrides,
}

/// Resolves the thresholds of a case. The command line overrides the case, the case the suite, the suite the
/// configuration, and that the defaults: pass at 0.8, and for format 1 borderline at 0.6.
///
/// A default borderline threshold above the pass threshold is dropped; an explicit one is an error.
pub fn resolve_thresholds(
    choice: ThresholdSources,
    format: Option<EvalFileFormat>,
) -> Result<VerdictThresholds, ThresholdOrderError> {
    let order = [choice.command, choice.case, choice.suite, choice.config];
    let pass = order.iter().find_map(|lines| lines.pass).unwrap_or_else(default_pass_threshold);
    match order.iter().find_map(|lines| lines.borderline) {
        Some(borderline) => VerdictThresholds::new(pass, Some(borderline)),
        None => Ok(VerdictThresholds::with_optional_borderline(
            pass,
            format.and_then(EvalFileFormat::default_borderline),
        )),
    }
}

fn default_pass_threshold() -> UnitInterval {
    UnitInterval::new(VerdictThresholds::DEFAULT_PASS).unwrap_or(UnitInterval::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(value: f64) -> ThresholdOverrides {
        ThresholdOverrides { pass: UnitInterval::new(value).ok(), borderline: None }
    }

    #[test]
    fn the_command_beats_the_case_and_the_case_the_suite() {
        let mut choice = ThresholdSources { suite: pass(0.5), ..ThresholdSources::default() };
        let line =
            |choice| resolve_thresholds(choice, Some(EvalFileFormat::Two)).expect("sound").pass().get();
        assert_eq!(line(choice), 0.5);
        choice.case = pass(0.6);
        assert_eq!(line(choice), 0.6);
        choice.command = pass(0.9);
        assert_eq!(line(choice), 0.9);
    }

    #[test]
    fn formats_differ_in_their_borderline_line() {
        let lines =
            |format| resolve_thresholds(ThresholdSources::default(), format).expect("sound").borderline();
        assert_eq!(lines(Some(EvalFileFormat::One)).map(UnitInterval::get), Some(0.6));
        assert_eq!(lines(Some(EvalFileFormat::Two)), None);
        assert_eq!(lines(None), None);
        let lowered = ThresholdSources { command: pass(0.3), ..ThresholdSources::default() };
        assert_eq!(resolve_thresholds(lowered, Some(EvalFileFormat::One)).expect("sound").borderline(), None);
        let crossed = ThresholdSources {
            command: ThresholdOverrides {
                pass: UnitInterval::new(0.3).ok(),
                borderline: UnitInterval::new(0.4).ok(),
            },
            ..ThresholdSources::default()
        };
        assert!(resolve_thresholds(crossed, Some(EvalFileFormat::One)).is_err());
    }
}
