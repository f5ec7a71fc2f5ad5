//! `workspace`: the folder a case is worked on in, the repositories in it, and the commands around it.

mod hooks;
mod repos;
mod spec;

pub(crate) use hooks::hooks;
pub(crate) use spec::{folder_beside, workspace};
