//! Resolves codes: builds the tree, and reports problems with its shape.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span, SpannedValue, did_you_mean};
use assize_document::codes;
use assize_evalfile::reading::DecodeContext;
use assize_model::{
    JudgePrompt, RubricChildren, Scorecard, ScorecardBenchmark, ScorecardCase, ScorecardLabel,
    ScorecardMarks, ScorecardRubric, SourceMark,
};
use assize_rubric::{LabelOutcome, NO_FAILURE, NONE_OF_THE_ABOVE, PeopleRule, UnboundLabels, Weight};

use super::draft::{
    BenchmarkDraft, LabelDraft, NodeSpans, PartsDraft, PromptDraft, RubricDraft, ScorecardCaseDraft,
    ScorecardDraft,
};
use super::prompt::PromptCondition;
use super::{applicability, prompts, weights};

/// Node that a code refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeReference {
    Index,
    Rubric(usize),
    Benchmark(usize),
}

/// All codes, and the parents of each node.
struct CodeTable {
    named: HashMap<String, (NodeReference, Span)>,
    /// Spans of codes that another node has as well.
    duplicates: Vec<Span>,
    /// Codes of files that could not be decoded.
    broken: Vec<String>,
    rubric_parents: Vec<Option<(usize, Span)>>,
    benchmark_parents: Vec<Option<(usize, Span)>>,
}

/// Builds the scorecard. Unresolved codes are reported. The result must not be used if there was any error.
pub(super) fn link_scorecard(
    cx: &mut DecodeContext,
    mut draft: ScorecardDraft,
    root: PathBuf,
    name: String,
    is_folder: bool,
) -> Scorecard {
    let mut codes = register_codes(cx, &draft);
    let parts = resolve_parts(cx, &draft, &mut codes);

    report_cycles(cx, &draft, &codes);
    let prompt_places = resolve_prompts(cx, &root, &mut draft, is_folder);

    check_parents(cx, &draft, &codes);
    let index =
        weights::resolve_index(cx, &draft, &codes.rubric_parents, |cx, code| lookup_rubric(cx, &codes, code));
    report_orphans(cx, &draft, &codes, index.as_ref().map(|index| index.components.as_slice()));
    weights::check_weights(cx, &draft, &parts);

    let cases: Vec<ScorecardCase> = {
        let below = |rubric| benchmarks_below(&parts, rubric);
        resolve_cases(cx, &draft, &codes, &below)
    };
    let tops: Vec<usize> =
        (0..draft.rubrics.len()).filter(|rubric| codes.rubric_parents[*rubric].is_none()).collect();
    let only_top = tops.first().filter(|_| tops.len() == 1).map(|top| draft.rubrics[*top].code.value.clone());
    let name = index.as_ref().map(|index| index.code.to_string()).or(only_top).unwrap_or(name);

    draft.labels.retain(|label| !report_other_subject(cx, label, &name));
    let labels = resolve_labels(cx, &draft, &codes);
    let label_spans: Vec<Span> = draft.labels.iter().map(|label| label.trace_id.span).collect();
    applicability::check_tags(cx, &draft);
    let benchmark_spans: Vec<Span> = draft.benchmarks.iter().map(|benchmark| benchmark.code.span).collect();
    let benchmarks = draft.benchmarks.into_iter().zip(prompt_places).zip(&codes.benchmark_parents);
    let benchmarks: Vec<ScorecardBenchmark> = benchmarks
        .map(|((benchmark, prompt), parent)| link_benchmark(cx, benchmark, prompt, *parent))
        .collect();

    let rubrics = draft.rubrics.into_iter().zip(parts).zip(&codes.rubric_parents);
    let rubrics: Vec<ScorecardRubric> =
        rubrics.map(|((rubric, parts), parent)| link_rubric(cx, rubric, parts, *parent)).collect();

    let prompts = draft.prompts.into_iter().map(|prompt| link_prompt(cx, prompt)).collect();

    let scorecard = Scorecard {
        name,
        root,
        index,
        rubrics,
        benchmarks,
        tops,
        prompts,
        cases,
        labels,
        unbound_labels: UnboundLabels::default(),
        people: PeopleRule::default(),
    };
    applicability::report_gates_left_out(cx, &draft.cases, &scorecard);
    applicability::report_gates_without_case(cx, &scorecard, &benchmark_spans);
    applicability::report_labels_elsewhere(cx, &scorecard, &label_spans);

    scorecard
}

