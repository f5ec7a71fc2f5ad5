//! Runs that are compared: reads and pairs them, and refuses runs that were measured differently.

use std::collections::HashMap;
use std::sync::Arc;

use assize_analysis::compare::{
    AllowedAspects, AnytimeComparison, CaseNumbers, ComparisonAspect, ComparisonGateResult,
    ComparisonGateStatus, ComparisonOptions, ComparisonSet, Conclusion, HeadlineMetric, RunComparison,
    VerdictFlip, compare_many,
};
use assize_analysis::{CaseFact, NameTable, RunFacts, run_notes};
use assize_engine::{ExitStatus, concluded_info, read_together, runs, stored_records};
use assize_stats::{ConfidenceLevel, multiplicity::PValueAdjustment};
use assize_store::{AnswerPart, CaseRecord, RunFolder, RunInfo};
use serde_json::json;

use crate::args::{AdjustChoice, CompareArgs};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Beginning of the error about runs that were measured differently.
const NOT_COMPARABLE: &str = "these runs are not comparable, because they were not measured in the same way";

/// Most changed cases of each kind that a report explains.
const MAX_REPORTED_FLIPS: usize = 200;

/// A run in the comparison, as the user named it.
pub(super) struct ComparedRun {
    pub(super) folder: RunFolder,
    pub(super) info: RunInfo,
    pub(super) part: AnswerPart,
    pub(super) facts: RunFacts,
    /// The cases in the order in which they finished.
    pub(super) order: Vec<CaseNumbers>,
}

impl ComparedRun {
    /// Reads a run and keeps the fields of its rows that metrics need. `takes` selects the suites.
    pub(super) fn read(
        name: &str,
        names: &mut NameTable,
        takes: impl Fn(&str) -> bool,
        context: &CliContext,
    ) -> Result<Self, CommandFailure> {
        Self::read_with(name, names, |record| takes(&record.result.suite).then_some(record), context)
    }

    /// Like [`Self::read`]; `prepare` changes or excludes records before they are reduced.
    pub(super) fn read_with(
        name: &str,
        names: &mut NameTable,
        prepare: impl FnMut(CaseRecord) -> Option<CaseRecord>,
        context: &CliContext,
    ) -> Result<Self, CommandFailure> {
        let (folder, part) = runs::find_answers(name, &context.process)?;
        Self::read_rows(name, folder, part, names, prepare, context)
    }

    /// Like [`Self::read_with`], for several runs at the same time.
    pub(super) fn read_all(
        runs: &[String],
        prepare: impl Fn(CaseRecord) -> Option<CaseRecord> + Sync,
        context: &CliContext,
    ) -> Result<(Vec<Self>, NameTable), CommandFailure> {
        let mut found = Vec::with_capacity(runs.len());
        for name in runs {
            let (folder, part) = runs::find_answers(name, &context.process)?;
            found.push((name, folder, part));
        }
        let reads = read_together(&found, |(name, folder, part)| {
            let mut names = NameTable::default();
            Self::read_rows(name, folder.clone(), part.clone(), &mut names, &prepare, context)
                .map(|run| (run, names))
        });

        let mut names = NameTable::default();
        let mut all = Vec::with_capacity(found.len());
        for read in reads {
            let (mut run, own) = read?;
            let numbers = names.absorb(&own);
            run.facts.renumber(&numbers);
            for (suite, case, prompt, _) in &mut run.order {
                (*suite, *case) = (numbers[*suite as usize], numbers[*case as usize]);
                *prompt = prompt.map(|prompt| numbers[prompt as usize]);
            }
            all.push(run);
        }
        // Answers to one prompt are compared with others test by test.
        if all.iter().any(|run| run.part.prompt.is_some()) {
            all.iter_mut().try_for_each(|run| run.pair_by_test(&names))?;
        }
        Ok((all, names))
    }

    fn read_rows(
        name: &str,
        folder: RunFolder,
        part: AnswerPart,
        names: &mut NameTable,
        mut prepare: impl FnMut(CaseRecord) -> Option<CaseRecord>,
        context: &CliContext,
    ) -> Result<Self, CommandFailure> {
        let info = concluded_info(&folder, &context.process)?;
        let mut cases = Vec::new();
        for record in stored_records(&folder)? {
            let record = record?;
            if record.result.is_later_attempt() {
                continue;
            }
            if part.takes(&record.result) {
                cases.extend(prepare(record).map(|record| CaseFact::from_record(&record, names)));
            }
        }

        let order = cases.iter().map(CaseFact::numbers).collect();
        let facts =
            RunFacts::new(name.to_owned(), cases, names).map_err(|error| error.to_string())?.of_run(&info);
        Ok(Self { folder, info, part, facts, order })
    }

