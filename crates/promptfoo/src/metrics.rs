//! Named metrics of assertions, and `derivedMetrics`, which are computed from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span, did_you_mean};
use assize_document::{MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_evalfile::reading::DecodeContext;
use assize_model::{Grader, GraderKind, NamedMetric, Suite};
use assize_rubric::{DerivedMetricSpec, formula_names};

use super::spelling::MatrixSpelling;

/// Key under which a grader's metric is recorded while its node is written. An author can't write this key. It
/// is removed before the node is decoded.
pub(super) const METRIC_MARK: &str = "\0metric";

/// Metrics that a file computes from others.
#[derive(Debug, Default)]
pub(super) struct DerivedMetrics {
    found: Vec<(DerivedMetricSpec, Span)>,
}

impl DerivedMetrics {
    /// Reads the list under `derivedMetrics`.
    pub(super) fn read(cx: &mut DecodeContext, object: &mut MapReader<'_>, spelling: MatrixSpelling) -> Self {
        let mut derived = Self::default();
        let Some(entry) = spelling.entry(object, "derivedMetrics", &mut cx.problems) else { return derived };
        match &entry.value.data {
            NodeValue::Seq(items) => items.iter().for_each(|item| derived.read_item(cx, item)),
            NodeValue::Null => {}
            _ => cx
                .problems
                .add(wrong_type(&entry.value, "`derivedMetrics`", "a list of maps with `name` and `value`")),
        }
        derived
    }

    fn read_item(&mut self, cx: &mut DecodeContext, item: &TreeNode) {
        let Some(mut object) = MapReader::new(item, "a derived metric", &mut cx.problems) else { return };
        let name = object.text("name", &mut cx.problems);
        let value = object.entry("value").filter(|entry| !entry.value.is_null());
        let head = object.head();
        object.entry("description");
        object.finish(&mut cx.problems);

        let Some(value) = value else {
            let missing = Diagnostic::error(codes::MISSING_SETTING, "a derived metric has no `value`")
                .at(head, "no `value` here");
            cx.problems.add(missing.with_help("write a formula of metrics: `value: correct / __count`"));
            return;
        };
        let Some(name) = name else {
            if item.get("name").is_none_or(TreeNode::is_null) {
                let missing = Diagnostic::error(codes::MISSING_SETTING, "a derived metric has no name")
                    .at(head, "no `name` here");
                cx.problems.add(missing.with_help("name it: `name: accuracy`"));
            }
            return;
        };
        let formula = match &value.value.data {
            NodeValue::Str(text) => text.trim().to_owned(),
            NodeValue::Int(_) | NodeValue::Float(_) => value.value.to_json().to_string(),
            _ => {
                cx.problems.add(wrong_type(&value.value, "`value` of a derived metric", "a formula"));
                return;
            }
        };

        let span = value.value.use_span();
        if let Some(problem) = formula_problem(&formula, span) {
            cx.problems.add(problem);
            return;
        }
        if self.found.iter().any(|(known, _)| known.name == name.value) {
            Diagnostic::error(
                codes::BAD_MATRIX_PART,
                format!("two derived metrics are called `{}`", name.value),
            )
            .at(name.span, "second time")
            .with_help("give each a name of its own")
            .add_to(&mut cx.problems);
            return;
        }
        self.found.push((DerivedMetricSpec { name: name.value, formula }, span));
    }

    /// Reports names in formulas that no assertion has, and scores of weight 0, which promptfoo would not
    /// count.
    fn check(&self, cx: &mut DecodeContext, metrics: &MetricNames) {
        let mut weightless: Vec<(String, Span)> = Vec::new();
        for (at, (spec, span)) in self.found.iter().enumerate() {
            let is_named = |range: &[(DerivedMetricSpec, Span)], name: &str| {
                range.iter().any(|(known, _)| known.name == name)
            };
            for name in formula_names(&spec.formula).unwrap_or_default() {
                if is_named(&self.found[..at], &name) || name == DerivedMetricSpec::COUNT {
                    continue;
                }
                match metrics.found.get(&name) {
                    None => {
                        let is_later = is_named(&self.found[at..], &name);
                        let earlier = self.found[..at].iter().map(|(known, _)| known.name.as_str());
                        cx.problems.add(unknown_name(&name, *span, metrics, earlier, is_later));
                    }
                    Some(true) if !weightless.iter().any(|(known, _)| *known == name) => {
                        weightless.push((name, *span));
                    }
                    Some(_) => {}
                }
            }
        }

        let Some((_, span)) = weightless.first() else { return };
        let names: Vec<&str> = weightless.iter().map(|(name, _)| name.as_str()).collect();
        Diagnostic::warning(
            codes::READ_DIFFERENTLY,
            format!("scores of weight 0 count in derived metrics: `{}`", names.join("`, `")),
        )
        .at(*span, "promptfoo adds 0 for them")
        .with_help("they count as with weight 1, so that a metric needs no weight in the score of its test")
        .add_to(&mut cx.problems);
    }

    /// Checks the names in formulas, unless some tests could not be read, and adds the metrics to the suite.
    pub(super) fn finish(self, cx: &mut DecodeContext, metrics: &MetricNames, suite: &mut Suite) {
        if suite.unrun_code.is_empty() && cx.problems.error_count() == 0 {
            self.check(cx, metrics);
        }
        suite.derived_metrics = self.found.into_iter().map(|(spec, _)| spec).collect();
    }
}

fn formula_problem(formula: &str, span: Span) -> Option<Diagnostic> {
    if formula.starts_with("file://") {
        let problem = Diagnostic::error(codes::NOT_SUPPORTED, "a derived metric can't come from a file")
            .at(span, "a path, not a formula");
        return Some(problem.with_help("write a formula of metrics, such as `2 * tp / (2 * tp + fp + fn)`"));
    }

    let why = formula_names(formula).err()?;
    let problem = Diagnostic::error(codes::BAD_MATRIX_PART, "the formula of a derived metric can't be read")
        .at(span, why);
    Some(problem.with_help(
        "a formula has numbers, names of metrics, `+ - * / % ^`, comparisons, `a ? b : c`, parentheses and functions such as \
         `max(a, b)`",
    ))
}

fn unknown_name<'a>(
    name: &str,
    span: Span,
    metrics: &'a MetricNames,
    earlier: impl Iterator<Item = &'a str>,
    is_later: bool,
) -> Diagnostic {
    let problem = Diagnostic::warning(codes::UNKNOWN_METRIC, format!("no assertion has the metric `{name}`"))
        .at(span, "undefined in every run");
    let names = metrics.found.keys().map(String::as_str).chain(earlier);
    match did_you_mean(name, names) {
        _ if is_later => problem.with_help("a derived metric can use those above it; move it down"),
        Some(near) => problem.with_help(format!("did you mean `{near}`?")),
        None => problem.with_help(format!("write `metric: {name}` beside the assertions that measure it")),
    }
}

