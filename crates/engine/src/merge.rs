//! Merges shards into the run that one process would have made of the whole plan.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use assize_analysis::{
    ExitStatus, RunEnding, RunSummarizer, ScorecardRun, ScoredCard, conclude_run, exit_of_run,
};
use assize_diagnostic::list_first;
use assize_llm::BudgetAmount;
use assize_run::{RunTotals, ShardNumber, ShardPart};
use assize_store::{
    FORMAT_VERSION, MergeInfo, MergedShard, RowMerge, RunFolder, RunInfo, RunMetrics, RunSettings,
    RunSummary, SentRequests, ShardInfo, StoreError,
};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::eval::suites_label;
use crate::labels::{LabelOptions, labelled_run};
use crate::metrics;
use crate::run_outcome::FinishedRun;
use crate::runs::{RUNS_FOLDER, find_run, run_id};
use crate::session::quote_warning;
use crate::stored_records::stored_records;

/// The most numbers of shards that a message lists; the rest is only counted.
const MAX_LISTED_SHARDS: usize = 20;

/// Settings that may differ between shards: their limit in money, when they end, and where labels are on their
/// machine.
const FREE_SETTINGS: &[&str] = &["budget_usd", "bail", "labels"];

/// Options of merging.
#[derive(Debug, Clone, Default)]
pub struct MergeOptions {
    /// Runs of the shards: folders, ids, or names.
    pub runs: Vec<String>,
    /// Folder of the merged run; by default one in the runs folder.
    pub run_dir: Option<PathBuf>,
    /// Name of the merged run in lists and reports; by default the first shard's.
    pub label: Option<String>,
    /// The job whose workers ran the shards; `None` if they were run separately.
    pub job: Option<MergedJob>,
    /// True if the runs are the results that a job has stored so far.
    pub stored_job: bool,
    /// Merges the existing shards even if some are missing or were stopped. In that case the result is incomplete.
    pub allow_missing: bool,
}

/// Facts about a job that are not in its results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedJob {
    /// Id of the job, and of the merged run.
    pub id: String,
    /// True if its budget stopped it.
    pub over_budget: bool,
    /// Requests for units that have no result.
    pub unfinished: SentRequests,
    /// The part of its budget that counts as spent; 0 for amounts without a limit.
    pub spent: BudgetAmount,
}

impl MergedJob {
    /// Requests of the whole job. `known` are the requests of its results.
    fn sent(&self, known: SentRequests) -> SentRequests {
        let mut sent = known.plus(self.unfinished);
        // Killed workers had leased a part of the budget. How much they spent is unknown.
        sent.given_up = sent.given_up.max(self.spent.calls.saturating_sub(sent.requests));
        sent.cost_usd = sent.cost_usd.map(|cost| cost.max(self.spent.usd));
        sent
    }
}

/// A shard's run that will be merged.
struct ShardRun {
    folder: RunFolder,
    info: RunInfo,
    shard: ShardInfo,
}

impl ShardRun {
    fn path(&self) -> String {
        self.folder.path().display().to_string()
    }

    /// The shard in the record of the merged run.
    fn describe(&self) -> MergedShard {
        let summary = self.info.summary.as_ref();
        MergedShard {
            number: self.shard.number,
            part: self.shard.part.clone(),
            run_id: self.info.run_id.clone(),
            items: self.shard.items,
            started_at: self.info.started_at.clone(),
            finished_at: self.info.finished_at.clone(),
            duration_ms: summary.map(|summary| summary.duration_ms),
            exit_code: summary.map(|summary| summary.exit_code),
        }
    }

    /// The part that stays in memory.
    fn entry(&self) -> ShardEntry {
        let ending = self.info.summary.as_ref().map(|summary| ShardEnding {
            not_run: summary.not_run as u64,
            excluded: summary.excluded,
            sent: summary.sent_in_all(),
        });
        let warnings = self.info.warnings.clone();
        ShardEntry { folder: self.folder.clone(), items: self.shard.items, warnings, ending }
    }
}

