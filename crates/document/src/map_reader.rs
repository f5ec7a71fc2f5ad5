//! Reads a map key by key, and derives the set of allowed keys from the keys that are read.
//!
//! Eval files are written by hand, so an unknown key is almost always a mistake that must be reported, with the nearest
//! known key as a suggestion. Listing the allowed keys of each map would be the obvious approach, but such lists
//! diverge from the code that reads the keys. So there is no list: a decoder requests keys from a [`MapReader`], every
//! request makes a key known, and [`MapReader::finish`] reports the entries that were not requested. The consequences
//! for decoders:
//!
//! - All keys must be requested, in every branch, before `finish`. A decoder must not return early between
//!   `new` and `finish`, or it hides unknown keys. A key that is only requested in one format is unknown in the
//!   other, which is intended.
//! - A key that is only recognised to be rejected is taken with [`MapReader::foreign`], so that it is not
//!   offered among the known keys.
//! - A misspelt key would cause two errors, "unknown key" and "missing key". Only the first is wanted. So
//!   `finish` retracts the reports that a key is missing if an unknown key was probably meant as it. These
//!   reports are found by their span, so they must be made at [`MapReader::head`].
//! - Keys that begin with `x-` are for the author's own use, and never reported.
//!
//! In test builds, all requests are recorded (module `record`); a test compares them with the keys in the JSON
//! Schemas.

use assize_diagnostic::{Diagnostic, Severity, Span, SpannedValue, did_you_mean};
use assize_rubric::composed_name;

use crate::codes;
use crate::diagnostic_collector::DiagnosticCollector;
use crate::tree::{MapEntry, NodeValue, TreeNode};

/// A map being read. Every requested key counts as known, and [`MapReader::finish`] reports all others, so the list of
/// allowed keys is never written twice.
pub struct MapReader<'n> {
    node: &'n TreeNode,
    entries: &'n [MapEntry],
    what: &'static str,
    known: Vec<KnownKey>,
    /// Known keys that are given under another name. They are not reported as missing.
    meant: Vec<&'static str>,
    taken: Vec<bool>,
}

/// A requested key.
struct KnownKey {
    key: &'static str,
    /// True for an alternative spelling, which is accepted but not offered among the known keys.
    is_other_spelling: bool,
}

/// Initial capacity: roughly the number of keys that the decoder of a case requests.
const KEY_CAPACITY: usize = 48;

impl<'n> MapReader<'n> {
    /// Starts reading `node`, which must be a map. `what` names it in messages, with its article: "a case".
    pub fn new(node: &'n TreeNode, what: &'static str, problems: &mut DiagnosticCollector) -> Option<Self> {
        let Some(entries) = node.as_map() else {
            return problems.reject(wrong_type(node, what, "a map"));
        };
        Some(Self {
            node,
            entries,
            what,
            known: Vec::with_capacity(KEY_CAPACITY),
            meant: Vec::new(),
            taken: vec![false; entries.len()],
        })
    }

    /// Returns the span of the whole map.
    pub fn span(&self) -> Span {
        self.node.use_span()
    }

    /// Returns the span for reporting a missing key: the first key, or the map itself.
    pub fn head(&self) -> Span {
        self.entries.first().map_or(self.node.use_span(), |entry| entry.key_span)
    }

