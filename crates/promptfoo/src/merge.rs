//! Merges tests with the default test, with scenarios, and with the suites that they are included from.

use assize_document::MapEntry;

use super::matrix_test::MatrixTest;

/// Merges a test with the settings of its scenario.
pub(super) fn merge_tests(settings: &MatrixTest, test: &MatrixTest, scenario: Option<&str>) -> MatrixTest {
    let mut merged = merge(settings, test);
    merged.skip_defaults |= settings.skip_defaults;
    let parts = [scenario, settings.description.as_deref(), test.description.as_deref()];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    merged.description = (!parts.is_empty()).then(|| parts.join(": "));
    merged.id.clone_from(&test.id);
    merged.head = test.head.or(settings.head);
    merged
}

/// Returns `test` merged with `outer`: assertions of `outer` come first, its other settings apply where the
/// test has none.
pub(super) fn merge(outer: &MatrixTest, test: &MatrixTest) -> MatrixTest {
    let mut merged = test.clone();
    let add_missing = |own: &mut Vec<MapEntry>, other: &[MapEntry]| {
        let mut all: Vec<MapEntry> =
            other.iter().filter(|entry| !own.iter().any(|known| known.key == entry.key)).cloned().collect();
        all.append(own);
        *own = all;
    };
    merged.is_broken |= outer.is_broken;
    add_missing(&mut merged.vars, &outer.vars);
    add_missing(&mut merged.metadata, &outer.metadata);
    add_missing(&mut merged.case_keys, &outer.case_keys);

    let mut assertions = outer.assertions.clone();
    assertions.append(&mut merged.assertions);
    merged.assertions = assertions;
    merged.assert_span = test.assert_span.or(outer.assert_span);
    if merged.threshold.is_none() {
        merged.threshold.clone_from(&outer.threshold);
    }
    if merged.scoring.is_none() {
        merged.scoring.clone_from(&outer.scoring);
    }
    if merged.prompts.is_empty() {
        merged.prompts.clone_from(&outer.prompts);
    }
    if merged.providers.is_empty() {
        merged.providers.clone_from(&outer.providers);
    }

    let (own, other) = (&mut merged.options, &outer.options);
    own.judge = own.judge.take().or_else(|| other.judge.clone());
    own.transform = own.transform.take().or_else(|| other.transform.clone());
    own.transform_vars = own.transform_vars.take().or_else(|| other.transform_vars.clone());
    own.rubric_prompt = own.rubric_prompt.take().or_else(|| other.rubric_prompt.clone());
    own.prefix = own.prefix.take().or_else(|| other.prefix.clone());
    own.suffix = own.suffix.take().or_else(|| other.suffix.clone());
    own.disable_expansion |= other.disable_expansion;
    own.disable_conversation |= other.disable_conversation;
    own.runs_serially |= other.runs_serially;
    own.store = own.store.take().or_else(|| other.store.clone());

    merged
}
