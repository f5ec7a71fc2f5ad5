//! Trying again whenever a file is saved: only what changed is judged and shown.
//!
//! Files are looked at four times a second rather than subscribed to: that works on every file system, network shares and
//! containers included, and through the rename by which editors save.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use assize_engine::{AttemptCase, ExitStatus, LoadedAttempt, TryOutcome};
use assize_evalfile::{Case, Grader, GraderKind, RubricGrader};
use assize_report::{render_criterion_change, stored_texts};
use assize_rubric::{Criterion, IdentityWriter, OutcomeKind, Rubric};
use assize_store::{CaseRecord, CriterionRow};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::attempts::Attempts;
use crate::args::TryArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Interval between two looks at the files. A change counts when it looks the same twice, so half-written files are let be.
const LOOK: Duration = Duration::from_millis(250);

/// Contents of files; `None` for one that can't be read, as between the two steps of a save.
type FileContents = Vec<(PathBuf, Option<Vec<u8>>)>;

/// A grader and a criterion of it.
type CriterionName = (String, String);

/// A decision, and all it rests on.
struct PreviousResult {
    rests_on: IdentityWriter,
    row: CriterionRow,
}

/// Tries, and tries again after every change, until interrupted.
pub(super) async fn watch(attempts: &Attempts<'_>) -> Result<ExitStatus, CommandFailure> {
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
            Ok(WatchRound::Done) => {}
            Ok(WatchRound::Ended(exit)) => return Ok(exit),
            // What is wrong with files may be put right; what is wrong with the command may not.
            Err(failure) if loaded.attempt.is_ok() && first => return Err(failure),
            Err(failure) => output::print_error(&failure.message, context),
        }

        if first && !args.quiet {
            output::print_message("watching; interrupt to end\n");
        }

        first = false;

        if !changed(seen, cancel, context).await {
            return Ok(ExitStatus::Passed);
        }
    }
}

enum WatchRound {
    Done,
    Ended(ExitStatus),
}

async fn round(
    loaded: &LoadedAttempt,
    known: &mut BTreeMap<CriterionName, PreviousResult>,
    attempts: &Attempts<'_>,
) -> Result<WatchRound, CommandFailure> {
    let Attempts { judge, args, cancel, context, .. } = attempts;
    let attempt = loaded.attempt.as_ref().map_err(Clone::clone)?;
    let bases = bases(&attempt.case);
    forget(known, &bases, args);

    let open = |name: &CriterionName| known.get(name).map(|known| &known.rests_on) != bases.get(name);
    let Some(case) = reduced(&attempt.case, &open) else { return Ok(WatchRound::Done) };

    let reduced = AttemptCase { suite: attempt.suite.clone(), case: Arc::new(case) };
    judge.check(&reduced)?;

    let record = match judge.judge(&reduced, cancel).await? {
        TryOutcome::Judged(record) => record,
        TryOutcome::Interrupted => return Ok(WatchRound::Ended(ExitStatus::Passed)),
        TryOutcome::OverBudget(why) => {
            output::print_error(&why, context);
            return Ok(WatchRound::Ended(ExitStatus::OverBudget));
        }
    };
    if let Some(error) = &record.result.error {
        return Err(format!("{}: {}", error.stage.name(), error.message).into());
    }

    take(&record, &bases, known, args, context);
    Ok(WatchRound::Done)
}

/// Forgets criteria that are gone, and says so.
fn forget(
    known: &mut BTreeMap<CriterionName, PreviousResult>,
    bases: &BTreeMap<CriterionName, IdentityWriter>,
    args: &TryArgs,
) {
    let gone: Vec<CriterionName> = known.keys().filter(|name| !bases.contains_key(*name)).cloned().collect();
    for name in gone {
        known.remove(&name);
        if args.json {
            output::print(&format!(
                "{}\n",
                json!({ "grader": name.0, "criterion": name.1, "removed": true })
            ));
        } else if !args.quiet {
            output::print_message(&format!("{} is gone\n", assize_report::escape_unsafe(&name.1)));
        }
    }
}

/// Shows and remembers what was judged anew.
fn take(
    record: &CaseRecord,
    bases: &BTreeMap<CriterionName, IdentityWriter>,
    known: &mut BTreeMap<CriterionName, PreviousResult>,
    args: &TryArgs,
    context: &CliContext,
) {
    let texts = stored_texts(&record.decisions);
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
                output::print(&render_criterion_change(before, row, text.as_deref(), context.stdout));
            }

            // What could not be judged is asked again at the next change of any file.
            let rests_on =
                if row.outcome == OutcomeKind::Ungraded { IdentityWriter::default() } else { basis.clone() };
            known.insert(name, PreviousResult { rests_on, row: row.clone() });
        }
    }
}

/// Identity of the inputs of each decision: the criterion, its settings, and all the judge is shown.
fn bases(case: &Case) -> BTreeMap<CriterionName, IdentityWriter> {
    let mut shown = IdentityWriter::default();
    shown.field(&case.output);
    shown.field(&case.input);
    shown.field(&case.expected_output);
    shown.field(&case.expected_outcome);

    let mut bases = BTreeMap::new();
    for (grader, rubric) in rubrics(case) {
        let RubricGrader { rubric: _, places: _, marks: _, judging, evidence, truncate, judge, panel } =
            rubric;
        for criterion in rubric.rubric.criteria() {
            let mut basis = shown.clone();
            basis.field(criterion);
            basis.field(judging);
            basis.field(evidence);
            basis.field(truncate);
            basis.field(judge);
            basis.field(panel);

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
fn reduced(case: &Case, open: &dyn Fn(&CriterionName) -> bool) -> Option<Case> {
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

fn contents(files: &[PathBuf], context: &CliContext) -> FileContents {
    let read = |path: &PathBuf| std::fs::read(context.process.working_folder.join(path)).ok();
    files.iter().map(|path| (path.clone(), read(path))).collect()
}

/// Returns the contents of the files in `after`, as they were in `before` where that is known.
fn earlier_of(before: FileContents, after: FileContents) -> FileContents {
    after
        .into_iter()
        .map(|(path, now)| before.iter().find(|(known, _)| *known == path).cloned().unwrap_or((path, now)))
        .collect()
}

/// Waits until a file is another than it was and has settled; false when interrupted.
async fn changed(seen: FileContents, cancel: &CancellationToken, context: &CliContext) -> bool {
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
