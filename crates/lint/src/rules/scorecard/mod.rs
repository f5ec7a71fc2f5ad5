//! Rules about scorecards, one file each.

pub(super) mod all_block;
pub(super) mod dominant;
pub(super) mod idle_gate;
pub(super) mod weightless;