/// The part of a shard that stays in memory while others are merged. There may be very many.
struct ShardEntry {
    folder: RunFolder,
    items: u64,
    warnings: Vec<String>,
    /// `None` if the run was stopped.
    ending: Option<ShardEnding>,
}

/// How a shard's run ended.
struct ShardEnding {
    not_run: u64,
    excluded: usize,
    sent: Option<SentRequests>,
}

impl ShardEntry {
    fn path(&self) -> String {
        self.folder.path().display().to_string()
    }
}

/// The shards of one plan, in the order of their numbers.
struct ShardSet {
    /// The first shard with its whole description, which applies to all.
    first: ShardRun,
    shards: Vec<ShardEntry>,
    missing: Vec<u32>,
    job: Option<MergedJob>,
}

impl Engine {
    /// Merges the runs of shards into the run of their plan.
    ///
    /// # Errors
    /// When the runs are not the shards of one plan, when some are missing, or when files can't be read or written.
    pub fn merge(&self, options: &MergeOptions) -> Result<FinishedRun, EngineError> {
        let begun = Instant::now();
        let (set, described) = ShardSet::read(options, self)?;
        let mut info = set.merged_info(described, self);
        info.label = options.label.clone().or(info.label);
        if let Some(job) = &options.job {
            info.run_id.clone_from(&job.id);
        }
        let folder = self.merged_folder(options, &info);

        let (rows, found) = set.find_rows(&folder)?;
        let mut writer = folder.create(&info).map_err(|error| match &error {
            StoreError::Occupied { .. } => {
                EngineError::usage(format!("{error}; name another folder with `--run-dir`"))
            }
            _ => EngineError::storage(error.to_string()),
        })?;

        let mut totals = RunTotals::beside(folder.path());
        let mut summariser = RunSummarizer::new(folder.path());
        let copied = rows.write(&mut writer, &mut |record| {
            totals.add(record);
            summariser.push(&record.result);
        });
        copied.map_err(|error| {
            let path = folder.path().display();
            EngineError::storage(format!("{error}; `{path}` is not complete: remove it and merge again"))
        })?;

        totals.needless = set.needless(&found);
        let mut figures = metrics::from_summariser(summariser, &folder, &info.suites)?;
        figures.remarks.splice(..0, set.remark());

        info.warnings.extend(quote_warning(&totals));
        info.finished_at = Some(finished_at(&info).unwrap_or_else(|| self.process().now()).to_string());
        let (exit, summary) = set.conclude(&folder, &info, &totals, figures, self, begun)?;
        info.summary = Some(summary);
        writer.finish(&mut info)?;

        Ok(FinishedRun { folder, info, totals, exit })
    }

    /// Reads an earlier finished run from its folder. `None` if it has no summary.
    ///
    /// # Errors
    /// If its files can't be read.
    pub fn finished_run(&self, folder: RunFolder) -> Result<Option<FinishedRun>, EngineError> {
        let info = folder.info()?;
        let Some(summary) = &info.summary else { return Ok(None) };
        let Some(exit) = ExitStatus::from_code(summary.exit_code) else { return Ok(None) };
        let mut totals = RunTotals::default();
        for record in stored_records(&folder)? {
            totals.add(&record?);
        }

        Ok(Some(FinishedRun { folder, info, totals, exit }))
    }

    fn merged_folder(&self, options: &MergeOptions, info: &RunInfo) -> RunFolder {
        let folder = options.run_dir.clone().unwrap_or_else(|| Path::new(RUNS_FOLDER).join(&info.run_id));
        RunFolder::new(self.process().resolve(folder))
    }
}

