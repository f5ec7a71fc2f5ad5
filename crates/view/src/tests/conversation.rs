//! Pages of a case whose grader is composed of others: a conversation of two turns.

use assize_rubric::{
    CaseDecision, CompositeMember, CompositeStructure, Criterion, Decision, EvidenceQuote, Finding,
    GraderFinding, GraderFindingKind, GraderWeighting, JudgeIdentity, MemberAggregator, Outcome, Tokens,
};
use assize_run::score_record;
use assize_store::{ResultRow, TurnRow};

use crate::tests::support::{ViewTest, decision, empty_row, info};

const TALK: &str = "20260104-030405-talk-cccc";
/// Both criteria have this id, and their answers share words.
const ANSWERS: [&str; 2] =
    ["It is 30, since 15 % of 200\nis that.", "It is 60, twice as much. It is 30 no more."];

/// Writes a run with a conversation: the same criterion for each turn, with a separate reply and quote.
fn write_conversation(test: &ViewTest) {
    let name = |turn: usize| format!("turn-{turn}");
    let members = (1..=2).map(|turn| CompositeMember {
        name: name(turn),
        type_name: "rubrics".to_owned(),
        weighting: GraderWeighting::default(),
    });
    let structure = CompositeStructure {
        aggregator: MemberAggregator::WeightedAverage,
        members: members.collect(),
        passed: None,
    };
    let whole =
        GraderFinding { kind: GraderFindingKind::Composite(structure), ..GraderFinding::without_score() };
    let judge = JudgeIdentity { name: "conversation".into(), ..JudgeIdentity::default() };
    let head = Decision::new(judge, Finding::Grader(Box::new(whole)), String::new());

    let about = |turn: u32, quote: &str| {
        let criterion = Criterion::checklist("r", "Says the number");
        let quote = EvidenceQuote { quote: quote.to_owned(), verified: true };
        let mut decided = decision(criterion, Outcome::Met, quote);
        decided.decision.spent.replies = vec![format!("the reply about turn {turn}")];
        CaseDecision {
            grader: "conversation".into(),
            member: vec![name(turn as usize)],
            turn: Some(turn),
            ..decided
        }
    };
    let of_turns = [about(1, "It is 30"), about(2, "it is 30 no more")];
    let head = CaseDecision { decision: head, member: Vec::new(), turn: None, ..of_turns[0].clone() };
    let [first, second] = of_turns;
    let decisions = [head, first, second];

    let turns = (1..).zip(ANSWERS).map(|(turn, answer)| TurnRow {
        turn,
        answer: Some(answer.to_owned()),
        error: None,
        tokens: Tokens::default(),
        cost_usd: None,
        cost_partial: None,
        duration_ms: Some(7),
    });
    let transcript = format!(
        "[user]\nWhat is 15 % of <200>?\n\n[assistant]\n{}\n\n[user]\nDouble it.\n\n[assistant]\n{}",
        ANSWERS[0], ANSWERS[1]
    );
    let row = ResultRow { answer: Some(transcript), turns: turns.collect(), ..empty_row("talk") };
    let mut info = info(TALK);
    let mut writer = test.run_folder(TALK).create(&info).expect("the run can be made");
    writer.record(&decisions, &score_record(&row, &decisions)).expect("a case can be written");
    writer.finish(&mut info).expect("the run can be ended");
}

fn page() -> String {
    let mut test = ViewTest::empty();
    write_conversation(&test);
    test.serve();
    test.get(&format!("/runs/{TALK}/cases/1")).expect(200).body
}

#[test]
fn the_reply_to_one_member_is_not_shown_with_another() {
    let page = page();
    let members: Vec<&str> = page.split(r#"<div class="member">"#).skip(1).collect();
    assert_eq!(members.len(), 2, "{page}");
    for (at, member) in members.iter().enumerate() {
        for turn in 1..=2 {
            let reply = format!("the reply about turn {turn}");
            assert_eq!(member.matches(&reply).count(), usize::from(turn == at + 1), "{reply}: {member}");
        }
    }
}

#[test]
fn each_turn_shows_what_was_said_before_it_and_its_own_quotes() {
    let page = page();
    let turns: Vec<&str> = page.split("<li value=").skip(1).collect();
    assert_eq!(turns.len(), 2, "{page}");
    assert!(turns[0].contains("[user]\nWhat is 15 % of &#60;200&#62;?"), "{}", turns[0]);
    assert!(turns[0].contains("<mark>It is 30</mark>") && turns[0].contains("id=\"q1\""), "{}", turns[0]);
    assert!(turns[1].contains("[user]\nDouble it."), "{}", turns[1]);
    assert!(turns[1].contains("It is 60, twice as much. ") && turns[1].contains("id=\"q2\""), "{}", turns[1]);
    assert!(turns[1].contains("<mark>It is 30 no more</mark>"), "{}", turns[1]);
    assert!(page.contains("turn 1, line 1") && page.contains("turn 2, line 1"), "{page}");
    assert_eq!(page.matches("Double it.").count(), 1, "the conversation is shown once: {page}");
}

#[test]
fn a_report_marks_the_quotes_of_turns_as_the_page_does() {
    let test = ViewTest::empty();
    write_conversation(&test);
    let mut cases = test.run_folder(TALK).cases().expect("the run can be read");
    let record = cases.next().expect("there is a case").expect("it can be read");
    let report = assize_report::html::case_fragment(&record, None, "c", true);

    let turns: Vec<&str> = report.split(r#"<p class="dim">turn "#).skip(1).collect();
    assert_eq!(turns.len(), 2, "{report}");
    for (turn, quote) in turns.iter().zip(["It is 30", "It is 30 no more"]) {
        let marks: Vec<&str> =
            turn.split("<mark").skip(1).filter_map(|mark| Some(mark.split_once('>')?.1)).collect();
        assert_eq!(marks.len(), 1, "{turn}");
        assert!(marks[0].starts_with(&format!("{quote}<sup>")), "{turn}");
    }
    assert_eq!(report.matches("Double it.").count(), 1, "the conversation is shown once: {report}");
}
