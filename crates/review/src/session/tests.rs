//! Tests of sessions with keys and with decisions.

use super::*;
use crate::{FailureChoice, JudgeAccount, ReviewReason, ReviewSection, ReviewSectionKind, ReviewWeight};

pub(crate) fn items(count: usize) -> Vec<ReviewItem> {
    (0..count)
        .map(|n| ReviewItem {
            case: format!("case-{n}"),
            suite: None,
            system: None,
            trial: None,
            criterion: "tone".to_owned(),
            version: "v1".to_owned(),
            seen: None,
            weight: ReviewWeight::Counted,
            is_stale: false,
            wanted: None,
            sections: vec![
                section(ReviewSectionKind::Question, "Criterion", "The answer is kind."),
                section(ReviewSectionKind::Material, "Answer", &"line\n".repeat(100)),
            ],
            question: ReviewQuestion::Verdict(None),
            may_not_apply: true,
            judge: Some(JudgeAccount {
                outcome: Some(LabelOutcome::Unmet),
                reason: "SECRET-REASON".to_owned(),
                probability: None,
                confidence: Some("high"),
            }),
            drawn: None,
            why: ReviewReason::Check,
        })
        .collect()
}

fn section(about: ReviewSectionKind, title: &str, text: &str) -> ReviewSection {
    ReviewSection { about, title: title.to_owned(), text: text.to_owned() }
}

fn named(case: &str) -> NamedItem {
    NamedItem { case: case.to_owned(), criterion: "tone".to_owned(), key: None, seen: None }
}

fn records(session: &mut ReviewSession, key: ReviewKey) -> ReviewDecision {
    match session.handle_key(key) {
        ReviewStep::Record(decision) => {
            session.confirm_recorded();
            decision
        }
        other => panic!("{key:?} led to {other:?}"),
    }
}

fn type_in(session: &mut ReviewSession, text: &str) {
    for c in text.chars() {
        assert_eq!(session.handle_key(ReviewKey::Char(c)), ReviewStep::Redraw);
    }
}

#[test]
fn a_decision_takes_note_and_severity_along_and_opens_the_judge() {
    let mut session = ReviewSession::new(items(2));
    session.handle_key(ReviewKey::Char('s'));
    session.handle_key(ReviewKey::Char('s'));
    session.handle_key(ReviewKey::Char('e'));
    type_in(&mut session, "quite pf");
    session.handle_key(ReviewKey::Enter);
    assert!(!session.may_show_judge());
    let decision = records(&mut session, ReviewKey::Char('f'));
    assert_eq!(decision.answer, ReviewAnswer::Outcome(LabelOutcome::Unmet));
    assert_eq!(decision.severity, Some(FailureSeverity::Medium));
    assert_eq!(decision.note.as_deref(), Some("quite pf"));
    assert!(session.may_show_judge());
    session.handle_key(ReviewKey::Enter);
    assert_eq!(session.item().map(|item| item.case.as_str()), Some("case-1"));
    assert!(!session.may_show_judge(), "the next item hides its judge again");
}

#[test]
fn what_was_decided_can_only_be_amended() {
    let mut session = ReviewSession::new(items(1));
    assert!(!records(&mut session, ReviewKey::Char('p')).after_judge);
    assert_eq!(session.handle_key(ReviewKey::Char('f')), ReviewStep::Redraw, "no silent change");
    session.handle_key(ReviewKey::Char('z'));
    assert!(!session.may_show_judge());
    let amended = records(&mut session, ReviewKey::Char('f'));
    assert!(amended.after_judge);
    assert_eq!(session.progress(), ReviewProgress { decided: 1, all: 1, skipped: 0 });
    session.handle_key(ReviewKey::Enter);
    assert_eq!(session.item(), None);
    assert_eq!(session.handle_key(ReviewKey::Char('q')), ReviewStep::Quit);
}

#[test]
fn a_note_belongs_to_the_decision_it_was_written_for() {
    let mut session = ReviewSession::new(items(1));
    session.handle_key(ReviewKey::Char('e'));
    type_in(&mut session, "fine");
    session.handle_key(ReviewKey::Enter);
    records(&mut session, ReviewKey::Char('p'));
    session.handle_key(ReviewKey::Char('z'));
    assert_eq!(records(&mut session, ReviewKey::Char('f')).note, None);
}

#[test]
fn other_items_are_decided_by_name_and_are_not_gone_through() {
    let mut all = items(2);
    let others = vec![all.remove(1)];
    let mut session = ReviewSession::with_others(all, others);
    assert_eq!(session.progress(), ReviewProgress { decided: 0, all: 1, skipped: 0 });
    assert_eq!(session.go_to(&named("case-1")), Ok(()));
    records(&mut session, ReviewKey::Char('p'));
    assert_eq!(session.progress(), ReviewProgress { decided: 1, all: 2, skipped: 0 });
    session.handle_key(ReviewKey::Enter);
    assert_eq!(session.item().map(|item| item.case.as_str()), Some("case-0"));
    let mut empty = ReviewSession::with_others(Vec::new(), items(1));
    assert_eq!(empty.item(), None, "nothing is asked");
    assert_eq!(empty.go_to(&named("case-0")), Ok(()));
    assert_eq!(empty.item().map(|item| item.case.as_str()), Some("case-0"));
}

#[test]
fn what_could_not_be_written_was_not_decided() {
    let mut session = ReviewSession::new(items(1));
    assert!(matches!(session.handle_key(ReviewKey::Char('p')), ReviewStep::Record(_)));
    session.reject_pending("disk full");
    assert!(!session.may_show_judge());
    assert_eq!((session.decision(), session.progress().decided), (None, 0));
    session.confirm_recorded();
    assert_eq!(session.progress().decided, 0, "nothing is pending any more");
}

