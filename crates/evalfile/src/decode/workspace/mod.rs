//! Decoders of `workspace`: the folder a target works in, its repositories, and its hooks.

mod hooks;
mod repos;
mod spec;

pub(crate) use hooks::hooks;
pub(crate) use spec::{folder_beside, workspace};
