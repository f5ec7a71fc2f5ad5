//! The setup of programs that eval files name.

use std::sync::Arc;

use assize_grade::{ProgramEnvironment, ProgramSetup};
use assize_model::TargetSpec;
use assize_process::Environment;

use super::secrets::{keys, redactor};
use crate::process::ProcessContext;

/// The setup of programs used with these targets: the variables that they get, and the secrets that are
/// removed from their output.
pub(crate) fn program_setup(process: &ProcessContext, specs: &[TargetSpec]) -> ProgramSetup {
    let inherited = Environment::from_vars(process.variables());
    ProgramSetup {
        env: ProgramEnvironment::new(inherited, keys(process.variables(), specs)),
        scratch: process.temp_folder.clone(),
        redactor: Some(Arc::new(redactor(process.variables(), None))),
        ..ProgramSetup::default()
    }
}
