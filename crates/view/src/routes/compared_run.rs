//! Compared runs, read as facts.

use std::borrow::Borrow;
use std::sync::Arc;

use assize_analysis::matrix::columns_of_run;
use assize_analysis::{AmbiguousRun, CaseFact, NameTable, RunFacts};
use assize_engine::read_together;
use assize_store::{AnswerPart, ResultRow, RowsFile, RunInfo};

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

    /// Whether a row is compared.
    fn takes(row: &ResultRow, choice: &ComparisonChoice) -> bool {
        let is_of_suite = choice.suite.as_deref().is_none_or(|suite| *row.suite == *suite);
        let has_tag = choice.tag.as_ref().is_none_or(|tag| row.tags.contains(tag));
        is_of_suite && has_tag && !row.is_later_attempt()
    }

    /// Reads the parts of the rows that metrics need: of each run once, and of several runs at the same time. `each` gets every
    /// row of a side with the position of the side, and `work` counts the bytes read.
    pub(super) fn facts_of(
        sides: &[impl Borrow<Self> + Sync],
        choice: &ComparisonChoice,
        work: &PageWork,
        each: impl Fn(usize, &ResultRow) + Sync,
    ) -> Result<(Vec<RunFacts>, NameTable), PageError> {
        let side = |at: usize| -> &Self { sides[at].borrow() };
        let mut runs: Vec<Vec<usize>> = Vec::new();
        for at in 0..sides.len() {
            match runs.iter_mut().find(|run| Arc::ptr_eq(&side(run[0]).run, &side(at).run)) {
                Some(run) => run.push(at),
                None => runs.push(vec![at]),
            }
        }
        work.begin(runs.iter().map(|run| side(run[0]).length()).sum());
        let reads = read_together(&runs, |run| {
            let mut names = NameTable::default();
            let mut cases: Vec<Vec<CaseFact>> = run.iter().map(|_| Vec::new()).collect();
            let mut records = side(run[0]).run.folder.cases()?;
            let mut read = 0;
            while let Some(record) = records.next() {
                let record = record?;
                let position = records.position().result;
                work.add(position - read);
                read = position;
                let row = &record.result;
                for (at, cases) in run.iter().zip(&mut cases) {
                    if side(*at).part.takes(row) {
                        each(*at, row);
                        if Self::takes(row, choice) {
                            cases.push(CaseFact::from_record(&record, &mut names));
                        }
                    }
                }
            }
            Ok::<_, PageError>((cases, names))
        });

        // Answers to one prompt are compared with others test by test.
        let by_test = sides.iter().any(|side| side.borrow().part.prompt.is_some());
        let refused = |error: AmbiguousRun| PageError::refused(error.to_string());
        let mut names = NameTable::default();
        let mut found: Vec<RunFacts> = sides.iter().map(|_| RunFacts::default()).collect();
        for (run, read) in runs.iter().zip(reads) {
            let (cases, own) = read?;
            let numbers = names.absorb(&own);
            for (at, cases) in run.iter().zip(cases) {
                let side = side(*at);
                let mut facts =
                    RunFacts::new(side.name.clone(), cases, &own).map_err(refused)?.of_run(&side.info);
                facts.renumber(&numbers);
                found[*at] = if by_test { facts.by_test(&names).map_err(refused)? } else { facts };
            }
        }
        Ok((found, names))
    }

    /// Bytes of the rows that [`facts_of`](Self::facts_of) reads.
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
