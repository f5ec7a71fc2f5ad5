//! What a run would take: cases, calls and estimated tokens, with nothing sent.

use std::collections::BTreeMap;

use assize_grade::{Forecast, Uncertain};
use assize_rubric::Judging;
use assize_run::{Source, WorkItem, forecast};
use assize_target::TargetKind;
use serde_json::{Value, json};

use crate::output;

/// Bytes of text that make about one token.
const BYTES_PER_TOKEN: u64 = 4;
/// Tokens of a decision: a short reason alone, and one with long quotes.
const DECISION: (u64, u64) = (40, 300);
/// Tokens of an answer that is not there yet: a sentence, and a page.
const ANSWER: (u64, u64) = (30, 1000);

/// What was added up.
#[derive(Default)]
pub(super) struct Plan {
    items: u64,
    /// By judge: as asked for, and for comparison one criterion a call and all of a rubric in one.
    judges: BTreeMap<String, JudgePlan>,
    target_calls: u64,
    command_runs: u64,
    target_input_bytes: u64,
}

#[derive(Default)]
struct JudgePlan {
    asked: Forecast,
    /// Calls to judge answers that are not there yet.
    unknown_answers: u64,
    per_criterion: u64,
    batched: u64,
}

impl Plan {
    /// Adds up the items of a run.
    pub(super) fn of(items: impl Iterator<Item = Result<WorkItem, String>>) -> Result<Self, String> {
        let mut plan = Self::default();
        for item in items {
            plan.add(&item?)?;
        }
        Ok(plan)
    }

    fn add(&mut self, item: &WorkItem) -> Result<(), String> {
        self.items += 1;
        let is_given = matches!(item.source, Source::Given(_));
        if let Source::Target(target) = &item.source {
            match target.describe().kind {
                TargetKind::Model => self.target_calls += 1,
                TargetKind::Command => self.command_runs += 1,
                TargetKind::Given => {}
            }
            if target.describe().kind == TargetKind::Model {
                self.target_input_bytes += item.case.question().len() as u64;
            }
        }
        for (judge, asked) in forecast(item, None)? {
            let entry = self.judges.entry(judge).or_default();
            entry.asked += asked;
            entry.unknown_answers += if is_given { 0 } else { asked.calls };
        }
        for (judge, single) in forecast(item, Some(Judging::PerCriterion))? {
            self.judges.entry(judge).or_default().per_criterion += single.calls;
        }
        for (judge, batched) in forecast(item, Some(Judging::Batched(None)))? {
            self.judges.entry(judge).or_default().batched += batched.calls;
        }
        Ok(())
    }

    /// The least and the most tokens, estimated.
    fn tokens(&self) -> ((u64, u64), (u64, u64)) {
        let (mut input, mut output) = ((0, 0), (0, 0));
        let sent = self.target_input_bytes / BYTES_PER_TOKEN;
        for judge in self.judges.values() {
            let known = judge.asked.input_bytes / BYTES_PER_TOKEN;
            let Uncertain { input_bytes, decisions: unsure, .. } = judge.asked.uncertain;
            input.0 += known - input_bytes / BYTES_PER_TOKEN + judge.unknown_answers * ANSWER.0;
            input.1 += known + judge.unknown_answers * ANSWER.1;
            if judge.asked.calls > 0 {
                let decisions = judge.asked.criteria + judge.asked.scores;
                output.0 += (decisions - unsure) * DECISION.0;
                output.1 += decisions * DECISION.1;
            }
        }
        (
            (input.0 + sent, input.1 + sent),
            (output.0 + self.target_calls * ANSWER.0, output.1 + self.target_calls * ANSWER.1),
        )
    }

    fn calls(&self) -> u64 {
        self.target_calls + self.judges.values().map(|judge| judge.asked.calls).sum::<u64>()
    }

    /// The plan as `--json` prints it.
    pub(super) fn to_json(&self, cases: usize, warnings: &[String]) -> Value {
        let (input, output) = self.tokens();
        let judges: Vec<Value> = self
            .judges
            .iter()
            .map(|(name, judge)| {
                json!({
                    "judge": name,
                    "criteria": judge.asked.criteria,
                    "scores": judge.asked.scores,
                    "calls": judge.asked.calls,
                    "calls_only_if_unsure": judge.asked.uncertain.calls,
                    "calls_per_criterion": judge.per_criterion,
                    "calls_batched": judge.batched,
                })
            })
            .collect();
        json!({
            "cases": cases,
            "items": self.items,
            "calls": self.calls(),
            "judges": judges,
            "target_calls": self.target_calls,
            "command_runs": self.command_runs,
            "tokens_estimated": {
                "input": { "low": input.0, "high": input.1 },
                "output": { "low": output.0, "high": output.1 },
            },
            "cost_usd": null,
            "warnings": warnings,
        })
    }

    /// Prints the plan for people.
    pub(super) fn print(&self, cases: usize) {
        let mut lines = vec![format!("{cases} cases, {} answers to judge", self.items)];
        if self.target_calls > 0 {
            lines.push(format!("targets: {} model calls", self.target_calls));
        }
        if self.command_runs > 0 {
            lines.push(format!("targets: {} runs of commands", self.command_runs));
        }
        for (name, judge) in &self.judges {
            let JudgePlan { asked, per_criterion, batched, .. } = judge;
            let work = match (asked.criteria, asked.scores) {
                (criteria, 0) => format!("{criteria} criteria"),
                (0, scores) => format!("{scores} scores"),
                (criteria, scores) => format!("{criteria} criteria and {scores} scores"),
            };
            let unsure = match asked.uncertain.calls {
                0 => String::new(),
                unsure if unsure == asked.calls => ", only where others are unsure".to_owned(),
                unsure => format!(", {unsure} of them only where others are unsure"),
            };
            lines.push(if asked.calls == 0 {
                format!("judge {name}: {work}, no calls")
            } else {
                format!(
                    "judge {name}: {work}, {} calls (per criterion {per_criterion}, batched {batched}){unsure}",
                    asked.calls
                )
            });
        }
        if self.calls() > 0 {
            let (input, output) = self.tokens();
            let range = |(low, high): (u64, u64)| {
                if low == high { low.to_string() } else { format!("{low} to {high}") }
            };
            lines.push(format!("tokens, estimated: {} in, {} out", range(input), range(output)));
            lines.push("not counted: retries, repairs, and replies the cache saves".to_owned());
        }
        lines.push("nothing was sent".to_owned());
        output::print(&format!("{}\n", lines.join("\n")));
    }
}
