//! Judges an answer again whenever a file is saved. Only changes are judged and reported.
//!
//! Files are polled four times a second instead of watched. Polling works on every file system, including
//! network shares and containers, and with editors that save by renaming.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assize_analysis::ExitStatus;
use assize_files::MAX_FILE_BYTES;
use assize_model::{Case, Grader, GraderKind, RubricGrader};
use assize_rubric::{Criterion, IdentityWriter, OutcomeKind, Rubric};
use assize_store::{CaseRecord, CriterionRow};
use tokio_util::sync::CancellationToken;

use crate::attempt::{AttemptJudge, TryOutcome};
use crate::attempt_material::{AttemptCase, AttemptSubject, LoadedAttempt};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::EngineEvent;

/// Event while an answer is judged repeatedly.
#[derive(Debug)]
pub enum WatchEvent<'a> {
    /// The first round is over. From now on files are watched.
    Watching,
    /// A criterion is no longer in the files.
    Removed {
        /// Grader of the criterion.
        grader: &'a str,
        /// Its id.
        criterion: &'a str,
    },
    /// A criterion was judged, for the first time or again.
    Judged {
        /// Grader of the criterion.
        grader: &'a str,
        /// The previous decision.
        before: Option<&'a CriterionRow>,
        /// The new decision.
        after: &'a CriterionRow,
        /// Record of the whole case.
        record: &'a CaseRecord,
    },
}

/// How often files are checked. A change counts once two checks see the same content, so half-written files are
/// ignored.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Contents of files; `None` for one that can't be read, such as between the two steps of a save.
type FileContents = Vec<(PathBuf, Option<Vec<u8>>)>;

/// A grader and one of its criteria.
type CriterionName = (String, String);

/// A decision and everything that it depends on.
struct PreviousResult {
    rests_on: IdentityWriter,
    row: CriterionRow,
}

/// An answer that is judged again after every change, with the latest decisions.
pub struct AttemptWatch<'w> {
    engine: &'w Engine,
    subject: &'w AttemptSubject,
    judge: &'w AttemptJudge<'w>,
    quiet: bool,
    cancel: &'w CancellationToken,
    observe: &'w dyn Fn(WatchEvent<'_>),
    known: BTreeMap<CriterionName, PreviousResult>,
}

