//! Settings of a proxy.

use std::fmt;
use std::sync::Arc;

use crate::chat_model::ChatModel;

/// The model that a program may ask, and how often.
#[derive(Clone)]
pub struct ProxySetup {
    /// The model.
    pub ask: Arc<dyn ChatModel>,
    /// The name that the program sees.
    pub name: String,
    /// How many questions are answered. Further ones are refused.
    pub max_calls: u32,
    /// The repeat of the work, from 1. Each repeat draws anew; the same one may be answered from the cache.
    pub repeat: u32,
}

impl fmt::Debug for ProxySetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ask, name, max_calls, repeat } = self;
        let model = ask.describe().to_string();
        f.debug_struct("ProxySetup")
            .field("model", &model)
            .field("name", name)
            .field("max_calls", max_calls)
            .field("repeat", repeat)
            .finish()
    }
}
