//! The tests of a matrix file: those that are written, and those that scenarios make of their parts.

use std::borrow::Cow;

use super::matrix_test::MatrixTest;
use super::merge::merge_tests;

/// All tests of a file. Those of scenarios are made one after the other, so that a small file stays small.
#[derive(Debug, Default)]
pub(super) struct MatrixTests {
    pub(super) written: Vec<MatrixTest>,
    pub(super) scenarios: Vec<Scenario>,
}

/// A scenario: each item of its `config` makes a test of each of its `tests`.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) description: Option<String>,
    pub(super) config: Vec<MatrixTest>,
    pub(super) tests: Vec<MatrixTest>,
}

impl MatrixTests {
    /// The number of tests.
    pub(super) fn count(&self) -> usize {
        let made = self.scenarios.iter().map(|one| one.config.len().saturating_mul(one.tests.len()));
        made.fold(self.written.len(), usize::saturating_add)
    }

    /// All tests, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = Cow<'_, MatrixTest>> {
        let made = self.scenarios.iter().flat_map(|Scenario { description, config, tests }| {
            config.iter().flat_map(move |settings| {
                tests.iter().map(move |test| merge_tests(settings, test, description.as_deref()))
            })
        });
        self.written.iter().map(Cow::Borrowed).chain(made.map(Cow::Owned))
    }

    /// What the tests are made of, each part once.
    pub(super) fn parts(&self) -> impl Iterator<Item = &MatrixTest> {
        let of_scenarios = self.scenarios.iter().flat_map(|one| one.config.iter().chain(&one.tests));
        self.written.iter().chain(of_scenarios)
    }
}
