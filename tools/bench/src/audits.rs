//! Audits of judges with known truth and bias: how often they find a biased judge, and accuse an unbiased one.

use std::convert::Infallible;
use std::sync::Arc;

use assize_audit::injection::{InjectionReport, builtin_probes};
use assize_audit::length::{LengthFacts, length_report};
use assize_audit::order::{draw_orders, order_report};
use assize_audit::self_preference::{ModelFamilies, SelfPreferenceFacts, self_preference_report};
use assize_audit::{PairedDecisions, UNCHANGED, pair_records};
use assize_rubric::{
    CaseDecision, Criterion, Decision, Finding, GraderWeighting, JudgeIdentity, Outcome, UnitInterval,
    VerdictThresholds,
};
use assize_store::{CaseRecord, ResultRow};
use assize_testkit::KnownJudge;
use serde_json::json;

use super::SimulationOptions;
use super::parallel::in_parallel;
use super::table::FigureTable;

/// Numbers of cases in an audit.
const SIZES: [usize; 3] = [10, 40, 150];

/// Number of criteria in a case; half of them are met.
const CRITERIA: usize = 5;

/// Share of decisions that an honest judge gets wrong.
const NOISE: f64 = 0.03;

/// A kind of audit, and the bias that it should find.
struct AuditRow {
    what: &'static str,
    bias: &'static str,
    /// Gives a judge the bias.
    corrupt: fn(&mut KnownJudge),
    /// Audits a judge on this many cases. Returns true if the audit finds a bias.
    accuses: fn(&mut KnownJudge, usize) -> bool,
}

const ROWS: [AuditRow; 6] = [
    AuditRow {
        what: "`injection`",
        bias: "gives in to 0.2 of attacks",
        corrupt: |judge| judge.gives_in = 0.2,
        accuses: accuses_of_giving_in,
    },
    AuditRow {
        what: "`order`",
        bias: "0.4 for the first place",
        corrupt: |judge| judge.first_place = 0.4,
        accuses: accuses_of_places,
    },
    AuditRow {
        what: "`length`",
        bias: "0.2 for longer answers",
        corrupt: |judge| judge.likes_length = 0.2,
        accuses: |judge, cases| accuses_of_length(judge, cases, 2),
    },
    AuditRow {
        what: "`length --repeats 4`",
        bias: "the same",
        corrupt: |judge| judge.likes_length = 0.2,
        accuses: |judge, cases| accuses_of_length(judge, cases, 5),
    },
    AuditRow {
        what: "`self`",
        bias: "0.4 for its own family",
        corrupt: |judge| judge.own_family = 0.4,
        accuses: |judge, cases| says_of_preference(judge, cases).contains("`claude` judges"),
    },
    AuditRow {
        what: "`self`, any family",
        bias: "the same",
        corrupt: |judge| judge.own_family = 0.4,
        accuses: |judge, cases| says_of_preference(judge, cases).contains("` judges"),
    },
];

impl AuditRow {
    /// Number of audits, out of `audits`, that accuse a judge.
    fn accusations(&self, is_biased: bool, audits: u64, cases: usize) -> u64 {
        let accused = (0..audits).filter(|seed| {
            let mut judge = KnownJudge { noise: NOISE, ..KnownJudge::new(*seed) };
            if is_biased {
                (self.corrupt)(&mut judge);
            }
            (self.accuses)(&mut judge, cases)
        });
        accused.count() as u64
    }
}

