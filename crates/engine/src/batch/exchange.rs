//! Creates a batch at most once, finds one that may exist, and collects its replies.

use std::collections::HashSet;
use std::time::Duration;

use assize_llm::{
    AskError, BatchDraft, BatchLineError, BatchOutcome, BatchReplyLine, BatchSearch, BatchStatus, BatchTrace,
    CallBound, CallKey, ChatReply, ErrorKind, ModelCard,
};
use assize_rubric::{Cost, Usd};
use assize_store::BatchJournal;

use super::calls::BatchedCalls;
use super::open_batch::OpenBatch;
use super::stopped;
use crate::error::EngineError;

/// Attempts to create a batch, and the longest wait between two.
const ATTEMPTS: u32 = 6;
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Looks at a provider's list, after the first one, before a batch that is not there counts as not created.
const LOOKS: u32 = 4;

/// Number of requests of a batch by what became of them, and lines of its results that are of no use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HarvestCounts {
    pub(super) answered: u64,
    /// Requests that the provider refused, or whose answer can't be read.
    pub(super) failed: u64,
    /// Requests without a result: those that were not processed, and those whose line is not there or can't be read.
    pub(super) missing: u64,
    /// Lines that can't be read, and the reason for the first.
    unreadable: (u64, Option<BatchLineError>),
    /// Lines that answer nothing that was asked, and the id of the first.
    unknown: (u64, Option<String>),
    /// Further lines about a request that has its result.
    repeated: u64,
    /// Results that the provider counts and that are not there.
    absent: u64,
}

impl HarvestCounts {
    /// Words for people.
    pub(super) fn describe(&self) -> String {
        let counts =
            [(self.answered, "replies"), (self.failed, "failed"), (self.missing, "without a result")];
        let told = counts.iter().enumerate().filter(|(at, (count, _))| *at == 0 || *count > 0);
        let told: Vec<String> = told.map(|(_, (count, what))| format!("{count} {what}")).collect();

        told.join(", ")
    }

    /// Warning about lines of the results that are of no use, and what follows for the requests; `None` if there are none.
    pub(super) fn damage(&self) -> Option<String> {
        let lines = |count: u64| if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
        let mut parts = Vec::new();
        if let (count @ 1.., first) = &self.unreadable {
            let why = first.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            parts.push(format!("{} can't be read{why}", lines(*count)));
        }
        if let (count @ 1.., first) = &self.unknown {
            let id = first.as_deref().map(|id| format!(" (`{id}`)")).unwrap_or_default();
            parts.push(format!("{} with an unknown id{id}", lines(*count)));
        }
        if self.absent > 0 {
            parts.push(format!("{} missing of those that the provider counts", lines(self.absent)));
        }
        let may_be_paid = !parts.is_empty();
        if self.repeated > 0 {
            parts.push(format!("{} about a request that has its result", lines(self.repeated)));
        }
        if parts.is_empty() {
            return None;
        }

        let again = match self.missing {
            missing @ 1.. if may_be_paid => {
                let requests = if missing == 1 { "request" } else { "requests" };
                format!("; sending {missing} {requests} without a result again, which may be paid twice")
            }
            _ => String::new(),
        };
        Some(format!("{}{again}", parts.join(", ")))
    }

    /// True if another reading of the results may bring more.
    fn may_be_cut_off(&self) -> bool {
        self.unreadable.0 > 0 || self.absent > 0
    }
}

