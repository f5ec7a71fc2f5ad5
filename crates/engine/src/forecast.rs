//! The plan of a run: cases, calls, estimated tokens and cost. Making it sends no requests.

use std::collections::BTreeMap;

use assize_grade::CallForecast;
use assize_llm::{Budget, CallBound, ModelCard};
use assize_model::{Case, GraderKind};
use assize_rubric::{JudgingMode, Usd, dollars, grouped};
use assize_run::{ItemError, ItemSource, JudgeError, WorkItem, forecast};
use assize_targets::TargetKind;
use serde_json::{Value, json};

use crate::budget_check;
use crate::error::EngineError;
use crate::estimate::{AnswerCalls, LargestCall, RunEstimate, round_down, round_up};
use crate::graders::visit_graders;

/// Estimated work of all items of a run.
#[derive(Default)]
pub struct RunPlan {
    items: u64,
    /// Limits of the run.
    budget: Budget,
    judges: BTreeMap<String, JudgeForecast>,
    /// Models that answer, by name and output limit.
    targets: BTreeMap<(String, Option<u32>), (AnswerCalls, ModelCard)>,
    command_runs: u64,
    /// True if judge calls are sent in batches.
    batches: bool,
    /// Upper limit of model calls by grading programs. Their size and cost are unknown.
    program_calls: u64,
}

/// The calls of one judge in each mode of judging.
#[derive(Default)]
struct JudgeForecast {
    /// The mode of the run.
    asked: ModeForecast,
    /// The alternatives, for comparison: one criterion per call, and all criteria of a rubric in one call.
    per_criterion: ModeForecast,
    batched: ModeForecast,
    card: ModelCard,
}

#[derive(Default)]
struct ModeForecast {
    forecast: CallForecast,
    /// Shown answers that do not exist yet, at least and at most. Turns of a conversation are shown again.
    unknown_answers: (u64, u64),
}

impl ModeForecast {
    /// `unknown` is the number of answers in each call that do not exist yet.
    fn add(&mut self, forecast: CallForecast, unknown: u64) {
        self.unknown_answers.0 += forecast.calls * unknown.min(1);
        self.unknown_answers.1 += forecast.calls * unknown;
        self.forecast += forecast;
    }

    fn estimate(&self, card: ModelCard) -> RunEstimate {
        RunEstimate::of_judge(&self.forecast, self.unknown_answers, card)
    }
}

/// The most requests of a case to its target.
fn count_requests(case: &Case) -> AnswerCalls {
    let mut requests = AnswerCalls::default();
    let mut add = |case: &Case| {
        let bytes = case.input.iter().map(|message| message.to_text().len() as u64).sum();
        requests.earlier += requests.calls;
        requests.calls += 1;
        requests.bytes = requests.bytes.saturating_add(bytes);
        requests.longest = requests.longest.max(bytes);
    };
    match &case.conversation {
        None => add(case),
        Some(talk) => {
            let mut before = case.input.clone();
            for turn in &talk.turns {
                add(&case.turn_case(turn, &before));
                before.extend(turn.input.iter().cloned());
            }
        }
    }

    requests
}

/// Looks up facts about models, by the names that plans use.
pub(crate) trait ModelCards {
    /// Returns the card of a judge, by its name.
    fn judge(&self, name: &str) -> ModelCard;
    /// Returns the card of a model, as `provider:model`.
    fn model(&self, name: &str) -> ModelCard;
}

impl RunPlan {
    /// Adds up all items of a run.
    pub(crate) fn new(
        items: impl Iterator<Item = Result<WorkItem, ItemError>>,
        budget: Budget,
        cards: &dyn ModelCards,
    ) -> Result<Self, EngineError> {
        let mut plan = Self { budget, ..Self::default() };
        for item in items {
            let item = item?;
            plan.add(&item, cards)?;
        }

        Ok(plan)
    }

    /// The plan with or without batches for judge calls.
    pub(crate) fn with_batches(self, batches: bool) -> Self {
        Self { batches, ..self }
    }