fn link_benchmark(
    cx: &DecodeContext,
    benchmark: BenchmarkDraft,
    prompt: Option<usize>,
    parent: Option<(usize, Span)>,
) -> ScorecardBenchmark {
    ScorecardBenchmark {
        place: cx.position(benchmark.code.span),
        code: Arc::from(benchmark.code.value.as_str()),
        label: benchmark.label,
        concept: benchmark.concept,
        weight: benchmark.weight.unwrap_or(Weight::ONE),
        threshold: benchmark.threshold,
        criticality: benchmark.criticality,
        scale: benchmark.scale,
        evaluator: benchmark.evaluator,
        prompt,
        checks: benchmark.checks,
        all_must_pass: benchmark.all_must_pass,
        raters: benchmark.raters,
        inclusion: benchmark.inclusion,
        exclusion: benchmark.exclusion,
        examples: benchmark.examples,
        tags: benchmark.tags.into_iter().map(|tag| tag.value).collect(),
        marks: node_marks(cx, benchmark.code.span, &benchmark.spans),
        // A benchmark without a parent is an error, so this value is never used.
        parent: parent.map_or(0, |(parent, _)| parent),
    }
}

fn link_rubric(
    cx: &DecodeContext,
    rubric: RubricDraft,
    parts: RubricChildren,
    parent: Option<(usize, Span)>,
) -> ScorecardRubric {
    ScorecardRubric {
        place: cx.position(rubric.code.span),
        code: Arc::from(rubric.code.value.as_str()),
        label: rubric.label,
        description: rubric.description,
        weight: rubric.weight.unwrap_or(Weight::ONE),
        aggregation: rubric.aggregation,
        threshold: rubric.threshold,
        hard_gate: rubric.hard_gate,
        guidelines: rubric.guidelines,
        parts,
        parent: parent.map(|(parent, _)| parent),
        marks: node_marks(cx, rubric.code.span, &rubric.spans),
    }
}

fn link_prompt(cx: &DecodeContext, prompt: PromptDraft) -> JudgePrompt {
    JudgePrompt {
        path: prompt.path,
        behaviour: prompt.text.behaviours.first().map(|item| item.text.clone()),
        fail_conditions: prompt.text.fails.iter().map(|item| item.text.clone()).collect(),
        pass_conditions: prompt.text.passes.iter().map(|item| item.text.clone()).collect(),
        fail_marks: condition_marks(cx, prompt.span, &prompt.text.fails),
        pass_marks: condition_marks(cx, prompt.span, &prompt.text.passes),
        has_inputs: prompt.text.find_part(super::prompt::PromptPart::Inputs).is_some(),
        text: prompt.text.text,
    }
}

fn node_marks(cx: &DecodeContext, code: Span, spans: &NodeSpans) -> ScorecardMarks {
    let mark = |span: Option<Span>| span.map(|span| cx.mark(span));
    ScorecardMarks {
        code: cx.mark(code),
        weight: mark(spans.weight),
        threshold: mark(spans.threshold),
        gate: mark(spans.gate),
    }
}

/// Returns the ranges of the first lines of conditions in the prompt file that begins at `start`.
fn condition_marks(cx: &DecodeContext, start: Span, items: &[PromptCondition]) -> Vec<SourceMark> {
    let mark = |item: &PromptCondition| cx.mark(Span::new(start.source, item.place.start, item.place.end));
    items.iter().map(mark).collect()
}

