//! Checks the dependencies of packages against the rules.

use super::crates::{CRATES, CrateRule, RESTRICTED_DEPS, TEST_ONLY, TESTKIT, TOOLS};
use crate::metadata::{Dependency, Kind, Package};

/// Returns a sentence for each dependency that is not allowed, in the order of the packages, and for each crate without
/// a rule or rule without a crate.
pub(crate) fn violations(packages: &[Package]) -> Vec<String> {
    let mut found = Vec::new();
    for package in packages {
        let Some(rule) = CRATES.iter().find(|rule| rule.folder == short_name(package)) else {
            found.push(format!("{} has no rule: give it a row in ARCHITECTURE.md", package.folder));
            continue;
        };

        for dependency in &package.dependencies {
            let ours = packages.iter().find(|package| package.name == dependency.name);
            found.extend(match ours {
                Some(used) => inside(rule, short_name(used), dependency.kind),
                None => outside(rule, dependency),
            });
        }
    }

    let exists = |rule: &&CrateRule| packages.iter().any(|package| short_name(package) == rule.folder);
    let stale = CRATES.iter().filter(|rule| !exists(rule));
    found.extend(stale.map(|rule| format!("crates/{} does not exist: remove its row", rule.folder)));

    found
}

/// Last component of a package's folder.
fn short_name(package: &Package) -> &str {
    package.folder.rsplit('/').next().unwrap_or_default()
}

/// Checks a dependency on a crate of the workspace.
fn inside(from: &CrateRule, to: &str, kind: Kind) -> Option<String> {
    if TOOLS.contains(&to) {
        return Some(format!("{} uses {to}, which is a tool that nothing may use", from.folder));
    }
    if to == TESTKIT {
        return (kind != Kind::Dev && !TOOLS.contains(&from.folder))
            .then(|| format!("{} ships {to}: move it to dev-dependencies", from.folder));
    }
    if from.uses.contains(&to) {
        return None;
    }

    let allowed =
        if from.uses.is_empty() { "no crate of this workspace".to_owned() } else { from.uses.join(" ") };
    Some(format!("{} uses {to}; it may use {allowed}", from.folder))
}

/// Checks a dependency on a crate from a registry.
fn outside(from: &CrateRule, dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    if let Some(restricted) = RESTRICTED_DEPS.iter().find(|restricted| restricted.name == name)
        && !restricted.only.contains(&from.folder)
    {
        return Some(format!(
            "{} uses {name}, which is for {} alone",
            from.folder,
            restricted.only.join(" and ")
        ));
    }

    (TEST_ONLY.contains(&name) && dependency.kind != Kind::Dev && !TOOLS.contains(&from.folder))
        .then(|| format!("{} ships {name}: move it to dev-dependencies", from.folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(folder: &str, dependencies: &[(&str, Kind)]) -> Package {
        Package {
            name: format!("assize-{folder}"),
            folder: format!("crates/{folder}"),
            dependencies: dependencies
                .iter()
                .map(|(name, kind)| {
                    let is_ours = CRATES.iter().any(|rule| rule.folder == *name);
                    let name = if is_ours { format!("assize-{name}") } else { (*name).to_owned() };
                    Dependency { name, rename: None, kind: *kind }
                })
                .collect(),
        }
    }

    /// The violations of one crate when no other crate has dependencies.
    fn violations_of(folder: &str, dependencies: &[(&str, Kind)]) -> Vec<String> {
        let packages: Vec<Package> = CRATES
            .iter()
            .map(|rule| package(rule.folder, if rule.folder == folder { dependencies } else { &[] }))
            .collect();
        violations(&packages)
    }

    fn is_forbidden(folder: &str, dependency: &str, kind: Kind) -> bool {
        let found = violations_of(folder, &[(dependency, kind)]);
        assert!(found.iter().all(|violation| violation.contains(folder) && violation.contains(dependency)));
        found.len() == 1
    }

    #[test]
    fn dependencies_up_and_sideways_are_found() {
        for (from, to) in [
            ("rubric", "stats"),
            ("evalfile", "llm"),
            ("store", "process"),
            ("llm", "grade"),
            ("grade", "targets"),
            ("grade", "store"),
            ("targets", "evalfile"),
            ("run", "cli"),
            ("report", "run"),
            ("report", "llm"),
            ("testkit", "llm"),
        ] {
            for kind in [Kind::Normal, Kind::Dev, Kind::Build] {
                assert!(is_forbidden(from, to, kind), "{from} -> {to}");
            }
        }
    }

    #[test]
    fn dependencies_down_are_free() {
        for (from, to) in [
            ("evalfile", "rubric"),
            ("grade", "llm"),
            ("run", "grade"),
            ("report", "store"),
            ("cli", "run"),
            ("cli", "rubric"),
            ("rubric", "serde"),
        ] {
            assert_eq!(violations_of(from, &[(to, Kind::Normal)]), Vec::<String>::new(), "{from} -> {to}");
        }
    }

    #[test]
    fn the_test_kit_stays_in_tests_and_nothing_uses_the_tools() {
        assert!(!is_forbidden("llm", TESTKIT, Kind::Dev));
        assert!(is_forbidden("llm", TESTKIT, Kind::Normal));
        assert!(is_forbidden("cli", TESTKIT, Kind::Build));
        assert!(!is_forbidden("conformance", TESTKIT, Kind::Normal));
        for tool in TOOLS {
            assert!(is_forbidden("cli", tool, Kind::Dev));
        }
    }

    #[test]
    fn restricted_crates_stay_where_they_belong() {
        assert!(is_forbidden("run", "reqwest", Kind::Normal));
        assert!(is_forbidden("report", "clap", Kind::Normal));
        assert!(is_forbidden("llm", "axum", Kind::Dev));
        assert!(!is_forbidden("llm", "reqwest", Kind::Normal));
        assert!(!is_forbidden("testkit", "axum", Kind::Normal));
    }

    #[test]
    fn test_tools_do_not_ship() {
        assert!(is_forbidden("rubric", "proptest", Kind::Normal));
        assert!(!is_forbidden("rubric", "proptest", Kind::Dev));
    }

    #[test]
    fn crates_and_rules_belong_together() {
        let found = violations(&[package("attic", &[])]);
        assert_eq!(found.len(), 1 + CRATES.len());
        assert!(found[0].contains("crates/attic has no rule"), "{found:?}");
        assert!(found[1].contains("crates/cli does not exist"), "{found:?}");
    }

    #[test]
    fn the_table_names_only_its_own_crates_and_holds_no_cycle() {
        assert!(CRATES.len() > 30 && RESTRICTED_DEPS.len() > 30, "the tables are read");
        for (index, rule) in CRATES.iter().enumerate() {
            for used in &rule.uses {
                // No crate uses a tool, so its position can't allow a cycle.
                let below = if TOOLS.contains(&rule.folder) { 0 } else { index + 1 };
                let is_below = CRATES[below..].iter().any(|other| other.folder == *used);
                assert!(is_below, "{} uses {used}, which has no entry below it", rule.folder);
            }
        }
    }
}