/// Audits biased and honest judges; `quick` runs a tenth of the audits.
pub(super) fn table(options: SimulationOptions<'_>) -> FigureTable {
    let (biased, honest) = if options.quick { (20, 100) } else { (200, 1_000) };
    let title = format!("Percent of {biased} biased judges found, and of {honest} honest judges accused");
    let columns = [
        "audit", "bias", "found: 10 cases", "40 cases", "150 cases", "accused: 10 cases", "40 cases",
        "150 cases",
    ];
    let mut table = FigureTable::new(&title, &columns);

    // Each figure is a separate item, so that a single row keeps all processors busy too.
    let rows: Vec<&AuditRow> = ROWS.iter().filter(|row| options.takes(row.what)).collect();
    let figures: Vec<(&AuditRow, bool, usize)> = rows
        .iter()
        .flat_map(|row| [true, false].map(|is_biased| SIZES.map(|cases| (*row, is_biased, cases))))
        .flatten()
        .collect();
    let percents = in_parallel(&figures, |(row, is_biased, cases)| {
        let audits = if *is_biased { biased } else { honest };
        let accused = row.accusations(*is_biased, audits, *cases);
        format!("{:.1}", 100.0 * accused as f64 / audits as f64)
    });

    for (row, percents) in rows.iter().zip(percents.as_chunks().0) {
        let [few, some, many, of_few, of_some, of_many] = percents;
        table.row([row.what, row.bias, few, some, many, of_few, of_some, of_many]);
    }

    table
}

/// True outcomes of the criteria of a case.
fn truths(judge: &mut KnownJudge) -> [bool; CRITERIA] {
    std::array::from_fn(|_| judge.chance(0.5))
}

fn accuses_of_giving_in(judge: &mut KnownJudge, cases: usize) -> bool {
    let attacks = builtin_probes().into_iter().filter(|probe| !probe.is_control()).take(6);
    let labels: Vec<String> = attacks.map(|probe| format!("{}.append", probe.name)).collect();
    let mut records = Vec::new();
    for case in 0..cases {
        let truth = truths(judge);
        let mut decide = |is_attack: bool| -> [bool; CRITERIA] {
            std::array::from_fn(|criterion| {
                // One criterion is borderline, and the judge is unsure about it.
                judge.noise = if criterion == 0 { 0.4 } else { NOISE };
                if is_attack {
                    judge.decide_told(truth[criterion])
                } else {
                    judge.decide(truth[criterion], 1)
                }
            })
        };
        for trial in 1..=2 {
            records.push(AuditedCase { trial, ..AuditedCase::new(case, UNCHANGED) }.record(decide(false)));
        }
        records.extend(labels.iter().map(|label| AuditedCase::new(case, label).record(decide(true))));
    }

    InjectionReport::new(&paired(records), &builtin_probes()).wins.is_effect()
}

fn accuses_of_places(judge: &mut KnownJudge, cases: usize) -> bool {
    let same: Vec<usize> = (0..CRITERIA).collect();
    let mut records = Vec::new();
    for case in 0..cases {
        let orders = draw_orders(CRITERIA, 3, !judge.state);
        let truth = truths(judge);
        let mut decide = |case: &AuditedCase<'_>, order: &[usize]| {
            let met = order.iter().enumerate().map(|(place, at)| (*at, judge.decide(truth[*at], place)));
            case.record_in_order(met.collect())
        };
        for trial in 1..=2 {
            records.push(decide(&AuditedCase { trial, ..AuditedCase::new(case, UNCHANGED) }, &same));
        }
        for (at, order) in orders.iter().enumerate() {
            records.push(decide(&AuditedCase::new(case, &format!("order.{at}")), order));
        }
    }

    let says = order_report(&paired(records)).says;
    ["matters", "significantly more than"].iter().any(|claim| says.contains(claim))
        && !says.contains("not significantly")
}

fn accuses_of_length(judge: &mut KnownJudge, cases: usize, unchanged: u32) -> bool {
    let mut facts = LengthFacts::default();
    for case in 0..cases {
        let truth = truths(judge);
        for trial in 1..=unchanged {
            let met = truth.map(|truth| judge.decide(truth, 1));
            facts.add(&AuditedCase { trial, ..AuditedCase::new(case, UNCHANGED) }.record(met));
        }
        for label in ["frame", "repeat"] {
            facts.add(&AuditedCase::new(case, label).record(truth.map(|truth| judge.decide_long(truth))));
        }
    }

    let compared = PairedDecisions { cases, ..PairedDecisions::default() };
    length_report(&compared, &facts).says.starts_with("Length alone")
}

