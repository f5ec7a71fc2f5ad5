//! Creates a batch at most once, finds one that may exist, and collects its replies.

use std::collections::HashSet;
use std::time::Duration;

use assize_llm::{
    AskError, BatchDraft, BatchOutcome, BatchReplyLine, BatchSearch, BatchStatus, BatchTrace, CallBound,
    CallKey, ChatReply, ErrorKind, ModelCard,
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

/// Number of requests of a batch by what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HarvestCounts {
    pub(super) answered: u64,
    /// Requests that the provider refused, or whose answer can't be read.
    pub(super) failed: u64,
    /// Requests that were not processed.
    pub(super) missing: u64,
    /// Lines of results that answer nothing that was asked, and the id of the first.
    pub(super) strange: (u64, Option<String>),
}

impl HarvestCounts {
    /// Words for people.
    pub(super) fn describe(&self) -> String {
        let counts = [(self.answered, "replies"), (self.failed, "failed"), (self.missing, "not processed")];
        let told = counts.iter().enumerate().filter(|(at, (count, _))| *at == 0 || *count > 0);

        let mut told: Vec<String> = told.map(|(_, (count, what))| format!("{count} {what}")).collect();
        if let (lines @ 1.., id) = &self.strange {
            let are = if *lines == 1 { "unusable line" } else { "unusable lines" };
            let id = id.as_deref().map(|id| format!(" (unknown id `{id}`)")).unwrap_or_default();
            told.push(format!("{lines} {are}{id}"));
            if self.missing > 0 {
                told.push("missing replies are requested again, and may be paid for twice".to_owned());
            }
        }

        told.join(", ")
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
        "can't get the status of {}: {}. Nothing is lost: the batch continues, and `--resume` collects its replies",
        open.describe(),
        error.to_string().trim_end_matches('.')
    ))
}

/// The error of a batch that has ended and whose results are gone.
pub(super) fn gone(journal: &BatchJournal, open: &OpenBatch) -> EngineError {
    stopped(format!(
        "the results of {} are gone, because providers delete them after some time. They were charged. To pay for its {} requests \
         again, delete `{}`",
        open.describe(),
        open.requests(),
        journal.path(&open.record.token).display()
    ))
}

/// The error of a batch of which nobody knows if it exists.
pub(super) fn unknown(journal: &BatchJournal, open: &OpenBatch, why: &str) -> EngineError {
    stopped(format!(
        "it is unknown whether {} exists: {why}. Nothing is sent twice: look for it there (it is named after {}). If \
         it does not exist, delete `{}`; its {} requests are then sent again",
        open.describe(),
        open.record.token,
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
    let mut left = open.keys();
    let mut counts = HarvestCounts::default();
    let mut refused: Vec<CallKey> = Vec::new();
    let (mut taken, mut cost) = (CallBound::default(), Cost::ZERO);

    let mut take = |line: BatchReplyLine| {
        // Whatever else is in a file of results answers nothing that was asked.
        let Some(key) = line.custom_id.parse::<CallKey>().ok().filter(|key| left.remove(key)) else {
            counts.strange.0 += 1;
            if !line.custom_id.is_empty() {
                counts.strange.1.get_or_insert_with(|| short_id(&line.custom_id));
            }
            return;
        };
        match line.outcome {
            BatchOutcome::Answered { status, body, .. } => match model.provider_reply(status, body.get()) {
                Ok(reply) => {
                    taken += spent(&reply, card);
                    cost += card.cost_of_reply(&reply);
                    calls.keep(key, &reply);
                    counts.answered += 1;
                }
                Err(_) => refused.push(key),
            },
            BatchOutcome::Failed { code, .. } if was_not_processed(code.as_deref()) => {
                left.insert(key);
            }
            BatchOutcome::Failed { .. } => refused.push(key),
        }
    };
    open.client.results(status, &mut take).await.map_err(HarvestError::Provider)?;

    calls.flush().map_err(HarvestError::Store)?;
    journal.close(&open.record.token).map_err(|error| HarvestError::Store(error.into()))?;

    counts.failed = refused.len() as u64;
    counts.missing = left.len() as u64;
    calls.meter.add(counts.answered + counts.failed, cost);
    calls.give_up_batches_for(refused);
    if let Some(reservation) = open.reservation.take() {
        reservation.settle(counts.answered, taken);
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
