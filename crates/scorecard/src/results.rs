//! Decoder of results of benchmarks on cases, as written by judges and programs.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Severity, SourceMap, Span, SpannedValue};
use assize_document::{MapReader, TreeNode, codes, read_json_in};
use assize_evalfile::LoadOptions;
use assize_evalfile::reading::{DecodeContext, read_source};
use assize_model::{BenchmarkApplicability, Scorecard, ScorecardOutcome, ScorecardResult, ScoringScale};
use assize_rubric::{UnitInterval, find_contradiction};

use super::shared::{decode_required_text, missing_field};

/// A loaded file of results.
#[derive(Debug)]
pub struct LoadedCardResults {
    /// The valid results.
    pub results: Vec<ScorecardResult>,
    /// Texts that the diagnostics point into.
    pub sources: SourceMap,
    /// All diagnostics, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl LoadedCardResults {
    /// Returns true if the file has errors.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Loads results of a scorecard: one JSON object per line with `case`, `benchmark` and `pass`, and optionally
/// `score` (on the benchmark's own scale), `uncertain`, `applies`, `confidence` and `reason`. Without a score,
/// a pass is 1 and a fail 0. An uncertain result never passes. A result that contradicts itself or the
/// applicability of its benchmark is an error, because it might hide a failed gate.
pub fn load_card_results(path: &Path, scorecard: &Scorecard, options: &LoadOptions) -> LoadedCardResults {
    let mut cx = DecodeContext::new(Arc::clone(&options.environment), Vec::new(), Vec::new());
    let mut reader = CardResultReader {
        cases: scorecard.cases.iter().enumerate().map(|(at, case)| (&*case.id, at)).collect(),
        benchmarks: scorecard.benchmarks.iter().enumerate().map(|(at, found)| (&*found.code, at)).collect(),
        scorecard,
        met: HashMap::new(),
        results: Vec::new(),
    };
    if let Some(source) = read_source(&mut cx, path, None) {
        let lines: Vec<Range<usize>> = cx.sources.file(source).lines().collect();
        for line in lines {
            if let Some(node) = read_json_in(&cx.sources, source, line, &mut cx.problems) {
                reader.row(&mut cx, &node);
            }
        }
    }

    let results = reader.results;
    let DecodeContext { sources, problems, .. } = cx;
    LoadedCardResults { results, sources, diagnostics: problems.into_vec() }
}

struct CardResultReader<'s> {
    cases: HashMap<&'s str, usize>,
    benchmarks: HashMap<&'s str, usize>,
    scorecard: &'s Scorecard,
    met: HashMap<(usize, usize), Span>,
    results: Vec<ScorecardResult>,
}

/// Fields of a row whose benchmark applies.
struct ResultFields {
    pass: Option<SpannedValue<bool>>,
    score: Option<SpannedValue<f64>>,
    uncertain: bool,
}

