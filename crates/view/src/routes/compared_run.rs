//! Compared runs, read as facts.

use std::borrow::Borrow;
use std::sync::Arc;

use assize_analysis::matrix::MatrixColumn;
use assize_analysis::{CaseFact, NameTable, RunFacts};
use assize_engine::read_together;
use assize_store::{RowsFile, RunInfo};

use super::compare_choice::ComparisonChoice;
use super::{PageError, run_url};
use crate::library::RunLibrary;
use crate::open_run::OpenRun;
use crate::page_work::PageWork;
use crate::pages::RunLink;
use crate::text::{minute, visible};

fn target_names(info: &RunInfo) -> Vec<String> {
    info.targets.iter().map(|target| target.name.clone()).collect()
}

/// A run in a comparison, or the answers of one of its targets or to one of its prompts.
pub(super) struct ComparedSide {
    /// Its name as the user gave it: the name of the run, or `RUN@PROMPT`, `RUN@TARGET` or `RUN@PROMPT@TARGET`.
    pub(super) name: String,
    pub(super) run: Arc<OpenRun>,
    pub(super) info: Arc<RunInfo>,
    pub(super) column: MatrixColumn,
}

impl ComparedSide {
    pub(super) fn open(library: &RunLibrary, name: &str) -> Result<Self, PageError> {
        let missing = || PageError::missing(format!("There is no run `{name}` here."));
        if let Some(run) = library.open(name) {
            let info = library.info(run.folder())?;
            return Ok(Self { name: name.to_owned(), run, info, column: MatrixColumn::default() });
        }

        // Names of runs, prompts and targets may all have an `@`.
        for (at, _) in name.match_indices('@') {
            let Some(run) = library.open(&name[..at]) else { continue };
            let info = library.info(run.folder())?;
            let (prompts, targets) = (run.index()?.prompts(), target_names(&info));
            if let Some(column) = MatrixColumn::find(&name[at + 1..], &prompts, &targets) {
                return Ok(Self { name: name.to_owned(), run, info, column });
            }
        }
        Err(missing())
    }

    /// The columns of a run: one for each of its prompts and targets.
    pub(super) fn columns_of(library: &RunLibrary, slug: &str) -> Result<Vec<Self>, PageError> {
        let whole = Self::open(library, slug)?;
        let columns = MatrixColumn::of_run(&whole.run.index()?.prompts(), &target_names(&whole.info));
        let named = columns.into_iter().map(|column| Self {
            name: column.name().map_or_else(|| slug.to_owned(), |name| format!("{slug}@{name}")),
            run: Arc::clone(&whole.run),
            info: Arc::clone(&whole.info),
            column,
        });
        Ok(named.collect())
    }

    /// Reads the parts of the rows that metrics need. `work` counts the bytes read.
    pub(super) fn facts(
        &self,
        names: &mut NameTable,
        choice: &ComparisonChoice,
        work: &PageWork,
    ) -> Result<RunFacts, PageError> {
        let mut cases = Vec::new();
        let mut records = self.run.folder().cases()?;
        let mut read = 0;
        while let Some(record) = records.next() {
            let record = record?;
            let position = records.position().result;
            work.add(position - read);
            read = position;
            let Some(record) = self.column.record(record) else { continue };
            let row = &record.result;
            let is_of_suite = choice.suite.as_deref().is_none_or(|suite| *row.suite == *suite);
            let has_tag = choice.tag.as_ref().is_none_or(|tag| row.tags.contains(tag));
            if is_of_suite && has_tag && !row.is_later_attempt() {
                cases.push(CaseFact::from_record(&record, names));
            }
        }

        let facts = RunFacts::new(self.name.clone(), cases, names);
        Ok(facts.map_err(|error| PageError::refused(error.to_string()))?.of_run(&self.info))
    }

    /// Reads the facts of several runs at the same time.
    pub(super) fn facts_of(
        sides: &[impl Borrow<Self> + Sync],
        choice: &ComparisonChoice,
        work: &PageWork,
    ) -> Result<(Vec<RunFacts>, NameTable), PageError> {
        let reads = read_together(sides, |side| {
            let mut names = NameTable::default();
            side.borrow().facts(&mut names, choice, work).map(|facts| (facts, names))
        });

        let mut names = NameTable::default();
        let mut found = Vec::with_capacity(sides.len());
        for read in reads {
            let (mut facts, own) = read?;
            facts.renumber(&names.absorb(&own));
            found.push(facts);
        }
        Ok((found, names))
    }

    /// Bytes of the rows that [`facts`](Self::facts) reads.
    pub(super) fn length(&self) -> u64 {
        self.run.folder().rows_length(RowsFile::Results)
    }

    pub(super) fn link(&self) -> RunLink {
        let suites = super::run_header::suite_names(&self.info);
        RunLink {
            url: run_url(self.run.slug()),
            name: visible(&self.name),
            detail: format!("{suites}, {}", minute(&self.info.started_at)),
        }
    }
}