    /// Pairs its cases by their tests, for a comparison with answers to another prompt.
    pub(super) fn pair_by_test(&mut self, names: &NameTable) -> Result<(), CommandFailure> {
        let facts = std::mem::take(&mut self.facts);
        self.facts = facts.by_test(names).map_err(|error| error.to_string())?;
        self.order.iter_mut().for_each(|(_, _, prompt, _)| *prompt = None);
        Ok(())
    }

    /// Labels a run that was given as `last` or `last~N` by its id, because these names soon mean another run.
    pub(super) fn label_by_id(&mut self) {
        let label = &mut self.facts.label;
        let name = label.split('@').next().unwrap_or_default();
        if name == "last" || name.starts_with("last~") {
            *label = format!("{}{}", self.info.run_id, self.part);
        }
    }
}

/// Warns of everything in [`run_notes`].
pub(super) fn warn_of_missing(info: &RunInfo, label: &str, verb: &str, context: &CliContext) {
    for note in run_notes(info, verb) {
        output::print_warning(&format!("`{label}`: {note}"), context);
    }
}

/// Compares a run with a baseline, with the default methods. Differences in how they were measured cause
/// warnings and are marked in the comparison.
pub(super) fn with_baseline(
    base: &str,
    candidate: &str,
    context: &CliContext,
) -> Result<ComparisonSet, CommandFailure> {
    let runs = [base.to_owned(), candidate.to_owned()];
    let (mut read, names) = ComparedRun::read_all(&runs, Some, context)?;
    read.iter_mut().for_each(ComparedRun::label_by_id);
    let (Some(mut candidate), Some(base)) = (read.pop(), read.pop()) else {
        return Err("a run was not read".into());
    };
    warn_of_missing(&base.info, &base.facts.label, "compared", context);

    let facts = [std::mem::take(&mut candidate.facts)];
    let mut set = compare_many(&base.facts, &facts, &names, &ComparisonOptions::default());
    for found in &mut set.comparisons {
        if found.common == 0 {
            return Err(format!("`{}` and `{}` have no case in common", found.base, found.candidate).into());
        }
        look_up_reasons(found, &base, &candidate, MAX_REPORTED_FLIPS)?;
    }
    let problems = problems(&set, |_| true);
    if !problems.is_empty() {
        output::print_warning(&not_comparable(&problems), context);
    }

    Ok(set)
}

/// Exit code for the results of the gates.
pub(crate) fn exit_of_gates(results: &[ComparisonGateResult]) -> ExitStatus {
    ExitStatus::strongest(results.iter().map(|result| match result.hold {
        ComparisonGateStatus::Held => ExitStatus::Passed,
        ComparisonGateStatus::Failed => ExitStatus::Failed,
        ComparisonGateStatus::Undecided => ExitStatus::Incomplete,
        ComparisonGateStatus::Inconclusive => ExitStatus::Inconclusive,
    }))
}

pub(super) fn options(args: &CompareArgs) -> Result<ComparisonOptions, CommandFailure> {
    Ok(ComparisonOptions {
        is_stopped: false,
        level: ConfidenceLevel::new(args.level).map_err(|error| error.to_string())?,
        margin: args.margin,
        headline: args.metric,
        adjustment: match args.adjust {
            AdjustChoice::Holm => Some(PValueAdjustment::Holm),
            AdjustChoice::Bh => Some(PValueAdjustment::BenjaminiHochberg),
            AdjustChoice::None => None,
        },
        bootstrap: args.bootstrap,
        mid_p: args.mid_p,
        seed: args.seed,
        allowed: args.allow.iter().fold(AllowedAspects::NONE, |allowed, aspect| match aspect {
            Some(aspect) => allowed.with(*aspect),
            None => AllowedAspects::ALL,
        }),
    })
}

