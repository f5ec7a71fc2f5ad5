//! Creates a batch at most once, finds one that may exist, and collects its replies.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::Duration;

use assize_llm::{
    AskError, BatchDraft, BatchLineError, BatchOutcome, BatchReplyLine, BatchSearch, BatchStatus, BatchTrace,
    CallBound, CallKey, ChatReply, ErrorKind, ModelCard,
};
use assize_rubric::{Cost, Usd};
use assize_store::BatchJournal;
use tokio_util::sync::CancellationToken;

use super::calls::BatchedCalls;
use super::open_batch::OpenBatch;
use super::stopped;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::EngineEvent;

/// How often to try to create a batch, and the longest wait between two tries.
const MAX_ATTEMPTS: u32 = 6;
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// How often to look at a provider's list again before a batch that is not in it counts as not created.
const MAX_LOOKS: u32 = 4;

/// The requests of a batch by outcome, and the lines of its results that can't be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HarvestCounts {
    pub(super) answered: u64,
    /// Requests that the provider refused, or whose answer can't be read.
    pub(super) failed: u64,
    /// Why the first of them failed.
    why_failed: Option<String>,
    /// Requests without a result: not processed, or their line is missing or unreadable.
    pub(super) missing: u64,
    /// Why the first of them was not processed, if the provider says.
    why_missing: Option<&'static str>,
    /// Lines that can't be read, and the reason for the first.
    unreadable: (u64, Option<BatchLineError>),
    /// Lines that belong to none of the requests, and the id of the first.
    unknown: (u64, Option<String>),
    /// Further lines about a request that already has a result.
    repeated: u64,
    /// Results that the provider counts but did not send.
    absent: u64,
}

impl HarvestCounts {
    /// A description for messages.
    pub(super) fn describe(&self) -> String {
        let because = |why: Option<&str>| why.map(|why| format!(" ({why})")).unwrap_or_default();
        let replies = if self.answered == 1 { "reply" } else { "replies" };
        let mut text = format!("{} {replies}", self.answered);
        if self.failed > 0 {
            let _ = write!(text, ", {} failed{}", self.failed, because(self.why_failed.as_deref()));
        }
        if self.missing > 0 {
            let _ = write!(text, ", {} without a result{}", self.missing, because(self.why_missing));
        }

        text
    }

    /// Warning about lines that can't be used, and what happens to their requests; `None` if there are none.
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
}

/// Whether a batch exists after an attempt to create it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existence {
    /// It was created, or may have been. If that is uncertain, its results will tell.
    Created,
    /// It was not created, and its record is gone.
    Absent,
    /// The run was interrupted before that was clear. Its record stays.
    Unsettled,
}

/// A wait that ends early when the run is interrupted.
#[derive(Clone, Copy)]
pub(super) struct Patience<'a> {
    pub(super) engine: &'a Engine,
    pub(super) cancel: &'a CancellationToken,
}

impl Patience<'_> {
    /// Waits; false if the run was interrupted.
    async fn wait(self, time: Duration) -> bool {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => false,
            () = tokio::time::sleep(time) => true,
        }
    }

    fn say(self, message: String) {
        self.engine.emit(EngineEvent::BatchProgress(message));
    }
}

