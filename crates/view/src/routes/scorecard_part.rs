//! A part of a scorecard: the composition of its score, its blockers, its question, and the sources of its decisions.

use assize_analysis::{BenchmarkCase, ScorecardTree};
use assize_engine::{EngineError, LabelOptions, LabelledRun, ScoredCard, current_scorecard, labelled_run};
use assize_report::{
    ReportStyle, benchmark_decision_text, format_plain, format_rate, node_conclusions, render_scorecard_node,
};
use assize_review::part_sections;
use assize_rubric::{
    BenchmarkState, DecidedBy, Label, LabelAccount, LabelOutcome, ScorecardNodeId, ScorecardScores,
    UnitInterval,
};
use axum::extract::{Path, State};
use axum::response::Response;

use super::run_header::run_header;
use super::scorecard::{bounds_text, node_code, node_label, node_text, part_url, status_mark};
use crate::page_reply::{Library, PageError, blocking, case_url, open_run, render};
use crate::pages::{BenchmarkCaseText, PartLabelText, PartPage, SectionText};
use crate::picture::score_bar;
use crate::text::{ResultMark, visible};

/// Maximum number of cases of a benchmark that are shown.
const MAX_CASES: usize = 500;
/// Width of the arithmetic, in characters.
const WIDTH: usize = 110;

pub(crate) async fn page(
    State(library): Library,
    Path((slug, code)): Path<(String, String)>,
) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let info = library.info(&run.folder)?;
        if info.scorecard.is_none() {
            return Err(PageError::missing("The run is not one of a scorecard."));
        }

        let header = run_header(&run, &info, "scorecard");
        let options = LabelOptions::default();
        let LabelledRun { run: labelled, warning, .. } =
            labelled_run(&run.folder, &options, &library.process)?;
        let scored = ScoredCard::of_stored(&labelled, &info.settings).map_err(EngineError::from)?;
        let wanted = labelled.index_of(&code);
        let found = scored.scores().find_map(|(tree, scores)| Some((tree, tree.node(wanted?)?, scores)));
        let Some((tree, id, scores)) = found else {
            return Err(PageError::missing(format!("The scorecard has no part `{code}`.")));
        };

        // The files may have changed; the run stores everything but the question texts.
        let sections = current_scorecard(&info, &options, &library.process)
            .map(|scorecard| part_sections(&scorecard, &code))
            .unwrap_or_default();
        let place = tree.places.get(id.index()).copied().unwrap_or_default();
        let suite = info.suites.first().map_or("", |suite| suite.name.as_str());
        let style = ReportStyle { width: WIDTH, ..ReportStyle::default() };
        let mut cases: Vec<(&str, &BenchmarkCase)> =
            labelled.parts.get(place).into_iter().flat_map(|part| part.cases.iter()).collect();
        // Lowest scores first, cases without one last.
        cases.sort_by(|(_, a), (_, b)| rank(a).total_cmp(&rank(b)));
        let count = cases.len();
        let texts = cases.into_iter().take(MAX_CASES).map(|(case, decided)| BenchmarkCaseText {
            url: case_url(&run.slug, suite, case, None, 1),
            ..case_text(case, decided)
        });

        Ok(render(&PartPage {
            header,
            warning: warning.as_deref().map(visible),
            sections: sections
                .into_iter()
                .map(|section| SectionText { title: visible(&section.title), text: visible(&section.text) })
                .collect(),
            arithmetic: visible(&render_scorecard_node(&labelled, tree, &scores, id, style)),
            cases: texts.collect(),
            case_count: count,
            ..part_page(&run.slug, &labelled.info, tree, &scores, id)
        }))
    })
    .await
}

