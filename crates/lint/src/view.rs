//! What rules see: a criterion, a rubric, a case, each with what surrounds it.

use std::path::Path;

use assize_evalfile::{Block, Case, CriterionMarks, Mark, RubricGrader, Suite};
use assize_rubric::{Bands, Criterion, Lines, Rubric, Scale};

/// A rubric and its surroundings.
pub(crate) struct RubricView<'a> {
    pub(crate) grader: &'a RubricGrader,
    /// The case it belongs to; none for a rubric file.
    pub(crate) case: Option<&'a Case>,
    pub(crate) suite: Option<&'a Suite>,
    /// It belongs to the suite, so that it is not about one question.
    pub(crate) shared: bool,
    /// It is the only grader of its case.
    pub(crate) alone: bool,
}

impl<'a> RubricView<'a> {
    pub(crate) fn rubric(&self) -> &'a Rubric {
        &self.grader.rubric
    }

    pub(crate) fn criteria(&self) -> impl Iterator<Item = CriterionView<'_>> {
        (0..self.rubric().criteria().len()).map(|index| CriterionView { rubric: self, index })
    }

    /// The case, if the rubric was written for it alone.
    pub(crate) fn own_case(&self) -> Option<&'a Case> {
        self.case.filter(|_| !self.shared)
    }

    /// The pass line as written and where; none if the default applies.
    pub(crate) fn threshold(&self) -> Option<(f64, &'a Mark)> {
        let of_case = self.case.and_then(|case| Some((case.lines.pass?, case.marks.threshold.as_ref()?)));
        let of_suite = || {
            let settings = &self.suite?.settings;
            Some((settings.lines.pass?, settings.threshold_mark.as_ref()?))
        };
        of_case.or_else(of_suite).map(|(line, mark)| (line.get(), mark))
    }

    /// The pass line that applies.
    pub(crate) fn pass_line(&self) -> f64 {
        self.threshold().map_or(Lines::DEFAULT_PASS, |(line, _)| line)
    }
}

/// A criterion and its surroundings.
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

    /// Where the criterion begins.
    pub(crate) fn head(&self) -> Option<&'a Mark> {
        self.marks()?.head.as_ref()
    }

    /// Where its text is, or where it begins.
    pub(crate) fn text_mark(&self) -> Option<&'a Mark> {
        self.marks()?.text.as_ref().or_else(|| self.head())
    }

    /// What makes it required: its key if it has one, else its text.
    pub(crate) fn gate_mark(&self) -> Option<&'a Mark> {
        let marks = self.marks()?;
        marks.minimum.as_ref().or(marks.required.as_ref()).or_else(|| self.text_mark())
    }

    pub(crate) fn bands(&self) -> Option<&'a Bands> {
        match &self.criterion().scale {
            Scale::Bands(bands) => Some(bands),
            Scale::Checklist => None,
        }
    }

    /// How many words its text has.
    pub(crate) fn length(&self) -> usize {
        self.text().split_whitespace().count()
    }
}

/// A case and its surroundings.
pub(crate) struct CaseView<'a> {
    pub(crate) case: &'a Case,
    /// The file that was asked for.
    pub(crate) path: &'a Path,
}

/// Whether the case gives the target any attachment of a kind.
pub(crate) fn has_block(case: &Case, wanted: fn(&Block) -> bool) -> bool {
    case.input.iter().flat_map(|message| &message.blocks).any(wanted)
}