/// Creates a batch whose intent is recorded, and records its id. If it is unclear whether it was created, it is
/// looked for before another try. Its id stays unknown if only its results can reveal it.
///
/// # Errors
/// If the provider refuses it: it was not created, and its record is removed. If its fate can't be determined:
/// the record stays.
pub(super) async fn create(
    journal: &BatchJournal,
    open: &mut OpenBatch,
    draft: &BatchDraft,
    others: &[String],
    patience: Patience<'_>,
) -> Result<Existence, EngineError> {
    let mut wait = Duration::from_secs(1);
    for attempt in 1..=MAX_ATTEMPTS {
        let uploaded = open.client.upload(draft).await;
        let was_uploaded = uploaded.is_ok();
        let created = match uploaded {
            Ok(file) => open.client.create(draft, &file).await,
            Err(error) => Err(error),
        };
        let error = match created {
            Ok(id) => {
                journal.note_id(&open.record.token, &id)?;
                open.record.id = Some(id);
                return Ok(Existence::Created);
            }
            Err(error) => error,
        };

        let is_absent = !was_uploaded || error.kind == ErrorKind::RateLimited;
        if is_refusal(&error) || is_absent && attempt == MAX_ATTEMPTS {
            journal.close(&open.record.token)?;
            return Err(refused(open, &error));
        }

        let (host, words) = (open.client.model().host(), error.to_string());
        let words = words.trim_end_matches('.');
        if is_absent {
            patience.say(format!("{host} takes no batch yet: {words}; trying again"));
            if !patience.wait(error.retry_after.unwrap_or(wait).min(LONGEST_WAIT)).await {
                journal.close(&open.record.token)?;
                return Ok(Existence::Absent);
            }
        } else {
            patience.say(format!(
                "it is not clear whether {host} created a batch: {words}; looking for it for up to {} s",
                open.settling().as_secs()
            ));
            let known = resolve(journal, open, others, patience).await?;
            if known != Existence::Absent {
                return Ok(known);
            }
            if attempt == MAX_ATTEMPTS {
                return Err(refused(open, &error));
            }
            if !patience.wait(wait).await {
                return Ok(Existence::Absent);
            }
            // The record was removed when the batch turned out not to exist.
            journal.begin(&open.record)?;
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }

    Ok(Existence::Absent)
}

/// Whether this error proves that no batch was created.
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

fn refused(open: &OpenBatch, error: &AskError) -> EngineError {
    // The error's advice is to check model and address, but those are right: the first request was answered.
    let words = if error.kind == ErrorKind::NotFound {
        let detail = if error.message.is_empty() { String::new() } else { format!(": {}", error.message) };
        format!("it may have no batches at this address (HTTP 404){detail}")
    } else {
        error.to_string()
    };
    stopped(format!(
        "{} did not accept a batch: {}. Nothing was charged; continue with `--resume`, or without `--judge-batch`",
        open.client.model().host(),
        words.trim_end_matches('.')
    ))
}

/// Finds out whether a batch without an id exists.
///
/// # Errors
/// If that can't be determined. The record stays.
pub(super) async fn resolve(
    journal: &BatchJournal,
    open: &mut OpenBatch,
    others: &[String],
    patience: Patience<'_>,
) -> Result<Existence, EngineError> {
    // A batch created a moment ago may not be in the list yet.
    let pause = open.settling() / MAX_LOOKS;
    for look_at in 0..=MAX_LOOKS {
        let Some(found) = look(open, others, patience).await? else { return Ok(Existence::Unsettled) };
        match found {
            BatchSearch::Found(id) => {
                journal.note_id(&open.record.token, &id)?;
                open.record.id = Some(id);
                return Ok(Existence::Created);
            }
            BatchSearch::Undecided => return Ok(Existence::Created),
            BatchSearch::Absent if look_at == MAX_LOOKS => {}
            BatchSearch::Absent => {
                if !patience.wait(pause).await {
                    return Ok(Existence::Unsettled);
                }
            }
            BatchSearch::Unknown(why) => return Err(unknown(journal, open, &why)),
        }
    }

    journal.close(&open.record.token)?;
    Ok(Existence::Absent)
}

/// Looks for a batch once, with retries of failed requests. `None` if the run was interrupted.
async fn look(
    open: &OpenBatch,
    others: &[String],
    patience: Patience<'_>,
) -> Result<Option<BatchSearch>, EngineError> {
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
    for _ in 1..MAX_ATTEMPTS {
        match open.client.find(trace).await {
            Err(error) if error.kind.is_retryable() => {
                if !patience.wait(error.retry_after.unwrap_or(wait).min(LONGEST_WAIT)).await {
                    return Ok(None);
                }
                wait = (wait * 2).min(LONGEST_WAIT);
            }
            found => return found.map(Some).map_err(|error| unasked(open, &error)),
        }
    }

    open.client.find(trace).await.map(Some).map_err(|error| unasked(open, &error))
}

/// The error if a provider can't be reached about a batch.
pub(super) fn unasked(open: &OpenBatch, error: &AskError) -> EngineError {
    stopped(format!(
        "can't get the status of {}: {}. Nothing is lost: the batch continues, and the command with `--resume` collects its replies",
        open.describe(),
        error.to_string().trim_end_matches('.')
    ))
}

/// The error if a batch has ended and its results are gone.
pub(super) fn gone(journal: &BatchJournal, open: &OpenBatch) -> EngineError {
    stopped(format!(
        "the results of {} are gone, because providers delete them after some time. They were charged. To pay for its {} requests \
         again, delete `{}`, and run the command with `--resume`",
        open.describe(),
        open.requests(),
        journal.path(&open.record.token).display()
    ))
}

/// The error if it is unknown whether a batch exists.
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

/// Stores the replies of a batch that has ended, and removes its record. Calls that the provider refused are
/// sent live from now on. The journal must be locked.
///
/// # Errors
/// If the results can't be read, or the replies can't be stored. The record stays.
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
        // Any other line of the results belongs to none of our requests.
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
            // A reply after a failure counts too: it was paid for.
            BatchOutcome::Answered { status, body, .. } => {
                left.remove(&key);
                match model.provider_reply(status, body.get()) {
                    Ok(reply) => {
                        has_unreported |= reply.usage.input.is_none() || reply.usage.output.is_none();
                        taken += spent(&reply, card);
                        cost += card.cost_of_reply(&reply);
                        calls.keep(key, &reply);
                        counts.answered += 1;
                        refused.remove(&key);
                    }
                    Err(why) => {
                        has_unreported |= (200..300).contains(&status);
                        counts.why_failed.get_or_insert_with(|| without_advice(why));
                        refused.insert(key);
                    }
                }
            }
            BatchOutcome::Failed { code, .. } => {
                if let Some(why) = why_not_processed(code.as_deref()) {
                    counts.why_missing.get_or_insert(why);
                    return;
                }
                if let Some(code) = code {
                    counts.why_failed.get_or_insert_with(|| short_id(&code));
                }
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
    if (counts.unreadable.0 > 0 || counts.absent > 0) && open.try_again() {
        let what = "the results are not whole";
        return Err(HarvestError::Provider(AskError::new(ErrorKind::MalformedReply, what)));
    }
    // Some requests were processed, but there is no line for any. Sending all again would pay for all again.
    if named == 0 && counts.absent > 0 {
        return Err(HarvestError::Provider(AskError::new(ErrorKind::NotFound, "the results are empty")));
    }

    calls.flush().map_err(HarvestError::Store)?;
    journal.close(&open.record.token).map_err(|error| HarvestError::Store(error.into()))?;

    calls.meter.add(counts.answered + counts.failed, cost);
    calls.give_up_batches_for(refused);
    if let Some(reservation) = open.reservation.take() {
        // A reply without usage counts as the whole reservation, which is known only for all requests together.
        let taken = if has_unreported { open.most() } else { taken };
        reservation.settle(counts.answered + counts.failed, taken);
    }

    Ok(counts)
}

/// The text of a failure without its advice, which is about single calls.
fn without_advice(error: AskError) -> String {
    AskError { advice: None, ..error }.to_string().trim_end_matches('.').to_owned()
}

/// The beginning of an id from a provider, in a form that is safe to show.
fn short_id(id: &str) -> String {
    id.chars().filter(|c| !c.is_control()).take(40).collect()
}

/// Why replies could not be stored.
pub(super) enum HarvestError {
    /// The provider did not deliver them in full.
    Provider(AskError),
    /// They could not be stored.
    Store(EngineError),
}

/// Tokens and money of a reply.
fn spent(reply: &ChatReply, card: ModelCard) -> CallBound {
    let tokens = reply.usage.input.unwrap_or(0).saturating_add(reply.usage.output.unwrap_or(0));
    CallBound::new(tokens, card.cost_of_reply(reply).total().unwrap_or(Usd::ZERO))
}

/// Why a request was not processed, if its code says so.
fn why_not_processed(code: Option<&str>) -> Option<&'static str> {
    let code = code?.to_ascii_lowercase();
    let words = [("expired", "expired"), ("cancel", "cancelled")];
    words.iter().find(|(part, _)| code.contains(part)).map(|(_, why)| *why)
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
        for (code, why) in [
            ("batch_expired", "expired"),
            ("batch_cancelled", "cancelled"),
            ("expired", "expired"),
            ("canceled", "cancelled"),
        ] {
            assert_eq!(why_not_processed(Some(code)), Some(why), "{code}");
        }
        for code in [None, Some("errored"), Some("invalid_request_error"), Some("429")] {
            assert_eq!(why_not_processed(code), None, "{code:?}");
        }
    }
}
