//! `cargo xtask static-program`: checks that the static programs of a release bring root certificates. The code that uses them is
//! compiled with the unit tests of `assize-llm`.

use std::collections::BTreeSet;

use xtask::shell;

/// The crate with compiled-in certificates, and the one that looks for the system's.
const ROOT_CERTIFICATE_CRATES: [&str; 2] = ["webpki-root-certs", "rustls-native-certs"];
/// Workflow with the targets of a release.
const RELEASE_WORKFLOW: &str = ".github/workflows/release.yml";
/// Suffix of the targets whose programs are static.
const STATIC_SUFFIX: &str = "-unknown-linux-musl";
/// Target that can be linked statically with the normal toolchain.
const LINUX_TARGET: &str = "x86_64-unknown-linux-gnu";

/// Checks the crates of each static target of the release.
pub(crate) fn run() -> Result<(), String> {
    let workflow = std::fs::read_to_string(shell::root().join(RELEASE_WORKFLOW))
        .map_err(|error| format!("{RELEASE_WORKFLOW}: {error}"))?;
    let targets = static_targets(&workflow);
    if targets.is_empty() {
        return Err(format!("{RELEASE_WORKFLOW} names no target that ends in `{STATIC_SUFFIX}`"));
    }

    for target in &targets {
        let crates = crates_of(target)?;
        if let Some(missing) = ROOT_CERTIFICATE_CRATES.iter().find(|name| !crates.contains(**name)) {
            return Err(format!(
                "`{missing}` is no crate of the program for {target}: without the certificates of a system it could trust \
                 no server; see `target.'cfg(...)'.dependencies` in crates/llm/Cargo.toml"
            ));
        }
    }
    // Programs that are not static trust the system's certificates.
    if crates_of(LINUX_TARGET)?.contains(ROOT_CERTIFICATE_CRATES[0]) {
        return Err(format!(
            "`{}` is a crate of the program for {LINUX_TARGET}, which uses the system's certificates",
            ROOT_CERTIFICATE_CRATES[0]
        ));
    }

    Ok(())
}

/// Returns the names of the crates that the program for a target includes.
fn crates_of(target: &str) -> Result<BTreeSet<String>, String> {
    let arguments =
        ["tree", "--locked", "-p", "assize", "-e", "normal", "--prefix", "none", "--target", target];
    let tree = shell::output(&mut shell::cargo(&arguments))?;
    Ok(tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
}

/// Returns the static targets in a workflow.
fn static_targets(workflow: &str) -> BTreeSet<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    workflow
        .split(|c| !is_name(c))
        .filter(|word| word.strip_suffix(STATIC_SUFFIX).is_some_and(|machine| !machine.is_empty()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_targets_are_those_of_musl() {
        let workflow = "- {target: x86_64-unknown-linux-musl, os: a}\n- {target: x86_64-apple-darwin}\n\
                        if: matrix.target == 'x86_64-unknown-linux-musl' && endsWith(matrix.target, '-musl')\n\
                        program-${pair#*=}-unknown-linux-musl/assize aarch64-unknown-linux-musl";
        let found: Vec<&str> = static_targets(workflow).into_iter().collect();
        assert_eq!(found, ["aarch64-unknown-linux-musl", "x86_64-unknown-linux-musl"]);
    }
}
