//! Resolution of a case's pass and borderline thresholds.

use assize_evalfile::{Format, LineOverrides};
use assize_rubric::{Lines, LinesError, Unit};

/// All sources of thresholds, strongest first.
#[derive(Debug, Clone, Copy, Default)]
pub struct LineChoice {
    /// The command line.
    pub command: LineOverrides,
    /// The case.
    pub case: LineOverrides,
    /// The suite.
    pub suite: LineOverrides,
    /// The configuration file.
    pub config: LineOverrides,
}

/// Resolves the thresholds of a case: the command line overrides the case, the case the suite, the suite the
/// configuration, and that the defaults: pass at 0.8, and for format 1 borderline at 0.6.
///
/// A default borderline threshold above the pass threshold is dropped; an explicit one is an error.
pub fn resolve_lines(choice: LineChoice, format: Option<Format>) -> Result<Lines, LinesError> {
    let order = [choice.command, choice.case, choice.suite, choice.config];
    let pass = order.iter().find_map(|lines| lines.pass).unwrap_or_else(default_pass);
    match order.iter().find_map(|lines| lines.borderline) {
        Some(borderline) => Lines::new(pass, Some(borderline)),
        None => Ok(Lines::with_room(pass, format.and_then(Format::default_borderline))),
    }
}

fn default_pass() -> Unit {
    Unit::new(Lines::DEFAULT_PASS).unwrap_or(Unit::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(value: f64) -> LineOverrides {
        LineOverrides { pass: Unit::new(value).ok(), borderline: None }
    }

    #[test]
    fn the_command_beats_the_case_and_the_case_the_suite() {
        let mut choice = LineChoice { suite: pass(0.5), ..LineChoice::default() };
        let line = |choice| resolve_lines(choice, Some(Format::Two)).expect("sound").pass().get();
        assert_eq!(line(choice), 0.5);
        choice.case = pass(0.6);
        assert_eq!(line(choice), 0.6);
        choice.command = pass(0.9);
        assert_eq!(line(choice), 0.9);
    }

    #[test]
    fn formats_differ_in_their_borderline_line() {
        let lines = |format| resolve_lines(LineChoice::default(), format).expect("sound").borderline();
        assert_eq!(lines(Some(Format::One)).map(Unit::get), Some(0.6));
        assert_eq!(lines(Some(Format::Two)), None);
        assert_eq!(lines(None), None);
        let lowered = LineChoice { command: pass(0.3), ..LineChoice::default() };
        assert_eq!(resolve_lines(lowered, Some(Format::One)).expect("sound").borderline(), None);
        let crossed = LineChoice {
            command: LineOverrides { pass: Unit::new(0.3).ok(), borderline: Unit::new(0.4).ok() },
            ..LineChoice::default()
        };
        assert!(resolve_lines(crossed, Some(Format::One)).is_err());
    }
}
