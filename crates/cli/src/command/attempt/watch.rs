//! Trying again whenever a file is saved: only what changed is judged and shown.
//!
//! Files are looked at four times a second rather than subscribed to: that works on every file system, network shares and
//! containers included, and through the rename by which editors save.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use assize_engine::{AttemptCase, AttemptOutcome, Exit, LoadedAttempt};
use assize_evalfile::{Case, Grader, GraderKind, RubricGrader};
use assize_report::{criterion_change, stored_texts};
use assize_rubric::{Criterion, Rubric};
use assize_store::{CaseRecord, CriterionRow};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Attempts;
use crate::args::TryArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;

/// How often files are looked at. A change counts when it looks the same twice, so half-written files are let be.
const LOOK: Duration = Duration::from_millis(250);

/// What files hold; `None` for one that can't be read, as between the two steps of a save.
type Contents = Vec<(PathBuf, Option<Vec<u8>>)>;

/// A grader and a criterion of it.
type Name = (String, String);

/// A decision, and all it rests on.
struct Known {
    rests_on: String,
    row: CriterionRow,
}

/// Tries, and tries again after every change, until interrupted.
pub(super) async fn watch(attempts: &Attempts<'_>) -> Result<Exit, Failure> {
    let Attempts { subject, judge, engine, args, cancel, context } = attempts;
    let mut known = BTreeMap::new();
    let mut first = true;
    let mut files = Vec::new();
    loop {
        // Taken before the load, so that a change during it is seen; what the load names anew is taken after it.
        let before = contents(&files, context);
        let loaded = subject.load(judge.load_options(), engine);
        files.clone_from(&loaded.files);
        let seen = earlier_of(before, contents(&files, context));
        loaded.report(args.quiet, engine);

        match round(&loaded, &mut known, attempts).await {
            Ok(Round::Done) => {}
            Ok(Round::Ended(exit)) => return Ok(exit),
            // What is wrong with files may be put right; what is wrong with the command may not.
            Err(failure) if loaded.attempt.is_ok() && first => return Err(failure),
            Err(failure) => output::complain(&failure.message, context),
        }
        if first && !args.quiet {
            output::say("watching; interrupt to end\n");
        }
        first = false;
        if !changed(seen, cancel, context).await {
            return Ok(Exit::Passed);
        }
    }
}

enum Round {
    Done,
    Ended(Exit),
}

async fn round(
    loaded: &LoadedAttempt,
    known: &mut BTreeMap<Name, Known>,
    attempts: &Attempts<'_>,
) -> Result<Round, Failure> {
    let Attempts { judge, args, cancel, context, .. } = attempts;
    let attempt = loaded.attempt.as_ref().map_err(Clone::clone)?;
    let bases = bases(&attempt.case);
    forget(known, &bases, args);
    let open = |name: &Name| known.get(name).map(|known| &known.rests_on) != bases.get(name);
    let Some(case) = reduced(&attempt.case, &open) else { return Ok(Round::Done) };

    let reduced = AttemptCase { suite: attempt.suite.clone(), case: Arc::new(case) };
    judge.check(&reduced)?;
    let record = match judge.judge(&reduced, cancel).await? {
        AttemptOutcome::Judged(record) => record,
        AttemptOutcome::Interrupted => return Ok(Round::Ended(Exit::Passed)),
        AttemptOutcome::OverBudget(why) => {
            output::complain(&why, context);
            return Ok(Round::Ended(Exit::OverBudget));
        }
    };
    if let Some(error) = &record.result.error {
        return Err(format!("{}: {}", error.stage, error.message).into());
    }

    take(&record, &bases, known, args, context);
    Ok(Round::Done)
}

/// Forgets criteria that are gone, and says so.
fn forget(known: &mut BTreeMap<Name, Known>, bases: &BTreeMap<Name, String>, args: &TryArgs) {
    let gone: Vec<Name> = known.keys().filter(|name| !bases.contains_key(*name)).cloned().collect();
    for name in gone {
        known.remove(&name);
        if args.json {
            output::print(&format!(
                "{}\n",
                json!({ "grader": name.0, "criterion": name.1, "removed": true })
            ));
        } else if !args.quiet {
            output::say(&format!("{} is gone\n", assize_report::safe(&name.1)));
        }
    }
}

