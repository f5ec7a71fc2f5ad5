//! Lint rules that need a model: its calls, their results and their forecast.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_critic::{Critic, Critique, PROMPT_VERSION, prompt_hash};
use assize_diagnostic::{Code, render};
use assize_evalfile::{LoadOptions, load_targets};
use assize_grade::{Forecast, KeyedFences};
use assize_lint::{Inquiry, Linting, RULES, Rule};
use assize_llm::ModelCard;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::execute::{Choice, Looked, open_file};
use crate::access::Access;
use crate::args::LintArgs;
use crate::command::estimate::Estimate;
use crate::command::eval::config;
use crate::command::forecast::figures;
use crate::context::Context;
use crate::exit::Exit;
use crate::judges::{OFFLINE, model};
use crate::money;
use crate::output;
use crate::targets::TargetBook;

/// Results of the model's review.
pub(super) struct Judged {
    by: String,
    /// Number of rubrics that the model's rules apply to.
    rubrics: usize,
    calls: u64,
    recalled: u64,
    not_checked: Vec<NotChecked>,
    /// Reason for which the budget stopped the review, if it did.
    over_budget: Option<String>,
    /// The forecast, in a dry run.
    plan: Option<Estimate>,
}

/// Rules that could not be applied to a rubric.
struct NotChecked {
    path: PathBuf,
    line: usize,
    case: Option<String>,
    rules: Vec<Code>,
    reason: String,
}

/// A rubric to be reviewed.
struct Job {
    file: usize,
    index: usize,
    inquiry: Arc<Inquiry>,
    rules: Vec<&'static Rule>,
}

/// Has a model review all rubrics of the files, and adds its findings.
pub(super) fn judge(
    name: &str,
    files: &mut [Looked],
    args: &LintArgs,
    choice: &Choice,
    options: &LoadOptions,
    context: &Context,
) -> Result<Judged, String> {
    if name == OFFLINE {
        return Err("the offline judge compares words, and can't tell what words mean; the rules L06xx need a model: \
                    `--judge openai:gpt-4o-mini`, or leave `--judge` away"
            .to_owned());
    }
    let mut lintings = BTreeMap::new();
    let mut jobs = Vec::new();
    for (file, looked) in files.iter().enumerate().filter(|(_, looked)| !looked.is_scorecard) {
        let linting = open_file(&looked.path, options)?.linting;
        for (index, inquiry) in linting.inquiries().iter().enumerate() {
            let rules = inquiry.rules(|code| choice.takes(code));
            if !rules.is_empty() {
                jobs.push(Job { file, index, inquiry: Arc::new(inquiry.clone()), rules });
            }
        }
        lintings.insert(file, linting);
    }
    let prices = money::prices(None, options, context)?;
    let access = Arc::new(if args.dry_run {
        Access::without_cache(&args.spending, prices, context)
    } else {
        Access::within(&args.spending, args.spending.budget_usd, prices, context)
    });
    let (critic, card) = critic(name, files, args, &access, options, context)?;
    access.check()?;
    let mut judged = Judged {
        by: name.to_owned(),
        rubrics: jobs.len(),
        calls: 0,
        recalled: 0,
        not_checked: Vec::new(),
        over_budget: None,
        plan: args.dry_run.then(|| estimate(&critic, card, &jobs)),
    };
    if args.dry_run {
        return Ok(judged);
    }
    access.begin_alone("lint");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("can't start: {error}"))?;
    let critiques = runtime.block_on(ask(jobs, &Arc::new(critic), args, &access, context));
    runtime.shutdown_background();
    if let Err(message) = access.flush() {
        output::warn(&message, context);
    }
    let stopped = access.limit().is_cancelled();
    judged.over_budget =
        stopped.then(|| access.refusal().unwrap_or("the budget allows no further call").to_owned());
    judged.take(critiques, lintings, files, choice);
    for open in &judged.not_checked {
        let case = open.case.as_ref().map(|case| format!(" of case `{case}`")).unwrap_or_default();
        let rules: Vec<&str> = open.rules.iter().map(|code| code.as_str()).collect();
        output::warn(
            &format!(
                "{}:{}: the rubric{case} was not checked by {}: {}",
                open.path.display(),
                open.line,
                rules.join(", "),
                open.reason
            ),
            context,
        );
    }
    Ok(judged)
}

fn critic(
    name: &str,
    files: &[Looked],
    args: &LintArgs,
    access: &Arc<Access>,
    options: &LoadOptions,
    context: &Context,
) -> Result<(Critic, ModelCard), String> {
    let config = config(options, context)?;
    let folder = files.first().and_then(|file| file.path.parent()).unwrap_or(Path::new(""));
    let found = load_targets(folder, args.targets.as_deref().or(config.targets.as_deref()), options);
    output::say_diagnostics(&found.diagnostics, &found.sources, context);
    if render::tally(&found.diagnostics).0 > 0 {
        return Err("the targets file has problems; nothing was spent".to_owned());
    }
    let targets = TargetBook::new(found.targets, found.path, Arc::clone(access), context);
    let ask = model(name, &targets, access, &context.environment())?;
    let card = ask.card();
    Ok((Critic::new(ask, Arc::new(KeyedFences::new(access.fence_key()))), card))
}

