//! Rules that only a model can apply, one file each.

pub(super) mod ambiguous;
pub(super) mod bands;
pub(super) mod bundled;
pub(super) mod contradictory;
pub(super) mod gameable;
pub(super) mod misplaced_gate;
pub(super) mod overlapping;
pub(super) mod unfounded;
pub(super) mod unguarded;
pub(super) mod unobservable;
pub(super) mod untested;