/// The result of an audit of judges of three families; the second may prefer its own.
fn says_of_preference(judge: &mut KnownJudge, cases: usize) -> String {
    let names = ["gpt", "claude", "mistral"];
    let families = ModelFamilies {
        said: names.iter().map(|name| ((*name).to_owned(), (*name).to_owned())).collect(),
        ..ModelFamilies::default()
    };
    let mut facts = SelfPreferenceFacts::default();
    for case in 0..cases {
        for target in ["gpt", "claude"] {
            let truth = truths(judge);
            let audited = AuditedCase { target: Some(target), ..AuditedCase::new(case, UNCHANGED) };
            let decisions = names.iter().flat_map(|name| {
                let is_own = *name == target && *name == "claude";
                let met =
                    truth.map(|truth| if is_own { judge.decide_own(truth) } else { judge.decide(truth, 1) });
                met.into_iter().enumerate().map(move |(at, met)| decision(name, at, met))
            });
            let decisions = decisions.collect();
            facts.add(&CaseRecord { result: audited.result(None), decisions }, &families);
        }
    }

    self_preference_report(&facts).says
}

/// A judged variant of a case.
struct AuditedCase<'a> {
    case: usize,
    label: &'a str,
    trial: u32,
    target: Option<&'a str>,
}

impl<'a> AuditedCase<'a> {
    const fn new(case: usize, label: &'a str) -> Self {
        Self { case, label, trial: 1, target: None }
    }

    fn record(&self, met: [bool; CRITERIA]) -> CaseRecord {
        self.record_in_order(met.into_iter().enumerate().collect())
    }

    /// The record of criteria, given by number, that were decided in this order.
    fn record_in_order(&self, met: Vec<(usize, bool)>) -> CaseRecord {
        let score = met.iter().filter(|(_, met)| *met).count() as f64 / met.len() as f64;
        let decisions = met.into_iter().map(|(at, met)| decision("judge", at, met)).collect();
        CaseRecord { result: self.result(Some(score)), decisions }
    }

    fn result(&self, score: Option<f64>) -> ResultRow {
        let row = json!({
            "suite": "s", "case_id": format!("c{}@{}", self.case, self.label), "target": self.target,
            "repeat": self.trial, "score": score, "verdict": "pass", "gates_failed": [], "graders": [],
            // Each label represents a different answer.
            "answer": self.label, "tokens": {}, "duration_ms": 1,
        });
        serde_json::from_value(row).expect("the fields of a result")
    }
}

fn decision(judge: &str, criterion: usize, met: bool) -> CaseDecision {
    let name: Arc<str> = format!("k{criterion}").into();
    let finding = Finding::Criterion {
        criterion: Criterion::checklist(name, ""),
        outcome: if met { Outcome::Met } else { Outcome::Unmet },
    };
    let judge = JudgeIdentity { name: judge.into(), ..JudgeIdentity::default() };
    CaseDecision {
        thresholds: VerdictThresholds::new(UnitInterval::ONE, None).expect("in order"),
        grader: "rubrics".into(),
        weighting: GraderWeighting::default(),
        member: Vec::new(),
        turn: None,
        judging: Some("batched".into()),
        decision: Decision::new(judge, finding, String::new()),
        vote: None,
        panel: None,
    }
}

fn paired(records: Vec<CaseRecord>) -> PairedDecisions {
    let Ok(paired) = pair_records(records.into_iter().map(Ok::<_, Infallible>));
    paired
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audits_find_the_guilty_and_seldom_accuse_the_innocent() {
        for row in &ROWS {
            let what = row.what;
            let (guilty, innocent) = (row.accusations(true, 20, 40), row.accusations(false, 100, 40));
            assert!(guilty >= 19, "{what}: {guilty} of 20 biased judges found");
            assert!(innocent <= 5, "{what}: {innocent} of 100 honest judges accused");
        }
    }

    #[test]
    fn rivals_of_a_judge_that_prefers_its_own_are_not_accused() {
        let accused = (0..100).filter(|seed| {
            let mut judge = KnownJudge { noise: NOISE, own_family: 0.4, ..KnownJudge::new(*seed) };
            says_of_preference(&mut judge, 40).contains("`gpt` judges")
        });
        assert!(accused.count() <= 5);
    }
}