    fn add(&mut self, item: &WorkItem, cards: &dyn ModelCards) -> Result<(), JudgeError> {
        self.items += 1;
        let unknown = match item.source {
            ItemSource::Given(_) => 0,
            ItemSource::Target(_) | ItemSource::Missing { .. } => item.case.turns().len().max(1) as u64,
        };

        if let ItemSource::Target(target) = &item.source {
            let described = target.describe();
            match described.kind {
                TargetKind::Model => {
                    let name = described.model.unwrap_or(described.name);
                    // The output limit of judges does not apply to answers.
                    let card = ModelCard { max_output_tokens: None, ..cards.model(&name) };
                    let max_output_tokens = described.max_output_tokens;
                    let none = AnswerCalls { max_output_tokens, ..AnswerCalls::default() };
                    let (answers, _) = self.targets.entry((name, max_output_tokens)).or_insert((none, card));
                    let AnswerCalls { calls, bytes, longest, earlier, .. } = count_requests(&item.case);
                    answers.calls += calls;
                    answers.earlier += earlier;
                    answers.bytes += bytes;

                    answers.longest = answers.longest.max(longest);
                }
                TargetKind::Command => self.command_runs += count_requests(&item.case).calls,
                TargetKind::Http | TargetKind::Given | TargetKind::Recorded | TargetKind::Mock => {}
            }
        }

        for grader in item.case.all_graders() {
            visit_graders(grader, &mut |grader| {
                if let GraderKind::Code(code) = &grader.kind {
                    self.program_calls += u64::from(code.max_calls.unwrap_or(0));
                }
            });
        }

        let mut add = |judging, mode: fn(&mut JudgeForecast) -> &mut ModeForecast| {
            for (name, forecast) in forecast(item, judging)? {
                let card = cards.judge(&name);
                let entry = self
                    .judges
                    .entry(name.to_string())
                    .or_insert_with(|| JudgeForecast { card, ..JudgeForecast::default() });
                mode(entry).add(forecast, unknown);
            }
            Ok::<(), JudgeError>(())
        };

        add(None, |judge| &mut judge.asked)?;
        add(Some(JudgingMode::PerCriterion), |judge| &mut judge.per_criterion)?;

        add(Some(JudgingMode::Batched(None)), |judge| &mut judge.batched)
    }

    fn total(&self) -> RunEstimate {
        let mut total = self.of_targets();
        total += self.of_judges().0;
        total
    }

    /// Estimates of the judge calls, live and in batches.
    fn of_judges(&self) -> (RunEstimate, RunEstimate) {
        let mut live = RunEstimate::nothing();
        let mut batched = RunEstimate::nothing();
        for judge in self.judges.values() {
            live += judge.asked.estimate(judge.card);
            batched += judge.asked.estimate(judge.card.for_batches());
        }

        (live, batched)
    }

    /// The line about batches of the text form.
    fn batch_line(&self) -> Option<String> {
        let (live, batched) = self.of_judges();
        if !self.batches || live.calls == 0 {
            return None;
        }

        let prices = match (batched.cost, live.cost) {
            (Some(batched), Some(live)) if batched != live => {
                format!("{} instead of {}", money_range(batched), money_range(live))
            }
            (Some(batched), Some(_)) => {
                format!(
                    "{}; no discount is known (`batch_discount` in `.assize/prices.yaml`)",
                    money_range(batched)
                )
            }
            _ => "cost unknown".to_owned(),
        };
        Some(format!(
            "judge calls in batches: {prices}; calls that are made live instead cost the usual price"
        ))
    }

    fn of_targets(&self) -> RunEstimate {
        let mut sum = RunEstimate::nothing();
        for ((name, _), (answers, card)) in &self.targets {
            let model = name.split_once(':').map_or(name.as_str(), |(_, model)| model);
            sum += RunEstimate::of_target(*answers, model, *card);
        }

        sum
    }

    /// Models that will be called and have no known price.
    fn unpriced(&self) -> Vec<&str> {
        let judges = self
            .judges
            .iter()
            .filter(|(_, judge)| judge.asked.forecast.calls > 0 && judge.card.price.is_none())
            .map(|(name, _)| name.as_str());

        let targets = self.targets.iter().filter(|(_, (_, card))| card.price.is_none());
        let mut names: Vec<&str> = targets.map(|((name, _), _)| name.as_str()).chain(judges).collect();
        names.sort_unstable();
        names.dedup();

        names
    }

    /// Returns the plan in the form of `--json`.
    pub fn to_json(&self, cases: usize, warnings: &[String]) -> Value {
        let total = self.total();
        let judges: Vec<Value> = self
            .judges
            .iter()
            .map(|(name, judge)| {
                let JudgeForecast { asked, per_criterion, batched, card } = judge;
                json!({
                    "judge": name,
                    "criteria": asked.forecast.criteria,
                    "scores": asked.forecast.scores,
                    "too_long": asked.forecast.too_long,
                    "calls": asked.forecast.calls,
                    "calls_only_if_unsure": asked.forecast.unsure_calls,
                    "calls_per_criterion": per_criterion.forecast.calls,
                    "calls_batched": batched.forecast.calls,
                    "modes": {
                        "asked": asked.estimate(*card).to_json(),
                        "per_criterion": per_criterion.estimate(*card).to_json(),
                        "batched": batched.estimate(*card).to_json(),
                    },
                })
            })
            .collect();

        let total_json = total.to_json();
        json!({
            "cases": cases,
            "items": self.items,
            "calls": total.calls,
            "judges": judges,
            "target_calls": self.of_targets().calls,
            "targets": self.of_targets().to_json(),
            "command_runs": self.command_runs,
            "program_calls_at_most": self.program_calls,
            "tokens_estimated": total_json["tokens"],
            "cost_usd": total_json["cost_usd"],
            "largest_call": total_json["largest_call"],
            "budget": budget_check::to_json(self.budget, &total, self.program_calls),
            "judge_batch": self.batches.then(|| {
                let (live, batched) = self.of_judges();
                json!({ "cost_usd": batched.to_json()["cost_usd"], "live_cost_usd": live.to_json()["cost_usd"] })
            }),
            "unknown_prices": self.unpriced(),
            "warnings": warnings,
        })
    }