fn register_codes(cx: &mut DecodeContext, draft: &ScorecardDraft) -> CodeTable {
    let mut named: HashMap<String, (NodeReference, Span)> = HashMap::new();
    let mut duplicates = Vec::new();
    let indexes = draft.indexes.iter().map(|index| (&index.code, NodeReference::Index));
    let rubrics =
        draft.rubrics.iter().enumerate().map(|(at, rubric)| (&rubric.code, NodeReference::Rubric(at)));
    let benchmarks =
        draft.benchmarks.iter().enumerate().map(|(at, found)| (&found.code, NodeReference::Benchmark(at)));
    for (code, what) in indexes.chain(rubrics).chain(benchmarks) {
        if let Some((_, first)) = named.get(&code.value) {
            duplicates.push(code.span);
            Diagnostic::error(codes::DUPLICATE_CODE, format!("the code `{}` is used twice", code.value))
                .at(code.span, "second time")
                .with_secondary(*first, "first time")
                .with_help("give one of them another code")
                .add_to(&mut cx.problems);
        } else {
            named.insert(code.value.clone(), (what, code.span));
        }
    }

    CodeTable {
        named,
        duplicates,
        broken: draft.broken.clone(),
        rubric_parents: vec![None; draft.rubrics.len()],
        benchmark_parents: vec![None; draft.benchmarks.len()],
    }
}

/// Returns the diagnostic for a code that refers to nothing of the expected kind.
fn unknown_code(
    cx: &DecodeContext,
    codes: &CodeTable,
    code: &SpannedValue<String>,
    wanted: &str,
    fits: fn(NodeReference) -> bool,
) -> Diagnostic {
    let found = codes.named.get(&code.value).map(|(named, _)| match named {
        NodeReference::Index => "the index",
        NodeReference::Rubric(_) => "a rubric",
        NodeReference::Benchmark(_) => "a benchmark",
    });
    let label = found.map_or_else(|| "no such code".to_owned(), |found| format!("this is {found}"));
    let diagnostic = Diagnostic::error(codes::UNKNOWN_CODE, format!("`{}` is not {wanted}", code.value))
        .at(code.span, label);
    let mut known: Vec<&str> =
        codes.named.iter().filter(|(_, (named, _))| fits(*named)).map(|(code, _)| code.as_str()).collect();
    known.sort_unstable();

    match did_you_mean(&code.value, known.iter().copied()) {
        Some(near) => {
            let quote = cx.sources.slice(code.span).chars().next().filter(|c| matches!(c, '"' | '\''));
            let quote = quote.map(String::from).unwrap_or_default();
            diagnostic.with_help(format!("did you mean `{near}`?")).with_suggestion(
                "use this code",
                code.span,
                format!("{quote}{near}{quote}"),
            )
        }
        None if found.is_some() => diagnostic
            .with_help("list benchmarks under `benchmarks`, rubrics under `sub_rubrics` or `components`"),
        None => diagnostic.with_help("check the spelling, or add the missing file"),
    }
}

fn is_rubric(named: NodeReference) -> bool {
    matches!(named, NodeReference::Rubric(_))
}

fn is_benchmark(named: NodeReference) -> bool {
    matches!(named, NodeReference::Benchmark(_))
}

fn lookup_rubric(cx: &mut DecodeContext, codes: &CodeTable, code: &SpannedValue<String>) -> Option<usize> {
    if let Some((NodeReference::Rubric(at), _)) = codes.named.get(&code.value) {
        return Some(*at);
    }
    if codes.broken.contains(&code.value) {
        return None;
    }

    let complaint = unknown_code(cx, codes, code, "a rubric", is_rubric);
    cx.problems.add(complaint);

    None
}

fn lookup_benchmark(cx: &mut DecodeContext, codes: &CodeTable, code: &SpannedValue<String>) -> Option<usize> {
    if let Some((NodeReference::Benchmark(at), _)) = codes.named.get(&code.value) {
        return Some(*at);
    }
    if codes.broken.contains(&code.value) {
        return None;
    }

    let complaint = unknown_code(cx, codes, code, "a benchmark", is_benchmark);
    cx.problems.add(complaint);

    None
}

/// Resolves the children of each rubric. Records the parents, and reports nodes that are listed twice.
fn resolve_parts(
    cx: &mut DecodeContext,
    draft: &ScorecardDraft,
    codes: &mut CodeTable,
) -> Vec<RubricChildren> {
    let mut all = Vec::with_capacity(draft.rubrics.len());
    for (at, rubric) in draft.rubrics.iter().enumerate() {
        all.push(match &rubric.parts {
            PartsDraft::Invalid => RubricChildren::Benchmarks(Vec::new()),
            PartsDraft::Benchmarks(list) => {
                let mut found = Vec::new();
                for code in list.iter().filter(|code| !codes.duplicates.contains(&code.span)) {
                    let Some(benchmark) = lookup_benchmark(cx, codes, code) else { continue };
                    if set_parent(cx, draft, &mut codes.benchmark_parents[benchmark], at, code) {
                        found.push(benchmark);
                    }
                }

                RubricChildren::Benchmarks(found)
            }
            PartsDraft::Rubrics(list) => {
                let mut found = Vec::new();
                for code in list.iter().filter(|code| !codes.duplicates.contains(&code.span)) {
                    let Some(child) = lookup_rubric(cx, codes, code) else { continue };
                    if set_parent(cx, draft, &mut codes.rubric_parents[child], at, code) {
                        found.push(child);
                    }
                }

                RubricChildren::Rubrics(found)
            }
        });
    }

    all
}