/// Shows and remembers what was judged anew.
fn take(
    record: &CaseRecord,
    bases: &BTreeMap<Name, String>,
    known: &mut BTreeMap<Name, Known>,
    args: &TryArgs,
    context: &Context,
) {
    let texts = stored_texts(&record.judgements);
    for grader in &record.result.graders {
        for row in &grader.criteria {
            let name = (grader.name.clone(), row.id.to_string());
            let Some(basis) = bases.get(&name) else { continue };
            let earlier = known.get(&name);
            if earlier.is_some_and(|known| known.rests_on == *basis) {
                continue;
            }
            let before = earlier.map(|known| &known.row);
            let text = texts(&name.0, &name.1);
            if args.json {
                let line = json!({
                    "grader": name.0, "criterion": name.1, "text": text, "before": before, "after": row,
                });
                output::print(&format!("{line}\n"));
            } else {
                output::print(&criterion_change(before, row, text.as_deref(), context.stdout));
            }
            // What could not be judged is asked again at the next change of any file.
            let rests_on = if row.outcome == "ungraded" { String::new() } else { basis.clone() };
            known.insert(name, Known { rests_on, row: row.clone() });
        }
    }
}

/// What each decision rests on: the criterion, how it is put to the judge, and all the judge is shown.
fn bases(case: &Case) -> BTreeMap<Name, String> {
    let shown = format!(
        "{:?}\n{:?}\n{:?}\n{:?}",
        case.output, case.input, case.expected_output, case.expected_outcome
    );
    let mut bases = BTreeMap::new();
    for (grader, rubric) in rubrics(case) {
        let RubricGrader { judging, evidence, truncate, judge, panel, .. } = rubric;
        for criterion in rubric.rubric.criteria() {
            let basis =
                format!("{criterion:?}\n{judging:?} {evidence:?} {truncate:?} {judge:?} {panel:?}\n{shown}");
            bases.insert((grader.name.clone(), criterion.id.as_str().to_owned()), basis);
        }
    }
    bases
}

fn rubrics(case: &Case) -> impl Iterator<Item = (&Grader, &RubricGrader)> {
    case.graders.iter().filter_map(|grader| match &grader.kind {
        GraderKind::Rubric(rubric) => Some((&**grader, rubric)),
        _ => None,
    })
}

/// The case with the open criteria only; `None` if none is open.
fn reduced(case: &Case, open: &dyn Fn(&Name) -> bool) -> Option<Case> {
    let mut graders = Vec::new();
    for (grader, rubric) in rubrics(case) {
        let is_open = |criterion: &Criterion| open(&(grader.name.clone(), criterion.id.as_str().to_owned()));
        let wanted: Vec<Criterion> =
            rubric.rubric.criteria().iter().filter(|criterion| is_open(criterion)).cloned().collect();
        if wanted.is_empty() {
            continue;
        }
        // Some criteria, such as penalties alone, make no rubric: then all of it is judged again.
        let rubric = match Rubric::new(wanted) {
            Ok(less) => RubricGrader {
                rubric: Arc::new(less),
                places: Vec::new(),
                marks: Vec::new(),
                ..rubric.clone()
            },
            Err(_) => rubric.clone(),
        };
        graders.push(Arc::new(Grader { kind: GraderKind::Rubric(rubric), ..grader.clone() }));
    }
    (!graders.is_empty()).then(|| Case { graders, ..case.clone() })
}

fn contents(files: &[PathBuf], context: &Context) -> Contents {
    let read = |path: &PathBuf| std::fs::read(context.process.working_folder.join(path)).ok();
    files.iter().map(|path| (path.clone(), read(path))).collect()
}

/// What `after` holds, as it was `before` where that is known.
fn earlier_of(before: Contents, after: Contents) -> Contents {
    after
        .into_iter()
        .map(|(path, now)| before.iter().find(|(known, _)| *known == path).cloned().unwrap_or((path, now)))
        .collect()
}

/// Waits until a file is another than it was and has settled; false when interrupted.
async fn changed(seen: Contents, cancel: &CancellationToken, context: &Context) -> bool {
    let files: Vec<PathBuf> = seen.iter().map(|(path, _)| path.clone()).collect();
    let mut last = seen.clone();
    loop {
        tokio::select! {
            () = cancel.cancelled() => return false,
            () = tokio::time::sleep(LOOK) => {}
        }
        let now = contents(&files, context);
        if now == last && now != seen {
            return true;
        }
        last = now;
    }
}
