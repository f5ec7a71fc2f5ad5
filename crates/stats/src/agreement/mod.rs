//! Agreement of raters: judges with people, people with people, a judge with itself.

mod alpha;
mod coefficient;
mod icc;
mod kappa;
mod ratings;
mod scale;
mod table;

pub use alpha::{Alpha, Metric, alpha};
pub use coefficient::{Chance, Coefficient, coefficient};
pub use icc::{Icc, icc};
pub use kappa::{Kappa, kappa};
pub use ratings::Ratings;
pub use scale::{Scale, Weights};
pub use table::Table;