impl<'w> AttemptWatch<'w> {
    /// Creates a watch that has judged nothing yet. With `quiet`, warnings about files are not reported.
    pub fn new(
        engine: &'w Engine,
        subject: &'w AttemptSubject,
        judge: &'w AttemptJudge<'w>,
        quiet: bool,
        cancel: &'w CancellationToken,
        observe: &'w dyn Fn(WatchEvent<'_>),
    ) -> Self {
        Self { engine, subject, judge, quiet, cancel, observe, known: BTreeMap::new() }
    }

    /// Judges now and after every change, until cancelled.
    ///
    /// # Errors
    /// If the first round fails for a reason that is not in the files.
    pub async fn run(mut self) -> Result<ExitStatus, EngineError> {
        let mut first = true;
        let mut files = Vec::new();
        loop {
            // Read before the load, so that a change during it is noticed. Files that only the load reveals are
            // read after it.
            let before = self.contents(&files);
            let loaded = self.subject.load(self.judge.load_options(), self.engine);
            files.clone_from(&loaded.files);

            let seen = earlier_of(before, self.contents(&files));
            loaded.report(self.quiet, self.engine);

            match self.round(&loaded).await {
                Ok(None) => {}
                Ok(Some(exit)) => return Ok(exit),
                // Errors in files may get fixed while this runs; an error in the command can't.
                Err(error) if loaded.attempt.is_ok() && first => return Err(error),
                Err(error) => self.engine.emit(EngineEvent::Failure(error.message)),
            }

            if first {
                (self.observe)(WatchEvent::Watching);
            }

            first = false;

            if !self.changed(seen).await {
                return Ok(ExitStatus::Passed);
            }
        }
    }

    /// Judges changed criteria. Returns an exit status if the watch should end.
    async fn round(&mut self, loaded: &LoadedAttempt) -> Result<Option<ExitStatus>, EngineError> {
        let attempt = loaded.attempt.as_ref().map_err(Clone::clone)?;
        let bases = bases(&attempt.case);
        self.forget(&bases);

        let open =
            |name: &CriterionName| self.known.get(name).map(|known| &known.rests_on) != bases.get(name);
        let Some(case) = reduced(&attempt.case, &open) else { return Ok(None) };

        let reduced = AttemptCase { suite: attempt.suite.clone(), case: Arc::new(case) };
        self.judge.check(&reduced)?;

        let record = match self.judge.judge(&reduced, self.cancel).await? {
            TryOutcome::Judged(record) => record,
            TryOutcome::Interrupted => return Ok(Some(ExitStatus::Passed)),
            TryOutcome::Stopped(stop) => {
                self.engine.emit(EngineEvent::Failure(stop.reason().to_owned()));
                return Ok(Some(stop.exit()));
            }
        };
        if let Some(error) = &record.result.error {
            return Err(EngineError::unrunnable(format!("{}: {}", error.stage.name(), error.message)));
        }

        self.take(&record, &bases);
        Ok(None)
    }

    /// Drops criteria that no longer exist, and reports that.
    fn forget(&mut self, bases: &BTreeMap<CriterionName, IdentityWriter>) {
        self.known.retain(|name, _| {
            let is_there = bases.contains_key(name);
            if !is_there {
                (self.observe)(WatchEvent::Removed { grader: &name.0, criterion: &name.1 });
            }

            is_there
        });
    }

    /// Reports and stores new decisions.
    fn take(&mut self, record: &CaseRecord, bases: &BTreeMap<CriterionName, IdentityWriter>) {
        for grader in &record.result.graders {
            for row in &grader.criteria {
                let name = (grader.name.clone(), row.id.to_string());
                let Some(basis) = bases.get(&name) else { continue };
                let earlier = self.known.get(&name);
                if earlier.is_some_and(|known| known.rests_on == *basis) {
                    continue;
                }

                let before = earlier.map(|known| &known.row);
                (self.observe)(WatchEvent::Judged { grader: &name.0, before, after: row, record });

                // A criterion that could not be judged is tried again at the next change of any file.
                let rests_on = if row.outcome == OutcomeKind::Ungraded {
                    IdentityWriter::default()
                } else {
                    basis.clone()
                };
                self.known.insert(name, PreviousResult { rests_on, row: row.clone() });
            }
        }
    }

    fn contents(&self, files: &[PathBuf]) -> FileContents {
        let folder = &self.engine.process().working_folder;
        let read = |path: &Path| assize_files::read_bytes(&folder.join(path), MAX_FILE_BYTES).ok();
        files.iter().map(|path| (path.clone(), read(path))).collect()
    }

    /// Waits until a file has changed and settled. Returns false when cancelled.
    async fn changed(&self, seen: FileContents) -> bool {
        let files: Vec<PathBuf> = seen.iter().map(|(path, _)| path.clone()).collect();
        let mut last = seen.clone();
        loop {
            tokio::select! {
                () = self.cancel.cancelled() => return false,
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
            let now = self.contents(&files);
            if now == last && now != seen {
                return true;
            }

            last = now;
        }
    }
}

/// The identity of the inputs of each decision: the criterion, its settings, and the whole material of the judge.
fn bases(case: &Case) -> BTreeMap<CriterionName, IdentityWriter> {
    let mut shown = IdentityWriter::default();
    shown.field(&case.output);
    shown.field(&case.input);
    shown.field(&case.expected_output);
    shown.field(&case.expected_outcome);

    let mut bases = BTreeMap::new();
    for (grader, rubric) in rubrics(case) {
        let RubricGrader {
            rubric: _,
            places: _,
            marks: _,
            instructions,
            judging,
            evidence,
            truncate,
            judge,
            panel,
        } = rubric;
        for criterion in rubric.rubric.criteria() {
            let mut basis = shown.clone();
            basis.field(criterion);
            basis.field(&instructions.as_deref());
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

/// The case reduced to the open criteria; `None` if there are none.
fn reduced(case: &Case, open: &dyn Fn(&CriterionName) -> bool) -> Option<Case> {
    let mut graders = Vec::new();
    for (grader, rubric) in rubrics(case) {
        let is_open = |criterion: &Criterion| open(&(grader.name.clone(), criterion.id.as_str().to_owned()));
        let wanted: Vec<Criterion> =
            rubric.rubric.criteria().iter().filter(|criterion| is_open(criterion)).cloned().collect();
        if wanted.is_empty() {
            continue;
        }

        // Some criteria alone make no valid rubric, such as penalties. Then the whole rubric is judged again.
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

/// The contents of the files in `after`, taken from `before` if they are known there.
fn earlier_of(before: FileContents, after: FileContents) -> FileContents {
    after
        .into_iter()
        .map(|(path, now)| before.iter().find(|(known, _)| *known == path).cloned().unwrap_or((path, now)))
        .collect()
}
