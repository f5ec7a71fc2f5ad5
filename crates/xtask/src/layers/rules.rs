//! Whether a set of crates keeps the rules.

use super::rooms::{HEAVY, ONLY_DEV, ROOMS, Room, TESTKIT, XTASK};
use crate::metadata::{Dependency, Kind, Package};

/// What is forbidden about these crates, one sentence each, in the order of the crates.
pub(super) fn complaints(packages: &[Package]) -> Vec<String> {
    let mut found = Vec::new();
    for package in packages {
        let Some(room) = ROOMS.iter().find(|room| room.name == package.name) else {
            found.push(format!("{} has no floor: give it a line in the table of rooms", package.name));
            continue;
        };
        for dependency in &package.dependencies {
            let is_ours = packages.iter().any(|package| package.name == dependency.name);
            let complaint = if is_ours { arrow(room, dependency) } else { outside(room, dependency) };
            found.extend(complaint);
        }
    }
    found
}

/// An arrow between two crates of the workspace.
fn arrow(from: &Room, dependency: &Dependency) -> Option<String> {
    let to = dependency.name.as_str();
    if to == XTASK {
        return Some(format!("{} uses {XTASK}, which is a tool beside the house", from.name));
    }
    if to == TESTKIT {
        return (dependency.kind != Kind::Dev)
            .then(|| format!("{} ships {TESTKIT}: it may stand under dev-dependencies only", from.name));
    }
    if from.may_use.contains(&to) {
        return None;
    }
    let floor = |name: &str| ROOMS.iter().find(|room| room.name == name).map_or("?", |room| room.floor);
    let may = match from.may_use {
        [] => "no crate of this workspace".to_owned(),
        names => names.join(", "),
    };
    Some(format!("{} (floor {}) uses {to} (floor {}); it may use {may}", from.name, from.floor, floor(to)))
}

/// An arrow to a crate from elsewhere.
fn outside(from: &Room, dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    if let Some(heavy) = HEAVY.iter().find(|heavy| heavy.name == name)
        && !heavy.rooms.contains(&from.name)
    {
        return Some(format!("{} uses {name}, which belongs to {} alone", from.name, heavy.rooms.join(", ")));
    }
    (ONLY_DEV.contains(&name) && dependency.kind != Kind::Dev)
        .then(|| format!("{} ships {name}: it may stand under dev-dependencies only", from.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[(&str, Kind)]) -> Package {
        Package {
            name: name.to_owned(),
            folder: String::new(),
            dependencies: dependencies
                .iter()
                .map(|(name, kind)| Dependency { name: (*name).to_owned(), rename: None, kind: *kind })
                .collect(),
        }
    }

    /// The complaints about one crate among all the others, which use nothing.
    fn about(name: &str, dependencies: &[(&str, Kind)]) -> Vec<String> {
        let packages: Vec<Package> = ROOMS
            .iter()
            .map(|room| package(room.name, if room.name == name { dependencies } else { &[] }))
            .collect();
        complaints(&packages)
    }

    fn is_forbidden(name: &str, dependency: &str, kind: Kind) -> bool {
        let found = about(name, &[(dependency, kind)]);
        assert!(found.iter().all(|complaint| complaint.contains(name) && complaint.contains(dependency)));
        found.len() == 1
    }

    #[test]
    fn arrows_up_and_sideways_are_found() {
        for (from, to) in [
            ("assize-rubric", "assize-stats"),
            ("assize-evalfile", "assize-llm"),
            ("assize-store", "assize-process"),
            ("assize-llm", "assize-grade"),
            ("assize-grade", "assize-targets"),
            ("assize-grade", "assize-store"),
            ("assize-targets", "assize-evalfile"),
            ("assize-run", "assize"),
            ("assize-report", "assize-run"),
            ("assize-report", "assize-llm"),
            ("assize-testkit", "assize-llm"),
        ] {
            for kind in [Kind::Normal, Kind::Dev, Kind::Build] {
                assert!(is_forbidden(from, to, kind), "{from} -> {to}");
            }
        }
    }

    #[test]
    fn arrows_down_are_free() {
        for (from, to) in [
            ("assize-evalfile", "assize-rubric"),
            ("assize-grade", "assize-llm"),
            ("assize-run", "assize-grade"),
            ("assize-report", "assize-store"),
            ("assize", "assize-run"),
            ("assize", "assize-rubric"),
            ("assize-rubric", "serde"),
        ] {
            assert_eq!(about(from, &[(to, Kind::Normal)]), Vec::<String>::new(), "{from} -> {to}");
        }
    }

    #[test]
    fn the_test_kit_stays_in_tests_and_nothing_uses_the_chores() {
        assert!(!is_forbidden("assize-llm", TESTKIT, Kind::Dev));
        assert!(is_forbidden("assize-llm", TESTKIT, Kind::Normal));
        assert!(is_forbidden("assize", TESTKIT, Kind::Build));
        assert!(is_forbidden("assize", XTASK, Kind::Dev));
    }

    #[test]
    fn heavy_crates_stay_in_their_rooms() {
        assert!(is_forbidden("assize-run", "reqwest", Kind::Normal));
        assert!(is_forbidden("assize-report", "clap", Kind::Normal));
        assert!(is_forbidden("assize-llm", "axum", Kind::Dev));
        assert!(!is_forbidden("assize-llm", "reqwest", Kind::Normal));
        assert!(!is_forbidden("assize-testkit", "axum", Kind::Normal));
    }

    #[test]
    fn test_tools_do_not_ship() {
        assert!(is_forbidden("assize-rubric", "proptest", Kind::Normal));
        assert!(!is_forbidden("assize-rubric", "proptest", Kind::Dev));
    }

    #[test]
    fn a_new_crate_needs_a_room() {
        let found = complaints(&[package("assize-attic", &[])]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("assize-attic has no floor"), "{found:?}");
    }

    #[test]
    fn the_table_names_only_its_own_rooms_and_holds_no_circle() {
        for (index, room) in ROOMS.iter().enumerate() {
            for used in room.may_use {
                let below = ROOMS[..index].iter().any(|other| other.name == *used);
                assert!(below, "{} uses {used}, which does not stand above it in the table", room.name);
            }
        }
    }
}
