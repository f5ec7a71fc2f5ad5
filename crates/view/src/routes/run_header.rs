//! Head of every page about a run.

use assize_analysis::brief_result;
use assize_store::{RunInfo, RunSummary};

use crate::library::{LibraryRun, RunLibrary};
use crate::open_run::OpenRun;
use crate::page_reply::{PageError, matrix_url, run_url};
use crate::pages::RunHeader;
use crate::text::{ResultMark, minute, visible};

/// Head of a page about a run.
pub(super) fn run_header(run: &OpenRun, info: &RunInfo, tab: &'static str) -> RunHeader {
    RunHeader {
        slug: visible(&run.slug),
        url: run_url(&run.slug),
        suites: suite_names(info),
        when: minute(&info.started_at),
        command: visible(&info.command),
        result: run_result(info, is_live(run, info)),
        has_scorecard: info.scorecard.is_some(),
        matrix_url: if info.targets.len() > 1 || run.has_prompts() {
            matrix_url(std::slice::from_ref(&run.slug))
        } else {
            String::new()
        },
        is_audit: info.command.starts_with("audit "),
        tab,
    }
}

/// Names of the targets of a run, if it has several, or else of its prompts.
pub(super) fn part_names(info: &RunInfo) -> impl Iterator<Item = &str> {
    let targets = info.targets.iter().map(|target| target.name.as_str()).filter(|_| info.targets.len() > 1);
    let figures = info.summary.iter().filter_map(|summary| summary.figures.as_ref());
    let prompts = figures.flat_map(|figures| &figures.prompts).map(|one| one.prompt.as_str());
    targets.chain(prompts.filter(|_| info.targets.len() <= 1))
}

/// Returns true if the run is still running.
pub(super) fn is_live(run: &OpenRun, info: &RunInfo) -> bool {
    info.finished_at.is_none() && run.folder.is_being_written()
}

/// What a run is called: its suites, the file with the answers, and its label.
pub(super) fn suite_names(info: &RunInfo) -> String {
    visible(&info.title())
}

/// Result of a run, from its exit code.
pub(super) fn run_result(info: &RunInfo, is_live: bool) -> ResultMark {
    if is_live && info.summary.is_none() {
        return ResultMark::new("running", "▶", "running");
    }
    ResultMark::of_run(info.summary.as_ref().map(|summary| summary.exit_code), &brief_result(info))
}

/// Summary of a run: the stored one, or one computed from the rows written so far.
pub(super) fn summary_of(run: &OpenRun, info: &RunInfo) -> Result<RunSummary, PageError> {
    match &info.summary {
        Some(summary) => Ok(summary.clone()),
        None => Ok(run.current_summary()?),
    }
}

/// The previous run of the same suites with the same judges.
pub(super) fn earlier_run(library: &RunLibrary, slug: &str, info: &RunInfo) -> Option<LibraryRun> {
    let same = |run: &LibraryRun| run.info.as_ref().is_ok_and(|other| is_comparable(other, info));
    library.list().into_iter().skip_while(|run| run.slug != slug).skip(1).find(same)
}

/// Returns true if two runs have the same suites and judges.
pub(super) fn is_comparable(one: &RunInfo, other: &RunInfo) -> bool {
    let suites = |info: &RunInfo| info.suites.iter().map(|suite| suite.name.clone()).collect::<Vec<_>>();
    let judges = |info: &RunInfo| info.judges.iter().map(|judge| judge.identity.clone()).collect::<Vec<_>>();
    suites(one) == suites(other) && judges(one) == judges(other)
}
