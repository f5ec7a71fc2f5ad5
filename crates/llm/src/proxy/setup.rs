//! Settings of a proxy.

use std::fmt;
use std::sync::Arc;

use crate::chat_model::ChatModel;

/// Model that a program may ask, and how often.
#[derive(Clone)]
pub struct ProxySetup {
    /// The model.
    pub ask: Arc<dyn ChatModel>,
    /// The name it goes by here.
    pub name: String,
    /// Questions that are answered; those beyond are refused.
    pub max_calls: u32,
    /// Repeat of the work, from 1: each repeat draws anew, the same one may be answered from memory.
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