/// Records a parent; a second one is an error.
fn set_parent(
    cx: &mut DecodeContext,
    draft: &ScorecardDraft,
    slot: &mut Option<(usize, Span)>,
    parent: usize,
    code: &SpannedValue<String>,
) -> bool {
    let Some((first, place)) = *slot else {
        *slot = Some((parent, code.span));
        return true;
    };
    let (first_code, parent_code) = (&draft.rubrics[first].code.value, &draft.rubrics[parent].code.value);
    let title = if first == parent {
        format!("`{first_code}` lists `{}` twice", code.value)
    } else {
        format!("`{}` is listed under `{first_code}` and under `{parent_code}`", code.value)
    };
    Diagnostic::error(codes::TWO_PARENTS, title)
        .at(code.span, "second time")
        .with_secondary(place, "first time")
        .with_help("list it once, because a scorecard is a tree")
        .add_to(&mut cx.problems);

    false
}

/// Follows the parents of each rubric. A rubric that reaches itself is in a cycle.
fn report_cycles(cx: &mut DecodeContext, draft: &ScorecardDraft, codes: &CodeTable) {
    // For each rubric the number of the walk that visited it first; 0 if none did.
    let mut visited = vec![0usize; draft.rubrics.len()];
    for start in 0..draft.rubrics.len() {
        let mut at = start;
        while visited[at] == 0 {
            visited[at] = start + 1;
            match codes.rubric_parents[at] {
                Some((parent, _)) => at = parent,
                None => break,
            }
        }

        let again = visited[at] == start + 1 && codes.rubric_parents[at].is_some();
        let Some((_, place)) = codes.rubric_parents[at].filter(|_| again) else { continue };
        let mut circle = vec![at];
        let mut up = at;
        while let Some((parent, _)) = codes.rubric_parents[up].filter(|(parent, _)| *parent != at) {
            circle.push(parent);
            up = parent;
        }

        circle.push(at);
        let names: Vec<&str> =
            circle.iter().rev().map(|rubric| draft.rubrics[*rubric].code.value.as_str()).collect();
        Diagnostic::error(codes::RUBRIC_CYCLE, "rubrics contain each other in a cycle")
            .at(place, names.join(" > "))
            .with_help("remove one of these entries")
            .add_to(&mut cx.problems);
    }
}

fn resolve_prompts(
    cx: &mut DecodeContext,
    root: &Path,
    draft: &mut ScorecardDraft,
    is_folder: bool,
) -> Vec<Option<usize>> {
    let written: Vec<Option<SpannedValue<String>>> =
        draft.benchmarks.iter().map(|benchmark| benchmark.prompt.clone()).collect();
    let mut places = Vec::with_capacity(written.len());
    for written in written {
        let place = written.and_then(|written| prompts::find_prompt(cx, root, &written, draft));
        if let Some(place) = place {
            draft.prompts[place].used = true;
        }
        places.push(place);
    }

    for prompt in draft.prompts.iter().filter(|prompt| is_folder && !prompt.used && draft.broken.is_empty()) {
        Diagnostic::warning(codes::UNUSED_PROMPT, "no benchmark uses this prompt file")
            .at(prompt.span, format!("`{}`", prompt.path))
            .with_help("name it in the `llm_prompt_file` of a benchmark, or remove it")
            .add_to(&mut cx.problems);
    }

    places
}