    /// Returns true if the map has the key, without marking it as read.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// Returns the entry of a key. A key whose value is `null` or empty counts as given.
    pub fn entry(&mut self, key: &'static str) -> Option<&'n MapEntry> {
        self.request(key, false)
    }

    /// Returns the entry of a key, and makes the key known.
    fn request(&mut self, key: &'static str, is_other_spelling: bool) -> Option<&'n MapEntry> {
        self.known.push(KnownKey { key, is_other_spelling });
        #[cfg(feature = "requested-keys")]
        record::note(self.what, key, "any");

        self.foreign(key)
    }

    /// Returns the entry of a key that is recognised only to be rejected: it is not listed as a known key.
    pub fn foreign(&mut self, key: &str) -> Option<&'n MapEntry> {
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        self.taken[index] = true;
        Some(&self.entries[index])
    }

    /// Records that the map gives `name` under another name, which is reported separately.
    pub fn mark_as_given(&mut self, name: &'static str) {
        self.meant.push(name);
    }

    /// Returns the entry of the first of several spellings that is present. A second spelling in the same map
    /// is an error, because only one of them can count.
    pub fn first_of(
        &mut self,
        keys: &[&'static str],
        problems: &mut DiagnosticCollector,
    ) -> Option<&'n MapEntry> {
        let mut found: Option<&'n MapEntry> = None;
        #[cfg(feature = "requested-keys")]
        keys.iter().skip(1).for_each(|key| record::note(self.what, key, "other spelling"));

        for (index, key) in keys.iter().enumerate() {
            let Some(entry) = self.request(key, index > 0) else { continue };
            if let Some(first) = found {
                Diagnostic::error(
                    codes::TWO_SPELLINGS,
                    format!("`{}` and `{}` are the same setting", first.key, entry.key),
                )
                .at(entry.key_span, "this one is extra")
                .with_secondary(first.key_span, "already given here")
                .with_help(format!("keep `{}`", keys[0]))
                .add_to(problems);
            } else {
                found = Some(entry);
            }
        }

        found
    }

    /// Returns the entry that was most likely meant as an absent key: one of `guesses`, or a misspelling. It is
    /// reported as an error, but its value can still be read.
    pub fn misspelt(
        &mut self,
        key: &'static str,
        guesses: &[&str],
        problems: &mut DiagnosticCollector,
    ) -> Option<&'n MapEntry> {
        let is_meant = |entry: &MapEntry| {
            guesses.contains(&entry.key.as_str())
                || !entry.key.starts_with("x-") && did_you_mean(&entry.key, [key]).is_some()
        };
        let found = self.entries.iter().zip(&self.taken).position(|(entry, taken)| !taken && is_meant(entry));
        let index = found.filter(|_| !self.has(key))?;
        self.taken[index] = true;
        self.meant.push(key);
        problems.add(unknown_key(&self.entries[index], self.what, &self.known, Some(key)));

        Some(&self.entries[index])
    }

