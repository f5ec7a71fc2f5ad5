//! `assize pairwise`: systems compared two at a time, case by case, in both orders.

mod execute;
mod system;
mod versus;

pub(crate) use execute::execute;