/// Names of the metrics of all cases.
#[derive(Debug, Default)]
pub(super) struct MetricNames {
    /// Names; true if an assertion with weight 0 has the name.
    found: BTreeMap<String, bool>,
}

impl MetricNames {
    /// Adds the metrics of a case.
    pub(super) fn add(&mut self, marks: &[MetricMark]) {
        for mark in marks {
            if let Some(name) = &mark.metric {
                *self.found.entry(name.clone()).or_default() |= mark.is_weightless;
            }
            self.add(&mark.members);
        }
    }
}

/// Metric of a grader, and the metrics of its members.
#[derive(Debug, Default)]
pub(super) struct MetricMark {
    metric: Option<String>,
    is_weightless: bool,
    members: Vec<Self>,
}

/// Removes the recorded metrics from graders, and returns them.
pub(super) fn take_marks(graders: &mut [TreeNode]) -> Vec<MetricMark> {
    graders.iter_mut().map(take_mark).collect()
}

fn take_mark(grader: &mut TreeNode) -> MetricMark {
    let NodeValue::Map(entries) = &mut grader.data else { return MetricMark::default() };
    let mut mark = MetricMark::default();
    entries.retain(|entry| {
        if entry.key == METRIC_MARK {
            mark.metric = entry.value.as_str().map(str::to_owned);
        }
        entry.key != METRIC_MARK
    });
    for entry in entries {
        match &mut entry.value.data {
            NodeValue::Int(0) if entry.key == "weight" => mark.is_weightless = true,
            NodeValue::Float(weight) if entry.key == "weight" => mark.is_weightless = *weight == 0.0,
            NodeValue::Seq(members) if entry.key == "assertions" => mark.members = take_marks(members),
            _ => {}
        }
    }

    mark
}

/// Returns the metrics of the decoded graders. `marks` are the recorded ones, in the same order.
pub(super) fn named_metrics(graders: &[Arc<Grader>], marks: &[MetricMark]) -> Vec<NamedMetric> {
    let mut found = Vec::new();
    add_metrics(graders, marks, &[], &mut found);
    found
}

fn add_metrics(
    graders: &[Arc<Grader>],
    marks: &[MetricMark],
    above: &[String],
    found: &mut Vec<NamedMetric>,
) {
    // If some graders could not be decoded, metrics could be assigned to the wrong ones.
    if graders.len() != marks.len() {
        return;
    }
    for (grader, mark) in graders.iter().zip(marks) {
        let path: Vec<String> = above.iter().chain([&grader.name]).cloned().collect();
        if let Some(name) = &mark.metric {
            found.push(NamedMetric { name: name.as_str().into(), grader: path.clone() });
        }
        let kind = match &grader.kind {
            GraderKind::Transformed(changed) => &changed.inner.kind,
            kind => kind,
        };
        if let GraderKind::Composite(composite) = kind {
            add_metrics(&composite.members, &mark.members, &path, found);
        }
    }
}
