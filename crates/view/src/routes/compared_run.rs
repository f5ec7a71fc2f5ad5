//! Compared runs, read as facts.

use std::borrow::Borrow;
use std::sync::Arc;

use assize_analysis::matrix::columns_of_run;
use assize_analysis::{CaseFact, NameTable, RunFacts};
use assize_engine::read_together;
use assize_store::{AnswerPart, RowsFile, RunInfo};

use super::compare_choice::ComparisonChoice;
use super::run_header::{is_live, run_result, suite_names};
use crate::library::RunLibrary;
use crate::open_run::OpenRun;
use crate::page_reply::{PageError, run_url};
use crate::page_work::PageWork;
use crate::pages::RunLink;
use crate::text::{minute, visible};

fn target_names(info: &RunInfo) -> Vec<String> {
    info.targets.iter().map(|target| target.name.clone()).collect()
}

/// A run in a comparison, or a part of its answers.
pub(super) struct ComparedSide {
    /// Its name as the user gave it: the name of the run, `RUN@TARGET`, `RUN@PROMPT` or `RUN@TARGET@PROMPT`.
    pub(super) name: String,
    pub(super) run: Arc<OpenRun>,
    pub(super) info: Arc<RunInfo>,
    pub(super) part: AnswerPart,
}

impl ComparedSide {
    pub(super) fn open(library: &RunLibrary, name: &str) -> Result<Self, PageError> {
        let whole = library.open(name).map(|run| (run, ""));
        let part = |(at, _)| Some((library.open(&name[..at])?, &name[at + 1..]));
        let (run, wanted) = whole
            .or_else(|| name.rmatch_indices('@').find_map(part))
            .ok_or_else(|| PageError::missing(format!("There is no run `{name}` here.")))?;
        let part = match wanted {
            "" => AnswerPart::default(),
            _ => run
                .folder
                .answer_names()?
                .find(wanted)
                .map_err(|why| PageError::missing(format!("The run `{}` {why}.", run.slug)))?,
        };
        let info = library.info(&run.folder)?;

        Ok(Self { name: name.to_owned(), run, info, part })
    }

    /// The columns of a run: one for each of its prompts and targets.
    pub(super) fn columns_of(library: &RunLibrary, slug: &str) -> Result<Vec<Self>, PageError> {
        let whole = Self::open(library, slug)?;
        let columns = columns_of_run(&whole.run.index()?.prompts(), &target_names(&whole.info));
        let named = columns.into_iter().map(|part| Self {
            name: format!("{slug}{part}"),
            run: Arc::clone(&whole.run),
            info: Arc::clone(&whole.info),
            part,
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
        let mut records = self.run.folder.cases()?;
        let mut read = 0;
        while let Some(record) = records.next() {
            let record = record?;
            let position = records.position().result;
            work.add(position - read);
            read = position;
            let row = &record.result;
            let is_of_suite = choice.suite.as_deref().is_none_or(|suite| *row.suite == *suite);
            let has_tag = choice.tag.as_ref().is_none_or(|tag| row.tags.contains(tag));
            if self.part.takes(row) && is_of_suite && has_tag && !row.is_later_attempt() {
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
        // Answers to one prompt are compared with others test by test.
        let by_test = sides.iter().any(|side| side.borrow().part.prompt.is_some());
        let reads = read_together(sides, |side| {
            let mut names = NameTable::default();
            side.borrow().facts(&mut names, choice, work).map(|facts| (facts, names))
        });

        let mut names = NameTable::default();
        let mut found = Vec::with_capacity(sides.len());
        for read in reads {
            let (mut facts, own) = read?;
            facts.renumber(&names.absorb(&own));
            let facts = if by_test { facts.by_test(&names) } else { Ok(facts) };
            found.push(facts.map_err(|error| PageError::refused(error.to_string()))?);
        }
        Ok((found, names))
    }

    /// Bytes of the rows that [`facts`](Self::facts) reads.
    pub(super) fn length(&self) -> u64 {
        self.run.folder.rows_length(RowsFile::Results)
    }

    pub(super) fn link(&self) -> RunLink {
        let suites = suite_names(&self.info);
        RunLink {
            url: run_url(&self.run.slug),
            name: visible(&self.name),
            detail: format!("{suites}, {}", minute(&self.info.started_at)),
            result: run_result(&self.info, is_live(&self.run, &self.info)),
        }
    }
}
