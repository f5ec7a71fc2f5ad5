//! Counts the reasons why cases are incomplete.

use assize_grade::is_unreported;
use assize_rubric::{UngradedKind, Verdict};
use assize_store::CaseRecord;

/// Maximum number of kinds of reasons that are stored. Cases with other reasons only count in the total.
const MAX_REASONS: usize = 12;

/// Incomplete cases of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteReason {
    /// Kind of the failure to judge; `None` for an error of a case or of a grader.
    pub kind: Option<UngradedKind>,
    /// The number of cases.
    pub cases: u64,
    /// The reason of the first case.
    pub example: String,
    /// True if at least one case may be decided by another attempt. Tied votes stay tied, and data that a
    /// target does not report will be missing again.
    pub may_change: bool,
}

/// Adds the reason of an incomplete case. Errors, refusals and criteria that a judge left ungraded are distinguished by
/// message, other failures to judge by kind.
pub(crate) fn add_reason(reasons: &mut Vec<IncompleteReason>, record: &CaseRecord) {
    let row = &record.result;
    if row.verdict != Verdict::Incomplete || row.is_skipped() {
        return;
    }

    let ungraded = || record.decisions.iter().find_map(|decided| decided.decision.ungraded.as_ref());
    let error = row.error.as_ref().map(|error| error.message.as_str());
    let error = error.or_else(|| row.graders.iter().find_map(|grader| grader.error.as_deref()));
    let (kind, message) = match (error, ungraded()) {
        (Some(message), _) => (None, message),
        (None, Some(found)) => (Some(found.kind), found.message.as_str()),
        (None, None) => return,
    };

    let mut errors = row.graders.iter().filter_map(|grader| grader.error.as_deref());
    let mut undecided = record.decisions.iter().filter_map(|decided| decided.decision.ungraded.as_ref());
    let may_change = row.error.is_some()
        || errors.any(|error| !is_unreported(error))
        || undecided.any(|found| may_be_decided(found.kind));

    let by_message = matches!(kind, None | Some(UngradedKind::Refusal | UngradedKind::NotJudged));
    let same = |one: &&mut IncompleteReason| one.kind == kind && (!by_message || one.example == message);
    if let Some(known) = reasons.iter_mut().find(same) {
        known.cases += 1;
        known.may_change |= may_change;
    } else if reasons.len() < MAX_REASONS {
        reasons.push(IncompleteReason { kind, cases: 1, example: message.to_owned(), may_change });
    }
}

/// Whether another attempt may decide a criterion, because the unusable reply is not in the cache.
const fn may_be_decided(kind: UngradedKind) -> bool {
    match kind {
        UngradedKind::Transport
        | UngradedKind::Refusal
        | UngradedKind::Malformed
        | UngradedKind::Truncated
        | UngradedKind::Cancelled
        | UngradedKind::Unavailable => true,
        UngradedKind::ContextLength
        | UngradedKind::Evidence
        | UngradedKind::Tie
        | UngradedKind::Probability
        | UngradedKind::NotJudged => false,
    }
}