    /// Returns the value of a key; `None` if it is absent or `null`.
    pub fn value(&mut self, key: &'static str) -> Option<&'n TreeNode> {
        self.entry(key).map(|entry| &entry.value).filter(|node| !node.is_null())
    }

    /// Returns an optional text.
    pub fn string(
        &mut self,
        key: &'static str,
        problems: &mut DiagnosticCollector,
    ) -> Option<SpannedValue<String>> {
        #[cfg(feature = "requested-keys")]
        record::note(self.what, key, "string");
        let node = self.value(key)?;
        string(node, key, problems)
    }

    /// Returns an optional text that must not be blank.
    pub fn text(
        &mut self,
        key: &'static str,
        problems: &mut DiagnosticCollector,
    ) -> Option<SpannedValue<String>> {
        let text = self.string(key, problems)?;
        check_not_blank(text, key, problems)
    }

    /// Returns an optional name that must not be blank, in the form of [`composed_name`].
    pub fn name(
        &mut self,
        key: &'static str,
        problems: &mut DiagnosticCollector,
    ) -> Option<SpannedValue<String>> {
        Some(self.text(key, problems)?.map(composed_name))
    }

    /// Returns an optional boolean.
    pub fn boolean(
        &mut self,
        key: &'static str,
        problems: &mut DiagnosticCollector,
    ) -> Option<SpannedValue<bool>> {
        #[cfg(feature = "requested-keys")]
        record::note(self.what, key, "boolean");
        let node = self.value(key)?;
        if let NodeValue::Bool(value) = node.data {
            return Some(SpannedValue::new(value, node.use_span()));
        }

        let mut diagnostic = wrong_type(node, &format!("`{key}`"), "true or false");
        let meant = match &node.data {
            NodeValue::Int(1) => Some("true"),
            NodeValue::Int(0) => Some("false"),
            NodeValue::Str(word) => match word.to_ascii_lowercase().as_str() {
                "yes" | "on" | "true" | "y" => Some("true"),
                "no" | "off" | "false" | "n" => Some("false"),
                _ => None,
            },
            _ => None,
        };
        if let Some(meant) = meant {
            diagnostic = diagnostic.with_suggestion("write the boolean", node.use_span(), meant);
        }

        problems.reject(diagnostic)
    }

    /// Returns an optional finite number.
    pub fn number(
        &mut self,
        key: &'static str,
        problems: &mut DiagnosticCollector,
    ) -> Option<SpannedValue<f64>> {
        #[cfg(feature = "requested-keys")]
        record::note(self.what, key, "number");
        let node = self.value(key)?;
        number(node, key, problems)
    }

    /// Returns an optional integer within `low..=high`.
    pub fn integer(
        &mut self,
        key: &'static str,
        low: i64,
        high: i64,
        problems: &mut DiagnosticCollector,
    ) -> Option<SpannedValue<i64>> {
        #[cfg(feature = "requested-keys")]
        record::note(self.what, key, &format!("integer {low} {high}"));
        let node = self.value(key)?;
        let value = match node.data {
            NodeValue::Int(value) => value,
            NodeValue::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => value as i64,
            _ => {
                let mut diagnostic = wrong_type(node, &format!("`{key}`"), "a whole number");
                if let Some(inner) = node.as_str().map(str::trim).filter(|text| text.parse::<i64>().is_ok()) {
                    diagnostic = diagnostic.with_suggestion("remove the quotes", node.use_span(), inner);
                }

                return problems.reject(diagnostic);
            }
        };
        if (low..=high).contains(&value) {
            return Some(SpannedValue::new(value, node.use_span()));
        }

        let range =
            if high >= i64::from(u32::MAX) { format!("{low} or more") } else { format!("{low} to {high}") };
        Diagnostic::error(codes::OUT_OF_RANGE, format!("`{key}` is out of range"))
            .at(node.use_span(), format!("found {value}"))
            .with_help(format!("use a whole number, {range}"))
            .reject_in(problems)
    }

    /// Returns an optional number from 0 to 1.
    pub fn unit(
        &mut self,
        key: &'static str,
        problems: &mut DiagnosticCollector,
    ) -> Option<SpannedValue<assize_rubric::UnitInterval>> {
        #[cfg(feature = "requested-keys")]
        record::note(self.what, key, "unit");
        let value = self.number(key, problems)?;
        if let Ok(unit) = assize_rubric::UnitInterval::new(value.value) {
            return Some(SpannedValue::new(unit, value.span));
        }

        let mut diagnostic = Diagnostic::error(codes::OUT_OF_RANGE, format!("`{key}` is out of range"))
            .at(value.span, format!("found {}", value.value))
            .with_help("use a number from 0 to 1");
        if value.value >= 2.0 && value.value <= 100.0 {
            let scale = if value.value <= 10.0 { 10.0 } else { 100.0 };
            diagnostic = diagnostic.with_suggestion(
                format!("if {} of {scale} was meant", value.value),
                value.span,
                format!("{}", value.value / scale),
            );
        }

        problems.reject(diagnostic)
    }

    /// Returns a list of texts, or a single text as a list of one; empty when absent.
    pub fn strings(
        &mut self,
        key: &'static str,
        problems: &mut DiagnosticCollector,
    ) -> Vec<SpannedValue<String>> {
        #[cfg(feature = "requested-keys")]
        record::note(self.what, key, "strings");
        let Some(node) = self.value(key) else { return Vec::new() };
        match &node.data {
            NodeValue::Str(text) => vec![SpannedValue::new(text.clone(), node.use_span())],
            NodeValue::Seq(items) => {
                let what = || format!("an entry of `{key}`");
                items.iter().filter_map(|item| decode_named_string(item, what, problems)).collect()
            }
            _ => {
                problems.add(wrong_type(node, &format!("`{key}`"), "a list of strings"));
                Vec::new()
            }
        }
    }

    /// Returns a list of names as [`strings`](Self::strings) does, in the form of [`composed_name`].
    pub fn names(
        &mut self,
        key: &'static str,
        problems: &mut DiagnosticCollector,
    ) -> Vec<SpannedValue<String>> {
        self.strings(key, problems).into_iter().map(|name| name.map(composed_name)).collect()
    }

    /// Ends the reading: every key that was not requested and does not begin with `x-` is an error. A key
    /// given under a misspelt name is not reported as missing too.
    pub fn finish(self, problems: &mut DiagnosticCollector) {
        let head = self.head();
        let mut meant = self.meant.clone();
        for (entry, taken) in self.entries.iter().zip(&self.taken) {
            if *taken || entry.key.starts_with("x-") {
                continue;
            }
            // A misspelt key was not meant as a key that is present.
            let absent = self.known.iter().map(|known| known.key).filter(|key| !self.has(key));
            let near = did_you_mean(&entry.key, absent);
            meant.extend(near);
            problems.add(unknown_key(entry, self.what, &self.known, near));
        }

        if !meant.is_empty() {
            problems.retract_missing(head, &meant);
        }
    }

    /// Ends the reading of a map whose other keys belong to another tool: they are warnings.
    pub fn finish_leniently(self, problems: &mut DiagnosticCollector) {
        let mut unknown = problems.fork();
        self.finish(&mut unknown);

        for mut diagnostic in unknown.into_vec() {
            diagnostic.severity = Severity::Warning;
            diagnostic.code = codes::FOREIGN_SETTING;

            // The known keys are not all keys of that tool, so don't list them.
            if diagnostic.suggestion.is_none() {
                diagnostic.help = vec!["it is ignored; check its spelling".to_owned()];
            }

            problems.add(diagnostic);
        }
    }

    /// Ends the reading of a map that may have keys of the author's own. Only keys that resemble a known one cause
    /// warnings.
    pub fn finish_with_own_keys(self, problems: &mut DiagnosticCollector) {
        let mut unknown = problems.fork();
        self.finish_leniently(&mut unknown);
        for diagnostic in unknown.into_vec() {
            if diagnostic.suggestion.is_some() {
                problems.add(diagnostic);
            }
        }
    }

    /// Returns the entries that were not requested, for maps with third-party settings. They count as known
    /// afterwards.
    pub fn take_remaining(&mut self) -> Vec<&'n MapEntry> {
        #[cfg(feature = "requested-keys")]
        record::note(self.what, "", "open");
        let all = self.entries.iter().zip(&mut self.taken);
        all.filter_map(|(entry, taken)| (!std::mem::replace(taken, true)).then_some(entry)).collect()
    }
}

