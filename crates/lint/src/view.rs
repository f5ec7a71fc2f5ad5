//! Input of the rules: a criterion, a rubric or a case, with its context.

use std::path::Path;

use assize_model::{Case, CriterionMarks, RubricGrader, SourceMark, Suite};
use assize_rubric::{Criterion, CriterionScale, MessageBlock, Rubric, ScoreBands, VerdictThresholds};

/// A rubric with its context.
pub(crate) struct RubricView<'a> {
    pub(crate) grader: &'a RubricGrader,
    /// Case that the rubric belongs to; `None` for a rubric file.
    pub(crate) case: Option<&'a Case>,
    pub(crate) suite: Option<&'a Suite>,
    /// True if the rubric belongs to the suite, so that it is not about a single question.
    pub(crate) shared: bool,
    /// True if it is the only grader of its case.
    pub(crate) alone: bool,
}

impl<'a> RubricView<'a> {
    pub(crate) fn rubric(&self) -> &'a Rubric {
        &self.grader.rubric
    }

    pub(crate) fn criteria(&self) -> impl Iterator<Item = CriterionView<'_>> {
        (0..self.rubric().criteria().len()).map(|index| CriterionView { rubric: self, index })
    }

    /// Returns the case, if the rubric only belongs to it.
    pub(crate) fn own_case(&self) -> Option<&'a Case> {
        self.case.filter(|_| !self.shared)
    }

    /// Returns the pass threshold and its mark, if one is written; `None` if the default applies.
    pub(crate) fn threshold(&self) -> Option<(f64, &'a SourceMark)> {
        written_threshold(self.case, self.suite)
    }

    /// Returns the effective pass threshold.
    pub(crate) fn pass_threshold(&self) -> f64 {
        self.threshold().map_or(VerdictThresholds::DEFAULT_PASS, |(line, _)| line)
    }
}

/// Returns the pass threshold that is written in a case, or else in its suite, and its mark.
pub(crate) fn written_threshold<'a>(
    case: Option<&'a Case>,
    suite: Option<&'a Suite>,
) -> Option<(f64, &'a SourceMark)> {
    let of_case = case.and_then(|case| Some((case.thresholds.pass?, case.marks.threshold.as_ref()?)));
    let of_suite = || {
        let settings = &suite?.settings;
        Some((settings.thresholds.pass?, settings.threshold_mark.as_ref()?))
    };
    of_case.or_else(of_suite).map(|(line, mark)| (line.get(), mark))
}

/// A criterion with its context.
pub(crate) struct CriterionView<'a> {
    pub(crate) rubric: &'a RubricView<'a>,
    pub(crate) index: usize,
}

impl<'a> CriterionView<'a> {
    pub(crate) fn criterion(&self) -> &'a Criterion {
        &self.rubric.rubric().criteria()[self.index]
    }

    pub(crate) fn text(&self) -> &'a str {
        &self.criterion().text
    }

    pub(crate) fn weight(&self) -> f64 {
        self.criterion().weight.get()
    }

    pub(crate) fn marks(&self) -> Option<&'a CriterionMarks> {
        self.rubric.grader.marks.get(self.index)
    }

    /// Returns the mark of the beginning of the criterion.
    pub(crate) fn head(&self) -> Option<&'a SourceMark> {
        self.marks()?.head.as_ref()
    }

    /// Returns the mark of the text, or else of the beginning of the criterion.
    pub(crate) fn text_mark(&self) -> Option<&'a SourceMark> {
        self.marks()?.text.as_ref().or_else(|| self.head())
    }

    /// Returns the mark of the key that makes the criterion required, or else of its text.
    pub(crate) fn gate_mark(&self) -> Option<&'a SourceMark> {
        let marks = self.marks()?;
        marks.minimum.as_ref().or(marks.required.as_ref()).or_else(|| self.text_mark())
    }

    pub(crate) fn bands(&self) -> Option<&'a ScoreBands> {
        match &self.criterion().scale {
            CriterionScale::Bands(bands) => Some(bands),
            CriterionScale::Checklist => None,
        }
    }

    /// Returns the number of words of the text.
    pub(crate) fn length(&self) -> usize {
        self.text().split_whitespace().count()
    }
}

/// A case with its context.
pub(crate) struct CaseView<'a> {
    pub(crate) case: &'a Case,
    pub(crate) suite: &'a Suite,
    /// Path of the eval file.
    pub(crate) path: &'a Path,
}

/// Returns true if the input of the case has a block of this kind.
pub(crate) fn has_block(case: &Case, wanted: fn(&MessageBlock) -> bool) -> bool {
    case.input.iter().flat_map(|message| &message.blocks).any(wanted)
}