impl ShardSet {
    /// Reads the descriptions of the runs, and refuses runs that don't belong together. Also returns the
    /// record of each for the merged run.
    fn read(options: &MergeOptions, engine: &Engine) -> Result<(Self, Vec<MergedShard>), EngineError> {
        let mut shards: BTreeMap<(u32, ShardPart), (ShardEntry, MergedShard)> = BTreeMap::new();
        let mut first: Option<((u32, ShardPart), ShardRun)> = None;
        for name in &options.runs {
            let run = read_shard(name, options.allow_missing, engine)?;
            let part = part_of(&run.shard)?;
            let number = run.shard.number;
            let same = shards.range((number, ShardPart::default())..(number + 1, ShardPart::default()));
            let mut same = same.filter(|((_, other), _)| part.is_within(other) || other.is_within(&part));
            let twice = same.next();
            if let Some((_, (other, _))) = twice {
                return Err(EngineError::usage(format!(
                    "`{}` and `{}` are both shard {} of {}; name each shard once",
                    other.path(),
                    run.path(),
                    run.shard.number,
                    run.shard.count
                )));
            }

            let key = (number, part);
            let is_earlier = first.as_ref().is_none_or(|(known, _)| key < *known);
            if let Some((_, known)) = &first {
                let (one, other) = if is_earlier { (&run, known) } else { (known, &run) };
                if let Some(difference) = difference(one, other) {
                    return Err(EngineError::usage(format!(
                        "`{}` and `{}` are not shards of the same plan: {difference}",
                        one.path(),
                        other.path()
                    )));
                }
            }
            shards.insert(key.clone(), (run.entry(), run.describe()));
            if is_earlier {
                first = Some((key, run));
            }
        }

        let Some((_, first)) = first else {
            return Err(EngineError::usage("name the runs of the shards"));
        };
        let present: BTreeSet<(u32, ShardPart)> = shards.keys().cloned().collect();
        let (shards, described) = shards.into_values().unzip();

        let missing: Vec<u32> = (1..=first.shard.count)
            .filter(|number| !is_present(&present, *number, &ShardPart::default()))
            .collect();
        if !missing.is_empty() && !options.allow_missing {
            let (names, count) = (named_shards(&missing), first.shard.count);
            let what = match missing.as_slice() {
                [only] => format!("is missing; run it with `--shard {only}/{count}`"),
                _ => format!("are missing; run each with `--shard i/{count}`"),
            };
            if options.stored_job {
                let have = if missing.len() == 1 { "has" } else { "have" };
                return Err(EngineError::usage(format!(
                    "{names} of {count} {have} no results yet; wait for the end of the job, or merge the others with \
                     `--allow-missing`"
                )));
            }
            return Err(EngineError::usage(format!(
                "{names} of {count} {what}, or merge the others with `--allow-missing`"
            )));
        }

        Ok((Self { first, shards, missing, job: options.job.clone() }, described))
    }

    /// The description of the merged run, before its rows are known.
    fn merged_info(&self, described: Vec<MergedShard>, engine: &Engine) -> RunInfo {
        let first = &self.first;
        let started_at = described.iter().filter_map(|run| time(&run.started_at)).min();
        let now = engine.process().now();
        let label = suites_label(&first.info.suites);

        let mut warnings: Vec<String> = Vec::new();
        for warning in self.shards.iter().flat_map(|run| &run.warnings) {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }

        let shard = &first.shard;
        RunInfo {
            format_version: FORMAT_VERSION,
            run_id: run_id(now, &label),
            started_at: started_at.unwrap_or(now).to_string(),
            finished_at: None,
            warnings,
            shard: None,
            merged: Some(MergeInfo {
                count: shard.count,
                plan: shard.plan.clone(),
                shards: described,
                missing: self.missing.clone(),
                job: self.job.as_ref().map(|job| job.id.clone()),
            }),
            rows: None,
            summary: None,
            ..first.info.clone()
        }
    }

