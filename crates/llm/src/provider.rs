//! The providers that can be named, one row each: where they are, which variables configure them, what they speak.

use std::sync::Arc;

use crate::endpoint::Endpoint;
use crate::wire::{Dialect, OpenAiChat, Wire};

/// One provider.
#[derive(Debug)]
pub(crate) struct Provider {
    /// The name before the `:` or `/` of a model name.
    pub(crate) name: &'static str,
    /// The variable that holds the key.
    pub(crate) key_variable: &'static str,
    /// The variable that moves the address.
    pub(crate) base_url_variable: &'static str,
    /// The address when that variable is not set.
    pub(crate) base_url: &'static str,
    /// The wire format, given the address in use.
    pub(crate) wire: fn(&Endpoint) -> Arc<dyn Wire>,
}

pub(crate) static PROVIDERS: &[Provider] = &[Provider {
    name: "openai",
    key_variable: "OPENAI_API_KEY",
    base_url_variable: "OPENAI_BASE_URL",
    base_url: "https://api.openai.com/v1",
    wire: |endpoint| Arc::new(OpenAiChat::new(Dialect::for_host(&endpoint.host()))),
}];

/// The names of all providers, in the order they are shown to people.
pub fn known_providers() -> impl Iterator<Item = &'static str> {
    PROVIDERS.iter().map(|provider| provider.name)
}

/// The provider of that name, in lower case.
pub(crate) fn find(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}
