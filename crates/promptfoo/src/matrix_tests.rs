//! The tests of a matrix file: written tests, and combinations from scenarios.

use std::borrow::Cow;

use super::matrix_test::MatrixTest;
use super::merge::merge_tests;

/// All tests of a file. The tests of scenarios are combined one at a time, so that a small file takes little memory.
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

    /// The parts that tests are combined from, each once.
    pub(super) fn parts(&self) -> impl Iterator<Item = &MatrixTest> {
        let of_scenarios = self.scenarios.iter().flat_map(|one| one.config.iter().chain(&one.tests));
        self.written.iter().chain(of_scenarios)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_keeps_its_parts_and_not_its_tests() {
        let described = |description: &str| MatrixTest {
            description: Some(description.to_owned()),
            ..MatrixTest::default()
        };
        let parts = |name: &str| (0..300).map(|number| described(&format!("{name}{number}"))).collect();
        let scenario = Scenario { description: Some("s".to_owned()), config: parts("c"), tests: parts("t") };
        let all = MatrixTests { written: vec![described("w")], scenarios: vec![scenario] };

        assert_eq!((all.count(), all.parts().count(), all.all().count()), (90_001, 601, 90_001));
        let names: Vec<_> = all.all().filter_map(|test| test.description.clone()).take(303).collect();
        assert_eq!(
            [&names[0], &names[1], &names[300], &names[301]],
            ["w", "s: c0: t0", "s: c0: t299", "s: c1: t0"]
        );
    }
}