/// Reviews all rubrics concurrently. Those that the budget does not allow have no critique.
async fn ask(
    jobs: Vec<Job>,
    critic: &Arc<Critic>,
    args: &LintArgs,
    access: &Access,
    context: &Context,
) -> Vec<(Job, Option<Critique>)> {
    let total = jobs.len();
    let mut jobs = jobs.into_iter();
    let mut running: JoinSet<(Job, Critique)> = JoinSet::new();
    let mut done = Vec::new();
    loop {
        while running.len() < args.workers.get() && !access.limit().is_cancelled() {
            let Some(job) = jobs.next() else { break };
            let critic = Arc::clone(critic);
            running.spawn(async move {
                let critique = critic.review(&job.inquiry, &job.rules).await;
                (job, critique)
            });
        }
        let Some(finished) = running.join_next().await else { break };
        let Ok((job, critique)) = finished else { continue };
        done.push((job, Some(critique)));
        if context.live_progress {
            output::say(&format!(
                "\r{} of {total} rubrics{}",
                done.len(),
                if done.len() == total { "\n" } else { "" }
            ));
        }
    }
    done.extend(jobs.map(|job| (job, None)));
    done.sort_by_key(|(job, _)| (job.file, job.index));
    done
}

/// Forecast of the first call for each rubric.
fn estimate(critic: &Critic, card: ModelCard, jobs: &[Job]) -> Estimate {
    let mut forecast = Forecast::default();
    for job in jobs {
        let request = critic.request(&job.inquiry, &job.rules);
        forecast += Forecast::of(&request, job.rules.len() as u64, &critic.model().model, card);
    }
    Estimate::of_judge(&forecast, (0, 0), card)
}

impl Judged {
    /// Adds the model's findings to those of each file.
    fn take(
        &mut self,
        critiques: Vec<(Job, Option<Critique>)>,
        mut lintings: BTreeMap<usize, Linting>,
        files: &mut [Looked],
        choice: &Choice,
    ) {
        let mut open: Vec<BTreeSet<Code>> = vec![BTreeSet::new(); files.len()];
        let unreached = self.over_budget.clone().unwrap_or_else(|| "it was not reached".to_owned());
        for (job, critique) in critiques {
            let mut failed: Vec<(Code, String)> = Vec::new();
            match critique {
                None => failed.extend(job.rules.iter().map(|rule| (rule.code, unreached.clone()))),
                Some(critique) => {
                    self.calls += u64::from(critique.calls);
                    self.recalled += u64::from(critique.recalled);
                    if let Some(linting) = lintings.get_mut(&job.file) {
                        critique.remarks.iter().for_each(|remark| linting.add(job.index, remark));
                    }
                    failed = critique.not_checked;
                }
            }
            open[job.file].extend(failed.iter().map(|(code, _)| *code));
            // One entry for each reason.
            while let Some((_, reason)) = failed.first().cloned() {
                let rules =
                    failed.iter().filter(|(_, other)| *other == reason).map(|(code, _)| *code).collect();
                failed.retain(|(_, other)| *other != reason);
                self.not_checked.push(NotChecked {
                    path: files[job.file].path.clone(),
                    line: job.inquiry.place.as_ref().map_or(1, |place| place.line),
                    case: job.inquiry.case.clone(),
                    rules,
                    reason,
                });
            }
        }
        for (index, linting) in lintings {
            let (file, open) = (&mut files[index], &open[index]);
            let applied: Vec<Code> = RULES
                .iter()
                .filter(|rule| {
                    rule.question().is_some() && choice.takes(rule.code) && !open.contains(&rule.code)
                })
                .map(|rule| rule.code)
                .collect();
            file.linted = linting.finish(&applied);
            file.linted.diagnostics.retain(|finding| choice.takes(finding.code));
        }
    }

    /// Exit code of the review.
    pub(super) fn exit(&self) -> Exit {
        if self.over_budget.is_some() {
            Exit::OverBudget
        } else if self.not_checked.is_empty() {
            Exit::Passed
        } else {
            Exit::Incomplete
        }
    }

    /// Short result for the last line.
    pub(super) fn summary(&self) -> String {
        let count = |count: usize| format!("{count} rubric{}", if count == 1 { "" } else { "s" });
        if let Some(plan) = self.plan {
            return format!(
                "{} would be asked about {}, {}; nothing was sent",
                self.by,
                count(self.rubrics),
                figures(plan)
            );
        }
        let open: BTreeSet<(&Path, usize)> =
            self.not_checked.iter().map(|open| (open.path.as_path(), open.line)).collect();
        let checked = format!("{} checked by {}", count(self.rubrics - open.len()), self.by);
        match open.len() {
            0 => checked,
            left => format!("{checked}, {} not checked, or not by every rule", count(left)),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let open = |open: &NotChecked| {
            json!({
                "path": open.path.display().to_string(), "line": open.line, "case_id": open.case,
                "rules": open.rules.iter().map(|code| code.as_str()).collect::<Vec<_>>(), "reason": open.reason,
            })
        };
        json!({
            "model": self.by,
            "prompt_version": PROMPT_VERSION,
            "prompt_hash": prompt_hash(),
            "rubrics": self.rubrics,
            "calls": self.calls,
            "calls_cached": self.recalled,
            "not_checked": self.not_checked.iter().map(open).collect::<Vec<_>>(),
            "over_budget": self.over_budget,
            "dry_run": self.plan.is_some(),
            "plan": self.plan.map(Estimate::to_json),
        })
    }
}
