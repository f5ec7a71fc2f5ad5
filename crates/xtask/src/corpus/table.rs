//! What became of all suites, as text.

use std::collections::{BTreeMap, BTreeSet};

use super::refusal::Listed;
use super::run::Outcome;

/// Prints everything. Fails when something is refused that is not listed, or ended in a way it may not.
pub(super) fn print(outcomes: &[Outcome], listed: &Listed) -> Result<(), String> {
    let width = outcomes.iter().map(|outcome| outcome.name.len()).max().unwrap_or(0);
    println!(
        "{:<width$} {:>6} {:>4} {:>5} {:>5} {:>5}  graders",
        "suite", "loaded", "ran", "pass", "fail", "open"
    );
    for outcome in outcomes {
        let count =
            |names: &[&str]| -> usize { names.iter().filter_map(|name| outcome.verdicts.get(*name)).sum() };
        let graders: Vec<String> =
            outcome.graders.iter().map(|(name, times)| format!("{name} {times}")).collect();
        println!(
            "{:<width$} {:>6} {:>4} {:>5} {:>5} {:>5}  {}",
            outcome.name,
            outcome.cases,
            outcome.ran(),
            count(&["pass"]),
            count(&["fail", "borderline"]),
            count(&["incomplete"]),
            graders.join(", ")
        );
    }
    let mut graders: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, times) in outcomes.iter().flat_map(|outcome| &outcome.graders) {
        *graders.entry(name).or_default() += times;
    }
    let graders: Vec<String> = graders.iter().map(|(name, times)| format!("{name} {times}")).collect();
    println!("\ngraders that decided something: {}", graders.join(", "));
    groups("broke while running", outcomes, |outcome| &outcome.broke, |_| String::new());
    groups(
        "refused",
        outcomes,
        |outcome| &outcome.refused,
        |why| {
            if listed.has(why) { String::new() } else { "NOT LISTED: ".to_owned() }
        },
    );
    let ran = outcomes.iter().filter(|outcome| outcome.ran() > 0).count();
    let whole = outcomes.iter().filter(|outcome| outcome.ran() > 0 && outcome.refused.is_empty()).count();
    let cases: usize = outcomes.iter().map(Outcome::ran).sum();
    println!("\n{} suites: {ran} ran ({whole} of them whole), {cases} runs of cases", outcomes.len());
    let planned = outcomes.iter().filter(|outcome| outcome.planned).count();
    println!("{planned} were compared with their plans");

    let mut faults: Vec<String> = outcomes
        .iter()
        .filter_map(|outcome| Some(format!("{}: {}", outcome.name, outcome.defect.as_ref()?)))
        .collect();
    let unlisted: BTreeSet<&String> =
        outcomes.iter().flat_map(|outcome| &outcome.refused).filter(|why| !listed.has(why)).collect();
    faults.extend(
        unlisted.into_iter().map(|why| format!("refused, and docs/compatibility.md has no row: {why}")),
    );
    if ran == 0 {
        faults.push("no suite ran".to_owned());
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Prints messages, each with the suites it belongs to.
fn groups(
    title: &str,
    outcomes: &[Outcome],
    of: impl Fn(&Outcome) -> &BTreeSet<String>,
    mark: impl Fn(&str) -> String,
) {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for outcome in outcomes {
        for message in of(outcome) {
            groups.entry(message).or_default().push(&outcome.name);
        }
    }
    if groups.is_empty() {
        return;
    }
    println!("\n{title}:");
    for (message, suites) in groups {
        println!("  {}{message}", mark(message));
        let more = suites.len().saturating_sub(2);
        let shown = suites.iter().take(2).copied().collect::<Vec<_>>().join(", ");
        println!("      in {shown}{}", if more > 0 { format!(" and {more} more") } else { String::new() });
    }
}
