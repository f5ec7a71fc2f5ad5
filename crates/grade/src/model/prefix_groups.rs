//! Groups of calls with the same prefix, as a provider's prompt cache sees them.

use assize_llm::ReplySchema;

/// Calls grouped by prefix: the shared text and the reply schema. Providers put the schema before the messages,
/// as a tool or as instructions, so calls with different schemas share no cache entry.
#[derive(Debug, Default)]
pub(super) struct PrefixGroups<'a>(Vec<PrefixGroup<'a>>);

#[derive(Debug)]
struct PrefixGroup<'a> {
    shared: &'a str,
    schema: ReplySchema,
    calls: usize,
    led: bool,
}

impl<'a> PrefixGroups<'a> {
    /// Adds a call and returns the index of its group.
    pub(super) fn add_call(&mut self, shared: &'a str, schema: ReplySchema) -> usize {
        let known = self.0.iter().position(|kind| kind.schema == schema && kind.shared == shared);
        let at = known.unwrap_or_else(|| {
            self.0.push(PrefixGroup { shared, schema, calls: 0, led: false });
            self.0.len() - 1
        });
        self.0[at].calls += 1;

        at
    }

    /// Returns true if several calls belong to this group.
    pub(super) fn is_shared(&self, kind: usize) -> bool {
        self.0.get(kind).is_some_and(|kind| kind.calls > 1)
    }

    /// Returns true on the first call of this function for the group.
    pub(super) fn is_first(&mut self, kind: usize) -> bool {
        self.0.get_mut(kind).is_some_and(|kind| !std::mem::replace(&mut kind.led, true))
    }
}