fn check_parents(cx: &mut DecodeContext, draft: &ScorecardDraft, codes: &CodeTable) {
    for (at, benchmark) in draft.benchmarks.iter().enumerate() {
        let Some(written) = &benchmark.parent else { continue };
        if lookup_rubric(cx, codes, written).is_none() {
            continue;
        }

        let Some((parent, place)) = codes.benchmark_parents[at] else { continue };
        let actual = &draft.rubrics[parent].code.value;
        if *actual != written.value {
            Diagnostic::error(
                codes::OTHER_PARENT,
                format!("`{}` is listed by another rubric than it names", benchmark.code.value),
            )
            .at(written.span, format!("but `{actual}` lists it"))
            .with_secondary(place, "listed here")
            .with_help("correct `parent_rubric`, or move the code to the other rubric")
            .add_to(&mut cx.problems);
        }
    }
}

fn report_orphans(
    cx: &mut DecodeContext,
    draft: &ScorecardDraft,
    codes: &CodeTable,
    components: Option<&[usize]>,
) {
    for (at, benchmark) in draft.benchmarks.iter().enumerate() {
        let first = codes
            .named
            .get(&benchmark.code.value)
            .is_some_and(|(named, _)| *named == NodeReference::Benchmark(at));
        if codes.benchmark_parents[at].is_none() && first {
            let help = match &benchmark.parent {
                Some(parent) => {
                    format!("add `- {}` to the `benchmarks` of `{}`", benchmark.code.value, parent.value)
                }
                None => format!("add `- {}` to the `benchmarks` of a rubric", benchmark.code.value),
            };
            Diagnostic::error(
                codes::ORPHAN_BENCHMARK,
                format!("no rubric lists the benchmark `{}`", benchmark.code.value),
            )
            .at(benchmark.code.span, "counts nowhere")
            .with_help(help)
            .add_to(&mut cx.problems);
        }
    }

    let Some(components) = components else { return };
    for (at, rubric) in draft.rubrics.iter().enumerate() {
        if codes.rubric_parents[at].is_none() && !components.contains(&at) {
            Diagnostic::warning(
                codes::ORPHAN_RUBRIC,
                format!("the rubric `{}` is outside the index", rubric.code.value),
            )
            .at(rubric.code.span, "not counted")
            .with_help("list it under the index's `components` or a rubric's `sub_rubrics`")
            .add_to(&mut cx.problems);
        }
    }
}

/// Returns all benchmarks below a rubric, at any depth. Terminates if there are cycles.
fn benchmarks_below(parts: &[RubricChildren], rubric: usize) -> Vec<usize> {
    let mut seen = vec![false; parts.len()];
    let (mut waiting, mut found) = (vec![rubric], Vec::new());
    while let Some(at) = waiting.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        match &parts[at] {
            RubricChildren::Benchmarks(list) => found.extend(list),
            RubricChildren::Rubrics(list) => waiting.extend(list),
        }
    }

    found
}

fn resolve_cases(
    cx: &mut DecodeContext,
    draft: &ScorecardDraft,
    codes: &CodeTable,
    below: &dyn Fn(usize) -> Vec<usize>,
) -> Vec<ScorecardCase> {
    let mut met: HashMap<&str, Span> = HashMap::new();
    let mut cases = Vec::with_capacity(draft.cases.len());
    for ScorecardCaseDraft { id, tags, benchmarks, ground_truth, source_narrative, candidate_output } in
        &draft.cases
    {
        if let Some(first) = met.insert(&id.value, id.span) {
            Diagnostic::error(codes::DUPLICATE_CARD_CASE, format!("two cases have the id `{}`", id.value))
                .at(id.span, "second time")
                .with_secondary(first, "first time")
                .with_help("give one of them another id")
                .add_to(&mut cx.problems);
        }

        let listed = benchmarks.as_ref().map(|list| {
            let mut found: Vec<usize> = Vec::new();
            for code in list {
                match codes.named.get(&code.value) {
                    // The code of a rubric means all benchmarks below it.
                    Some((NodeReference::Rubric(rubric), _)) => found.extend(below(*rubric)),
                    _ => found.extend(lookup_benchmark(cx, codes, code)),
                }
            }

            found.sort_unstable();
            found.dedup();

            found
        });
        cases.push(ScorecardCase {
            id: Arc::from(id.value.as_str()),
            tags: tags.iter().map(|tag| tag.value.clone()).collect(),
            benchmarks: listed,
            ground_truth: ground_truth.clone(),
            source_narrative: source_narrative.clone(),
            candidate_output: candidate_output.clone(),
            place: cx.position(id.span),
        });
    }

    cases
}

