//! The results of all suites as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::refusals::KnownRefusals;
use super::run::SuiteResult;
use crate::output;

/// Appends a line to a text.
macro_rules! line {
    ($text:expr, $($part:tt)*) => { writeln!($text, $($part)*).expect("a string takes everything") };
}

/// Prints the results. Fails if something was refused that the page does not list, or if a run ended in an
/// unacceptable way.
pub(super) fn report(results: &[SuiteResult], refusals: &KnownRefusals) -> Result<(), String> {
    let text = &mut String::new();
    let width = results.iter().map(|result| result.name.len()).max().unwrap_or(0);
    line!(
        text,
        "{:<width$} {:>6} {:>4} {:>5} {:>5} {:>5}  graders",
        "suite",
        "loaded",
        "ran",
        "pass",
        "fail",
        "open"
    );

    for result in results {
        let count =
            |names: &[&str]| -> usize { names.iter().filter_map(|name| result.verdicts.get(*name)).sum() };
        let graders: Vec<String> =
            result.graders.iter().map(|(name, times)| format!("{name} {times}")).collect();
        line!(
            text,
            "{:<width$} {:>6} {:>4} {:>5} {:>5} {:>5}  {}",
            result.name,
            result.cases,
            result.ran(),
            count(&["pass"]),
            count(&["fail", "borderline"]),
            count(&["incomplete"]),
            graders.join(", ")
        );
    }

    let mut graders: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, times) in results.iter().flat_map(|result| &result.graders) {
        *graders.entry(name).or_default() += times;
    }

    let graders: Vec<String> = graders.iter().map(|(name, times)| format!("{name} {times}")).collect();
    line!(text, "\ngraders that decided something: {}", graders.join(", "));
    groups(text, "broke while running", results, |result| &result.broke, |_| String::new());
    groups(
        text,
        "refused",
        results,
        |result| &result.refused,
        |why| {
            if refusals.has(why) { String::new() } else { "NOT LISTED: ".to_owned() }
        },
    );

    let ran = results.iter().filter(|result| result.ran() > 0).count();
    let whole = results.iter().filter(|result| result.ran() > 0 && result.refused.is_empty()).count();
    let cases: usize = results.iter().map(SuiteResult::ran).sum();
    line!(text, "\n{} suites: {ran} ran ({whole} of them whole), {cases} runs of cases", results.len());

    let planned = results.iter().filter(|result| result.planned).count();
    line!(text, "{planned} were compared with their plans");

    let mut faults: Vec<String> = results
        .iter()
        .filter_map(|result| Some(format!("{}: {}", result.name, result.defect.as_ref()?)))
        .collect();
    let unrefusals: BTreeSet<&String> =
        results.iter().flat_map(|result| &result.refused).filter(|why| !refusals.has(why)).collect();
    faults.extend(
        unrefusals.into_iter().map(|why| format!("refused, and docs/compatibility.md has no row: {why}")),
    );

    if ran == 0 {
        faults.push("no suite ran".to_owned());
    }

    output::print(text);
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Prints messages, each with the suites that it occurred in.
fn groups(
    text: &mut String,
    title: &str,
    results: &[SuiteResult],
    messages: impl Fn(&SuiteResult) -> &BTreeSet<String>,
    mark: impl Fn(&str) -> String,
) {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for result in results {
        for message in messages(result) {
            groups.entry(message).or_default().push(&result.name);
        }
    }

    if groups.is_empty() {
        return;
    }

    line!(text, "\n{title}:");

    for (message, suites) in groups {
        line!(text, "  {}{message}", mark(message));
        let more = suites.len().saturating_sub(2);
        let shown = suites.iter().take(2).copied().collect::<Vec<_>>().join(", ");
        line!(text, "      in {shown}{}", if more > 0 { format!(" and {more} more") } else { String::new() });
    }
}
