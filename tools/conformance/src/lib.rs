//! Checks against published data sets and suites, most of them outside the checkout.

#![expect(clippy::print_stdout, reason = "a test: it explains itself on the terminal")]
#![expect(clippy::unwrap_used, reason = "a check that cannot go on should stop")]

mod conversions;
mod corpus;
mod datasets;
mod eval_files;
mod judge_agreement;
mod lint_findings;
mod matrices;
mod output;
mod program;
mod schemas;
mod scores;
mod shared;
mod statistics;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use shared::SharedFolder;

/// A check. It gets the shared folder and returns its findings as an error.
type CheckFn = Box<dyn FnOnce(&SharedFolder) -> Result<(), String> + Send>;

/// A named check, with the part of the shared folder that it needs.
struct Check {
    name: String,
    needs: String,
    run: CheckFn,
}

impl Check {
    fn new(
        name: &str,
        needs: &str,
        run: impl FnOnce(&SharedFolder) -> Result<(), String> + Send + 'static,
    ) -> Self {
        Self { name: name.to_owned(), needs: needs.to_owned(), run: Box::new(run) }
    }

    /// A check that panics if it fails.
    fn panicking(name: &str, needs: &str, run: fn(&SharedFolder)) -> Self {
        Self::new(name, needs, move |shared| {
            run(shared);
            Ok(())
        })
    }
}

/// All checks.
fn checks() -> Vec<Check> {
    let vectors = "vectors/statistics.json";
    let mut checks = vec![
        Check::panicking(
            "conversions::configurations",
            "data/promptfoo-configs",
            conversions::configurations,
        ),
        Check::panicking("conversions::unchanged_trees", "data/paperbench", conversions::unchanged_trees),
        Check::panicking("conversions::graded_trees", "data/paperbench", conversions::graded_trees),
        Check::new("conversions::tasks", "data/devai-agent-judge", conversions::tasks),
        Check::new("conversions::examples", "data/healthbench-meta-120", conversions::examples),
        Check::panicking("eval_files::diagnostics", "corpus", eval_files::diagnostics),
        Check::panicking("eval_files::edits", "corpus", eval_files::edits),
        Check::panicking("eval_files::schemas", "corpus", schemas::keep_to_schemas),
        Check::panicking("eval_files::targets", "corpus", eval_files::targets),
        Check::panicking("judge_agreement::levels", "data/prometheus-gpt4-triple", judge_agreement::levels),
        Check::panicking("judge_agreement::references", "data/biggen-rubrics", judge_agreement::references),
        Check::panicking("lint_findings", "corpus", lint_findings::rare_and_exact),
        Check::panicking("matrices::promptfoo", "data/promptfoo-examples", matrices::promptfoo),
        Check::panicking("scores::vectors", vectors, scores::vectors),
        Check::panicking("statistics::vectors", vectors, statistics::vectors),
        Check::new("suites", "corpus", corpus::check),
    ];

    checks.extend(datasets::names().map(|name| {
        Check::new(&format!("data_sets::{name}"), &format!("data/{name}"), move |shared| {
            datasets::check(name, shared)
        })
    }));
    checks
}

/// Runs the checks that the command line selects, as the test harness would.
pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, arguments @ ..] = words.as_slice()
        && first == corpus::STAND_IN
    {
        return corpus::stand_in(arguments);
    }

    let arguments = Arguments::from_args();
    if arguments.nocapture {
        output::show();
    }

    let shared = SharedFolder::locate();
    let checks = checks();
    let missing = checks.iter().filter(|check| !shared.has(&check.needs)).count();
    if missing > 0 && !arguments.list {
        println!(
            "\nSKIPPED {missing} of {} checks: their data is not in {shared} (ASSIZE_SHARED)",
            checks.len()
        );
    }

    let trials = checks.into_iter().map(|check| {
        let is_missing = !shared.has(&check.needs);
        let folder = shared.clone();
        Trial::test(check.name, move || (check.run)(&folder).map_err(Failed::from))
            .with_ignored_flag(is_missing)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::checks;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<String> = checks().into_iter().map(|check| check.name).collect();
        assert_eq!(names.len(), checks().len());
    }
}
