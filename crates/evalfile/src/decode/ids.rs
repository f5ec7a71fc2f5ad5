//! Detects duplicate ids without storing the ids.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span, SpannedValue};
use assize_document::codes;
use assize_model::FilePosition;

use super::DecodeContext;

/// Location of an id.
#[derive(Debug, Clone, Copy)]
pub(crate) enum IdLocation<'p> {
    /// In a source that is kept in memory.
    Source(Span),
    /// In a line of a dataset, whose text is dropped.
    Line(&'p Arc<Path>, usize),
}

/// All ids of a suite, as 16-byte hashes. Among a million ids, two collide with a probability below 1e-26. An
/// entry takes 32 bytes for an id of any length.
#[derive(Debug, Default)]
pub(crate) struct IdRegistry {
    met: HashMap<u128, FirstUse, BuildHasherDefault<IdentityHasher>>,
    /// Random keys for the two halves of a hash, so that a file can't contain ids that are made to collide.
    keys: [RandomState; 2],
    spans: Vec<(Span, FilePosition)>,
    datasets: Vec<Arc<Path>>,
}

/// First location of an id: indices into the lists of [`IdRegistry`].
#[derive(Debug, Clone, Copy)]
enum FirstUse {
    Source(u32),
    Line(u32, u32),
}

/// Hasher that returns its input, for keys that are hashes already.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl IdRegistry {
    /// Records an id, or reports it as a duplicate.
    pub(crate) fn register(
        &mut self,
        cx: &mut DecodeContext,
        id: &SpannedValue<String>,
        met: IdLocation<'_>,
    ) {
        let key = self.key(&id.value);
        let Some(first) = self.met.get(&key).copied() else {
            let first = match met {
                IdLocation::Source(span) => {
                    self.spans.push((span, cx.position(span)));
                    FirstUse::Source(self.spans.len() as u32 - 1)
                }
                IdLocation::Line(path, line) => {
                    if self.datasets.last() != Some(path) {
                        self.datasets.push(Arc::clone(path));
                    }
                    FirstUse::Line(self.datasets.len() as u32 - 1, line as u32)
                }
            };

            self.met.insert(key, first);
            return;
        };

        let diagnostic =
            Diagnostic::error(codes::DUPLICATE_ID, format!("two cases have the id `{}`", id.value))
                .at(id.span, "second time")
                .with_help("give each case an id of its own");
        cx.problems.add(match (first, met) {
            (FirstUse::Source(index), IdLocation::Source(_)) => {
                diagnostic.with_secondary(self.spans[index as usize].0, "first time")
            }
            (FirstUse::Source(index), IdLocation::Line(..)) => {
                diagnostic.with_note(format!("first used at {}", self.spans[index as usize].1))
            }
            (FirstUse::Line(dataset, line), _) => diagnostic.with_note(format!(
                "first used in line {line} of {}",
                self.datasets[dataset as usize].display()
            )),
        });
    }

    /// Returns true if an id was recorded.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.met.contains_key(&self.key(id))
    }

    fn key(&self, id: &str) -> u128 {
        let [low, high] = &self.keys;
        u128::from(high.hash_one(id)) << 64 | u128::from(low.hash_one(id))
    }
}
