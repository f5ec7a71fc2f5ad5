//! The rooms of the house: every crate with its floor and what it may use.
//!
//! ARCHITECTURE.md shows the same table to people; change both together.

/// A crate of the workspace.
pub(super) struct Room {
    /// The package name.
    pub(super) name: &'static str,
    /// Its floor, as people write it.
    pub(super) floor: &'static str,
    /// The crates of this workspace it may use.
    pub(super) may_use: &'static [&'static str],
}

/// A crate from outside that only some rooms may use, under any heading.
pub(super) struct Heavy {
    /// The crate.
    pub(super) name: &'static str,
    /// Where it may be used.
    pub(super) rooms: &'static [&'static str],
}

/// Used in tests by everybody, by nobody else.
pub(super) const TESTKIT: &str = "assize-testkit";
/// Used by nobody.
pub(super) const XTASK: &str = "xtask";

const WORDS: &[&str] = &["assize-diagnostic", "assize-rubric", "assize-stats"];

const fn room(name: &'static str, floor: &'static str, may_use: &'static [&'static str]) -> Room {
    Room { name, floor, may_use }
}

/// Every crate.
pub(super) const ROOMS: &[Room] = &[
    room("assize-rubric", "0", &[]),
    room("assize-stats", "0", &[]),
    room("assize-diagnostic", "0", &[]),
    room("assize-evalfile", "1", WORDS),
    room("assize-llm", "1", WORDS),
    room("assize-store", "1", WORDS),
    room("assize-process", "1", WORDS),
    room("assize-trace", "1", WORDS),
    room(
        "assize-workspace",
        "1½",
        &["assize-diagnostic", "assize-rubric", "assize-stats", "assize-evalfile", "assize-process"],
    ),
    room(
        "assize-targets",
        "1½",
        &[
            "assize-diagnostic",
            "assize-rubric",
            "assize-stats",
            "assize-llm",
            "assize-process",
            "assize-trace",
        ],
    ),
    room(
        "assize-grade",
        "1½",
        &[
            "assize-diagnostic",
            "assize-rubric",
            "assize-stats",
            "assize-evalfile",
            "assize-llm",
            "assize-process",
        ],
    ),
    room("assize-lint", "1½", &["assize-diagnostic", "assize-rubric", "assize-evalfile"]),
    room(
        "assize-run",
        "2",
        &[
            "assize-diagnostic",
            "assize-rubric",
            "assize-stats",
            "assize-evalfile",
            "assize-llm",
            "assize-store",
            "assize-process",
            "assize-targets",
            "assize-grade",
            "assize-workspace",
        ],
    ),
    room("assize-convert", "2", &["assize-diagnostic", "assize-rubric", "assize-evalfile"]),
    room(
        "assize-author",
        "2",
        &[
            "assize-diagnostic",
            "assize-rubric",
            "assize-evalfile",
            "assize-llm",
            "assize-grade",
            "assize-lint",
        ],
    ),
    room("assize-lsp", "2", &["assize-diagnostic", "assize-rubric", "assize-evalfile", "assize-lint"]),
    room("assize-analysis", "2", &["assize-diagnostic", "assize-rubric", "assize-stats", "assize-store"]),
    room(
        "assize-audit",
        "2½",
        &[
            "assize-rubric",
            "assize-stats",
            "assize-evalfile",
            "assize-store",
            "assize-targets",
            "assize-run",
            "assize-analysis",
        ],
    ),
    room(
        "assize-report",
        "3",
        &[
            "assize-diagnostic",
            "assize-rubric",
            "assize-stats",
            "assize-store",
            "assize-analysis",
            "assize-audit",
        ],
    ),
    room(
        "assize-engine",
        "3",
        &[
            "assize-diagnostic",
            "assize-rubric",
            "assize-stats",
            "assize-evalfile",
            "assize-analysis",
            "assize-audit",
            "assize-author",
            "assize-lint",
            "assize-llm",
            "assize-store",
            "assize-process",
            "assize-trace",
            "assize-targets",
            "assize-grade",
            "assize-run",
            "assize-workspace",
        ],
    ),
    room("assize-review", "3½", &["assize-rubric", "assize-stats", "assize-report"]),
    room(
        "assize",
        "4",
        &[
            "assize-diagnostic",
            "assize-rubric",
            "assize-stats",
            "assize-evalfile",
            "assize-analysis",
            "assize-audit",
            "assize-convert",
            "assize-author",
            "assize-engine",
            "assize-lint",
            "assize-llm",
            "assize-lsp",
            "assize-store",
            "assize-process",
            "assize-trace",
            "assize-targets",
            "assize-grade",
            "assize-run",
            "assize-report",
            "assize-review",
            "assize-workspace",
        ],
    ),
    room(TESTKIT, "tests", &[]),
    room(XTASK, "chores", &["assize-lint", "assize-rubric", "assize-evalfile"]),
];

/// Crates from outside with a room of their own.
pub(super) const HEAVY: &[Heavy] = &[
    Heavy { name: "annotate-snippets", rooms: &["assize-diagnostic"] },
    Heavy { name: "axum", rooms: &[TESTKIT] },
    Heavy { name: "clap", rooms: &["assize"] },
    Heavy { name: "clap_complete", rooms: &["assize"] },
    Heavy { name: "clap_mangen", rooms: &["assize"] },
    Heavy { name: "console", rooms: &["assize"] },
    Heavy { name: "crossterm", rooms: &["assize"] },
    Heavy { name: "indicatif", rooms: &["assize"] },
    Heavy { name: "lsp-server", rooms: &["assize-lsp"] },
    Heavy { name: "lsp-types", rooms: &["assize-lsp"] },
    Heavy { name: "nix", rooms: &["assize-process"] },
    Heavy { name: "process-wrap", rooms: &["assize-process"] },
    Heavy { name: "reqwest", rooms: &["assize-llm"] },
    Heavy { name: "rusqlite", rooms: &["assize-store"] },
    Heavy { name: "rustls", rooms: &["assize-llm"] },
    Heavy { name: "saphyr-parser", rooms: &["assize-evalfile"] },
];

/// Crates from outside that only tests and benches may use.
pub(super) const ONLY_DEV: &[&str] = &["divan", "proptest"];