#[test]
fn skipped_items_come_again_at_the_end() {
    let mut session = ReviewSession::new(items(3));
    session.handle_key(ReviewKey::Char('x'));
    records(&mut session, ReviewKey::Char('p'));
    session.handle_key(ReviewKey::Enter);
    records(&mut session, ReviewKey::Char('n'));
    session.handle_key(ReviewKey::Enter);
    assert_eq!(session.item().map(|item| item.case.as_str()), Some("case-0"));
    session.handle_key(ReviewKey::Char('x'));
    assert!(session.item().is_some(), "the last one left can't be skipped away");
}

#[test]
fn scores_must_be_on_the_scale() {
    let mut all = items(1);
    all[0].question = ReviewQuestion::Verdict(Some(ScoreScale { min: 1.0, max: 5.0 }));
    let mut session = ReviewSession::new(all);
    for key in ['p', 'f'] {
        assert_eq!(session.handle_key(ReviewKey::Char(key)), ReviewStep::Redraw, "no end of the scale");
        assert!(session.message.as_deref().is_some_and(|text| text.contains("a score from 1 to 5")));
    }
    session.handle_key(ReviewKey::Char('v'));
    type_in(&mut session, "7");
    assert_eq!(session.handle_key(ReviewKey::Enter), ReviewStep::Redraw);
    assert!(session.message.as_deref().is_some_and(|text| text.contains("from 1 to 5")));
    session.handle_key(ReviewKey::Backspace);
    type_in(&mut session, "4.5");
    assert_eq!(
        records(&mut session, ReviewKey::Enter).answer,
        ReviewAnswer::Outcome(LabelOutcome::Score(4.5))
    );
}

#[test]
fn a_trace_gets_one_code_or_none_of_them() {
    let mut all = items(2);
    let choices = ["A1", "A2"].map(|code| FailureChoice {
        code: code.to_owned(),
        text: "x".to_owned(),
        criterion: String::new(),
        seen: None,
    });
    for item in &mut all {
        item.question = ReviewQuestion::Primary(choices.to_vec());
    }
    let mut session = ReviewSession::new(all);
    assert_eq!(session.handle_key(ReviewKey::Char('p')), ReviewStep::Redraw, "a trace is not passed");
    session.handle_key(ReviewKey::Char('c'));
    session.handle_key(ReviewKey::Down);
    assert_eq!(records(&mut session, ReviewKey::Enter).answer, ReviewAnswer::Primary("A2".to_owned()));
    session.handle_key(ReviewKey::Enter);
    assert_eq!(
        records(&mut session, ReviewKey::Char('0')).answer,
        ReviewAnswer::Primary(NONE_OF_THE_ABOVE.to_owned())
    );
    session.handle_key(ReviewKey::Char('z'));
    session.handle_key(ReviewKey::Char('s'));
    let clean = records(&mut session, ReviewKey::Char('o'));
    assert_eq!(clean.answer, ReviewAnswer::Primary(NO_FAILURE.to_owned()));
    assert_eq!(clean.severity, None, "no failure has no severity");
    session.handle_key(ReviewKey::Char('z'));
    session.handle_key(ReviewKey::Char('c'));
    session.handle_key(ReviewKey::Char('0'));
    assert_eq!(
        records(&mut session, ReviewKey::Enter).answer,
        ReviewAnswer::Primary(NONE_OF_THE_ABOVE.to_owned()),
        "an entry of the list"
    );
    session.handle_key(ReviewKey::Char('z'));
    session.handle_key(ReviewKey::Char('c'));
    session.handle_key(ReviewKey::End);
    assert_eq!(
        records(&mut session, ReviewKey::Enter).answer,
        ReviewAnswer::Primary(NO_FAILURE.to_owned()),
        "the last one"
    );
    session.handle_key(ReviewKey::Char('z'));
    assert!(session.decide(ReviewAnswer::Primary("A9".to_owned()), None, None).is_err());
}

#[test]
fn an_interrupt_leaves_from_anywhere() {
    let mut session = ReviewSession::new(items(1));
    session.handle_key(ReviewKey::Char('e'));
    assert_eq!(session.handle_key(ReviewKey::Interrupt), ReviewStep::Quit);
}

#[test]
fn a_line_about_another_answer_is_stale() {
    let mut all = items(1);
    let key = Some(all[0].key());
    let seen = "00112233445566778899aabbccddeeff";
    all[0].seen = seen.parse().ok();
    let mut session = ReviewSession::new(all);
    let current = session.item().map(ReviewItem::key);
    for (key, seen, is_current) in [
        (None, None, true),
        (current.clone(), None, true),
        (current, Some(seen), true),
        (key, None, false),
        (None, Some("ffffffffffffffffffffffffffffffff"), false),
    ] {
        let line = NamedItem { key, seen: seen.map(str::to_owned), ..named("case-0") };
        let found = session.go_to(&line);
        assert_eq!(found.is_ok(), is_current, "{line:?}: {found:?}");
        assert!(is_current || found.is_err_and(|error| error.contains("is stale: case `case-0`")));
    }
    assert!(session.go_to(&named("case-9")).is_err_and(|error| error.contains("has no criterion")));
}

#[test]
fn a_criterion_that_always_applies_takes_no_other_word() {
    let mut item = items(1).remove(0);
    let answer = ReviewAnswer::Outcome(LabelOutcome::NotApplicable);
    assert_eq!(check_label(&item, &answer), Ok(()));
    item.may_not_apply = false;
    let refused = check_label(&item, &answer);
    assert!(refused.is_err_and(|why| why.contains("always applies")));
}
