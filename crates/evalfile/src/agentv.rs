//! Every key and option of AgentV 4, and how Assize treats it. The documentation shows this table, and tests
//! check every row of it.

use std::sync::LazyLock;

/// How Assize treats a key or option of AgentV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentvSupport {
    /// Read, with the same meaning as in AgentV.
    Read,
    /// Accepted, but has no effect.
    NoEffect,
    /// Refused with an error, either when the file or command line is read or when a run needs it.
    Refused,
}

/// Position of a key in AgentV's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentvPlace {
    /// Top level of an eval file.
    File,
    /// A case of `tests`.
    Case,
    /// `execution` of an eval file.
    Execution,
    /// `trials` of `execution`.
    Trials,
    /// `workspace`.
    Workspace,
    /// `docker` of a workspace.
    Docker,
    /// An item of `repos`.
    Repository,
    /// A hook.
    Hook,
    /// A turn of a conversation.
    Turn,
    /// A grader of this type, with the keys that it needs.
    Grader(&'static str, &'static str),
    /// A criterion of `rubrics`.
    Criterion,
    /// An expected call of `tool-trajectory`.
    Call,
    /// A target with this provider, with the keys that it needs.
    Target(&'static str, &'static str),
    /// An option of `agentv eval`.
    Option,
}

impl AgentvPlace {
    /// Returns a title for tables.
    pub fn title(self) -> String {
        let title = match self {
            Self::File => "Eval file",
            Self::Case => "Case",
            Self::Execution => "`execution`",
            Self::Trials => "`trials`",
            Self::Workspace => "`workspace`",
            Self::Docker => "`docker` of a workspace",
            Self::Repository => "`repos` of a workspace",
            Self::Hook => "Hook",
            Self::Turn => "Turn",
            Self::Grader(kind, _) => return format!("Grader `{kind}`"),
            Self::Criterion => "Criterion",
            Self::Call => "Expected call",
            Self::Target(provider, _) => return format!("Target `{provider}`"),
            Self::Option => "Option of `eval`",
        };
        title.to_owned()
    }
}

/// A key or option of AgentV 4.42.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentvKey {
    /// Position of the key.
    pub place: AgentvPlace,
    /// The key, or the option with its hyphens.
    pub name: &'static str,
    /// Example value, as YAML. For an option: its value, or empty if it takes none.
    pub example: &'static str,
    /// How Assize treats it.
    pub support: AgentvSupport,
    /// Difference from AgentV, or an alternative. Every refused key has such a text.
    pub remark: &'static str,
}

/// The rows. A line with `#` names the place of the keys below it, and after a tab the keys that a grader or target
/// needs. The columns of a row are treatment, key, example and remark.
const ROWS: &str = include_str!("agentv_keys.tsv");

/// Every key and option of AgentV 4.42.4. Keys of AgentV's own settings file are not in the list, because
/// Assize does not read that file.
pub static AGENTV_KEYS: LazyLock<Vec<AgentvKey>> = LazyLock::new(|| {
    let mut place = AgentvPlace::File;
    let mut keys = Vec::new();
    for line in ROWS.lines().filter(|line| !line.is_empty()) {
        if let Some(named) = line.strip_prefix("# ") {
            place = place_of(named);
            continue;
        }
        let mut cells = line.split('\t');
        let mut cell = || cells.next().unwrap_or_default();
        let support = match cell() {
            "read" => AgentvSupport::Read,
            "no effect" => AgentvSupport::NoEffect,
            _ => AgentvSupport::Refused,
        };
        keys.push(AgentvKey { place, support, name: cell(), example: cell(), remark: cell() });
    }
    keys
});

/// The place that a line with `#` names.
fn place_of(text: &'static str) -> AgentvPlace {
    let (named, needs) = text.split_once('\t').unwrap_or((text, ""));
    match named.split_once(' ') {
        Some(("Grader", kind)) => AgentvPlace::Grader(kind, needs),
        Some((_, provider)) => AgentvPlace::Target(provider, needs),
        None => match named {
            "Case" => AgentvPlace::Case,
            "Execution" => AgentvPlace::Execution,
            "Trials" => AgentvPlace::Trials,
            "Workspace" => AgentvPlace::Workspace,
            "Docker" => AgentvPlace::Docker,
            "Repository" => AgentvPlace::Repository,
            "Hook" => AgentvPlace::Hook,
            "Turn" => AgentvPlace::Turn,
            "Criterion" => AgentvPlace::Criterion,
            "Call" => AgentvPlace::Call,
            "Option" => AgentvPlace::Option,
            _ => AgentvPlace::File,
        },
    }
}