/// Refuses runs whose headline metric was measured differently, so that they are not compared by accident.
/// Other metrics that were measured differently are not compared, and the comparison names them.
pub(super) fn refuse(many: &ComparisonSet) -> Result<(), CommandFailure> {
    let is_withheld = |found: &RunComparison| found.headline_difference().call == Conclusion::NotComparable;
    let problems = problems(many, is_withheld);
    let Some(first) = many.comparisons.iter().find(|found| is_withheld(found)) else { return Ok(()) };

    let mut aspects: Vec<&str> = problems.iter().map(|(aspect, _)| aspect.name()).collect();
    aspects.sort_unstable();
    aspects.dedup();
    let mut ways = Vec::new();
    if aspects.iter().any(|name| ["rubric", "thresholds"].contains(name)) && many.rescored_with.is_none() {
        ways.push("score both alike with `--rescore`".to_owned());
    }
    let other = match first.headline {
        HeadlineMetric::Score => (&first.pass_rate, "pass-rate"),
        HeadlineMetric::PassRate => (&first.score, "score"),
    };
    if other.0.call != Conclusion::NotComparable {
        ways.push(format!("compare what is comparable with `--metric {}`", other.1));
    }
    ways.push(format!("compare them anyway with `--allow {}`", aspects.join(",")));

    Err(format!("{}\nrun one of them again, {}", not_comparable(&problems), join_ways(&ways)).into())
}

fn join_ways(ways: &[String]) -> String {
    match ways {
        [ways @ .., last] if !ways.is_empty() => format!("{}, or {last}", ways.join(", ")),
        ways => format!("or {}", ways.join("")),
    }
}

/// Says that runs can't be compared, with a line for each problem.
fn not_comparable(problems: &[(ComparisonAspect, String)]) -> String {
    problems.iter().fold(NOT_COMPARABLE.to_owned(), |text, (_, line)| text + "\n" + line)
}

/// Differences that were not allowed, each with a line about it, in the comparisons that `takes` accepts.
fn problems(many: &ComparisonSet, takes: impl Fn(&RunComparison) -> bool) -> Vec<(ComparisonAspect, String)> {
    let mut problems = Vec::new();
    for found in many.comparisons.iter().filter(|found| takes(found)) {
        for mismatch in found.mismatches.iter().filter(|mismatch| !mismatch.allowed) {
            let moved = match mismatch.moved {
                0 => String::new(),
                moved => format!(
                    "\n  ids are row numbers, and {moved} of these inputs have another one in `{}`: rows were added, removed or moved; give the rows ids (`--columns id=COLUMN`)",
                    found.candidate,
                ),
            };
            let (aspect, what) = (mismatch.aspect.name(), mismatch.describe(found.common));
            let text = format!("  `{}`, {aspect}: {what}{moved}", found.candidate);
            problems.push((mismatch.aspect, text));
        }
    }

    problems
}

/// An anytime comparison as JSON.
pub(super) fn anytime_json(candidate: &str, found: &AnytimeComparison) -> serde_json::Value {
    let mut value = json!(found);
    value["candidate"] = candidate.into();
    value
}

/// Reads both runs again for the reasons of the changed cases that are shown.
pub(super) fn look_up_reasons(
    found: &mut RunComparison,
    base: &ComparedRun,
    candidate: &ComparedRun,
    limit: usize,
) -> Result<(), CommandFailure> {
    let flips: Vec<&mut VerdictFlip> = {
        let (lost, gained) = (&mut found.regressions, &mut found.improvements);
        lost.iter_mut().take(limit).chain(gained.iter_mut().take(limit)).collect()
    };
    if flips.is_empty() {
        return Ok(());
    }

    // The cases of runs with one selected prompt are named by their tests alone.
    let by_prompt = flips.iter().any(|flip| flip.prompt.is_some());
    let mut wanted: HashMap<_, &mut VerdictFlip> = flips
        .into_iter()
        .map(|flip| {
            let prompt: Option<Arc<str>> = flip.prompt.as_deref().map(Arc::from);
            ((Arc::from(flip.suite.as_str()), Arc::from(flip.case_id.as_str()), prompt, flip.trial), flip)
        })
        .collect();
    for (part, from_candidate) in [(base, false), (candidate, true)] {
        for row in part.folder.results()? {
            let row = row?;
            if !part.part.takes(&row) {
                continue;
            }
            let prompt = row.prompt.clone().filter(|_| by_prompt);
            if let Some(flip) = wanted.get_mut(&(row.suite.clone(), row.test_id().clone(), prompt, row.trial))
            {
                flip.copy_reasons(&row, from_candidate);
            }
        }
    }

    Ok(())
}
