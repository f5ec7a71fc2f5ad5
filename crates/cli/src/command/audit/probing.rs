//! `assize audit order`, `length` and `self`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use assize_audit::length::{LengthFacts, edits, length_report};
use assize_audit::order::order_report;
use assize_audit::self_preference::{Families, SelfFacts, self_report};
use assize_audit::{AuditReport, Variant, choose, compare, length, order, variants_of};
use assize_report::{probing, probing_json};
use assize_rubric::{Judging, TOLERANCE};
use assize_run::WorkItem;
use assize_store::{Counts, RunFolder, RunInfo};
use serde_json::Value;

use super::refuse;
use crate::args::{EvalArgs, LengthArgs, OrderArgs, ProbingArgs, RunArgs, SelfArgs};
use crate::command::eval::execute_as;
use crate::command::session::{stored, summary_json};
use crate::command::shape::{Finished, Items, Shape};
use crate::context::Context;
use crate::exit::{Ending, Exit, of_run};
use crate::output;

/// Prefix of run settings that hold model families from the command line: `family NAME`.
const FAMILY: &str = "family ";

/// Kind of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Order,
    Length,
    OwnFamily,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Order, Self::Length, Self::OwnFamily];

    /// The command's name, which also identifies a stored audit.
    const fn command(self) -> &'static str {
        match self {
            Self::Order => "audit order",
            Self::Length => "audit length",
            Self::OwnFamily => "audit self",
        }
    }

    /// The kind of a stored audit; `None` for other runs.
    pub(super) fn of(info: &RunInfo) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.command() == info.command)
    }
}

/// An audit with its settings.
struct Probing {
    kind: Kind,
    permutations: usize,
    families: BTreeMap<String, String>,
    repeats: u32,
    max_cases: Option<usize>,
    seed: u64,
    limit: Option<f64>,
}

impl Probing {
    fn new(kind: Kind, args: &ProbingArgs, limit: Option<f64>) -> Self {
        Self {
            kind,
            permutations: 0,
            families: BTreeMap::new(),
            repeats: args.repeats,
            max_cases: args.max_cases.map(NonZeroUsize::get),
            seed: args.seed,
            limit,
        }
    }

    fn run(&self, args: &EvalArgs, context: &Context) -> Result<Exit, String> {
        refuse(&args.run)?;
        execute_as(self, args, context)
    }

    fn variants(&self, item: &WorkItem) -> Vec<Variant> {
        match self.kind {
            Kind::Order => order::variants(item, self.permutations, self.seed),
            Kind::Length => length::variants(item, &edits()),
            Kind::OwnFamily => Vec::new(),
        }
    }

    /// Replaces an item of a plain run by its variants; empty if there is nothing to measure.
    fn of_item(&self, item: &WorkItem) -> Vec<WorkItem> {
        let variants = self.variants(item);
        if self.kind == Kind::Order && variants.is_empty() {
            return Vec::new();
        }
        variants_of(item, self.repeats, &variants).unwrap_or_default()
    }
}

pub(super) fn order(args: &OrderArgs, context: &Context) -> Result<Exit, String> {
    let mut eval = args.eval.clone();
    match eval.run.judging {
        Some(Judging::PerCriterion) => {
            return Err("criteria that are put to the judge one by one have no order: leave out \
                        `--judging per-criterion`"
                .to_owned());
        }
        Some(Judging::Batched(_)) => {}
        None => eval.run.judging = Some(Judging::Batched(None)),
    }
    let limit = args.max_flip_rate.map(assize_rubric::Unit::get);
    Probing { permutations: args.permutations, ..Probing::new(Kind::Order, &args.probing, limit) }
        .run(&eval, context)
}

pub(super) fn length(args: &LengthArgs, context: &Context) -> Result<Exit, String> {
    Probing::new(Kind::Length, &args.probing, args.max_shift.map(assize_rubric::Unit::get))
        .run(&args.eval, context)
}

pub(super) fn own_family(args: &SelfArgs, context: &Context) -> Result<Exit, String> {
    let mut families = BTreeMap::new();
    for (name, family) in &args.family {
        if families.insert(name.clone(), family.clone()).is_some_and(|known| known != *family) {
            return Err(format!("`--family` says two families of `{name}`"));
        }
    }
    let limit = args.max_preference.map(assize_rubric::Unit::get);
    Probing { families, ..Probing::new(Kind::OwnFamily, &args.probing, limit) }.run(&args.eval, context)
}

