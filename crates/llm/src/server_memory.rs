//! Facts about servers and models, stored for later processes: how many requests a server takes at once, and which
//! parameters a model refuses.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::quirks::ServerQuirks;

/// The version of the form. What is in another form is forgotten.
const VERSION: u32 = 1;

/// What was learned longer ago is forgotten, because servers change.
const MAX_AGE: Duration = Duration::from_hours(7 * 24);

/// Known facts about servers and models. It holds no secret: the names of accounts reveal neither server nor key.
#[derive(Debug, Default)]
pub struct ServerMemory {
    known: Mutex<KnownServers>,
    /// The time for new entries, in seconds since 1970.
    now: i64,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct KnownServers {
    version: u32,
    /// By the name of the account.
    accounts: BTreeMap<String, Remembered<ServerPace>>,
    /// By provider, address and model.
    models: BTreeMap<String, Remembered<ServerQuirks>>,
}

/// Something that was learned, and when.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Remembered<T> {
    at: i64,
    what: T,
}

/// How many requests a server takes at once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct ServerPace {
    pub(crate) in_flight: u32,
    /// The most seconds that each request in flight adds to the others.
    pub(crate) seconds_each: f64,
}

impl ServerMemory {
    /// Reads the output of [`ServerMemory::to_json`]. Skips entries that are too old or in the form of another version,
    /// because all of them can be learned again. `now` is in seconds since 1970.
    pub fn from_json(text: &str, now: i64) -> Self {
        let oldest = now.saturating_sub_unsigned(MAX_AGE.as_secs());
        let known: KnownServers = serde_json::from_str(text).unwrap_or_default();
        let mut known = if known.version == VERSION { known } else { KnownServers::default() };
        known.accounts.retain(|_, account| (oldest..=now).contains(&account.at));
        known.models.retain(|_, model| (oldest..=now).contains(&model.at));

        Self { known: Mutex::new(known), now }
    }

    /// All entries as JSON; `None` if there are none.
    pub fn to_json(&self) -> Option<String> {
        let known = KnownServers { version: VERSION, ..self.known.lock().clone() };
        let is_empty = known.accounts.is_empty() && known.models.is_empty();
        serde_json::to_string_pretty(&known).ok().filter(|_| !is_empty)
    }

    pub(crate) fn pace(&self, account: &str) -> Option<ServerPace> {
        self.known.lock().accounts.get(account).map(|account| account.what)
    }

    pub(crate) fn note_pace(&self, account: &str, what: ServerPace) {
        self.known.lock().accounts.insert(account.to_owned(), Remembered { at: self.now, what });
    }

    /// Parameters that a model has refused.
    pub(crate) fn quirks(&self, model: &str) -> ServerQuirks {
        self.known.lock().models.get(model).map(|model| model.what).unwrap_or_default()
    }

    pub(crate) fn note_quirks(&self, model: String, quirks: ServerQuirks) {
        // Whether log-probabilities come back depends on more than the model, so each process finds out.
        let what = ServerQuirks { no_logprobs: false, most_alternatives: None, ..quirks };
        self.known.lock().models.insert(model, Remembered { at: self.now, what });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_900_000_000;

    #[test]
    fn what_was_learned_is_known_later_for_a_week() {
        let memory = ServerMemory::from_json("", NOW);
        assert_eq!(memory.to_json(), None);
        let quirks = ServerQuirks { no_temperature: true, no_logprobs: true, ..ServerQuirks::default() };
        let pace = ServerPace { in_flight: 4, seconds_each: 1.5 };
        memory.note_quirks("m".to_owned(), quirks);
        memory.note_pace("a", pace);
        let text = memory.to_json().unwrap();

        let week = i64::try_from(MAX_AGE.as_secs()).unwrap();
        for (text, later, is_known) in [
            (text.clone(), NOW + week, true),
            (text.clone(), NOW + week + 1, false),
            // A clock that was set back makes nothing new.
            (text.clone(), NOW - 1, false),
            (text.replace("\"version\": 1", "\"version\": 2"), NOW, false),
            (text.replace("true", "7"), NOW, false),
            ("{".to_owned(), NOW, false),
        ] {
            let memory = ServerMemory::from_json(&text, later);
            let expected = ServerQuirks { no_temperature: is_known, ..ServerQuirks::default() };
            assert_eq!(memory.quirks("m"), expected, "{later} {text}");
            assert_eq!(memory.pace("a"), Some(pace).filter(|_| is_known), "{later} {text}");
        }
    }
}
