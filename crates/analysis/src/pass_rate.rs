//! Gate on the pass rate of a run, as text.

use assize_rubric::format_rate;
use assize_store::{PassRateGate, PassRateResult};

/// Describes the result of a gate on the pass rate, such as `pass rate 9/10 cases (90.0%) is below the
/// minimum of 95.0%`.
pub fn describe_pass_rate_gate(gate: &PassRateGate) -> String {
    let PassRateGate { minimum, passed, cases, without_verdict, result } = *gate;
    let rate =
        |passed: usize| format!("{passed}/{cases} cases ({})", format_rate(passed as f64 / cases as f64));
    let minimum = format!("the minimum of {}", format_rate(minimum));
    match result {
        PassRateResult::Incomplete if cases == 0 => {
            "the pass rate is undefined: there are no cases".to_owned()
        }
        PassRateResult::Incomplete if cases == without_verdict => {
            format!("no case has a verdict, so the pass rate can't be compared with {minimum}")
        }
        PassRateResult::Met if without_verdict == 0 => {
            format!("pass rate {} reaches {minimum}", rate(passed))
        }
        PassRateResult::Met => format!("pass rate of at least {} reaches {minimum}", rate(passed)),
        PassRateResult::Missed if without_verdict == 0 => {
            format!("pass rate {} is below {minimum}", rate(passed))
        }
        PassRateResult::Missed => {
            format!("pass rate of at most {} is below {minimum}", rate(passed + without_verdict))
        }
        PassRateResult::Incomplete => format!(
            "pass rate between {} and {}: {without_verdict} without a verdict could reach {minimum}",
            rate(passed),
            rate(passed + without_verdict)
        ),
    }
}
