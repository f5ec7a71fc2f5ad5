//! `cargo xtask corpus`: every suite of a collection that may lie beside the checkout is run, with scripted targets and
//! judges, and nothing may be refused that docs/compatibility.md does not list. Runs keep to their plans.

mod model;
mod plan;
pub(crate) mod program;
mod refusal;
mod run;
mod stage;
mod table;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{generate, shell};
use model::ModelServer;
use refusal::Listed;
use run::{Outcome, run_suite};
use stage::Stage;

/// Suites that are run at once.
const AT_ONCE: usize = 4;

/// Runs everything, prints what became of it, and fails if something is refused without being listed.
pub(crate) fn run(build: generate::Build) -> Result<(), String> {
    let source = shell::root().join("../shared/corpus");
    if !source.is_dir() {
        println!("skipped: there is no collection of suites beside the checkout");
        return Ok(());
    }
    let listed = Listed::read()?;
    let program = generate::program(build)?;
    let server = ModelServer::start()?;
    let stage = Stage::new(&source, &program, server.port())?;
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Vec<(usize, Outcome)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((at, suite)) = stage.suite(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = run_suite(&stage, suite, at);
                    outcomes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, outcome));
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    outcomes.sort_by_key(|(at, _)| *at);
    let outcomes: Vec<Outcome> = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
    table::print(&outcomes, &listed)
}