    /// Finds the rows of all shards. Also returns the number of results of each.
    fn find_rows(&self, target: &RunFolder) -> Result<(RowMerge, Vec<u64>), EngineError> {
        let mut rows = RowMerge::new(target.path());
        let mut found = Vec::with_capacity(self.shards.len());
        for run in &self.shards {
            let before = rows.len();
            rows.add(&run.folder)?;

            let results = (rows.len() - before) as u64;
            if results > run.items {
                let (path, items) = (run.path(), run.items);
                return Err(EngineError::unreadable(format!(
                    "`{path}` has {results} results, and its shard only {items} items"
                )));
            }
            found.push(results);
        }

        if let Some((place, runs)) = rows.find_duplicate()? {
            let [a, b] = runs.map(|index| self.shards[index].path());
            return Err(EngineError::unreadable(format!(
                "`{a}` and `{b}` both have result {place} of the plan"
            )));
        }

        let all = self.first.shard.plan_items;
        if rows.last_place() > all {
            let last = rows.last_place();
            return Err(EngineError::unreadable(format!(
                "there is a result {last}, and the plan has only {all} items"
            )));
        }

        Ok((rows, found))
    }

    /// The number of trials that earlier ones made needless. A shard does not store them, and does not count
    /// them as "not run".
    fn needless(&self, found: &[u64]) -> usize {
        let of_shard = |(run, found): (&ShardEntry, &u64)| {
            let not_run = run.ending.as_ref()?.not_run;
            Some(run.items.saturating_sub(found + not_run))
        };

        self.shards.iter().zip(found).filter_map(of_shard).sum::<u64>().try_into().unwrap_or(usize::MAX)
    }

    /// Remark on metrics that are based on a part of the shards.
    fn remark(&self) -> Option<String> {
        let count = self.first.shard.count;
        (!self.missing.is_empty()).then(|| {
            let are = if self.missing.len() == 1 { "is" } else { "are" };
            format!(
                "The metrics are those of a part of the plan: {} of {count} {are} missing.",
                named_shards(&self.missing)
            )
        })
    }

    /// How the shards ended, as if they were one run.
    fn ending(&self, info: &RunInfo) -> RunEnding {
        let has_code =
            |status: ExitStatus| described(info).iter().any(|run| run.exit_code == Some(status.code()));
        let endings = self.shards.iter().filter_map(|run| run.ending.as_ref());

        RunEnding {
            interrupted: has_code(ExitStatus::Interrupted),
            over_budget: has_code(ExitStatus::OverBudget)
                || self.job.as_ref().is_some_and(|job| job.over_budget),
            excluded: endings.map(|ending| ending.excluded).sum(),
            ..RunEnding::default()
        }
    }

    /// Requests of the processes that ended the shards; `None` if one of them did not count any.
    fn sent(&self) -> Option<SentRequests> {
        let mut sent = SentRequests::NONE;
        for run in &self.shards {
            sent = sent.plus(run.ending.as_ref()?.sent?);
        }

        Some(self.job.as_ref().map_or(sent, |job| job.sent(sent)))
    }

    /// The summary, with the exit code of the merged run.
    fn conclude(
        &self,
        folder: &RunFolder,
        info: &RunInfo,
        totals: &RunTotals,
        figures: RunMetrics,
        engine: &Engine,
        begun: Instant,
    ) -> Result<(ExitStatus, RunSummary), EngineError> {
        let all = usize::try_from(self.first.shard.plan_items).unwrap_or(usize::MAX);
        let not_run = all.saturating_sub(totals.counts.total() + totals.needless);
        let ending = self.ending(info);

        let counts = metrics::counts(&figures, totals.counts);
        let run = info.scorecard.as_ref().map(|_| labelled_scorecard(folder, engine)).transpose()?;
        let scored = run.as_ref().map(|run| ScoredCard::of_stored(run, &info.settings)).transpose()?;
        let (mut exit, mut reason) = match &scored {
            None => exit_of_run(counts, ending),
            Some(scored) => scored.exit_of(ending),
        };
        if not_run > 0 {
            let plain = exit == ExitStatus::Passed && info.scorecard.is_none();
            exit = ExitStatus::strongest([exit, ExitStatus::Incomplete]);

            let shards = match self.missing.as_slice() {
                [] => String::new(),
                missing => format!(" ({} missing)", named_shards(missing)),
            };
            let part = format!("{not_run} not run{shards}");
            reason = if plain { part } else { format!("{reason}, {part}") };
        }

        let result = conclude_run(info, exit, reason, not_run, run.as_ref().zip(scored.as_ref()));
        let exit = result.exit;
        let summary = RunSummary {
            not_run,
            excluded: ending.excluded,
            sent: self.sent(),
            duration_ms: described(info).iter().filter_map(|run| run.duration_ms).sum(),
            ..metrics::summary(totals, Some(figures), begun, result, None)
        };
        Ok((exit, summary))
    }
}

