//! Lower limits that a judge must reach to be used.

use assize_stats::Undefined;

use super::report::{Calibration, Section};

/// What is compared with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GateOn {
    /// The figure itself.
    #[default]
    Estimate,
    /// The lower end of its interval: few labels can't pass by luck.
    Lower,
}

/// A limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateRequest {
    /// The figure, by its name in records.
    pub figure: &'static str,
    /// What it must reach.
    pub least: f64,
}

/// What became of a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct GateResult {
    /// The limit.
    pub request: GateRequest,
    /// Which items it was looked at for.
    pub section: String,
    /// What was compared; undefined figures reach nothing.
    pub value: Result<f64, Undefined>,
    /// Whether it was reached.
    pub passed: bool,
}

/// Holds limits against the figures over all items. A figure that does not exist reaches nothing.
pub fn check_gates(calibration: &Calibration, requests: &[GateRequest], on: GateOn) -> Vec<GateResult> {
    let overall = |section: &&Section| section.is_overall;
    requests
        .iter()
        .flat_map(|request| {
            let mut results: Vec<GateResult> = calibration
                .sections
                .iter()
                .filter(overall)
                .filter_map(|section| {
                    let figure = section.figures.iter().find(|figure| figure.id == request.figure)?;
                    let value = match on {
                        GateOn::Estimate => figure.value,
                        GateOn::Lower => figure.interval.map(|interval| interval.low),
                    };
                    let passed = value.is_ok_and(|value| assize_rubric::at_least(value, request.least));
                    Some(GateResult { request: *request, section: section.title.clone(), value, passed })
                })
                .collect();
            if results.is_empty() {
                let (section, value) = ("all".to_owned(), Err(Undefined::NoValues));
                results.push(GateResult { request: *request, section, value, passed: false });
            }
            results
        })
        .collect()
}