impl Shape for Probing {
    fn command(&self) -> &'static str {
        self.kind.command()
    }

    fn items<'i>(&'i self, items: Items<'i>, count: usize) -> Items<'i> {
        let mut places =
            choose(count, self.max_cases.unwrap_or(usize::MAX), self.seed).into_iter().peekable();
        let taken = items.enumerate().filter(move |(at, _)| places.next_if_eq(at).is_some());
        Box::new(taken.flat_map(|(_, item)| match item {
            Err(error) => vec![Err(error)],
            Ok(item) => self.of_item(&item).into_iter().map(Ok).collect(),
        }))
    }

    fn total(&self, _: usize, mut items: Items<'_>) -> Result<usize, String> {
        match (items.try_fold(0, |sum, item| item.map(|_| sum + 1))?, self.kind) {
            (0, Kind::Order) => Err("no rubric has two criteria, so there is no order to change".to_owned()),
            (0, _) => Err("no case has a rubric, so there are no criteria to audit".to_owned()),
            (total, _) => Ok(total),
        }
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let mut settings: BTreeMap<String, String> =
            self.families.iter().map(|(name, family)| (format!("{FAMILY}{name}"), family.clone())).collect();
        settings.insert("repeats".to_owned(), self.repeats.to_string());
        settings.insert("seed".to_owned(), self.seed.to_string());
        if self.kind == Kind::Order {
            settings.insert("permutations".to_owned(), self.permutations.to_string());
        }
        if let Some(cases) = self.max_cases {
            settings.insert("max_cases".to_owned(), cases.to_string());
        }
        settings
    }

    fn exit(&self, folder: &RunFolder, _: Counts, ending: Ending) -> (Exit, String) {
        let found = folder
            .info()
            .map_err(|error| error.to_string())
            .and_then(|info| report(self.kind, folder, &info));
        match found {
            Ok(report) => conclusion(&report, self.limit, ending),
            Err(message) => (Exit::Incomplete, message),
        }
    }

    fn show(&self, run: &Finished<'_>, args: &RunArgs, context: &Context) -> Result<(), String> {
        print(&report(self.kind, run.folder, run.info)?, run.info, run.folder, args.json, context);
        Ok(())
    }
}

/// Computes the report of a stored audit.
pub(super) fn report(kind: Kind, folder: &RunFolder, info: &RunInfo) -> Result<AuditReport, String> {
    match kind {
        Kind::Order => Ok(order_report(&compare(stored(folder)?)?)),
        Kind::Length => {
            let mut facts = LengthFacts::default();
            let seen = stored(folder)?.inspect(|record| {
                if let Ok(record) = record {
                    facts.add(record);
                }
            });
            let compared = compare(seen)?;
            Ok(length_report(&compared, &facts))
        }
        Kind::OwnFamily => {
            let said = info
                .settings
                .other
                .iter()
                .filter_map(|(key, family)| Some((key.strip_prefix(FAMILY)?.to_owned(), family.clone())));
            let families = Families::new(said.collect(), &info.targets);
            let mut facts = SelfFacts::default();
            for record in stored(folder)? {
                facts.add(&record?, &families);
            }
            Ok(self_report(&facts))
        }
    }
}

/// Exit code of an audit and its reason; the verdicts of cases are not considered.
pub(super) fn conclusion(report: &AuditReport, limit: Option<f64>, ending: Ending) -> (Exit, String) {
    let (exit, reason) = of_run(Counts::default(), ending);
    let mut found = Vec::new();
    if exit != Exit::Passed {
        found.push((exit, reason));
    }
    match (limit, &report.worst) {
        (Some(limit), Some((value, of))) if *value > limit + TOLERANCE => {
            found.push((Exit::Failed, format!("{of}: {value:.3}, more than {limit}")));
        }
        (Some(_), None) => found.push((Exit::Incomplete, "nothing was measured".to_owned())),
        _ => {}
    }
    if report.is_incomplete() {
        found.push((Exit::Incomplete, "incomplete".to_owned()));
    }
    if found.is_empty() {
        return (Exit::Passed, "audited".to_owned());
    }
    let reasons: Vec<&str> = found.iter().map(|(_, reason)| reason.as_str()).collect();
    (Exit::strongest(found.iter().map(|(exit, _)| *exit)), reasons.join(", "))
}

/// Prints a report.
pub(super) fn print(report: &AuditReport, info: &RunInfo, folder: &RunFolder, json: bool, context: &Context) {
    if json {
        let mut value = summary_json(info, folder.path());
        if let Value::Object(members) = &mut value {
            // Scores of manipulated answers are meaningless.
            for unrelated in ["counts", "mean_score", "figures"] {
                members.remove(unrelated);
            }
            members.insert("audit".to_owned(), probing_json(report));
        }
        output::print_json(&value);
        return;
    }
    output::print(&probing(report, context.stdout));
    super::print_footer(info, folder);
}
