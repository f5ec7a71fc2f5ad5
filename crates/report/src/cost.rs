//! Cost of runs, and tokens, as people read them.

use std::fmt::Write as _;

use assize_rubric::{Cost, PartialCost, Tokens, Usd};
use assize_store::{RunInfo, RunSummary, SentRequests};

use crate::number::{self, format_count, grouped};

/// Text for a cost that only the target's program could have reported.
const PROGRAM_COST: &str = "not reported by the target's program";

/// Describes the cost of the results of a run. A cost of zero comes with its reason.
pub(crate) fn format_run_cost(info: &RunInfo, summary: &RunSummary) -> String {
    match summary.cost_usd {
        Some(Usd::ZERO) => format!("{} ({})", number::dollars(0.0), reason_of_zero(info, summary)),
        Some(cost) => number::dollars(cost.as_dollars()),
        None if is_cost_of_programs(info, summary) => PROGRAM_COST.to_owned(),
        None => format_partial_cost(summary.cost_partial),
    }
}

/// Returns true if a model answers or judges.
fn uses_models(info: &RunInfo, summary: &RunSummary) -> bool {
    summary.judge_calls + summary.judge_calls_cached > 0
        || info.judges.iter().any(|judge| judge.identity.model.is_some())
        || info.targets.iter().any(|target| target.kind == "model")
}

/// Reason why results cost nothing.
fn reason_of_zero(info: &RunInfo, summary: &RunSummary) -> &'static str {
    let all = summary.sent_in_all();
    let sent = all.map_or(summary.judge_calls > 0, |sent| sent.requests > 0);

    // A refused request costs nothing, whatever the model costs.
    let tokens = [summary.tokens.input, summary.tokens.output];
    let is_silent = tokens.iter().all(|count| count.unwrap_or(0) == 0) && summary.counts.incomplete > 0;

    if all.is_some_and(|sent| sent.given_up > 0) {
        "without canceled calls, whose cost is unknown"
    } else if !sent && !uses_models(info, summary) {
        "no model was called"
    } else if is_silent && sent && summary.counts.incomplete == summary.counts.total() {
        "no request was answered"
    } else if is_silent && sent {
        "no tokens were reported"
    } else if sent {
        "the models are free of charge"
    } else {
        "all replies came from the cache"
    }
}

/// Returns true if programs gave all answers without reporting a cost, and nothing else costs anything.
fn is_cost_of_programs(info: &RunInfo, summary: &RunSummary) -> bool {
    let only_programs =
        !info.targets.is_empty() && info.targets.iter().all(|target| target.kind == "command");
    let nothing_known = summary.cost_partial.is_some_and(|partial| partial.at_least_usd == Usd::ZERO);

    only_programs && nothing_known && summary.judge_calls == 0
}

/// Describes a cost that is only partly known.
pub(crate) fn format_partial_cost(partial: Option<PartialCost>) -> String {
    match partial {
        None => "unknown: some prices are missing".to_owned(),
        Some(PartialCost { at_least_usd, unpriced_calls }) => {
            let unknown = format!("{} of unknown price", format_count(unpriced_calls, "call", "calls"));
            if at_least_usd == Usd::ZERO {
                format!("unknown: {unknown}")
            } else {
                format!("at least {}; {unknown}", number::dollars(at_least_usd.as_dollars()))
            }
        }
    }
}

/// Formats a cost for a table cell: the total, the known part as a lower bound, or `unknown`.
pub fn format_cost(total: Option<Usd>, partial: Option<PartialCost>) -> String {
    match (total, partial) {
        (Some(cost), _) => number::dollars(cost.as_dollars()),
        (None, Some(partial)) if partial.at_least_usd > Usd::ZERO => {
            format!("≥ {}", number::dollars(partial.at_least_usd.as_dollars()))
        }
        (None, _) => "unknown".to_owned(),
    }
}

/// Money spent on a run: the cost of its results, or that of all requests of its invocations if it is higher,
/// which it is when results were computed again. `None` for a run that only scores the decisions of another.
pub(crate) fn spent(info: &RunInfo, summary: &RunSummary) -> Option<Cost> {
    if info.command == "score" {
        return None;
    }

    let results = Cost::from_parts(summary.cost_usd, summary.cost_partial);
    let Some(sent) = summary.sent_in_all() else { return Some(results) };
    let requests = Cost::from_parts(sent.cost_usd, sent.cost_partial);
    Some(if requests.lower_bound() > results.lower_bound() { requests } else { results })
}

