//! Drafts without a model, from the clauses of the expected outcome and the statements of the reference answer.

use assize_llm::TokenCounts;
use assize_model::Case;
use assize_rubric::{
    Criterion, CriterionOperator, CriterionScale, Gate, RawScore, ScoreBand, ScoreBands, Weight,
};

use super::check::{MAX_CRITERIA, MIN_CRITERIA, lint};
use super::criteria::free_id;
use super::phrase::{demands, sentences, slug};
use super::{CriteriaDraft, DraftBrief, DraftError, RubricForm};

/// Weight of the first clause, because expected outcomes begin with the most important demand.
const FIRST_CLAUSE_WEIGHT: f64 = 2.0;
/// Longest sentence of a reference that counts as a fact, in words.
const MAX_FACT: usize = 30;

/// Makes a draft from the clauses of the expected outcome: one criterion each, the first one required and with
/// double weight. If there are fewer than three, sentences of the reference that contain a number, a name or
/// code follow as facts that an answer must not contradict. The same brief always gives the same draft.
///
/// It does not understand the text: it splits where a new demand begins, and skips clauses that lint does not
/// consider testable.
pub fn draft_offline(brief: &DraftBrief, case: Option<&Case>) -> Result<CriteriaDraft, DraftError> {
    let mut criteria: Vec<Criterion> = Vec::new();
    let clauses = sentences(&brief.expected_outcome).into_iter().flat_map(|sentence| demands(&sentence));
    for clause in clauses.filter(|clause| fits(clause)) {
        if criteria.len() == MAX_CRITERIA {
            break;
        }
        if criteria.iter().all(|criterion| criterion.text != clause) {
            let id = free_id(&slug(&clause), &criteria);
            criteria.push(Criterion { id, ..Criterion::checklist("", clause) });
        }
    }

    let testable: Vec<Criterion> = criteria.iter().filter(|c| !is_vague(c, case)).cloned().collect();
    if !testable.is_empty() {
        criteria = testable;
    }
    if criteria.is_empty() {
        return Err(DraftError::NothingToCheck);
    }

    criteria[0].weight = Weight::new(FIRST_CLAUSE_WEIGHT).unwrap_or(Weight::ONE);
    facts(brief, &mut criteria);

    match brief.form {
        RubricForm::Checklist => criteria[0].gate = Some(Gate::Met),
        RubricForm::Ranges => criteria.iter_mut().for_each(into_ranges),
    }

    let findings = lint(&criteria, case).into_iter().map(|(_, message)| message).collect();
    Ok(CriteriaDraft { criteria, findings, calls: 0, recalled: 0, usage: TokenCounts::default() })
}

/// True for a clause that can be a criterion.
fn fits(clause: &str) -> bool {
    let template = clause.contains("{{") || clause.contains("{%");
    !template && clause.chars().count() <= 400 && clause.chars().any(char::is_alphanumeric)
}

fn is_vague(criterion: &Criterion, case: Option<&Case>) -> bool {
    lint(std::slice::from_ref(criterion), case).iter().any(|(code, _)| code == "L0101")
}

/// Adds facts from the reference until there are enough criteria.
fn facts(brief: &DraftBrief, criteria: &mut Vec<Criterion>) {
    let Some(reference) = &brief.reference else { return };
    for sentence in sentences(reference) {
        if criteria.len() >= MIN_CRITERIA {
            return;
        }

        let words = sentence.split_whitespace().count();
        let specific = sentence.chars().any(|c| c.is_ascii_digit() || matches!(c, '`' | '"' | '%'))
            || sentence.split_whitespace().skip(1).any(|word| word.starts_with(char::is_uppercase));
        if !(3..=MAX_FACT).contains(&words) || !specific || !fits(&sentence) {
            continue;
        }

        let id = free_id(&format!("fact-{}", slug(&sentence)), criteria);
        // A statement of the reference is known to be true, but not every good answer makes it.
        criteria.push(Criterion {
            id,
            operator: CriterionOperator::Contradiction,
            ..Criterion::checklist("", sentence)
        });
    }
}

/// Turns a yes-or-no question into a scale with a middle. Facts are not changed, because there is no half
/// contradiction.
fn into_ranges(criterion: &mut Criterion) {
    if criterion.operator == CriterionOperator::Contradiction {
        return;
    }

    let band = |low: u8, high: u8, text: &str| {
        let raw = |n| RawScore::new(n).unwrap_or(RawScore::MIN);
        ScoreBand { low: raw(low), high: raw(high), text: text.to_owned() }
    };
    let bands = ScoreBands::new(vec![
        band(0, 3, "Nothing in the answer does this"),
        band(4, 7, "The answer does this in part: something it needs is missing or wrong"),
        band(8, 10, "The answer does this, and nothing it needs is missing or wrong"),
    ]);
    if let Ok(bands) = bands {
        criterion.scale = CriterionScale::Bands(bands);
        criterion.gate = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(outcome: &str, reference: Option<&str>, form: RubricForm) -> DraftBrief {
        DraftBrief {
            question: "Where is my parcel?".into(),
            expected_outcome: outcome.into(),
            reference: reference.map(str::to_owned),
            samples: Vec::new(),
            form,
        }
    }

    #[test]
    fn clauses_become_criteria() {
        let text = "The assistant should apologize for the delay, name the new delivery date and offer a refund. Good quality.";
        let draft = draft_offline(&brief(text, None, RubricForm::Checklist), None).expect("a draft");
        let texts: Vec<&str> = draft.criteria.iter().map(|c| c.text.as_str()).collect();
        assert_eq!(texts, ["Apologizes for the delay", "Names the new delivery date", "Offers a refund"]);
        assert_eq!(draft.criteria[0].gate, Some(Gate::Met));
        assert_eq!(draft.criteria[0].weight.get(), 2.0);
        assert!(draft.criteria[1..].iter().all(|c| c.gate.is_none()));
    }

    #[test]
    fn the_reference_fills_up_what_a_short_outcome_lacks() {
        let reference = "Sorry to hear that. It arrives on 4 March. The carrier is DHL.";
        let draft =
            draft_offline(&brief("Says where the parcel is", Some(reference), RubricForm::Ranges), None)
                .expect("a draft");
        assert_eq!(draft.criteria.len(), 3);
        assert!(matches!(draft.criteria[0].scale, CriterionScale::Bands(_)));
        assert_eq!(draft.criteria[1].text, "It arrives on 4 March");
        assert_eq!(draft.criteria[1].operator, CriterionOperator::Contradiction);
    }

    #[test]
    fn nothing_is_made_of_nothing() {
        assert!(matches!(
            draft_offline(&brief("...", None, RubricForm::Checklist), None),
            Err(DraftError::NothingToCheck)
        ));
        assert!(draft_offline(&brief("{{ outcome }}", None, RubricForm::Checklist), None).is_err());
    }
}