/// Creates a batch whose intent is recorded, and records its id. Where nobody knows whether it was created, it is looked
/// for before it is tried again; its id stays open where only its results will tell.
///
/// # Errors
/// When the provider refuses it: it was not created, and its record is gone. When it can't be found out: the record stays.
pub(super) async fn create(
    journal: &BatchJournal,
    open: &mut OpenBatch,
    draft: &BatchDraft,
    others: &[String],
) -> Result<(), EngineError> {
    let mut wait = Duration::from_secs(1);
    for attempt in 1..=ATTEMPTS {
        let error = match open.client.create(draft).await {
            Ok(id) => {
                journal.note_id(&open.record.token, &id)?;
                open.record.id = Some(id);
                return Ok(());
            }
            Err(error) => error,
        };

        if is_refusal(&error) {
            journal.close(&open.record.token)?;
            return Err(refused(open, &error.to_string()));
        }

        // Refused for now: it does not exist.
        if error.kind == ErrorKind::RateLimited && attempt < ATTEMPTS {
            tokio::time::sleep(error.retry_after.unwrap_or(wait).min(LONGEST_WAIT)).await;
        } else if resolve(journal, open, others, open.settling()).await? {
            return Ok(());
        } else if attempt == ATTEMPTS {
            return Err(refused(open, &error.to_string()));
        } else {
            // Its record is gone with the proof that it does not exist.
            tokio::time::sleep(wait).await;
            journal.begin(&open.record)?;
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }

    Ok(())
}

/// True if a batch was certainly not created.
fn is_refusal(error: &AskError) -> bool {
    let is_unclear = matches!(
        error.kind,
        ErrorKind::RateLimited
            | ErrorKind::Timeout
            | ErrorKind::Connection
            | ErrorKind::Server
            | ErrorKind::Overloaded
            | ErrorKind::MalformedReply
    );
    !is_unclear && error.status.is_some_and(|status| (400..500).contains(&status))
}

fn refused(open: &OpenBatch, words: &str) -> EngineError {
    let words = words.trim_end_matches('.');
    stopped(format!(
        "{} did not accept a batch: {words}. Nothing was charged; continue with `--resume`, or without `--judge-batch`",
        open.client.model().host()
    ))
}

/// Finds out about a batch without an id. True if it was created, or may have been; false if it was not, and its record
/// is gone.
///
/// # Errors
/// When it can't be found out. Its record stays.
pub(super) async fn resolve(
    journal: &BatchJournal,
    open: &mut OpenBatch,
    others: &[String],
    settling: Duration,
) -> Result<bool, EngineError> {
    // What was asked for a moment ago may not be in the list yet.
    for look_at in 0..=LOOKS {
        match look(open, others).await? {
            BatchSearch::Found(id) => {
                journal.note_id(&open.record.token, &id)?;
                open.record.id = Some(id);
                return Ok(true);
            }
            BatchSearch::Undecided => return Ok(true),
            BatchSearch::Absent if look_at == LOOKS => {}
            BatchSearch::Absent => tokio::time::sleep(settling / LOOKS).await,
            BatchSearch::Unknown(why) => return Err(unknown(journal, open, &why)),
        }
    }

    journal.close(&open.record.token)?;
    Ok(false)
}

/// Looks for a batch once, however often the provider has to be asked.
async fn look(open: &OpenBatch, others: &[String]) -> Result<BatchSearch, EngineError> {
    let keys: HashSet<&str> = open.record.keys.iter().map(String::as_str).collect();
    let holds = |id: &str| keys.contains(id);
    let trace = BatchTrace {
        token: &open.record.token,
        created: open.record.created,
        requests: open.requests(),
        holds: &holds,
        others,
    };

    let mut wait = Duration::from_secs(1);
    for _ in 1..ATTEMPTS {
        match open.client.find(trace).await {
            Err(error) if error.kind.is_retryable() => {
                tokio::time::sleep(error.retry_after.unwrap_or(wait).min(LONGEST_WAIT)).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
            found => return found.map_err(|error| unasked(open, &error)),
        }
    }

    open.client.find(trace).await.map_err(|error| unasked(open, &error))
}

/// The error of a provider that can't be asked about its batches.
pub(super) fn unasked(open: &OpenBatch, error: &AskError) -> EngineError {
    stopped(format!(
        "can't get the status of {}: {}. Nothing is lost: the batch continues, and the command with `--resume` collects its replies",
        open.describe(),
        error.to_string().trim_end_matches('.')
    ))
}

/// The error of a batch that has ended and whose results are gone.
pub(super) fn gone(journal: &BatchJournal, open: &OpenBatch) -> EngineError {
    stopped(format!(
        "the results of {} are gone, because providers delete them after some time. They were charged. To pay for its {} requests \
         again, delete `{}`, and run the command with `--resume`",
        open.describe(),
        open.requests(),
        journal.path(&open.record.token).display()
    ))
}

/// The error of a batch of which nobody knows if it exists.
pub(super) fn unknown(journal: &BatchJournal, open: &OpenBatch, why: &str) -> EngineError {
    stopped(format!(
        "it is unknown whether {} exists: {why}. Nothing is sent twice: look for it there ({}). If it does not exist, delete `{}`; \
         the command with `--resume` then sends its {} requests again",
        open.describe(),
        open.mark(),
        journal.path(&open.record.token).display(),
        open.requests()
    ))
}

/// Takes in the replies of a batch that has ended, and removes its record. Calls that the provider refused are asked live
/// from then on. The journal must be locked.
///
/// # Errors
/// When the results can't be read, or the replies can't be stored. The record stays.
pub(super) async fn harvest(
    calls: &BatchedCalls,
    journal: &BatchJournal,
    open: &mut OpenBatch,
    status: &BatchStatus,
) -> Result<HarvestCounts, HarvestError> {
    let model = open.client.model().clone();
    let card = assize_llm::ChatModel::card(&model);
    let own = open.keys();
    let (mut left, mut unnamed) = (own.clone(), own.clone());
    let mut refused: HashSet<CallKey> = HashSet::new();
    let mut counts = HarvestCounts::default();
    let (mut taken, mut cost, mut has_unreported) = (CallBound::default(), Cost::ZERO, false);

    let mut take = |line: Result<BatchReplyLine, BatchLineError>| {
        let line = match line {
            Ok(line) => line,
            Err(why) => {
                counts.unreadable.0 += 1;
                counts.unreadable.1.get_or_insert(why);
                return;
            }
        };
        // Whatever else is in a file of results answers nothing that was asked.
        let Some(key) = line.custom_id.parse::<CallKey>().ok().filter(|key| own.contains(key)) else {
            counts.unknown.0 += 1;
            if !line.custom_id.is_empty() {
                counts.unknown.1.get_or_insert_with(|| short_id(&line.custom_id));
            }
            return;
        };
        unnamed.remove(&key);
        let is_answered = !left.contains(&key) && !refused.contains(&key);
        match line.outcome {
            _ if is_answered => counts.repeated += 1,
            // Also after a failure: what was answered in the end is paid for.
            BatchOutcome::Answered { status, body, .. } => {
                left.remove(&key);
                if let Ok(reply) = model.provider_reply(status, body.get()) {
                    has_unreported |= reply.usage.input.is_none() || reply.usage.output.is_none();
                    taken += spent(&reply, card);
                    cost += card.cost_of_reply(&reply);
                    calls.keep(key, &reply);
                    counts.answered += 1;
                    refused.remove(&key);
                } else {
                    has_unreported |= (200..300).contains(&status);
                    refused.insert(key);
                }
            }
            BatchOutcome::Failed { code, .. } if was_not_processed(code.as_deref()) => {}
            BatchOutcome::Failed { .. } => {
                left.remove(&key);
                refused.insert(key);
            }
        }
    };
    open.client.results(status, &mut take).await.map_err(HarvestError::Provider)?;

    counts.failed = refused.len() as u64;
    counts.missing = left.len() as u64;
    let named = (own.len() - unnamed.len()) as u64;
    let of_others = counts.unreadable.0 + counts.unknown.0;
    counts.absent = status.done.unwrap_or(0).min(own.len() as u64).saturating_sub(named + of_others);
    if counts.may_be_cut_off() && open.try_again() {
        let what = "the results are not whole";
        return Err(HarvestError::Provider(AskError::new(ErrorKind::MalformedReply, what)));
    }

    calls.flush().map_err(HarvestError::Store)?;
    journal.close(&open.record.token).map_err(|error| HarvestError::Store(error.into()))?;

    calls.meter.add(counts.answered + counts.failed, cost);
    calls.give_up_batches_for(refused);
    if let Some(reservation) = open.reservation.take() {
        // What nobody reports counts as what was set aside, which is known for all requests together.
        let taken = if has_unreported { open.most() } else { taken };
        reservation.settle(counts.answered + counts.failed, taken);
    }

    Ok(counts)
}

/// Beginning of an id that a provider has sent, as text that can be shown.
fn short_id(id: &str) -> String {
    id.chars().filter(|c| !c.is_control()).take(40).collect()
}

/// Failure of taking in replies.
pub(super) enum HarvestError {
    /// The provider did not hand them out in full.
    Provider(AskError),
    /// They could not be stored.
    Store(EngineError),
}

/// Tokens and money of a reply.
fn spent(reply: &ChatReply, card: ModelCard) -> CallBound {
    let tokens = reply.usage.input.unwrap_or(0).saturating_add(reply.usage.output.unwrap_or(0));
    CallBound::new(tokens, card.cost_of_reply(reply).total().unwrap_or(Usd::ZERO))
}

/// True for the code of a request that nobody has worked on.
fn was_not_processed(code: Option<&str>) -> bool {
    code.is_some_and(|code| {
        let code = code.to_ascii_lowercase();
        code.contains("expired") || code.contains("cancel")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_refusal_says_that_a_batch_does_not_exist() {
        let error = |kind, status| AskError { status, ..AskError::new(kind, "") };
        for (kind, status) in [
            (ErrorKind::Authentication, Some(401)),
            (ErrorKind::PermissionDenied, Some(429)),
            (ErrorKind::BadRequest, Some(400)),
            (ErrorKind::NotFound, Some(404)),
        ] {
            assert!(is_refusal(&error(kind, status)), "{kind}");
        }
        for (kind, status) in [
            (ErrorKind::RateLimited, Some(429)),
            (ErrorKind::Timeout, None),
            (ErrorKind::Connection, None),
            (ErrorKind::Server, Some(500)),
            (ErrorKind::Server, Some(409)),
            (ErrorKind::MalformedReply, None),
            (ErrorKind::Overloaded, Some(503)),
        ] {
            assert!(!is_refusal(&error(kind, status)), "{kind} {status:?}");
        }
    }

    #[test]
    fn requests_nobody_worked_on_are_told_from_refused_ones() {
        for code in ["batch_expired", "batch_cancelled", "expired", "canceled"] {
            assert!(was_not_processed(Some(code)), "{code}");
        }
        for code in [None, Some("errored"), Some("invalid_request_error"), Some("429")] {
            assert!(!was_not_processed(code), "{code:?}");
        }
    }
}