/// The page of a part, from the scored tree.
fn part_page(
    slug: &str,
    info: &assize_store::ScorecardInfo,
    tree: &ScorecardTree,
    scores: &ScorecardScores<'_>,
    id: ScorecardNodeId,
) -> PartPage {
    let card = scores.card();
    let contributions = scores.contributions();
    let link = |id: ScorecardNodeId| {
        let code = node_code(scores, id);
        (part_url(slug, &code), code)
    };
    let mut path: Vec<(String, String)> =
        std::iter::successors(card.parent(id), |at| card.parent(*at)).map(link).collect();
    path.reverse();

    let children =
        card.children(id).filter_map(|child| node_text(slug, info, tree, scores, &contributions, child, 0));
    let others = |ids: Vec<ScorecardNodeId>| ids.into_iter().filter(|other| *other != id).map(link).collect();
    let found = scores.node(id);
    let bounds = found.and_then(|found| found.bounds);
    let stored = tree.places.get(id.index()).and_then(|place| info.nodes.get(*place));

    PartPage {
        code: node_code(scores, id),
        label: node_label(info, tree, id),
        kind: stored.map_or("part", |part| part.kind.name()),
        mark: found.map(|found| status_mark(found.status)),
        score: bounds_text(bounds),
        picture: score_bar(bounds, card.node(id).map(|node| node.line.get())),
        path,
        conclusions: node_conclusions(scores, id).iter().map(|line| visible(line)).collect(),
        blocked_by: others(scores.blockers(id)),
        untested: others(scores.untested_gates(id)),
        coverage: found.and_then(|found| found.coverage).map_or_else(String::new, format_rate),
        children: children.collect(),
        ..PartPage::default()
    }
}

fn rank(case: &BenchmarkCase) -> f64 {
    case.score.map_or(2.0, UnitInterval::get)
}

fn case_text(case: &str, decided: &BenchmarkCase) -> BenchmarkCaseText {
    let finding = &decided.finding;
    let labels = decided.labels.as_deref();
    let word = benchmark_decision_text(finding.state, finding.pass);
    let (class, sign) = match (finding.state, finding.pass) {
        (_, Some(true)) => ("good", "✓"),
        (_, Some(false)) => ("bad", "✗"),
        (BenchmarkState::Scored, None) => ("middling", "•"),
        (BenchmarkState::NotApplicable, None) => ("dim", "–"),
        _ => ("open", "?"),
    };
    let judge = labels.and_then(|account| account.before.as_ref()).map(|before| {
        let score = before.score.map(|score| format!(" {}", format_plain(score.get()))).unwrap_or_default();
        visible(&format!("{}{score}: {}", before.state.name().replace('_', " "), before.reason))
    });

    BenchmarkCaseText {
        url: String::new(),
        case: visible(case),
        mark: ResultMark::new(class, sign, word),
        score: decided.score.map_or_else(String::new, |score| format_plain(score.get())),
        decided_by: match finding.decided_by {
            Some(DecidedBy::Checks) => "checks",
            Some(DecidedBy::Judge) => "judge",
            Some(DecidedBy::Person) => "people",
            None => "nobody",
        },
        reason: visible(&decided.reason),
        judge: judge.unwrap_or_default(),
        votes: decided.votes.len(),
        people: labels.map(label_texts).unwrap_or_default(),
    }
}

/// Labels of an item: those that count, then the others with the reason.
fn label_texts(account: &LabelAccount) -> Vec<PartLabelText> {
    let text = |why: &'static str| {
        move |label: &Label| PartLabelText {
            who: label.who.as_deref().map_or_else(|| "somebody".to_owned(), visible),
            label: label_word(label.label),
            note: label.note.as_deref().map(visible).unwrap_or_default(),
            why: if label.adjudicates { "adjudicates" } else { why },
        }
    };
    let current = account.current.iter().map(text(""));
    let stale = account.stale.iter().map(text("stale: about something else"));
    let unbound = account.unbound.iter().map(text("not bound to an answer"));
    current.chain(stale).chain(unbound).collect()
}

/// The label of a benchmark in the words of a review.
fn label_word(label: LabelOutcome) -> String {
    match label {
        LabelOutcome::Met => "pass".to_owned(),
        LabelOutcome::Unmet => "fail".to_owned(),
        other => other.to_string(),
    }
}
