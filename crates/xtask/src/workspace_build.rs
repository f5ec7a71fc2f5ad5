//! The one build that tests, checks, wheels and packages use.
//!
//! Everything is built by one cargo command with one set of features. A command for a single package would choose features of
//! shared dependencies for that package alone, and compile most of the workspace again.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::shell;

/// The packages and features of the build.
pub const CONFIGURATION: &[&str] = &["--workspace", "--features", "assize/full,assize/cloud,xtask/generate"];

/// Names a file with the messages of a build that has just been made, so that later steps of a check need not ask cargo again.
pub const MESSAGES_VARIABLE: &str = "ASSIZE_BUILD_MESSAGES";

/// Makes cargo print a line of JSON for everything that it built.
const MESSAGES: &str = "--message-format=json-render-diagnostics";

/// A built test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestProgram {
    /// The package and the target, such as `assize it`, or `assize-rubric` for the unit tests of a library.
    pub name: String,
    /// The file to run.
    pub executable: PathBuf,
    /// Folder of the package, in which cargo runs its tests.
    pub folder: PathBuf,
}

/// What was built, by the messages of cargo.
#[derive(Debug, Clone)]
pub struct WorkspaceBuild {
    messages: Vec<Value>,
}

impl WorkspaceBuild {
    /// Builds everything that is not built yet. In a step of a check, reads the messages of the build that the check has made.
    pub fn make() -> Result<Self, String> {
        let text = Self::of_check().unwrap_or_else(Self::run_cargo)?;
        Ok(Self::read(&text))
    }

    /// Like [`WorkspaceBuild::make`], but builds no more than the program `assize`, with all features.
    pub fn make_program() -> Result<Self, String> {
        let build =
            || shell::output(&mut shell::cargo(&["build", "-p", "assize", "--features", "full", MESSAGES]));
        let text = Self::of_check().unwrap_or_else(build)?;
        Ok(Self::read(&text))
    }

    /// Builds, and returns cargo's messages unchanged.
    pub fn run_cargo() -> Result<String, String> {
        shell::output(shell::cargo(&["build", "--all-targets", "--keep-going", MESSAGES]).args(CONFIGURATION))
    }

    /// The messages of the build of a check, if this is one of its steps.
    #[expect(
        clippy::disallowed_methods,
        reason = "steps of a check are told of its build in their environment"
    )]
    fn of_check() -> Option<Result<String, String>> {
        let file = PathBuf::from(std::env::var_os(MESSAGES_VARIABLE)?);
        Some(std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display())))
    }

    fn read(messages: &str) -> Self {
        let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
        Self { messages: messages.collect() }
    }

    /// The test programs, in the order in which cargo built them.
    pub fn test_programs(&self) -> Vec<TestProgram> {
        self.messages.iter().filter_map(test_program).collect()
    }

    /// The program of a name, such as `assize`.
    pub fn program(&self, name: &str) -> Result<PathBuf, String> {
        let is_it = |message: &&Value| {
            message["target"]["name"] == name
                && message["target"]["kind"][0] == "bin"
                && message["profile"]["test"] == false
        };
        let found = self.messages.iter().filter(is_it).find_map(|message| message["executable"].as_str());
        found.map(PathBuf::from).ok_or_else(|| format!("cargo did not say where it put `{name}`"))
    }

    /// The messages about a package in a folder of `crates/`, except about its tests.
    pub fn messages_about(&self, folder: &str) -> Vec<Value> {
        let manifest = shell::root().join("crates").join(folder).join("Cargo.toml");
        let is_about = |message: &&Value| {
            message["manifest_path"].as_str().is_some_and(|path| Path::new(path) == manifest)
                && message["profile"]["test"] != true
        };
        self.messages.iter().filter(is_about).cloned().collect()
    }
}

/// Reads a message of cargo about a test program that was built.
fn test_program(message: &Value) -> Option<TestProgram> {
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let executable = message["executable"].as_str().filter(|_| is_test)?;
    let folder = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_path_buf();
    let package = match folder.file_name()?.to_str()? {
        "cli" => "assize".to_owned(),
        "xtask" => "xtask".to_owned(),
        short => format!("assize-{short}"),
    };
    let kinds = message["target"]["kind"].as_array()?;
    let is_lib = kinds.iter().any(|kind| kind == "lib");
    let name = match message["target"]["name"].as_str() {
        Some(target) if !is_lib && target != package => format!("{package} {target}"),
        _ => package,
    };
    Some(TestProgram { name, executable: PathBuf::from(executable), folder })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(folder: &str, name: &str, kind: &str, is_test: bool) -> String {
        serde_json::json!({
            "reason": "compiler-artifact",
            "manifest_path": format!("/a/crates/{folder}/Cargo.toml"),
            "target": {"name": name, "kind": [kind]},
            "profile": {"test": is_test},
            "executable": "/a/target/debug/deps/x",
        })
        .to_string()
    }

    #[test]
    fn test_programs_are_named_by_package_and_target() {
        let name =
            |text: String| WorkspaceBuild::read(&text).test_programs().pop().map(|program| program.name);
        assert_eq!(name(message("cli", "it", "test", true)).as_deref(), Some("assize it"));
        assert_eq!(name(message("cli", "assize", "bin", true)).as_deref(), Some("assize"));
        assert_eq!(name(message("rubric", "assize_rubric", "lib", true)).as_deref(), Some("assize-rubric"));
        assert_eq!(name(message("cli", "assize", "bin", false)), None);
        assert_eq!(name("not JSON".to_owned()), None);
    }

    #[test]
    fn a_program_is_no_test_of_it() {
        let build = WorkspaceBuild::read(&message("cli", "assize", "bin", true));
        assert!(build.program("assize").is_err());
        let build = WorkspaceBuild::read(&message("cli", "assize", "bin", false));
        assert_eq!(build.program("assize"), Ok(PathBuf::from("/a/target/debug/deps/x")));
    }
}