/// Describes the requests of a run; `None` if all of them were for its results.
pub(crate) fn format_spent(info: &RunInfo, summary: &RunSummary) -> Option<String> {
    let sent = summary.sent_in_all()?;
    let results = Cost::from_parts(summary.cost_usd, summary.cost_partial).lower_bound();
    let unpriced = |partial: Option<PartialCost>| partial.map_or(0, |partial| partial.unpriced_calls);
    let is_more = spent(info, summary)?.lower_bound() > results
        || unpriced(sent.cost_partial) > unpriced(summary.cost_partial);
    let has_unfinished = summary.not_run > 0 && sent.requests + sent.given_up > 0;
    if !is_more && !has_unfinished && sent.given_up == 0 {
        return None;
    }

    let is_job = info.merged.as_ref().is_some_and(|merged| merged.job.is_some());
    let included = match (has_unfinished, summary.resumed.is_some()) {
        (true, _) => ", including those for unfinished cases",
        (false, true) => " of all invocations",
        (false, false) => "",
    };
    Some(format_sent(sent, included, is_job))
}

/// Describes requests and their cost. `included` describes which of them are counted.
fn format_sent(sent: SentRequests, included: &str, is_job: bool) -> String {
    let requests = format_count(sent.requests, "request", "requests");
    let mut text = match sent.cost_usd {
        Some(cost) => format!("{} for {requests}{included}", number::dollars(cost.as_dollars())),
        None => format!("{requests}{included}; cost {}", format_partial_cost(sent.cost_partial)),
    };
    if sent.given_up > 0 {
        let given_up = grouped(sent.given_up);
        let _ = if is_job {
            write!(text, "; {given_up} canceled, or lent to workers that vanished, which count as spent")
        } else {
            write!(text, "; {given_up} canceled, of unknown cost")
        };
    }

    text
}

/// Describes the last invocation of a resumed run, as opposed to the run as a whole; `None` if there was only
/// one.
pub(crate) fn format_resumed(summary: &RunSummary) -> Option<String> {
    let resumed = summary.resumed?;
    let run = summary.counts.total().saturating_sub(resumed.kept) as u64;
    let mut text = format!(
        "this time {} in {}",
        format_count(run, "result", "results"),
        number::format_duration(summary.duration_ms)
    );
    if let Some(sent) = summary.sent {
        let _ = write!(text, " ({})", format_sent(sent, "", false));
    }

    let kept = format_count(resumed.kept as u64, "result", "results");
    Some(format!("{text}; {kept} kept. All other numbers are about the whole run"))
}

/// Describes the calls of judges.
pub(crate) fn format_judge_calls(summary: &RunSummary) -> String {
    format!(
        "{}, {} from the cache",
        format_count(summary.judge_calls, "judge call", "judge calls"),
        grouped(summary.judge_calls_cached)
    )
}

/// Describes the duration of a run. The durations of shards are added up, even if they ran at the same time.
pub fn format_run_time(info: &RunInfo, summary: &RunSummary) -> String {
    let time = number::format_duration(summary.duration_ms);
    if info.merged.is_some() { format!("{time}, sum of the shards") } else { time }
}

/// Describes the tokens of a run; `None` if it used no model.
pub(crate) fn format_tokens(info: &RunInfo, summary: &RunSummary) -> Option<String> {
    let Tokens { input, cached, output } = summary.tokens;
    let part = |number: Option<u64>| number.map_or_else(|| "unknown".to_owned(), grouped);

    if input.is_none() && output.is_none() {
        // A program may have called a model without reporting it; its cost is then unknown too.
        let is_free = summary.cost_usd == Some(Usd::ZERO) && !uses_models(info, summary);
        return (!is_free).then(|| "not reported".to_owned());
    }

    let cached = cached.map(|cached| format!(" ({} cached)", grouped(cached)));
    Some(format!("{} in{}, {} out", part(input), cached.unwrap_or_default(), part(output)))
}
