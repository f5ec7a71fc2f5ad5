//! Prints scored scorecards as text and as JSON.

use assize_analysis::ScorecardTree;
use assize_engine::ScoredCard;
use assize_report::{
    ScorecardLayout, ScorecardNodeJson, ScorecardPage, render_scorecard_markdown, render_scorecard_scores,
};
use assize_rubric::{LabelCounts, ScorecardScores, UnitInterval};
use serde::Serialize;
use serde::ser::{SerializeSeq as _, Serializer};

use crate::args::{ReportFile, ReportFormat};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// A scored scorecard as JSON.
#[derive(Serialize)]
pub(super) struct PrintedCard<'a, R> {
    pub(super) name: &'a str,
    pub(super) weight_set: Option<&'a str>,
    pub(super) treat_missing: &'static str,
    pub(super) min_coverage: Option<UnitInterval>,
    pub(super) nodes: PrintedNodes<'a>,
    pub(super) labels: LabelCounts,
    pub(super) review: R,
}

/// Every part of a scored scorecard. Each is built only when it is written, so a large tree is never in memory
/// as JSON.
pub(super) struct PrintedNodes<'a>(&'a ScoredCard<'a>);

impl Serialize for PrintedNodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let count = self.0.trees.iter().map(|tree| tree.places.len()).sum();
        let mut list = serializer.serialize_seq(Some(count))?;
        for (tree, scores) in self.0.scores() {
            let contributions = scores.contributions();
            for id in tree.card.ids() {
                if let Some(node) = ScorecardNodeJson::new(self.0.info, tree, &scores, &contributions, id) {
                    list.serialize_element(&node)?;
                }
            }
        }
        list.end()
    }
}

/// The whole scorecard as JSON; `review` has the cases that a person should look at.
pub(super) fn printed<'a, R>(
    scored: &'a ScoredCard<'a>,
    set: Option<&'a str>,
    labels: LabelCounts,
    review: R,
) -> PrintedCard<'a, R> {
    PrintedCard {
        name: &scored.info.name,
        weight_set: set,
        treat_missing: scored.policy.name(),
        min_coverage: scored.min_coverage,
        nodes: PrintedNodes(scored),
        labels,
        review,
    }
}

/// The trees as text.
pub(super) fn text(scored: &ScoredCard<'_>, depth: Option<usize>, context: &CliContext) -> String {
    let blocks: Vec<String> = scored
        .scores()
        .map(|(tree, scores)| {
            let layout = ScorecardLayout { depth, labels: Some((scored.info, tree)) };
            render_scorecard_scores(&scores, layout, context.stdout)
        })
        .collect();

    let gaps: Vec<String> = scored.coverage_gaps().iter().map(|gap| format!("{gap}\n")).collect();

    blocks.join("\n") + &gaps.concat()
}

/// Writes the report files in Markdown.
pub(super) fn write_markdown(
    scored: &ScoredCard<'_>,
    files: &[ReportFile],
    page: &ScorecardPage<'_>,
) -> Result<(), CommandFailure> {
    let scores: Vec<(&ScorecardTree, ScorecardScores<'_>)> = scored.scores().collect();
    for file in files.iter().filter(|file| file.format != ReportFormat::Json) {
        output::write_text(&file.path, &render_scorecard_markdown(&scores, page))?;
    }

    Ok(())
}
