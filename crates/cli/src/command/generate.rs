//! `assize generate rubrics`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::render;
use assize_draft::{
    Brief, CaseDraft, Draft, DraftError, Form, ModelDrafter, Need, PROMPT_VERSION, draft_offline, need,
    prompt_hash,
};
use assize_evalfile::{
    Case, CaseFile, CaseSpot, Format, LoadOptions, load_suite, load_targets, unified_diff,
};
use assize_grade::KeyedFences;
use globset::GlobSet;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::eval::{config, globs, load_options};
use crate::access::Access;
use crate::args::{GenerateArgs, GenerateCommand, GenerateRubricsArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::files::replace;
use crate::judges::{OFFLINE, model};
use crate::money;
use crate::output;
use crate::targets::TargetBook;

pub(crate) fn execute(args: &GenerateArgs, context: &Context) -> Result<Exit, String> {
    let GenerateCommand::Rubrics(args) = &args.command;
    let options = load_options(&args.root, context);
    let mut work = Work::default();
    let wanted = globs(&args.filter)?;
    for path in &args.files {
        work.take(path, args, wanted.as_ref(), &options, context)?;
    }
    let config = config(&options, context)?;
    let spending = &args.spending;
    let prices = money::prices(None, &options, context)?;
    let access = Arc::new(Access::within(spending, spending.budget_usd, prices, context));
    let by = args.target.clone().or_else(|| args.judge.clone()).or_else(|| config.judge.clone());
    let environment = || context.variable("JUDGE_MODEL").filter(|name| !name.trim().is_empty());
    let by = by.or_else(environment).unwrap_or_else(|| OFFLINE.to_owned());
    let drafter = drafter(&by, args, config.targets.as_deref(), &access, &options, context)?;
    access.check()?;
    if !work.jobs.is_empty() && drafter.is_none() && args.judge.is_none() && !args.quiet {
        output::say(
            "drafting offline: clauses of the expected outcomes. `--judge MODEL` has a model write the criteria\n",
        );
    }
    let remark = match drafter {
        None => "the offline drafter".to_owned(),
        Some(_) => format!("{by} (prompt {PROMPT_VERSION})"),
    };
    access.begin_alone("generate");
    let mut desk = Desk {
        files: work.files,
        by: remark,
        ranges: args.ranges,
        dry_run: args.dry_run,
        replace: args.replace,
        outcomes: work.outcomes,
        broken: Vec::new(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("can't start: {error}"))?;
    runtime.block_on(desk.draft(work.jobs, drafter, args, &access, context));
    runtime.shutdown_background();
    if let Err(message) = access.flush() {
        output::warn(&message, context);
    }
    let stopped = access.limit().is_cancelled();
    let over_budget = stopped.then(|| access.refusal().unwrap_or("the budget allows no further call"));
    desk.print(args, &by, over_budget, context);
    Ok(desk.exit(stopped))
}

/// The model that writes drafts; `None` for the offline drafter.
fn drafter(
    by: &str,
    args: &GenerateRubricsArgs,
    configured: Option<&Path>,
    access: &Arc<Access>,
    options: &LoadOptions,
    context: &Context,
) -> Result<Option<Arc<ModelDrafter>>, String> {
    if by == OFFLINE && args.target.is_none() {
        return Ok(None);
    }
    let folder = args.files.first().and_then(|path| path.parent()).unwrap_or(Path::new(""));
    let found = load_targets(folder, args.targets.as_deref().or(configured), options);
    output::say_diagnostics(&found.diagnostics, &found.sources, context);
    if render::tally(&found.diagnostics).0 > 0 {
        return Err("the targets file has problems; nothing was spent".to_owned());
    }
    let targets = TargetBook::new(found.targets, found.path, Arc::clone(access), context);
    if args.target.is_some() && targets.ask(by).is_none() && !by.contains([':', '/']) {
        // Reports unknown targets with the usual message.
        targets.target(by).map(drop)?;
    }
    let ask = model(by, &targets, access, &context.environment())?;
    let fences = Arc::new(KeyedFences::new(access.fence_key()));
    Ok(Some(Arc::new(ModelDrafter::new(ask, fences))))
}

struct Job {
    case: Arc<Case>,
    brief: Brief,
    file: usize,
    spot: CaseSpot,
    format: Format,
    /// True if the case has a rubric that the draft replaces.
    replaces: bool,
    outcome: usize,
}

/// An edited file with its earlier texts.
struct Sheet {
    file: CaseFile,
    /// The text on disk.
    written: String,
    /// The text before the first draft.
    original: String,
}

/// Result for a case.
struct Outcome {
    path: PathBuf,
    id: String,
    line: usize,
    result: Became,
}

enum Became {
    Drafted { criteria: Vec<String>, findings: Vec<String>, calls: u32, recalled: u32 },
    HasRubric,
    NoOutcome,
    LeftAlone(String),
    NotReached,
}

#[derive(Default)]
struct Work {
    files: Vec<Sheet>,
    known: BTreeMap<PathBuf, usize>,
    jobs: Vec<Job>,
    outcomes: Vec<Outcome>,
}

impl Work {
    /// Reads an eval file and collects the cases that need a draft.
    fn take(
        &mut self,
        path: &Path,
        args: &GenerateRubricsArgs,
        wanted: Option<&GlobSet>,
        options: &LoadOptions,
        context: &Context,
    ) -> Result<(), String> {
        let loaded = load_suite(path, options);
        let errors = loaded.has_errors();
        if errors || !args.quiet {
            output::say_diagnostics(&loaded.diagnostics, &loaded.sources, context);
        }
        let Some(suite) = loaded.suite.as_ref().filter(|_| !errors) else {
            return Err(format!("`{}` has problems; nothing was drafted", path.display()));
        };
        let form = if args.ranges { Form::Ranges } else { Form::Checklist };
        for case in &loaded.cases {
            let case = case.map_err(|error| error.to_string())?;
            if wanted.is_some_and(|globs| !globs.is_match(case.id.as_str())) {
                continue;
            }
            let need = need(&case);
            let brief = Brief::of(&case, form);
            let result = match (need, brief) {
                (Need::NoOutcome, _) | (_, None) => Became::NoOutcome,
                (Need::HasRubric, _) if !args.replace => Became::HasRubric,
                (need, Some(brief)) => match self.place(&case) {
                    Err(reason) => Became::LeftAlone(reason),
                    Ok((file, spot)) => {
                        let replaces = need == Need::HasRubric;
                        let outcome = self.outcomes.len();
                        let case = Arc::clone(&case);
                        self.jobs.push(Job {
                            case,
                            brief,
                            file,
                            spot,
                            format: suite.format,
                            replaces,
                            outcome,
                        });
                        Became::NotReached
                    }
                },
            };
            self.outcomes.push(Outcome {
                path: case.place.path().to_path_buf(),
                id: case.id.to_string(),
                line: case.place.line,
                result,
            });
        }
        Ok(())
    }

    /// Finds the position of a case in its file, which is opened once.
    fn place(&mut self, case: &Case) -> Result<(usize, CaseSpot), String> {
        let path = case.place.path();
        let key = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let index = if let Some(index) = self.known.get(&key) {
            *index
        } else {
            let text = std::fs::read_to_string(path).map_err(|error| format!("can't be read: {error}"))?;
            let file = CaseFile::new(path, text.clone());
            self.files.push(Sheet { file, written: text.clone(), original: text });
            self.known.insert(key, self.files.len() - 1);
            self.files.len() - 1
        };
        let spot = self.files[index].file.find(case).map_err(|error| error.to_string())?;
        Ok((index, spot))
    }
}

/// Writer of drafts into eval files.
struct Desk {
    files: Vec<Sheet>,
    by: String,
    ranges: bool,
    dry_run: bool,
    replace: bool,
    outcomes: Vec<Outcome>,
    /// Indices of files that can't be written any more.
    broken: Vec<usize>,
}

impl Desk {
    async fn draft(
        &mut self,
        jobs: Vec<Job>,
        drafter: Option<Arc<ModelDrafter>>,
        args: &GenerateRubricsArgs,
        access: &Access,
        context: &Context,
    ) {
        let total = jobs.len();
        let mut done = 0;
        let mut jobs = jobs.into_iter();
        let mut running: JoinSet<(Job, Result<Draft, DraftError>)> = JoinSet::new();
        loop {
            while running.len() < args.workers.get() && !access.limit().is_cancelled() {
                let Some(job) = jobs.next() else { break };
                if self.broken.contains(&job.file) {
                    continue;
                }
                let drafter = drafter.clone();
                running.spawn(async move {
                    let draft = match drafter {
                        Some(drafter) => drafter.draft(&job.brief, Some(&job.case)).await,
                        None => draft_offline(&job.brief, Some(&job.case)),
                    };
                    (job, draft)
                });
            }
            let Some(finished) = running.join_next().await else { break };
            let Ok((job, draft)) = finished else { continue };
            done += 1;
            if !args.quiet && context.live_progress {
                output::say(&format!("\r{done} of {total} cases"));
                if done == total {
                    output::say("\n");
                }
            }
            // A call refused by the budget is no failure of the case.
            if draft.is_err() && access.limit().is_cancelled() {
                continue;
            }
            self.outcomes[job.outcome].result = self.put(&job, draft);
        }
    }

    /// Inserts a draft into its file.
    fn put(&mut self, job: &Job, draft: Result<Draft, DraftError>) -> Became {
        let draft = match draft {
            Ok(draft) => draft,
            Err(error) => return Became::LeftAlone(error.to_string()),
        };
        let sheet = &mut self.files[job.file];
        let into = CaseDraft { criteria: &draft.criteria, format: job.format, by: &self.by };
        let before = sheet.file.clone();
        let put = if job.replaces {
            into.replace(&mut sheet.file, &job.spot)
        } else {
            into.write(&mut sheet.file, &job.spot)
        };
        if let Err(error) = put {
            return Became::LeftAlone(error.to_string());
        }
        if !self.dry_run
            && let Err(error) = store(sheet)
        {
            sheet.file = before;
            self.broken.push(job.file);
            return Became::LeftAlone(error);
        }
        Became::Drafted {
            criteria: draft.criteria.iter().map(|criterion| criterion.id.to_string()).collect(),
            findings: draft.findings,
            calls: draft.calls,
            recalled: draft.recalled,
        }
    }

    fn count(&self, which: fn(&Became) -> bool) -> usize {
        self.outcomes.iter().filter(|outcome| which(&outcome.result)).count()
    }

    fn left_alone(&self) -> usize {
        self.count(|became| matches!(became, Became::LeftAlone(_)))
    }

    fn exit(&self, over_budget: bool) -> Exit {
        let unreached = self.count(|became| matches!(became, Became::NotReached));
        let mut exits = vec![Exit::Passed];
        if over_budget && unreached > 0 {
            exits.push(Exit::OverBudget);
        }
        if self.left_alone() + unreached > 0 {
            exits.push(Exit::Incomplete);
        }
        Exit::strongest(exits)
    }

    fn print(&self, args: &GenerateRubricsArgs, by: &str, over_budget: Option<&str>, context: &Context) {
        if args.json {
            output::print_json(&self.to_json(by, over_budget.is_some()));
            return;
        }
        for sheet in self.files.iter().filter(|_| self.dry_run) {
            let name = sheet.file.path().display().to_string();
            output::print(&unified_diff(&sheet.original, sheet.file.text(), &name));
        }
        for outcome in &self.outcomes {
            let place = format!("{}:{}", outcome.path.display(), outcome.line);
            match &outcome.result {
                Became::LeftAlone(reason) => {
                    output::complain(
                        &format!("{place}: case `{}` was left alone: {reason}", outcome.id),
                        context,
                    );
                }
                Became::Drafted { criteria, .. } if !self.dry_run => {
                    output::print(&format!("{place}: {}: {}\n", outcome.id, criteria.join(", ")));
                }
                _ => {}
            }
        }
        let drafted = self.count(|became| matches!(became, Became::Drafted { .. }));
        let verb = if self.dry_run { "would be written" } else { "written" };
        let mut parts =
            vec![format!("{drafted} draft{} {verb}, by {}", if drafted == 1 { "" } else { "s" }, self.by)];
        let mut add = |count: usize, one: &str, more: &str| {
            if count > 0 {
                parts.push(format!("{count} {}", if count == 1 { one } else { more }));
            }
        };
        if !self.replace {
            let has = self.count(|became| matches!(became, Became::HasRubric));
            add(has, "case has a rubric", "cases have a rubric");
        }
        let nothing = self.count(|became| matches!(became, Became::NoOutcome));
        add(nothing, "case expects nothing in words", "cases expect nothing in words");
        add(self.left_alone(), "case was left alone", "cases were left alone");
        let unreached = self.count(|became| matches!(became, Became::NotReached));
        add(unreached, "case was not reached", "cases were not reached");
        output::print(&format!("{}\n", parts.join("; ")));
        if let Some(refusal) = over_budget.filter(|_| unreached > 0) {
            output::warn(
                &format!("{refusal}; the same command goes on with the cases that lack a rubric"),
                context,
            );
        }
        let findings: usize = self
            .outcomes
            .iter()
            .map(|outcome| match &outcome.result {
                Became::Drafted { findings, .. } => findings.len(),
                _ => 0,
            })
            .sum();
        if drafted > 0 && !self.dry_run && !args.quiet {
            let lint = if findings > 0 {
                format!("; `assize lint` has {findings} things to say about them")
            } else {
                String::new()
            };
            output::say(&format!("drafts are marked `Draft by`: read and correct them{lint}\n"));
        }
    }

    fn to_json(&self, by: &str, over_budget: bool) -> Value {
        let cases: Vec<Value> = self
            .outcomes
            .iter()
            .map(|outcome| {
                let mut row = json!({"file": outcome.path.display().to_string(), "line": outcome.line, "case_id": outcome.id});
                match &outcome.result {
                    Became::Drafted { criteria, findings, calls, recalled } => {
                        row["result"] = json!("drafted");
                        row["criteria"] = json!(criteria);
                        row["findings"] = json!(findings);
                        row["calls"] = json!(calls);
                        row["calls_cached"] = json!(recalled);
                    }
                    Became::HasRubric => row["result"] = json!("has_rubric"),
                    Became::NoOutcome => row["result"] = json!("no_expected_outcome"),
                    Became::NotReached => row["result"] = json!("not_reached"),
                    Became::LeftAlone(reason) => {
                        row["result"] = json!("left_alone");
                        row["reason"] = json!(reason);
                    }
                }
                row
            })
            .collect();
        let diff = |sheet: &Sheet| {
            let name = sheet.file.path().display().to_string();
            unified_diff(&sheet.original, sheet.file.text(), &name)
        };
        json!({
            "drafted": self.count(|became| matches!(became, Became::Drafted { .. })),
            "left_alone": self.left_alone(),
            "drafter": by,
            "prompt_version": PROMPT_VERSION,
            "prompt_hash": prompt_hash(),
            "ranges": self.ranges,
            "dry_run": self.dry_run,
            "diff": self.files.iter().filter(|_| self.dry_run).map(diff).collect::<String>(),
            "cases": cases,
            "exit_code": self.exit(over_budget).code(),
        })
    }
}

/// Writes an edited file, unless it was changed on disk meanwhile.
fn store(sheet: &mut Sheet) -> Result<(), String> {
    let path = sheet.file.path();
    let on_disk = std::fs::read_to_string(path).map_err(|error| format!("can't be read: {error}"))?;
    if on_disk != sheet.written {
        return Err(
            "the file was changed meanwhile; start again, drafts that were paid for are in the cache"
                .to_owned(),
        );
    }
    replace(path, sheet.file.text())?;
    sheet.file.text().clone_into(&mut sheet.written);
    Ok(())
}
