//! Weights, gates and thresholds that `compare --rescore` scores runs with.

use assize_engine::{case_scorings, runs, stored_records};
use assize_run::{CaseScoring, CaseScorings};

use crate::args::RescoreSource;
use crate::context::CliContext;
use crate::failure::CommandFailure;

/// Scorings of cases, and their source.
pub(super) struct SharedScoring {
    pub(super) cases: CaseScorings,
    pub(super) source: String,
}

/// Reads the scorings from the eval file or from the run.
pub(super) fn find(
    from: &RescoreSource,
    run: &str,
    context: &CliContext,
) -> Result<SharedScoring, CommandFailure> {
    let RescoreSource::EvalFile(file) = from else { return of_run(run, context) };
    let cases = case_scorings(&context.engine(false), file)?;
    if cases.is_empty() {
        return Err(format!("{}: there are no valid cases to take weights from", file.display()).into());
    }

    Ok(SharedScoring { cases, source: format!("`{}`", file.display()) })
}

fn of_run(name: &str, context: &CliContext) -> Result<SharedScoring, CommandFailure> {
    let (folder, part) = runs::find_answers(name, &context.process)?;
    let mut cases = CaseScorings::default();
    for record in stored_records(&folder)? {
        let record = record?;
        let meant = part.takes(&record.result);
        if let Some(scoring) = CaseScoring::from_record(&record).filter(|_| meant) {
            cases.add(record.result.suite, record.result.case_id, scoring);
        }
    }

    Ok(SharedScoring { cases, source: format!("`{name}`") })
}
