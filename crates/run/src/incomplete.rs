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
/// message, failed requests by the part of it that does not come from the server, other failures to judge by kind.
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

    let same = |one: &&mut IncompleteReason| {
        one.kind == kind && distinct_part(kind, &one.example) == distinct_part(kind, message)
    };
    if let Some(known) = reasons.iter_mut().find(same) {
        known.cases += 1;
        known.may_change |= may_change;
    } else if reasons.len() < MAX_REASONS {
        reasons.push(IncompleteReason { kind, cases: 1, example: message.to_owned(), may_change });
    }
}

/// The part of a message that tells the reasons of a kind apart. What a server says about a failed request may differ
/// with every request.
fn distinct_part(kind: Option<UngradedKind>, message: &str) -> &str {
    match kind {
        None | Some(UngradedKind::Refusal | UngradedKind::NotJudged) => message,
        Some(UngradedKind::Transport | UngradedKind::Unavailable) => {
            message.split_once(": ").map_or(message, |(failure, _)| failure)
        }
        Some(_) => "",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_requests_are_told_apart_by_their_kind_and_not_by_what_a_server_says() {
        let part = |kind, message| distinct_part(Some(kind), message);
        for kind in [UngradedKind::Transport, UngradedKind::Unavailable] {
            let [first, same, other] = [
                "the model server did not accept the request (HTTP 400): request 17",
                "the model server did not accept the request (HTTP 400): request 18",
                "the model server did not accept the API key (HTTP 401): request 17",
            ]
            .map(|message| part(kind, message));
            assert!(first == same && first != other, "{kind:?}");
        }
        assert_ne!(part(UngradedKind::Refusal, "no: a"), part(UngradedKind::Refusal, "no: b"));
        assert_eq!(part(UngradedKind::Malformed, "no: a"), part(UngradedKind::Malformed, "yes: b"));
    }
}