/// Returns the diagnostic for an unknown key. `near` is the key that it was probably meant as.
fn unknown_key(entry: &MapEntry, what: &str, known: &[KnownKey], near: Option<&str>) -> Diagnostic {
    let diagnostic = Diagnostic::error(codes::UNKNOWN_KEY, format!("unknown key `{}`", entry.key))
        .at(entry.key_span, format!("{what} has no such key"));
    if let Some(near) = near {
        return diagnostic
            .with_help(format!("did you mean `{near}`?"))
            .with_suggestion("rename the key", entry.key_span, near);
    }

    let is_listed = |key| !known.iter().any(|known| known.key == key && known.is_other_spelling);
    let listed = known.iter().map(|known| known.key).filter(|key| is_listed(*key));
    let mut names: Vec<String> = listed.map(|key| format!("`{key}`")).collect();
    names.sort();
    names.dedup();

    let own = if known.iter().any(|known| known.key == "metadata") {
        "your own data goes below `metadata`, or under keys that begin with `x-`"
    } else {
        "keys that begin with `x-` are free for your own use"
    };
    diagnostic.with_help(format!("known keys: {}", names.join(", "))).with_help(own)
}

/// Returns the diagnostic for a value of the wrong type. `what` names the value, `expected` the type it
/// should have.
pub fn wrong_type(node: &TreeNode, what: &str, expected: &str) -> Diagnostic {
    Diagnostic::error(codes::WRONG_TYPE, format!("{what} must be {expected}"))
        .at(node.use_span(), format!("found {}", node.type_name()))
}

