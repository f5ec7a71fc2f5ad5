//! Gates of a comparison: conditions under which a change is accepted.

use serde::Serialize;

use super::HeadlineMetric;
use super::comparison_set::ComparisonSet;
use super::metric_difference::{Conclusion, MetricDifference};
use super::pairing::RunComparison;

/// Regressions that fail the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailOn {
    /// A pass rate or mean score that is worse.
    Worse,
    /// In addition, a suite, tag, grader or criterion that is worse after the adjustment of p values.
    AnyWorse,
}

/// Conditions checked against a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ComparisonGates {
    /// Fails if a metric is worse.
    pub fail_on: Option<FailOn>,
    /// Largest accepted drop of pass rate or mean score, as measured.
    pub max_drop: Option<f64>,
    /// Every case that passed must still pass.
    pub no_regression: bool,
    /// An inconclusive result fails.
    pub strict: bool,
}

/// Status of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonGateStatus {
    /// The condition holds.
    Held,
    /// The condition does not hold.
    Failed,
    /// The result depends on incomplete or missing cases, or no pair of cases can be compared.
    Undecided,
    /// The evidence is not enough to decide.
    Inconclusive,
}

impl ComparisonGateStatus {
    /// Returns the word shown to people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Held => "passed",
            Self::Failed => "failed",
            Self::Undecided => "incomplete",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// Gate with its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparisonGateResult {
    /// The gate, as on the command line.
    pub gate: &'static str,
    /// Candidate it was checked against.
    pub candidate: String,
    /// Status of the gate.
    pub hold: ComparisonGateStatus,
    /// Reason in a sentence.
    pub says: String,
}

/// Checks the gates against each candidate.
pub fn check_comparison_gates(many: &ComparisonSet, gates: &ComparisonGates) -> Vec<ComparisonGateResult> {
    let mut results = Vec::new();
    for comparison in &many.comparisons {
        let mut push = |gate, (hold, says): (ComparisonGateStatus, String)| {
            results.push(ComparisonGateResult { gate, candidate: comparison.candidate.clone(), hold, says });
        };
        if let Some(which) = gates.fail_on {
            push("--fail-on", check_worse(comparison, which));
        }
        if let Some(most) = gates.max_drop {
            push("--max-drop", check_drop(comparison, most, gates.strict));
        }
        if gates.no_regression {
            push("--fail-on-regression", check_regressions(comparison));
        }

        if gates.strict {
            push("--strict", check_verdict(comparison));
        }
    }

    results
}