fn resolve_labels(cx: &mut DecodeContext, draft: &ScorecardDraft, codes: &CodeTable) -> Vec<ScorecardLabel> {
    let ids: std::collections::HashSet<&str> =
        draft.cases.iter().map(|case| case.id.value.as_str()).collect();
    let mut labels = Vec::with_capacity(draft.labels.len());
    for label in &draft.labels {
        let LabelDraft {
            trace_id,
            benchmark,
            outcome,
            severity,
            note,
            reviewer,
            at,
            version,
            suite: _,
            system,
            trial: _,
            seen,
            adjudicates,
            says_outcome,
        } = label;
        if !ids.contains(trace_id.value.as_str()) {
            let mut diagnostic = Diagnostic::warning(
                codes::LABEL_WITHOUT_CASE,
                format!("no case has the id `{}`", trace_id.value),
            )
            .at(trace_id.span, "the label has no effect");
            if let Some(near) = did_you_mean(&trace_id.value, ids.iter().copied()) {
                diagnostic = diagnostic.with_help(format!("did you mean `{near}`?"));
            }

            cx.problems.add(diagnostic.with_help("`trace_id` is the `id` of a case"));
        }

        let is_code = ![NONE_OF_THE_ABOVE, NO_FAILURE].contains(&benchmark.value.as_str());
        let of = is_code.then(|| lookup_benchmark(cx, codes, benchmark));
        if let LabelOutcome::Score(score) = outcome {
            let scale =
                of.flatten().and_then(|at| draft.benchmarks.get(at)).and_then(|found| found.scale.as_ref());
            let (low, high) = scale.map_or((0.0, 1.0), |scale| (scale.min, scale.max));
            if !(low..=high).contains(score) {
                Diagnostic::error(
                    codes::OUT_OF_RANGE,
                    "a label's score is not on the scale of its benchmark",
                )
                .at(trace_id.span, format!("found {score}"))
                .with_help(format!("use a number from {low} to {high}"))
                .add_to(&mut cx.problems);
            }
        }

        let scale =
            of.flatten().and_then(|at| draft.benchmarks.get(at)).and_then(|found| found.scale.as_ref());
        if let Some(scale) = scale
            && *says_outcome
            && matches!(outcome, LabelOutcome::Met | LabelOutcome::Unmet)
        {
            Diagnostic::warning(
                codes::LABEL_WITHOUT_SCORE,
                "a label says pass or fail where its benchmark has a scale",
            )
            .at(trace_id.span, "the label does not count")
            .with_help(format!("use a number from {} to {}", scale.min, scale.max))
            .add_to(&mut cx.problems);
        }

        labels.push(ScorecardLabel {
            trace_id: trace_id.value.clone(),
            benchmark: of.flatten(),
            outcome: *outcome,
            severity: *severity,
            note: note.clone(),
            reviewer: reviewer.clone(),
            at: at.clone(),
            version: version.clone(),
            system: system.clone(),
            seen: *seen,
            adjudicates: *adjudicates,
            place: cx.position(trace_id.span),
        });
    }

    labels
}

/// Warns about a label for another suite than this scorecard, or for a trial other than the first, because a scorecard
/// runs each case once. Returns true if there was a warning.
fn report_other_subject(cx: &mut DecodeContext, label: &LabelDraft, scorecard: &str) -> bool {
    let other_suite = label.suite.as_deref().filter(|suite| *suite != scorecard);
    let (title, help) = match (other_suite, label.trial) {
        (Some(suite), _) => (
            format!("a label is about the suite `{suite}`"),
            format!("this scorecard is `{scorecard}`; move the label to the labels of its suite"),
        ),
        (None, Some(trial)) if (trial - 1.0).abs() > f64::EPSILON => (
            format!("a label is about trial {trial} of its case"),
            "a scorecard runs each case once".to_owned(),
        ),
        _ => return false,
    };

    let span = label.trace_id.span;
    let diagnostic =
        Diagnostic::warning(codes::LABEL_OF_OTHER_RUN, title).at(span, "the label has no effect");
    cx.problems.add(diagnostic.with_help(help));
    true
}
