//! A stored run in the form that reports need: limited to a target or prompt, with people's labels and a matching
//! summary.

use std::time::Instant;

use assize_analysis::{
    ExitStatus, RunEnding, RunResult, ScorecardRun, ScoredCard, conclude_run, exit_with_pass_rate,
};
use assize_rubric::UnitInterval;
use assize_run::{RunTotals, score_record};
use assize_store::{AnswerPart, CaseRecord, PassRateGate, RunFolder, RunInfo, RunSummary, VerdictCounts};

use crate::criterion_places::CriterionPlaces;
use crate::error::EngineError;
use crate::labels::{LabelOptions, LabelledRun, labelled_run};
use crate::process::ProcessContext;
use crate::stored_records::stored_records;
use crate::{metrics, runs};

/// A stored run, with information that is not in its rows.
#[derive(Debug)]
pub struct ReportMaterial {
    /// Folder of the run.
    pub folder: RunFolder,
    /// Description of the run; its summary covers the selected cases.
    pub info: RunInfo,
    /// Target or prompt to which the answers are limited.
    pub part: AnswerPart,
    /// The scorecard run, with people's labels.
    pub card: Option<ScorecardRun>,
    /// Why labels are not counted.
    pub warning: Option<String>,
    labels: Option<assize_analysis::LabelSet>,
    places: CriterionPlaces,
}

impl ReportMaterial {
    /// Finds a run by its name, with `@TARGET` or `@PROMPT` for the answers of a target or to a prompt.
    ///
    /// # Errors
    /// If there is no such run, or it can't be read.
    pub fn find(name: &str, labels: &LabelOptions, process: &ProcessContext) -> Result<Self, EngineError> {
        let (folder, part) = runs::find_answers(name, process)?;
        Self::read(folder, part, labels, process)
    }

    /// Reads a run whose folder is known.
    ///
    /// # Errors
    /// If the run can't be read.
    pub fn read(
        folder: RunFolder,
        part: AnswerPart,
        labels: &LabelOptions,
        process: &ProcessContext,
    ) -> Result<Self, EngineError> {
        let info = folder.info()?;
        let places = CriterionPlaces::new(&info, folder.path(), process);
        let mut material = Self { folder, info, part, card: None, warning: None, labels: None, places };

        if material.info.scorecard.is_some() {
            let LabelledRun { info, run, labels, warning } = labelled_run(&material.folder, labels, process)?;
            material.info.settings = info.settings;
            material.labels = labels;
            material.card = Some(run);
            material.warning = warning;
        }

        if !material.part.is_whole() || material.labels.is_some() || material.info.summary.is_none() {
            material.info.summary = Some(material.summarize()?);
        }

        Ok(material)
    }

    /// Applies people's labels to the decisions of a case that wait for them.
    pub fn prepare(&self, record: &mut CaseRecord) {
        let Some((labels, card)) = self.labels.as_ref().zip(self.card.as_ref()) else { return };

        labels.apply(record, &card.info);
        record.result = score_record(&record.result, &record.decisions);
    }

    /// File and line of a criterion, if the files of the run are unchanged; or else of its grader, or else the
    /// beginning of its file.
    pub fn criterion_place(
        &self,
        suite: &str,
        grader: &str,
        criterion: &str,
        text: &str,
    ) -> Option<(String, usize)> {
        self.places.find(suite, grader, criterion, text)
    }

    /// The selected cases.
    fn records(&self) -> Result<impl Iterator<Item = Result<CaseRecord, EngineError>>, EngineError> {
        let is_meant = |record: &CaseRecord| self.part.takes(&record.result);
        let records = stored_records(&self.folder)?;

        Ok(records.filter(move |record| record.as_ref().map_or(true, is_meant)).map(|record| {
            let mut record = record?;
            self.prepare(&mut record);
            Ok(record)
        }))
    }

