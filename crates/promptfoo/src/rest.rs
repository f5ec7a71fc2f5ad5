//! Checks the other parts of tests whose variables can't be read.

use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::codes;
use assize_evalfile::reading::{DecodeContext, SuiteDefaults};
use serde_json::Value;

use super::expand::{Combination, MatrixExpander};
use super::matrix_test::MatrixTest;
use super::pending::{CaseVariant, PendingCase};

impl MatrixExpander<'_> {
    /// Reports problems of a test other than its variables. The test is written with empty variables, and only
    /// errors that no value could cause are kept.
    pub(super) fn check_rest(
        &mut self,
        cx: &mut DecodeContext,
        test: &Rc<MatrixTest>,
        span: Span,
        defaults: &SuiteDefaults,
    ) {
        let vars = test.vars.iter().map(|entry| (entry.key.clone(), Value::from(""))).collect();
        let variant = CaseVariant { vars, ..CaseVariant::default() };
        let case = PendingCase {
            id: String::new(),
            test_id: Arc::from(""),
            test: Rc::clone(test),
            transform: None,
            prompt: None,
            media: false,
            span,
            history: None,
            cluster: None,
            variants: Vec::new(),
        };

        let rest = cx.problems.fork();
        let known = mem::replace(&mut cx.problems, rest);
        let lowered = cx.lowered.take();
        self.write_case(cx, "test", &Combination { case: &case, variant: &variant }, defaults);
        cx.lowered = lowered;
        let rest = mem::replace(&mut cx.problems, known);
        for diagnostic in rest.into_vec() {
            if is_independent(cx, &diagnostic) {
                cx.problems.add(diagnostic);
            }
        }
    }
}

/// Returns true for errors about keys, types and files that do not depend on variables.
fn is_independent(cx: &DecodeContext, diagnostic: &Diagnostic) -> bool {
    let code = diagnostic.code;
    let independent = [
        codes::UNKNOWN_KEY,
        codes::UNKNOWN_GRADER,
        codes::GRADER_NOT_OFFERED,
        codes::MISSING_TYPE,
        codes::MISSING_SETTING,
        codes::WRONG_TYPE,
        codes::FILE_NOT_FOUND,
    ];
    independent.contains(&code) && !cx.sources.slice(diagnostic.primary.span).contains("{{")
}
