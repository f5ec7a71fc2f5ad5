//! Identifies the client that a call belongs to, in a process that serves several.

/// The request of a client for which a model is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallSource {
    /// Number of the client.
    pub client: u64,
    /// Number of its request.
    pub request: u64,
}

/// Calls that fail together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum SourceScope {
    /// All calls.
    #[default]
    All,
    /// The calls of a client.
    Client(u64),
    /// The calls of one request.
    Request(CallSource),
}

impl SourceScope {
    /// The calls of this source. Without a source, nothing distinguishes calls.
    pub(crate) fn of(source: Option<CallSource>) -> Self {
        source.map_or(Self::All, Self::Request)
    }

    /// Whether a call is one of them.
    pub(crate) fn covers(self, source: Option<CallSource>) -> bool {
        match self {
            Self::All => true,
            Self::Client(client) => source.is_some_and(|source| source.client == client),
            Self::Request(request) => source == Some(request),
        }
    }

    /// The smallest scope that has also the calls of this source.
    pub(crate) fn widened(self, source: Option<CallSource>) -> Self {
        match (self, source) {
            _ if self.covers(source) => self,
            (Self::Request(own), Some(other)) if own.client == other.client => Self::Client(own.client),
            _ => Self::All,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_grows_from_a_request_to_its_client_to_all() {
        let source = |client, request| Some(CallSource { client, request });
        let one = SourceScope::of(source(1, 1));
        for (scope, other, expected) in [
            (one, source(1, 1), one),
            (one, source(1, 2), SourceScope::Client(1)),
            (one, source(2, 1), SourceScope::All),
            (one, None, SourceScope::All),
            (SourceScope::Client(1), source(1, 3), SourceScope::Client(1)),
            (SourceScope::Client(1), source(2, 3), SourceScope::All),
            (SourceScope::All, source(1, 1), SourceScope::All),
        ] {
            assert_eq!(scope.widened(other), expected, "{scope:?} {other:?}");
            assert!(expected.covers(other));
        }
        assert!(!one.covers(source(1, 2)) && !SourceScope::Client(1).covers(None));
    }
}