impl CardResultReader<'_> {
    fn row(&mut self, cx: &mut DecodeContext, node: &TreeNode) {
        let what = "a result";
        let errors = cx.problems.error_count();
        let Some(mut object) = MapReader::new(node, what, &mut cx.problems) else { return };
        let case = decode_required_text(cx, &mut object, what, "case", "\"case\": \"refusal-07\"");
        let benchmark = decode_required_text(cx, &mut object, what, "benchmark", "\"benchmark\": \"A-REF1\"");
        let fields = ResultFields {
            pass: object.boolean("pass", &mut cx.problems),
            score: object.number("score", &mut cx.problems),
            uncertain: object.boolean("uncertain", &mut cx.problems).is_some_and(|value| value.value),
        };

        let applies = object.boolean("applies", &mut cx.problems);
        object.string("reason", &mut cx.problems);
        object.string("confidence", &mut cx.problems);

        let head = object.head();
        object.finish(&mut cx.problems);

        let case = case.and_then(|case| find_index(cx, &self.cases, &case, "a case"));
        let benchmark = benchmark.and_then(|code| find_index(cx, &self.benchmarks, &code, "a benchmark"));
        let (Some(case), Some(benchmark)) = (case, benchmark) else { return };
        if let Some(first) = self.met.insert((case, benchmark), head) {
            Diagnostic::error(codes::DUPLICATE_RESULT, "a case has two results of one benchmark")
                .at(head, "second time")
                .with_secondary(first, "first time")
                .with_help("keep the right one")
                .add_to(&mut cx.problems);
        }

        let outcome = if let Some(SpannedValue { value: false, span }) = applies {
            self.check_not_applicable(cx, (case, benchmark), span, &fields);
            Some(ScorecardOutcome::NotApplicable)
        } else {
            self.check_applicable(cx, (case, benchmark), head);
            self.outcome(cx, head, benchmark, &fields)
        };
        if let Some(outcome) = outcome.filter(|_| cx.problems.error_count() == errors) {
            self.results.push(ScorecardResult { case, benchmark, outcome });
        }
    }

    /// Reports a result for a benchmark that does not apply to the case according to the scorecard.
    fn check_applicable(&self, cx: &mut DecodeContext, place: (usize, usize), head: Span) {
        if self.applicability(place) != BenchmarkApplicability::No {
            return;
        }

        let (code, id) = self.names(place);
        Diagnostic::error(
            codes::RESULT_OUT_OF_PLACE,
            format!("a result for `{code}` on case `{id}`, where the benchmark does not apply"),
        )
        .at(head, self.applicability_source(place))
        .with_help(format!(
            "add `{code}` to the `benchmarks` or one of its tags to the `tags` of the case, \
             or remove the result"
        ))
        .add_to(&mut cx.problems);
    }

    /// Reports a result with `applies: false` if the scorecard, or the result itself, contradicts that.
    fn check_not_applicable(
        &self,
        cx: &mut DecodeContext,
        place: (usize, usize),
        span: Span,
        fields: &ResultFields,
    ) {
        let (code, id) = self.names(place);
        if self.applicability(place) == BenchmarkApplicability::Yes {
            Diagnostic::error(
                codes::RESULT_OUT_OF_PLACE,
                format!("`{code}` applies to the case `{id}`, but the result says it does not"),
            )
            .at(span, self.applicability_source(place))
            .with_help("correct the result, or the list or tags of the case")
            .add_to(&mut cx.problems);
        }

        let verdict = fields.pass.as_ref().map(|pass| ("pass", pass.span));
        let verdict = verdict.or_else(|| fields.score.as_ref().map(|score| ("score", score.span)));
        if let Some((key, at)) = verdict {
            Diagnostic::error(
                codes::RESULT_OUT_OF_PLACE,
                format!("a result says `applies: false` and gives a `{key}`"),
            )
            .at(at, "would not count")
            .with_secondary(span, "does not apply")
            .with_help("leave `pass` and `score` out, or write `\"applies\": true`")
            .add_to(&mut cx.problems);
        }
    }

    fn applicability(&self, (case, benchmark): (usize, usize)) -> BenchmarkApplicability {
        self.scorecard.applies(benchmark, &self.scorecard.cases[case])
    }

    /// Describes the source of the applicability.
    fn applicability_source(&self, (case, _): (usize, usize)) -> &'static str {
        match self.scorecard.cases[case].benchmarks {
            Some(_) => "by the `benchmarks` list of the case",
            None => "by the tags of case and benchmark",
        }
    }

    fn names(&self, (case, benchmark): (usize, usize)) -> (&str, &str) {
        (&self.scorecard.benchmarks[benchmark].code, &self.scorecard.cases[case].id)
    }

    fn outcome(
        &self,
        cx: &mut DecodeContext,
        head: Span,
        benchmark: usize,
        fields: &ResultFields,
    ) -> Option<ScorecardOutcome> {
        if fields.uncertain {
            return Some(ScorecardOutcome::Uncertain);
        }

        // A score without `pass` could not be checked against a verdict.
        let Some(pass) = &fields.pass else {
            cx.problems.add(missing_field(head, "a result", "pass", "\"pass\": true"));
            return None;
        };
        let Some(score) = &fields.score else {
            let unit = if pass.value { UnitInterval::ONE } else { UnitInterval::ZERO };
            return Some(ScorecardOutcome::Scored(unit));
        };

        let scale = self.scorecard.benchmarks[benchmark].scale.as_ref();
        let (low, high) = scale.map_or((0.0, 1.0), |scale| (scale.min, scale.max));
        let on_scale = (low..=high).contains(&score.value);
        let unit = match scale {
            Some(scale) if on_scale => scale.formula.apply(score.value, low, high),
            Some(_) => None,
            None => UnitInterval::new(score.value).ok(),
        };
        if unit.is_none() {
            Diagnostic::error(codes::OUT_OF_RANGE, "a score is not on the scale of its benchmark")
                .at(score.span, format!("found {}", score.value))
                .with_help(format!("use a number from {low} to {high}"))
                .add_to(&mut cx.problems);
        }

        let (unit, limit) = (unit?, self.scorecard.benchmarks[benchmark].failure_limit());
        let scale = scale.map(ScoringScale::benchmark_scale);
        if let Some(contradiction) = find_contradiction(pass.value, unit, limit, scale) {
            Diagnostic::error(
                codes::SCORE_CONTRADICTION,
                "`pass` and `score` of a result contradict each other",
            )
            .at(score.span, contradiction)
            .with_secondary(pass.span, "the verdict")
            .with_help("correct one of the two, or remove `score`")
            .add_to(&mut cx.problems);
        }

        Some(ScorecardOutcome::Scored(unit))
    }
}

fn find_index(
    cx: &mut DecodeContext,
    known: &HashMap<&str, usize>,
    name: &SpannedValue<String>,
    what: &str,
) -> Option<usize> {
    if let Some(at) = known.get(name.value.as_str()) {
        return Some(*at);
    }

    Diagnostic::error(codes::UNKNOWN_CODE, format!("`{}` is not {what} of the scorecard", name.value))
        .at(name.span, "not found")
        .with_help("check the spelling")
        .add_to(&mut cx.problems);
    None
}