    /// The plan as text.
    pub fn to_text(&self, cases: usize) -> String {
        let cases = counted(cases as u64, "case", "cases");
        let mut lines = vec![format!("{cases}, {} to judge", counted(self.items, "answer", "answers"))];
        if !self.targets.is_empty() {
            let estimate = self.of_targets();
            lines.push(format!("targets: {}", counted(estimate.calls, "model call", "model calls")));
            lines.push(format!("  {}", estimate_text(estimate)));
        }

        if self.command_runs > 0 {
            lines.push(format!("targets: {}", counted(self.command_runs, "command run", "command runs")));
        }

        for (name, judge) in &self.judges {
            judge.describe(name, &mut lines);
        }

        if self.program_calls > 0 {
            let calls = grouped(self.program_calls);
            lines.push(format!(
                "grading programs: up to {calls} model calls of their own, not included below"
            ));
        }

        let total = self.total();
        if total.calls > 0 {
            let calls = counted(total.calls, "call", "calls");
            lines.push(format!("total: {calls}, {}", estimate_text(total)));
            lines.extend(self.batch_line());
            lines.push(largest_call_text(&total));

            if !self.unpriced().is_empty() {
                lines.push(format!("unknown price for {}", self.unpriced().join(", ")));
            }

            lines.extend(budget_check::lines(self.budget, &total, self.program_calls));
            lines.push(
                "estimates: from short replies with repeated input cached, to long replies with nothing cached and 1 call in 10 repeated"
                    .to_owned(),
            );

            lines.push("not included: retries after errors, and cache hits".to_owned());
        }

        lines.push("dry run: nothing was sent".to_owned());
        format!("{}\n", lines.join("\n"))
    }
}

impl JudgeForecast {
    fn describe(&self, name: &str, lines: &mut Vec<String>) {
        let Self { asked, per_criterion, batched, card } = self;
        let work = match (asked.forecast.criteria, asked.forecast.scores) {
            (criteria, 0) => counted(criteria, "criterion", "criteria"),
            (0, scores) => counted(scores, "score", "scores"),
            (criteria, scores) => format!(
                "{} and {}",
                counted(criteria, "criterion", "criteria"),
                counted(scores, "score", "scores")
            ),
        };

        if asked.forecast.too_long > 0 {
            lines.push(format!(
                "judge {name}: {} can't be judged, beyond its context window (see `--truncate`)",
                asked.forecast.too_long
            ));
        }

        if asked.forecast.calls == 0 {
            lines.push(format!("judge {name}: {work}, no calls"));
            return;
        }

        let calls = |mode: &ModeForecast| grouped(mode.forecast.calls);
        let unsure = match asked.forecast.unsure_calls {
            0 => String::new(),
            unsure if unsure == asked.forecast.calls => ", only where the others are unsure".to_owned(),
            unsure => format!(", {} of them only where the others are unsure", grouped(unsure)),
        };
        lines.push(format!(
            "judge {name}: {work}, {} (per criterion {}, batched {}){unsure}",
            counted(asked.forecast.calls, "call", "calls"),
            calls(per_criterion),
            calls(batched)
        ));

        let asked = asked.estimate(*card);
        lines.push(format!("  as asked: {}", estimate_text(asked)));

        for (word, mode) in [("per criterion", per_criterion), ("batched", batched)] {
            let other = mode.estimate(*card);
            if other != asked {
                lines.push(format!("  {word}: {}", estimate_text(other)));
            }
        }
    }
}

/// Formats a number with its noun.
fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Formats tokens and cost.
pub fn estimate_text(estimate: RunEstimate) -> String {
    let cost = estimate.cost.map_or_else(|| "cost unknown".to_owned(), money_range);
    format!("about {} tokens in, {} out; {cost}", token_range(estimate.input), token_range(estimate.output))
}

/// Formats what a budget reserves for the largest call.
fn largest_call_text(total: &RunEstimate) -> String {
    let LargestCall { least, most, .. } = total.largest;
    let amount = |bound: CallBound| {
        let tokens = grouped(round_up(bound.tokens()));
        let usd = dollars(Usd::from_pico(round_up(bound.usd().as_pico())).as_dollars());
        if total.cost.is_some() { format!("{tokens} tokens ({usd})") } else { format!("{tokens} tokens") }
    };
    format!(
        "largest call: a budget sets aside up to {} for it, and stops the run if less than {} is left",
        amount(most),
        amount(least)
    )
}

fn token_range((low, high): (u64, u64)) -> String {
    range(low, high, grouped)
}

fn money_range((low, high): (Usd, Usd)) -> String {
    range(low.as_pico(), high.as_pico(), |pico| dollars(Usd::from_pico(pico).as_dollars()))
}

/// Formats an estimated range, rounded to its precision.
fn range(low: u64, high: u64, format: impl Fn(u64) -> String) -> String {
    if low == high {
        return format(round_up(low));
    }
    format!("{} to {}", format(round_down(low)), format(round_up(high)))
}
