//! Pairs of decisions: on a modified case and on the unchanged one.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_rubric::{CaseDecision, CriterionScale};
use assize_store::CaseRecord;

use crate::order::{OrderedJudgement, PlacedDecision, ReorderedRubric};
use crate::variant_id::{UNCHANGED, split_variant_id};
use crate::{DecisionPair, PairTally, ScaleDecision};

/// Stored decisions of an audit, paired.
#[derive(Debug, Clone, Default)]
pub struct PairedDecisions {
    /// Every pair, by case.
    pub pairs: Vec<DecisionPair>,
    /// Every rubric of a case whose criteria were judged together, in each order.
    pub reordered: Vec<ReorderedRubric>,
    /// Number of cases.
    pub cases: usize,
    /// Number of cases without an answer, which can't be compared.
    pub unanswered: usize,
    /// Number of judged variants whose unchanged case is missing, for example because the run was
    /// interrupted.
    pub without_reference: usize,
}

impl PairedDecisions {
    /// Counts the pairs that `take` accepts.
    pub fn tally(&self, take: impl Fn(&DecisionPair) -> bool) -> PairTally {
        let mut tally = PairTally::default();
        self.pairs.iter().filter(|pair| take(pair)).for_each(|pair| tally.add(pair));
        tally
    }
}

/// Suite, target and id of a case.
type PairedCaseKey = (Arc<str>, Option<Arc<str>>, String);

/// One judged case: label, trial and decisions.
struct JudgedVariant {
    label: String,
    trial: u32,
    rows: Vec<VariantDecision>,
}

/// Id used for the decision of a grader without criteria.
const WHOLE: &str = "grader";

/// Part of a judgement row that the analysis keeps.
struct VariantDecision {
    criterion: (String, String),
    text: String,
    decision: ScaleDecision,
    costs: bool,
    is_checklist: bool,
    /// Maximum number of criteria in a call; `None` if each criterion had its own call.
    call_size: Option<usize>,
}

impl VariantDecision {
    fn from_row(row: &CaseDecision) -> Self {
        // A grader that isn't a rubric has a single decision, which can't be compared.
        let criterion = row.criterion();
        let id = criterion.map_or_else(|| WHOLE.to_owned(), |criterion| criterion.id.to_string());
        let is_penalty = criterion.is_some_and(|criterion| criterion.weight.is_penalty());

        Self {
            criterion: (row.grader.to_string(), id),
            text: criterion.map(|criterion| criterion.text.clone()).unwrap_or_default(),
            decision: ScaleDecision::from_row(&row.decision),
            costs: is_penalty != row.weighting.negate,
            is_checklist: criterion
                .is_none_or(|criterion| matches!(criterion.scale, CriterionScale::Checklist)),
            call_size: row.judging.as_deref().and_then(|judging| match judging.split_once(':') {
                Some(("batched", size)) => size.parse().ok(),
                None if judging == "batched" => Some(usize::MAX),
                _ => None,
            }),
        }
    }
}

/// Returns the rubrics of a case whose criteria were judged together, with their judgements: first the
/// unchanged ones.
fn reordered_rubrics(suite: &str, case: &str, judged: &[JudgedVariant]) -> Vec<ReorderedRubric> {
    let mut rubrics: BTreeMap<&str, Vec<OrderedJudgement>> = BTreeMap::new();
    let (unchanged, changed): (Vec<_>, Vec<_>) =
        judged.iter().partition(|variant| variant.label == UNCHANGED);
    for variant in unchanged.into_iter().chain(changed) {
        for rows in variant.rows.chunk_by(|a, b| a.criterion.0 == b.criterion.0) {
            if let Some(decisions) = placed_decisions(rows) {
                let is_unchanged = variant.label == UNCHANGED;
                let judgement = OrderedJudgement { is_unchanged, decisions };
                rubrics.entry(&rows[0].criterion.0).or_default().push(judgement);
            }
        }
    }

    rubrics
        .into_values()
        .filter(|judgements| judgements[0].is_unchanged && judgements.iter().any(|one| !one.is_unchanged))
        .map(|judgements| ReorderedRubric { case: (suite.to_owned(), case.to_owned()), judgements })
        .collect()
}

/// Returns the decisions of one judgement of a rubric with their positions; `None` if each criterion was
/// asked in its own call. The rows are in the order of the rubric, which is also the order of the calls.
fn placed_decisions(rows: &[VariantDecision]) -> Option<Vec<PlacedDecision>> {
    let size = rows.iter().find_map(|row| row.call_size).filter(|size| *size > 1)?;
    let calls = rows.chunks(size.min(rows.len()));
    let placed = calls.flat_map(|call| {
        call.iter().enumerate().map(|(place, row)| PlacedDecision {
            criterion: row.criterion.1.clone(),
            place,
            of: call.len(),
            decision: row.decision,
        })
    });

    Some(placed.collect())
}

/// Pairs the records of an audit. Every decision is compared with the first one on the unchanged case.
///
/// # Errors
/// Returns the error of the first record that can't be read.
pub fn pair_records<E>(records: impl Iterator<Item = Result<CaseRecord, E>>) -> Result<PairedDecisions, E> {
    let mut cases: BTreeMap<PairedCaseKey, Vec<JudgedVariant>> = BTreeMap::new();
    let mut compared = PairedDecisions::default();
    for record in records {
        let CaseRecord { result, decisions } = record?;
        let Some((case, label)) = split_variant_id(&result.case_id) else { continue };
        let judged = cases.entry((result.suite, result.target, case.to_owned())).or_default();
        if result.error.is_none() {
            // The decision of a panel is compared, not its votes.
            let decisions = decisions.iter().filter(|row| !row.is_vote());
            let rows = decisions.map(VariantDecision::from_row).collect();
            judged.push(JudgedVariant { label: label.to_owned(), trial: result.trial, rows });
        }
    }

    compared.cases = cases.len();

    for ((suite, _, case), mut judged) in cases {
        if judged.is_empty() {
            compared.unanswered += 1;
            continue;
        }

        judged.sort_by(|a, b| (&a.label, a.trial).cmp(&(&b.label, b.trial)));
        let first = judged.iter().position(|one| one.label == UNCHANGED && one.trial == 1);
        let Some(first) = first else {
            compared.without_reference += judged.len();
            continue;
        };
        compared.reordered.extend(reordered_rubrics(&suite, &case, &judged));
        let reference = judged.remove(first);
        for JudgedVariant { label, rows, .. } in &judged {
            for row in rows {
                let known = reference.rows.iter().find(|known| known.criterion == row.criterion);
                compared.pairs.push(DecisionPair {
                    case: case.clone(),
                    suite: suite.to_string(),
                    label: label.clone(),
                    criterion: row.criterion.clone(),
                    text: row.text.clone(),
                    before: known.map_or(ScaleDecision::Ungraded, |known| known.decision),
                    after: row.decision,
                    costs: row.costs,
                    is_checklist: row.is_checklist,
                });
            }
        }
    }

    Ok(compared)
}
