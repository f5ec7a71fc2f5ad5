//! Filter and order of a list of cases, as written in the address of a page.

use assize_rubric::{OutcomeKind, named_variants};
use url::form_urlencoded::{Serializer, parse};

use super::entry::{CaseStatus, CaseTableEntry, CriterionEntry};

/// Longest search text, in bytes.
const MAX_TEXT: usize = 400;

/// Verdict to filter by; `error` means cases that could not be run or graded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerdictChoice {
    Fail,
    Borderline,
    Incomplete,
    Pass,
    Skipped,
    Error,
}

named_variants!(VerdictChoice {
    Fail = "fail",
    Borderline = "borderline",
    Incomplete = "incomplete",
    Pass = "pass",
    Skipped = "skipped",
    Error = "error",
});

impl VerdictChoice {
    pub(crate) fn takes(self, entry: &CaseTableEntry) -> bool {
        match self {
            Self::Error => entry.has_error,
            other => CaseStatus::from_name(other.name()) == Some(entry.verdict),
        }
    }
}

/// Outcome to filter by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutcomeChoice {
    /// Counts against the answer: unmet, or a penalty that was incurred.
    Against,
    Met,
    Unmet,
    Scored,
    Ungraded,
    NotApplicable,
}

named_variants!(OutcomeChoice {
    Against = "against",
    Met = "met",
    Unmet = "unmet",
    Scored = "scored",
    Ungraded = "ungraded",
    NotApplicable = "not_applicable",
});

impl OutcomeChoice {
    pub(crate) fn takes(self, criterion: CriterionEntry) -> bool {
        match self {
            Self::Against => criterion.is_missed(),
            Self::Met => criterion.is_met() == Some(true),
            Self::Unmet => criterion.is_met() == Some(false),
            Self::Scored => criterion.outcome == OutcomeKind::Scored,
            Self::Ungraded => criterion.outcome == OutcomeKind::Ungraded,
            Self::NotApplicable => criterion.outcome == OutcomeKind::NotApplicable,
        }
    }
}

/// Column to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum CaseSort {
    /// The order of the eval files.
    #[default]
    Place,
    Verdict,
    Score,
    Id,
    Cost,
    Latency,
}

named_variants!(CaseSort {
    Place = "place",
    Verdict = "verdict",
    Score = "score",
    Id = "id",
    Cost = "cost",
    Latency = "latency",
});

/// Filter and order of a list of cases.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CaseFilter {
    pub(crate) verdicts: Vec<VerdictChoice>,
    pub(crate) suite: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) gate: Option<String>,
    /// Criterion, as `GRADER/ID`.
    pub(crate) criterion: Option<String>,
    /// Outcome of that criterion; without a criterion, of any criterion.
    pub(crate) outcome: Option<OutcomeChoice>,
    /// True for cases on which judges or people disagree.
    pub(crate) disputed: bool,
    /// Run that cases must differ from.
    pub(crate) changed: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) sort: CaseSort,
    pub(crate) descending: bool,
}

impl CaseFilter {
    /// Reads the query of an address. Unknown keys and values are ignored.
    pub(crate) fn from_query(query: &str) -> Self {
        let mut filter = Self::default();
        for (key, value) in parse(query.as_bytes()) {
            if value.is_empty() {
                continue;
            }

            let value = value.into_owned();
            match &*key {
                "verdict" => filter.verdicts.extend(VerdictChoice::from_name(&value)),
                "suite" => filter.suite = Some(value),
                "prompt" => filter.prompt = Some(value),
                "target" => filter.target = Some(value),
                "tag" => filter.tag = Some(value),
                "gate" => filter.gate = Some(value),
                "criterion" => filter.criterion = Some(value),
                "outcome" => filter.outcome = OutcomeChoice::from_name(&value),
                "disputed" => filter.disputed = value == "1",
                "changed" => filter.changed = Some(value),
                "q" if value.len() <= MAX_TEXT => filter.text = Some(value),
                "sort" => filter.sort = CaseSort::from_name(&value).unwrap_or_default(),
                "desc" => filter.descending = value == "1",
                _ => {}
            }
        }

        filter
    }

    /// Writes the filter as the query of an address, without the question mark; empty for all cases in the
    /// order of the files.
    pub(crate) fn to_query(&self) -> String {
        let mut query = Serializer::new(String::new());
        for verdict in &self.verdicts {
            query.append_pair("verdict", verdict.name());
        }

        let texts = [
            ("suite", &self.suite),
            ("prompt", &self.prompt),
            ("target", &self.target),
            ("tag", &self.tag),
            ("gate", &self.gate),
            ("criterion", &self.criterion),
            ("changed", &self.changed),
            ("q", &self.text),
        ];
        for (key, value) in texts {
            query.extend_pairs(value.iter().map(|value| (key, value)));
        }

        query.extend_pairs(self.outcome.map(|outcome| ("outcome", outcome.name())));
        if self.disputed {
            query.append_pair("disputed", "1");
        }
        if self.sort != CaseSort::default() {
            query.append_pair("sort", self.sort.name());
        }
        if self.descending {
            query.append_pair("desc", "1");
        }

        query.finish()
    }

    /// Filter for cases in which a criterion has this outcome.
    pub(crate) fn of_criterion(name: String, suite: Option<String>, outcome: OutcomeChoice) -> Self {
        Self { criterion: Some(name), suite, outcome: Some(outcome), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_go_into_addresses_and_come_back() {
        let filter = CaseFilter {
            verdicts: vec![VerdictChoice::Fail, VerdictChoice::Error],
            tag: Some("a & b=c".to_owned()),
            criterion: Some("rubric/é".to_owned()),
            outcome: Some(OutcomeChoice::NotApplicable),
            disputed: true,
            changed: Some("20260102-a".to_owned()),
            text: Some("<script>".to_owned()),
            sort: CaseSort::Score,
            descending: true,
            ..CaseFilter::default()
        };
        assert_eq!(CaseFilter::from_query(&filter.to_query()), filter);
        assert_eq!(CaseFilter::default().to_query(), "");
    }

    #[test]
    fn unknown_keys_and_values_are_ignored() {
        let filter = CaseFilter::from_query("verdict=maybe&sort=x&outcome=y&z=1&tag=&desc=2&%ff=%");
        assert_eq!(filter, CaseFilter::default());
        let long = format!("q={}", "x".repeat(MAX_TEXT + 1));
        assert_eq!(CaseFilter::from_query(&long).text, None);
    }
}