    /// The summary of the selected cases, as a run would end with it. What the whole run cost is kept.
    fn summarize(&self) -> Result<RunSummary, EngineError> {
        let mut totals = RunTotals::default();
        for record in self.records()? {
            totals.add(&record?);
        }
        let figures =
            metrics::from_rows(&self.info.suites, || Ok(self.records()?.map(|record| Ok(record?.result))))?;
        let early_stop = self.info.summary.as_ref().and_then(|summary| summary.early_stop.clone());
        let (gate, result) = self.conclude(metrics::counts(&figures, totals.counts))?;
        let summary = metrics::summary(&totals, Some(figures), Instant::now(), result, early_stop);
        let summary = RunSummary { pass_rate_gate: gate, ..summary };
        let stored = self.info.summary.as_ref();
        // An audit or comparison is not concluded from the rows of one target.
        if let Some(stored) = stored.filter(|_| self.info.is_measurement()) {
            let stored = stored.clone();
            return Ok(RunSummary {
                exit_code: stored.exit_code,
                exit_reason: stored.exit_reason,
                conclusion: stored.conclusion,
                ..summary
            });
        }

        Ok(RunSummary {
            not_run: stored.map_or(0, |stored| stored.not_run),
            excluded: stored.map_or(0, |stored| stored.excluded),
            duration_ms: stored.map_or(0, |stored| stored.duration_ms),
            sent: stored.and_then(|stored| stored.sent),
            resumed: stored.and_then(|stored| stored.resumed),
            ..summary
        })
    }

    /// The exit code for the cases or the scorecard, and for missing cases.
    fn conclude(&self, counts: VerdictCounts) -> Result<(Option<PassRateGate>, RunResult), EngineError> {
        let stored = self.info.summary.as_ref();
        let not_run = stored.map_or(0, |stored| stored.not_run);
        let minimum = stored.and_then(|stored| UnitInterval::new(stored.pass_rate_gate?.minimum).ok());
        let mut gate = None;
        // An unfinished run and cases that were not reached are added below.
        let ending = RunEnding { not_run: 0, unfinished: false, ..RunEnding::of_stored(&self.info) };
        let (mut exits, mut reasons) = (Vec::new(), Vec::new());
        let card = self.card.as_ref().filter(|_| !self.info.is_measurement());
        let scored = card.map(|card| ScoredCard::of_stored(card, &self.info.settings)).transpose()?;
        match &scored {
            _ if self.info.is_measurement() => {}
            Some(scored) => {
                let (exit, reason) = scored.exit_of(ending);
                exits.push(exit);
                reasons.push(reason);
            }
            None => {
                let ending = if minimum.is_some() { RunEnding { not_run, ..ending } } else { ending };
                let (found, exit, reason) = exit_with_pass_rate(counts, ending, minimum);
                gate = found;
                exits.push(exit);
                reasons.push(reason);
            }
        }

        let mut missing = Vec::new();
        if self.info.finished_at.is_none() {
            missing.push("the run did not end".to_owned());
        }
        if not_run > 0 && gate.is_none() {
            missing.push(format!("{not_run} not run"));
        }
        if !missing.is_empty() {
            if exits == [ExitStatus::Passed] {
                reasons.clear();
            }
            exits.push(ExitStatus::Incomplete);
            reasons.extend(missing);
        }

        let (exit, reason) = (ExitStatus::strongest(exits), reasons.join(", "));
        Ok((gate, conclude_run(&self.info, exit, reason, not_run, card.zip(scored.as_ref()))))
    }
}

/// The description of a stored run with its current conclusion. The conclusion of a scorecard run depends on people's
/// labels, and the conclusion of a killed run on its stored rows. If these can't be read, the run has a warning.
///
/// # Errors
/// If the run can't be read.
pub fn concluded_info(folder: &RunFolder, process: &ProcessContext) -> Result<RunInfo, EngineError> {
    let mut info = folder.info()?;
    let is_stopped = info.summary.is_none();
    if is_stopped && folder.is_being_written() {
        return Ok(info);
    }
    if is_stopped || info.scorecard.is_some() && info.shard.is_none() {
        match ReportMaterial::read(folder.clone(), AnswerPart::default(), &LabelOptions::default(), process) {
            Ok(material) => return Ok(material.info),
            Err(error) if is_stopped => info.warnings.push(error.message),
            Err(error) => info.warnings.push(format!("labels are not counted: {}", error.message)),
        }
        return Ok(info);
    }

    let exit = info.summary.as_ref().and_then(|summary| ExitStatus::from_code(summary.exit_code));
    if let Some((summary, exit)) = info.summary.clone().zip(exit) {
        let result = conclude_run(&info, exit, summary.exit_reason.clone(), summary.not_run, None);
        info.summary = Some(result.into_summary(summary));
    }
    Ok(info)
}
