//! Decoders of targets files, and helpers shared with other settings files.

mod agent;
mod command;
mod custom;
mod entry;
mod file;
mod health;
mod http;
pub(crate) mod http_script;
mod inline;
mod mask;
mod model;
mod model_id;
mod provider;
mod provider_entry;
mod read;
mod recording;
pub(crate) mod settings_files;
mod shared;
mod use_target;
mod value;
pub(crate) mod variables;

pub use file::{LoadedTargets, load_targets};
pub(crate) use inline::decode_defined_targets;
pub use inline::{IdleSetting, InlineTarget, InlineTargets};
pub use mask::is_secret_header;
pub(crate) use mask::mask_secrets;
pub use model_id::{EMBEDDING_WORDS, model_entry};
pub use provider::runnable_names as provider_names;
pub use provider::{is_other_tools_provider, is_provider};
pub use provider::{model_hint, model_provider};
pub use provider_entry::{agent_of_id, environment_references, target_of_provider};
pub use read::TYPED as TYPED_TARGET_KEYS;