/// The shards in the record of a merged run.
fn described(info: &RunInfo) -> &[MergedShard] {
    info.merged.as_ref().map_or(&[], |merged| &merged.shards)
}

/// When the last shard ended; `None` if one was stopped.
fn finished_at(info: &RunInfo) -> Option<jiff::Timestamp> {
    let ended: Option<Vec<jiff::Timestamp>> =
        described(info).iter().map(|run| time(run.finished_at.as_deref()?)).collect();

    ended?.into_iter().max()
}

/// The part of a shard that a run covers.
fn part_of(shard: &ShardInfo) -> Result<ShardPart, EngineError> {
    let part = shard.part.as_deref().unwrap_or_default();
    part.parse().map_err(|error| EngineError::unreadable(format!("`part` is `{part}`: {error}")))
}

/// Whether this part of a shard is among the runs, completely or in smaller parts.
fn is_present(runs: &BTreeSet<(u32, ShardPart)>, number: u32, part: &ShardPart) -> bool {
    if runs.contains(&(number, part.clone())) {
        return true;
    }

    // Smaller parts of a part follow right after it.
    let next = runs.range((number, part.clone())..).next();
    let has_smaller = next.is_some_and(|(other, smaller)| *other == number && smaller.is_within(part));
    has_smaller && part.halves().iter().all(|half| is_present(runs, number, half))
}

/// Reads the description of a shard's run, and refuses runs that can't be merged.
fn read_shard(name: &str, allow_missing: bool, engine: &Engine) -> Result<ShardRun, EngineError> {
    let folder = find_run(name, engine.process())?;
    let info = folder.info()?;
    let path = folder.path().display();

    let Some(shard) = info.shard.clone() else {
        let what = if info.merged.is_some() {
            "is a merged run; name the shards it was merged from"
        } else {
            "is a whole run, not a shard; `--shard i/n` runs a shard"
        };
        return Err(EngineError::usage(format!("`{path}` {what}")));
    };
    let ShardInfo { number, count, .. } = &shard;
    if ShardNumber::new(*number, *count).is_err() {
        return Err(EngineError::unreadable(format!(
            "`{path}` is damaged: there is no shard {number} of {count}"
        )));
    }
    if info.command == "score" {
        return Err(EngineError::usage(format!(
            "`{path}` was rescored; merge the shards first, then use `assize score`"
        )));
    }
    if folder.is_being_written() {
        return Err(EngineError::usage(format!("`{path}` is still being written; wait until it has ended")));
    }
    if info.summary.is_none() && !allow_missing {
        return Err(EngineError::usage(format!(
            "shard {} (`{path}`) was stopped before it ended; continue it with `--resume`, or merge what is there with `--allow-missing`",
            shard.number
        )));
    }

    Ok(ShardRun { folder, info, shard })
}

