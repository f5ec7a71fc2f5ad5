//! Runs every suite of a collection with scripted targets and judges. All refusals must be listed in
//! docs/compatibility.md, and each run must match its plan.

mod plan;
mod refusals;
mod run;
mod sandbox;
mod scripted_model;
mod stand_in;
mod table;

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use assize_testkit::mock::MockServer;

use crate::program;
use crate::shared::SharedFolder;
use refusals::KnownRefusals;
use run::{SuiteResult, run_suite};
use sandbox::CorpusSandbox;
pub(crate) use sandbox::STAND_IN;

/// Number of suites that run at the same time.
const AT_ONCE: usize = 4;

/// Runs all suites and fails if something is refused that the page does not list.
pub(crate) fn check(shared: &SharedFolder) -> Result<(), String> {
    let refusals = KnownRefusals::read()?;
    let server = MockServer::start(scripted_model::reply);
    let sandbox = CorpusSandbox::new(&shared.path("corpus"), &program::built()?, &server.base_url())?;

    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, SuiteResult)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((at, suite)) = sandbox.suite(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = run_suite(&sandbox, suite, at);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
        }
    });

    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);

    let results: Vec<SuiteResult> = results.into_iter().map(|(_, result)| result).collect();
    table::report(&results, &refusals)
}

/// Acts as a program that a suite calls.
pub(crate) fn stand_in(arguments: &[String]) -> ExitCode {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match stand_in::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("{message}");
            ExitCode::FAILURE
        }
    }
}