fn headline_metrics(comparison: &RunComparison) -> [(&'static str, &MetricDifference); 2] {
    [("pass rate", &comparison.pass_rate), ("mean score", &comparison.score)]
}

fn check_worse(comparison: &RunComparison, which: FailOn) -> (ComparisonGateStatus, String) {
    let found = metrics_called(comparison, which, Conclusion::Worse);
    if !found.is_empty() {
        return (ComparisonGateStatus::Failed, format!("worse: {}", found.join(", ")));
    }

    let withheld = metrics_called(comparison, which, Conclusion::NotComparable);
    if !withheld.is_empty() {
        return (ComparisonGateStatus::Undecided, format!("not comparable: {}", withheld.join(", ")));
    }

    // The worst case of a part is not computed, because the unknown cases may belong to any of its rows.
    let unknown = &comparison.unknown;
    let could_be_worse = unknown.worst.iter().any(|contrast| contrast.call == Conclusion::Worse);
    if let Some(reason) = without_pairs(comparison) {
        return (ComparisonGateStatus::Undecided, reason);
    }
    if could_be_worse || (which == FailOn::AnyWorse && !unknown.is_empty()) {
        return (
            ComparisonGateStatus::Undecided,
            format!("no significant regression so far, but one is possible: {}", unknown.describe()),
        );
    }

    (ComparisonGateStatus::Held, "no significant regression".to_owned())
}

/// Names of the metrics with this conclusion, among those that a gate depends on.
fn metrics_called(comparison: &RunComparison, which: FailOn, call: Conclusion) -> Vec<String> {
    let headlines = headline_metrics(comparison).into_iter().filter(|(_, contrast)| contrast.call == call);
    let mut names: Vec<String> = headlines.map(|(name, _)| name.to_owned()).collect();
    if which == FailOn::AnyWorse {
        for table in &comparison.tables {
            let rows = table.rows.iter().filter(|row| row.contrast.call == call);
            names.extend(rows.map(|row| format!("{} {}", table.by, row.name)));
        }
    }

    names
}

fn check_drop(comparison: &RunComparison, most: f64, strict: bool) -> (ComparisonGateStatus, String) {
    let (mut hold, mut said) = (ComparisonGateStatus::Held, Vec::new());
    for (name, contrast) in headline_metrics(comparison) {
        let Some(difference) = contrast.difference else {
            said.push(format!("{name}: undefined"));
            // The pass rate may be undefined while scores are known; one of the two is enough.
            continue;
        };
        let drop = 0.0 - difference;

        said.push(format!("{name} {}", contrast.unit.format_change(difference)));

        if drop > most + 1e-9 {
            hold = ComparisonGateStatus::Failed;
        } else if strict
            && hold == ComparisonGateStatus::Held
            && contrast.low.is_none_or(|low| -low > most + 1e-9)
        {
            hold = ComparisonGateStatus::Inconclusive;
        }
    }

    let headlines = headline_metrics(comparison);
    let is_withheld = headlines.iter().any(|(_, contrast)| contrast.call == Conclusion::NotComparable);
    let is_unknown = headlines.iter().all(|(_, contrast)| contrast.difference.is_none());
    if is_unknown || (is_withheld && hold != ComparisonGateStatus::Failed) {
        hold = ComparisonGateStatus::Undecided;
    }

    let is_larger = |metric: &MetricDifference| {
        metric.difference.is_some_and(|difference| 0.0 - difference > most + 1e-9)
    };
    let unknown = &comparison.unknown;
    if hold != ComparisonGateStatus::Failed && unknown.worst.iter().any(is_larger) {
        hold = ComparisonGateStatus::Undecided;
        said.push(format!("a larger drop is possible: {}", unknown.describe()));
    }

    (hold, said.join(", "))
}

/// Reason why nothing can be compared, if no pair has a verdict or score on both sides.
fn without_pairs(comparison: &RunComparison) -> Option<String> {
    let is_empty = headline_metrics(comparison).iter().any(|(_, metric)| metric.n == 0);
    is_empty.then(|| {
        let unknown = &comparison.unknown;
        let why = if unknown.is_empty() { String::new() } else { format!(": {}", unknown.describe()) };
        format!("no case has a result in both runs{why}")
    })
}

/// Holds if the verdict is conclusive and no unknown case could change it.
fn check_verdict(comparison: &RunComparison) -> (ComparisonGateStatus, String) {
    let verdict = comparison.verdict;
    if let Some(reason) = without_pairs(comparison) {
        return (ComparisonGateStatus::Undecided, reason);
    }
    let open = match verdict {
        Conclusion::Inconclusive => Some(ComparisonGateStatus::Inconclusive),
        Conclusion::NotComparable => Some(ComparisonGateStatus::Undecided),
        _ => None,
    };
    if let Some(hold) = open {
        return (hold, comparison.headline_difference().says.clone());
    }

    let unknown = &comparison.unknown;
    let of_headline = |metrics: &[MetricDifference]| {
        let at = usize::from(comparison.headline == HeadlineMetric::Score);
        metrics.get(at).map(|metric| metric.call)
    };
    let other = [&unknown.worst, &unknown.best].into_iter().filter_map(|metrics| of_headline(metrics));
    if let Some(other) = other.into_iter().find(|call| *call != verdict) {
        return (
            ComparisonGateStatus::Undecided,
            format!(
                "the verdict is {}, but {} is possible: {}",
                verdict.words(),
                other.words(),
                unknown.describe()
            ),
        );
    }

    (ComparisonGateStatus::Held, format!("the verdict is {}", verdict.words()))
}

fn check_regressions(comparison: &RunComparison) -> (ComparisonGateStatus, String) {
    if comparison.pass_rate.call == Conclusion::NotComparable {
        return (ComparisonGateStatus::Undecided, comparison.pass_rate.says.clone());
    }

    let lost = comparison.regressions.len();
    if lost > 0 {
        let cases = if lost == 1 {
            "1 case passed before and fails now".to_owned()
        } else {
            format!("{lost} cases passed before and fail now")
        };
        return (ComparisonGateStatus::Failed, cases);
    }

    let unknown = &comparison.unknown;
    if unknown.possible_regressions > 0 {
        let number = unknown.possible_regressions;
        return (
            ComparisonGateStatus::Undecided,
            format!("{number} cases may have passed before and not now: {}", unknown.describe()),
        );
    }

    (ComparisonGateStatus::Held, "every case that passed before still passes".to_owned())
}