/// The first difference between two shards that should belong to the same plan.
fn difference(first: &ShardRun, other: &ShardRun) -> Option<String> {
    let aspect = |what: &str, one: &str, two: &str| (one != two).then(|| format!("{what} {one} and {two}"));
    let judges = |run: &ShardRun| {
        let names: Vec<String> =
            run.info.judges.iter().map(|judge| judge.identity.name.to_string()).collect();
        names.join(", ")
    };
    let targets = |run: &ShardRun| {
        let names: Vec<&str> = run.info.targets.iter().map(|target| target.name.as_str()).collect();
        names.join(", ")
    };
    let (a, b) = (&first.info, &other.info);

    aspect("they were run by", &a.assize_version, &b.assize_version)
        .or_else(|| aspect("their commands are", &a.command, &b.command))
        .or_else(|| {
            aspect(
                "their numbers of shards are",
                &first.shard.count.to_string(),
                &other.shard.count.to_string(),
            )
        })
        .or_else(|| setting_difference(&a.settings, &b.settings))
        .or_else(|| aspect("their judges are", &judges(first), &judges(other)))
        .or_else(|| aspect("their targets are", &targets(first), &targets(other)))
        .or_else(|| (a.judges != b.judges).then(|| "their judges differ in their settings".to_owned()))
        .or_else(|| (a.targets != b.targets).then(|| "their targets differ in their settings".to_owned()))
        .or_else(|| file_difference(a, b))
        .or_else(|| {
            let is_same =
                first.shard.plan == other.shard.plan && first.shard.plan_items == other.shard.plan_items;
            (!is_same).then(|| "their cases, graders or thresholds differ".to_owned())
        })
}

/// The first setting that differs between two shards and affects results.
fn setting_difference(a: &RunSettings, b: &RunSettings) -> Option<String> {
    let shown =
        |value: Option<String>| value.filter(|value| !value.is_empty()).unwrap_or_else(|| "none".to_owned());
    let plain = [
        ("--threshold", a.threshold.map(|line| line.to_string()), b.threshold.map(|line| line.to_string())),
        (
            "--borderline",
            a.borderline.map(|line| line.to_string()),
            b.borderline.map(|line| line.to_string()),
        ),
        ("--judging", Some(a.judging.clone()), Some(b.judging.clone())),
        ("--filter", Some(a.filter.join(", ")), Some(b.filter.join(", "))),
        ("--tag", Some(a.tags.join(", ")), Some(b.tags.join(", "))),
        ("--keep-going", Some(a.keep_going.to_string()), Some(b.keep_going.to_string())),
    ];
    let found = plain.into_iter().find(|(_, one, two)| one != two);
    if let Some((name, one, two)) = found {
        return Some(format!("`{name}` is {} and {}", shown(one), shown(two)));
    }

    let keys = a.other.keys().chain(b.other.keys()).filter(|key| !FREE_SETTINGS.contains(&key.as_str()));
    let mut differing = keys.filter(|key| a.other.get(*key) != b.other.get(*key));
    differing.next().map(|key| {
        let (one, two) = (a.other.get(key).cloned(), b.other.get(key).cloned());
        format!("the setting `{key}` is {} and {}", shown(one), shown(two))
    })
}

/// The name of the first file that two shards read with different contents.
fn file_difference(a: &RunInfo, b: &RunInfo) -> Option<String> {
    let name = |path: &str| Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    if a.inputs.len() != b.inputs.len() {
        return None;
    }

    let changed = a.inputs.iter().zip(&b.inputs).find(|(one, two)| one.blake3 != two.blake3)?;
    (name(&changed.0.path) == name(&changed.1.path))
        .then(|| format!("`{}` had other contents", changed.0.path))
}

/// The merged run of a scorecard with its current labels.
fn labelled_scorecard(folder: &RunFolder, engine: &Engine) -> Result<ScorecardRun, EngineError> {
    let labelled = labelled_run(folder, &LabelOptions::default(), engine.process())?;
    if let Some(warning) = labelled.warning {
        engine.warn(warning);
    }

    Ok(labelled.run)
}

/// `shard 2`, `shards 2, 3, 5`.
fn named_shards(numbers: &[u32]) -> String {
    match numbers {
        [only] => format!("shard {only}"),
        _ => format!("shards {}", list_first(numbers, MAX_LISTED_SHARDS)),
    }
}

fn time(text: &str) -> Option<jiff::Timestamp> {
    text.parse().ok()
}
