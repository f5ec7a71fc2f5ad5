//! `cargo xtask python`: builds the Python library, installs it into a virtual environment, and tests it there.

use xtask::shell;

use crate::step::{StepOutcome, StepResult};
use crate::wheel;

/// Virtual environment of the tests.
const ENVIRONMENT: &str = "target/python/env";
/// Packages that the tests need. The trainers are not installed: their tests are skipped without them, and pytest
/// reports the number of skipped tests at the end.
const PACKAGES: &[&str] = &["maturin", "uv", "pytest", "mypy", "polars", "pandas", "pyarrow"];
/// Arguments that compare the type stubs with the compiled module.
const STUBTEST: &[&str] =
    &["-m", "mypy.stubtest", "--allowlist", "python/native/stubtest.txt", "assize_native"];
/// Typed code, which mypy checks.
const TYPED_PATHS: &[&str] = &["python/src/assize", "python/tests", "python/measure.py", "examples/python"];

/// Installs the packages for the tests. The error is the reason why they can't be installed.
pub(crate) fn prepare() -> Result<(), String> {
    wheel::prepare(&shell::root().join(ENVIRONMENT), PACKAGES)
}

/// Puts both wheels together from the build of the workspace, and tests the library in them.
pub(crate) fn run() -> StepResult {
    let environment = shell::root().join(ENVIRONMENT);
    if let Err(why) = prepare() {
        return Ok(StepOutcome::Skipped(why));
    }

    let python = wheel::executable(&environment, "python");
    let maturin = wheel::executable(&environment, "maturin");
    let program = wheel::build(&maturin, "python", wheel::DEV)?;
    let library = wheel::build(&maturin, "python/native", wheel::DEV)?;

    let install = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--force-reinstall"];
    shell::run(wheel::program(&python, &install).arg(program).arg(library))?;
    let places = std::env::join_paths(["python/src", "python/tests"]).map_err(|error| error.to_string())?;
    let mut types = wheel::program(&python, &["-m", "mypy", "--strict"]);
    shell::run(types.args(TYPED_PATHS).env("MYPYPATH", places))?;
    shell::run(&mut wheel::program(&python, STUBTEST))?;

    let tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", "python/tests"];
    shell::run(&mut wheel::program(&python, &tests))?;
    Ok(StepOutcome::Passed)
}
