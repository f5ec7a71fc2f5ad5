//! Decoders of `workspace`: the folder a target works in, its repositories, and its hooks.

mod container;
mod folder;
mod hooks;
mod repos;
mod spec;

pub(crate) use hooks::decode_hooks;
pub(crate) use spec::{decode_workspace, workspace_from_template};
