//! Which calls begin alike, as a provider's prompt cache sees it.

use assize_llm::ReplySchema;

/// Calls told apart by what they begin with: the shared text, and the reply schema. Where a provider caches prompts, the
/// schema comes before the messages, as a tool or as instructions of its own, so that calls with another one find nothing.
#[derive(Debug, Default)]
pub(super) struct PrefixGroups<'a>(Vec<Kind<'a>>);

#[derive(Debug)]
struct Kind<'a> {
    shared: &'a str,
    schema: ReplySchema,
    calls: usize,
    led: bool,
}

impl<'a> PrefixGroups<'a> {
    /// The number of the kind of one more call.
    pub(super) fn add(&mut self, shared: &'a str, schema: ReplySchema) -> usize {
        let known = self.0.iter().position(|kind| kind.schema == schema && kind.shared == shared);
        let at = known.unwrap_or_else(|| {
            self.0.push(Kind { shared, schema, calls: 0, led: false });
            self.0.len() - 1
        });
        self.0[at].calls += 1;
        at
    }

    /// Whether several calls are of this kind.
    pub(super) fn is_shared(&self, kind: usize) -> bool {
        self.0.get(kind).is_some_and(|kind| kind.calls > 1)
    }

    /// Whether nobody has asked this of the kind yet.
    pub(super) fn is_first(&mut self, kind: usize) -> bool {
        self.0.get_mut(kind).is_some_and(|kind| !std::mem::replace(&mut kind.led, true))
    }
}