/// Decodes a text. Numbers and booleans are not silently accepted: the fix is to quote them.
pub fn string(
    node: &TreeNode,
    key: &str,
    problems: &mut DiagnosticCollector,
) -> Option<SpannedValue<String>> {
    decode_named_string(node, || format!("`{key}`"), problems)
}

fn decode_named_string(
    node: &TreeNode,
    what: impl Fn() -> String,
    problems: &mut DiagnosticCollector,
) -> Option<SpannedValue<String>> {
    if let Some(text) = node.as_str() {
        return Some(SpannedValue::new(text.to_owned(), node.use_span()));
    }

    let mut diagnostic = wrong_type(node, &what(), "a string");
    let plain = match &node.data {
        NodeValue::Bool(value) => Some(value.to_string()),
        NodeValue::Int(value) => Some(value.to_string()),
        NodeValue::Float(value) => Some(value.to_string()),
        _ => None,
    };
    if let Some(plain) = plain {
        diagnostic = diagnostic.with_suggestion("put it in quotes", node.use_span(), format!("\"{plain}\""));
    }

    problems.reject(diagnostic)
}

/// Decodes a finite number.
pub fn number(node: &TreeNode, key: &str, problems: &mut DiagnosticCollector) -> Option<SpannedValue<f64>> {
    let value = match node.data {
        NodeValue::Int(value) => value as f64,
        NodeValue::Float(value) if value.is_finite() => value,
        NodeValue::Float(value) => {
            return Diagnostic::error(codes::OUT_OF_RANGE, format!("`{key}` must be a finite number"))
                .at(node.use_span(), format!("found {value}"))
                .with_help("write an ordinary number")
                .reject_in(problems);
        }
        _ => {
            let mut diagnostic = wrong_type(node, &format!("`{key}`"), "a number");
            if let Some(inner) = node.as_str().map(str::trim).filter(|text| text.parse::<f64>().is_ok()) {
                diagnostic = diagnostic.with_suggestion("remove the quotes", node.use_span(), inner);
            }
            if let Some(share) = node.as_str().and_then(percentage) {
                diagnostic =
                    diagnostic.with_suggestion("write the share", node.use_span(), share.to_string());
            }

            return problems.reject(diagnostic);
        }
    };
    Some(SpannedValue::new(value, node.use_span()))
}

/// Returns the number from 0 to 1 that a text such as `70%` means.
fn percentage(text: &str) -> Option<f64> {
    let percent: f64 = text.trim().strip_suffix('%')?.trim_end().parse().ok()?;
    percent.is_finite().then_some(percent / 100.0)
}

/// Rejects a text of white space.
pub fn check_not_blank(
    text: SpannedValue<String>,
    key: &str,
    problems: &mut DiagnosticCollector,
) -> Option<SpannedValue<String>> {
    if text.value.trim().is_empty() {
        return Diagnostic::error(codes::EMPTY_TEXT, format!("`{key}` is empty"))
            .at(text.span, "nothing here")
            .with_help("write the text, or remove the key")
            .reject_in(problems);
    }
    Some(text)
}

/// Requests recorded for the test that compares them with the schemas.
#[cfg(feature = "requested-keys")]
pub mod record {
    use std::cell::RefCell;
    use std::collections::{BTreeMap, BTreeSet};

    /// For each kind of map, its keys and the ways in which each was read.
    pub type RequestedKeys = BTreeMap<&'static str, BTreeMap<&'static str, BTreeSet<String>>>;

    thread_local! {
        /// `None` until the first call of [`take`], so that only tests that compare keys with the schemas record them.
        static ASKED: RefCell<Option<RequestedKeys>> = const { RefCell::new(None) };
    }

    /// Records that `key` of a map named `what` was requested in the way `how`.
    pub(super) fn note(what: &'static str, key: &'static str, how: &str) {
        ASKED.with_borrow_mut(|asked| {
            let Some(asked) = asked else { return };
            asked.entry(what).or_default().entry(key).or_default().insert(how.to_owned());
        });
    }

    /// All requests on this thread since the last call; the first call begins the recording.
    pub fn take() -> RequestedKeys {
        ASKED.replace(Some(RequestedKeys::new())).unwrap_or_default()
    }
}
