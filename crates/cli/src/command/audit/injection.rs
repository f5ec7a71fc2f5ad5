//! `assize audit injection`.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use assize_audit::injection::{InjectionReport, Place, Probe, probes};
use assize_audit::{Variant, choose, compare, variants_of};
use assize_report::injection_audit;
use assize_rubric::{TOLERANCE, Unit};
use assize_run::WorkItem;
use assize_store::{Counts, RunFolder, RunInfo};
use serde_json::Value;

use super::refuse;
use crate::args::{InjectionArgs, RunArgs};
use crate::command::eval::execute_as;
use crate::command::session::{stored, summary_json};
use crate::command::shape::{Finished, Items, Shape};
use crate::context::Context;
use crate::exit::{Ending, Exit, of_run};
use crate::output;

/// The command's name, which also identifies a stored audit.
pub(super) const COMMAND: &str = "audit injection";

pub(super) fn execute(args: &InjectionArgs, context: &Context) -> Result<Exit, String> {
    refuse(&args.eval.run)?;
    let injection = Injection {
        probes: chosen(&args.probes)?,
        places: args.place.iter().copied().collect(),
        repeats: args.repeats,
        max_cases: args.max_cases.map(NonZeroUsize::get),
        seed: args.seed,
        max_flip_rate: args.max_flip_rate,
    };
    execute_as(&injection, &args.eval, context)
}

/// The named probes in the order of the list; all of them if none is named.
fn chosen(names: &[String]) -> Result<Vec<Probe>, String> {
    let all = probes();
    for name in names {
        if !all.iter().any(|probe| probe.name == *name) {
            let known = all.iter().map(|probe| probe.name.as_str());
            let hint = match assize_diagnostic::did_you_mean(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`assize audit probes` lists them".to_owned(),
            };
            return Err(format!("there is no probe `{name}`; {hint}"));
        }
    }
    Ok(all.into_iter().filter(|probe| names.is_empty() || names.contains(&probe.name)).collect())
}

struct Injection {
    probes: Vec<Probe>,
    places: BTreeSet<Place>,
    repeats: u32,
    max_cases: Option<usize>,
    seed: u64,
    max_flip_rate: Option<Unit>,
}

impl Injection {
    fn variants(&self, item: &WorkItem) -> Vec<Variant> {
        self.probes
            .iter()
            .flat_map(|probe| {
                let own = BTreeSet::from([probe.place]);
                let places = if self.places.is_empty() { &own } else { &self.places };
                places.iter().map(|&place| probe.variant(place, &item.case)).collect::<Vec<_>>()
            })
            .collect()
    }
}

impl Shape for Injection {
    fn command(&self) -> &'static str {
        COMMAND
    }

    fn items<'i>(&'i self, items: Items<'i>, count: usize) -> Items<'i> {
        let mut places =
            choose(count, self.max_cases.unwrap_or(usize::MAX), self.seed).into_iter().peekable();
        let taken = items.enumerate().filter(move |(at, _)| places.next_if_eq(at).is_some());
        Box::new(taken.flat_map(|(_, item)| match item {
            Err(error) => vec![Err(error)],
            Ok(item) => {
                let variants = variants_of(&item, self.repeats, &self.variants(&item));
                variants.into_iter().flatten().map(Ok).collect()
            }
        }))
    }

    fn total(&self, _: usize, mut items: Items<'_>) -> Result<usize, String> {
        match items.try_fold(0, |sum, item| item.map(|_| sum + 1))? {
            0 => Err("no case has a rubric, so there are no criteria to audit".to_owned()),
            total => Ok(total),
        }
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let list = |names: Vec<&str>| names.join(",");
        let mut settings = BTreeMap::from([
            ("probes".to_owned(), list(self.probes.iter().map(|probe| probe.name.as_str()).collect())),
            ("places".to_owned(), list(self.places.iter().map(|place| place.name()).collect())),
            ("repeats".to_owned(), self.repeats.to_string()),
            ("seed".to_owned(), self.seed.to_string()),
        ]);
        if let Some(cases) = self.max_cases {
            settings.insert("max_cases".to_owned(), cases.to_string());
        }
        settings
    }

    fn exit(&self, folder: &RunFolder, _: Counts, ending: Ending) -> (Exit, String) {
        match report(folder) {
            Ok(report) => conclusion(&report, self.max_flip_rate, ending),
            Err(message) => (Exit::Incomplete, message),
        }
    }

    fn show(&self, run: &Finished<'_>, args: &RunArgs, context: &Context) -> Result<(), String> {
        print(&report(run.folder)?, run.info, run.folder, args.json, context);
        Ok(())
    }
}

/// Computes the report of a stored audit.
pub(super) fn report(folder: &RunFolder) -> Result<InjectionReport, String> {
    Ok(InjectionReport::new(&compare(stored(folder)?)?, &probes()))
}

/// Exit code of an audit and its reason; the verdicts of cases are not considered.
pub(super) fn conclusion(report: &InjectionReport, limit: Option<Unit>, ending: Ending) -> (Exit, String) {
    let (exit, reason) = of_run(Counts::default(), ending);
    let mut found = Vec::new();
    if exit != Exit::Passed {
        found.push((exit, reason));
    }
    let won = report.success_rate();
    if let Some(limit) = limit.map(Unit::get) {
        match won.rate {
            Some(rate) if rate > limit + TOLERANCE => found.push((
                Exit::Failed,
                format!("attacks won {} of {} decisions, more than {limit}", won.count, won.n),
            )),
            Some(_) => {}
            None => found.push((Exit::Incomplete, "no decision could be won".to_owned())),
        }
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
pub(super) fn print(
    report: &InjectionReport,
    info: &RunInfo,
    folder: &RunFolder,
    json: bool,
    context: &Context,
) {
    if json {
        let mut value = summary_json(info, folder.path());
        if let Value::Object(members) = &mut value {
            // Scores of manipulated answers are meaningless.
            for unrelated in ["counts", "mean_score"] {
                members.remove(unrelated);
            }
            members.insert("audit".to_owned(), report.to_json());
        }
        output::print_json(&value);
        return;
    }
    output::print(&injection_audit(report, context.stdout));
    super::print_footer(info, folder);
}
