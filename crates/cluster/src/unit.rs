//! The unit of work: a shard of a plan, or a part of one that was halved.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use assize_run::ShardPart;
use serde::{Deserialize, Serialize};

/// Part of a shard. Its result is stored under this name: `12` is the shard, `12.1` its first half.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitName {
    /// Number of the shard, from 1.
    pub shard: u32,
    /// Part of the shard.
    pub part: ShardPart,
}

impl UnitName {
    /// A whole shard.
    pub fn whole(shard: u32) -> Self {
        Self { shard, part: ShardPart::default() }
    }

    /// The two halves.
    pub fn halves(&self) -> [Self; 2] {
        self.part.halves().map(|part| Self { shard: self.shard, part })
    }
}

impl fmt::Display for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part.as_str() {
            "" => write!(f, "{}", self.shard),
            part => write!(f, "{}.{part}", self.shard),
        }
    }
}

impl FromStr for UnitName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (shard, part) = text.split_once('.').unwrap_or((text, ""));
        let shard = shard.parse().ok().filter(|shard| *shard > 0);

        shard
            .zip(part.parse().ok())
            .map(|(shard, part)| Self { shard, part })
            .ok_or_else(|| format!("`{text}` names no unit of work"))
    }
}

/// A unit of work in the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkUnit {
    /// Name, stored as a text.
    #[serde(with = "as_text")]
    pub name: UnitName,
    /// Why its cases are abandoned: they are not run, and their rows carry this reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up: Option<String>,
    /// Earlier tries: how often it was leased, before this message was published, without a result and without
    /// a word.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tries: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl WorkUnit {
    /// A unit to be run.
    pub fn new(name: UnitName) -> Self {
        Self { name, given_up: None, tries: 0 }
    }
}

mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use super::UnitName;

    pub(super) fn serialize<S: Serializer>(name: &UnitName, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(name)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<UnitName, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Units of a plan that have no result yet: whole shards, and the missing parts of shards that were halved.
pub fn missing_units(shards: u32, done: &BTreeSet<UnitName>) -> Vec<UnitName> {
    let mut missing = Vec::new();
    for shard in 1..=shards {
        add_missing(UnitName::whole(shard), done, &mut missing);
    }

    missing
}

/// Results that cover the plan without overlap, as far as they exist: whole shards, or else their parts.
pub fn covering_units(shards: u32, done: &BTreeSet<UnitName>) -> Vec<UnitName> {
    let mut covering = Vec::new();
    for shard in 1..=shards {
        add_covering(UnitName::whole(shard), done, &mut covering);
    }

    covering
}

fn add_covering(unit: UnitName, done: &BTreeSet<UnitName>, covering: &mut Vec<UnitName>) {
    if done.contains(&unit) {
        covering.push(unit);
        return;
    }

    let next = done.range(&unit..).next();
    if next.is_some_and(|next| next.shard == unit.shard && next.part.is_within(&unit.part)) {
        for half in unit.halves() {
            add_covering(half, done, covering);
        }
    }
}

fn add_missing(unit: UnitName, done: &BTreeSet<UnitName>, missing: &mut Vec<UnitName>) {
    if done.contains(&unit) {
        return;
    }

    // The parts of a unit come right after it in the order of names.
    let next = done.range(&unit..).next();
    let was_halved = next.is_some_and(|next| next.shard == unit.shard && next.part.is_within(&unit.part));
    if !was_halved {
        missing.push(unit);
        return;
    }
    for half in unit.halves() {
        add_missing(half, done, missing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[&str]) -> BTreeSet<UnitName> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in ["1", "12.1", "100000.212"] {
            assert_eq!(text.parse::<UnitName>().unwrap().to_string(), text);
        }
        for text in ["", "0", "x", "1.3", "1.x", "-1"] {
            assert!(text.parse::<UnitName>().is_err(), "{text}");
        }
        let unit = WorkUnit::new("3.2".parse().unwrap());
        assert_eq!(serde_json::to_string(&unit).unwrap(), r#"{"name":"3.2"}"#);
    }

    #[test]
    fn halves_stand_for_the_whole() {
        let missing = |shards, done: &[&str]| -> Vec<String> {
            missing_units(shards, &names(done)).iter().map(ToString::to_string).collect()
        };
        assert_eq!(missing(3, &["2"]), ["1", "3"]);
        assert_eq!(missing(2, &["1.1", "2"]), ["1.2"]);
        assert_eq!(missing(2, &["1.1", "1.21", "2.1", "2.2"]), ["1.22"]);
        assert!(missing(1, &["1.11", "1.12", "1.2"]).is_empty());
        assert!(missing(1, &["1", "1.1"]).is_empty(), "the whole is enough");
    }

    #[test]
    fn no_case_is_taken_from_two_results() {
        let covering = |shards, done: &[&str]| -> Vec<String> {
            covering_units(shards, &names(done)).iter().map(ToString::to_string).collect()
        };
        assert_eq!(covering(3, &["1", "1.1", "2.2", "2.11"]), ["1", "2.11", "2.2"]);
    }
}
