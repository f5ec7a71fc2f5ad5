//! How the offline judge decides on typical criteria.

use std::sync::Arc;

use crate::tests::common::*;
use crate::{Judge as _, JudgeMaterial, OfflineJudge};
use assize_rubric::{Criterion, CriterionOperator, Decision, JudgeConfidence, Outcome, RawScore};

fn judged(criterion: Criterion, answer: &str) -> Decision {
    let mut task = task(vec![criterion]);
    task.material = material(answer);
    run(&OfflineJudge, &task).remove(0)
}

fn outcome(text: &str, answer: &str) -> Outcome {
    judged(checklist("a", text), answer).outcome()
}

/// Whether a criterion is met; it must be decided.
fn met(text: &str, answer: &str) -> bool {
    let decision = judged(checklist("a", text), answer);
    assert_ne!(decision.outcome(), Outcome::Ungraded, "{text}: {answer}: {}", decision.reason);
    decision.outcome() == Outcome::Met
}

/// Whether words leave a criterion open.
fn is_open(text: &str, answer: &str) -> bool {
    outcome(text, answer) == Outcome::Ungraded
}

#[test]
fn the_best_passage_is_quoted_and_the_reason_names_words() {
    let answer = "Intro text here.\n\n- Sorting is fast.\n- The **time complexity** is O(n log n).\n- Bye.";
    let judgement = judged(checklist("a", "States the time complexity O(n log n)"), answer);
    assert_eq!(judgement.outcome(), Outcome::Met);
    assert_eq!(judgement.evidence[0].quote, "The **time complexity** is O(n log n).");
    assert!(judgement.evidence[0].verified);
    assert!(
        judgement.reason.contains("Found all words: time, complexity, O(n log n)"),
        "{}",
        judgement.reason
    );
    assert_eq!(judgement.confidence, Some(JudgeConfidence::Low));
    assert_eq!(
        (judgement.spent.attempts, judgement.spent.replies.len(), &*judgement.judge.name),
        (0, 0, "offline")
    );
    assert_eq!(OfflineJudge.identity(), judgement.judge);
}

#[test]
fn negation_turns_a_passage_around() {
    assert!(met("The function handles empty lists", "It handles empty lists."));
    assert!(!met("The function handles empty lists", "It does not handle empty lists."));
    assert!(!met("The function handles empty lists", "Empty lists aren't handled."));
    assert!(met("Explains that the cache is not thread-safe", "Note that the cache is not thread-safe."));
    assert!(is_open("Explains that the cache is not thread-safe", "The cache."));
}

#[test]
fn things_that_should_be_absent() {
    assert!(met("Does not mention competitors", "We offer the best service."));
    assert!(!met("Does not mention competitors", "Our competitors are worse."));
    assert!(met("No use of recursion", "A loop without any recursion."));
    assert!(!met("Does not mention competitors", "   "));
}

#[test]
fn a_quotation_that_should_be_absent_alone_decides() {
    let word = r#"Does not contain the word "guarantee""#;
    assert!(!met(word, "We guarantee you a refund."));
    assert!(!met(word, "GUARANTEE: none."));
    assert!(met(word, "The word is not in it: guaranteed."));
    let call = r#"Does not call a refund "guaranteed" or "certain""#;
    assert!(!met(call, "Your money back is guaranteed."));
    assert!(!met(call, "Your money back is certain."));
    assert!(met(call, "We call it a refund."));
    assert!(!met(r#""Guaranteed" is not used"#, "It is guaranteed."));
    // What a second clause asks for need not be absent.
    for text in [
        r#"Does not apologise, but says "we will fix it""#,
        r#"Does not say "sorry", but says "we will fix it""#,
        "Does not mention a refund, but mentions a repair",
    ] {
        for answer in ["Of course we will fix it.", "Sorry.", "A repair.", "A refund."] {
            assert!(is_open(text, answer), "{text}: {answer}");
        }
    }
}

#[test]
fn one_of_several_quoted_examples_is_enough() {
    let polite = r#"Uses a polite phrase such as "please" or "thank you" or "sorry""#;
    for answer in ["Please wait.", "Thank you for waiting.", "Sorry!"] {
        assert!(met(polite, answer), "{answer}");
    }
    assert!(is_open(polite, "Wait for a polite phrase."), "there are other polite phrases");
    let judgement = judged(checklist("a", polite), "Sorry!");
    assert_eq!(judgement.reason, "Found all words: sorry (coverage 100%).");
}

#[test]
fn what_is_missing_shows_nothing_under_a_condition_or_beside_examples() {
    let child = r#"If the user is a child, says "ask a parent""#;
    assert!(met(child, "Ask a parent first."));
    for (open, answer) in [
        (child, "No."),
        (r#"Says "sorry" when the customer reports a problem"#, "Thanks for your order."),
        (r#"Names a next step, such as the number "0800 555 123" or a page"#, "Fill in the form."),
    ] {
        assert!(is_open(open, answer), "{open}: {answer}");
    }
}

#[test]
fn names_dates_and_numbers_of_a_claim_must_occur() {
    for (claim, fits, differs) in [
        (
            "Says that the parcel arrives on Thursday",
            "It arrives on Thursday: the parcel.",
            "The parcel arrives on Friday.",
        ),
        (
            "says the parcel arrives on thursday", "The parcel arrives Thursday.",
            "The parcel arrives on Friday.",
        ),
        (
            "Tells the customer to write to Lena Brandt",
            "Write to Lena Brandt, dear customer.",
            "The customer should write to Max Brandt.",
        ),
        (
            "Says the return is free within 30 days", "Return it free within 30 days.",
            "Return it free within 14 days.",
        ),
        (
            "Mentions that the office opens in March or April",
            "The office opens in April.",
            "The office opens in May.",
        ),
    ] {
        assert!(met(claim, fits), "{claim}: {fits}");
        assert!(!met(claim, differs), "{claim}: {differs}");
    }
    let reason =
        judged(checklist("a", "Says that the parcel arrives on Thursday"), "The parcel arrives on Friday.")
            .reason;
    assert!(reason.contains("Found 2 of 3 words: parcel, arrives; missing: Thursday"), "{reason}");
    assert!(reason.ends_with("A name, number or quotation is missing: Thursday."), "{reason}");

    // Counts, titles and examples are not facts.
    let animals = "Gives at least 2 examples of animals that live near the cold northern sea";
    assert!(is_open(
        animals,
        "Animals that live near the cold northern sea are seals and gulls, for example."
    ));
    assert!(is_open("Clear And Polite Apology", "A clear and short apology."));
    assert!(met("Names a city of the country such as Paris", "A city of that country is Lyon."));
}

#[test]
fn a_claim_and_its_passage_agree_on_negation() {
    let not_covered = "Says that water damage is not covered";
    assert!(met(not_covered, "Water damage is not covered."));
    assert!(met(not_covered, "We don't pay for water damage."));
    assert!(!met(not_covered, "Water damage is covered."));
    assert!(!met(not_covered, "Water damage is covered. Theft is not."));
    assert!(!met("Says that the water damage will be paid", "Water damage will not be paid."));
    assert!(met(r#"Says that water damage is "not covered""#, "Water damage is not covered."));
    // A bound is not a negation.
    assert!(is_open("Says that the parcel arrives no later than Friday", "The parcel arrives by Friday."));
    assert!(is_open("Says that the lamp is missing a part", "The lamp lost a part."));

    let judgement = judged(checklist("a", not_covered), "Water damage is covered.");
    assert_eq!(
        judgement.reason,
        "Found all words, but without a negation: water, damage (coverage 80%). The criterion says no; the passage does not."
    );
}

#[test]
fn classes_of_numbers_and_other_spellings() {
    assert!(met("Mentions 2xx codes", "Codes like 204 mean success."));
    assert!(!met("Mentions 2xx codes", "Codes like 404 mean failure."));
    assert!(met("Loads the configuration from the environment", "loadConfig() reads env variables"));
    assert!(met("Gives three reasons: 1,000 users", "Three reasons: we have 1000 users."));
}

#[test]
fn empty_answers_and_criteria_without_words() {
    let judgement = judged(checklist("a", "Explains it"), " \n");
    assert_eq!((judgement.outcome(), judgement.reason.as_str()), (Outcome::Unmet, "The answer is empty."));
    assert_eq!(judged(bands("a", "How well"), "").outcome(), Outcome::Scored(RawScore::MIN));
    assert!(is_open("!!!", "text"));
}

#[test]
fn a_contradiction_needs_the_same_subject_and_another_statement() {
    let fact = |text: &str, answer: &str| {
        let mut criterion = checklist("a", text);
        criterion.operator = CriterionOperator::Contradiction;
        judged(criterion, answer)
    };
    let number = fact("Mount Everest is 8849 metres tall", "Mount Everest is 7500 metres tall.");
    assert_eq!((number.outcome(), number.evidence.len()), (Outcome::Unmet, 1));
    assert_eq!(
        fact("Mount Everest is 8849 metres tall", "Mount Everest is 8,849 metres tall.").outcome(),
        Outcome::Met
    );
    assert_eq!(
        fact("Mount Everest is 8849 metres tall", "I like hiking for 3 days.").outcome(),
        Outcome::Met
    );
    assert_eq!(
        fact("The library is thread-safe", "The library is not thread-safe.").outcome(),
        Outcome::Unmet
    );
    assert_eq!(
        fact("The library is not thread-safe", "The library is thread-safe.").outcome(),
        Outcome::Unmet
    );
    assert_eq!(
        fact("The library is not thread-safe", "The library is not thread-safe!").outcome(),
        Outcome::Met
    );
    assert_eq!(fact("The library is thread-safe", "").outcome(), Outcome::Met);
    assert_eq!(
        fact("The library is thread-safe on Linux", "The library is thread-safe.").outcome(),
        Outcome::Ungraded
    );
}

#[test]
fn what_words_do_not_show_needs_a_model() {
    let answer = "The parcel is held up by a strike. Sorry! Wait. Enjoy the day. Take tram 28 to the castle.";
    for open in [
        // Some of the words, and words that other words can say.
        "Says that the parcel is late", "Mentions the strike and not the castle", "Handles empty lists",
        "Explains why the parcel is late", "Promises to end the delay", "Recommends a refund", "Is polite",
        "Uses simple language", "Blames the carrier",
        // Absence of content that can be put in other words.
        "Avoids jargon", "Does not blame the customer", "Never promises a date",
        // Counts, and words that sentences far apart have.
        "Mentions 3 castles", "Gives two reasons", "Says that the strike is at the castle",
    ] {
        let decision = judged(checklist("a", open), answer);
        assert_eq!(decision.outcome(), Outcome::Ungraded, "{open}: {}", decision.reason);
        let ungraded = decision.ungraded.expect("a reason");
        assert!(ungraded.message.ends_with("it needs a model"), "{open}: {}", ungraded.message);
        assert!(decision.evidence.is_empty() && decision.confidence.is_none());
    }
    for (decided, is_met) in [
        ("Mentions a strike and a castle", true),
        ("Says that the parcel is held up by a strike", true),
        ("Mentions refunds", false),
        ("No prices", true),
        ("Does not mention the castle", false),
        ("Takes tram 28", true),
        ("Takes tram 29", false),
        ("The answer names the castle", true),
    ] {
        assert_eq!(met(decided, answer), is_met, "{decided}");
    }
}

#[test]
fn score_ranges_are_decided_by_all_words_or_none() {
    let score = |text: &str, answer: &str| judged(bands("a", text), answer).outcome();
    let gases = "Mentions oxygen, nitrogen and argon";
    assert_eq!(score(gases, "Argon, nitrogen. And oxygen."), Outcome::Scored(RawScore::MAX));
    assert_eq!(score(gases, "Nothing."), Outcome::Scored(RawScore::MIN));
    assert_eq!(score(gases, "Oxygen."), Outcome::Ungraded);
    assert_eq!(score("Quality of the prose", "The quality of this prose is high."), Outcome::Ungraded);
}

#[test]
fn file_changes_and_tool_calls_are_read_too() {
    let mut task = task(vec![checklist("a", "Adds a subtract function")]);
    task.material = Arc::new(JudgeMaterial {
        answer: "Done.".into(),
        file_changes: Some("+export function subtract(a, b) {\n+  return a - b;\n+}".into()),
        ..JudgeMaterial::default()
    });
    let judgement = run(&OfflineJudge, &task).remove(0);
    assert_eq!(judgement.outcome(), Outcome::Met);
    assert!(judgement.evidence[0].quote.contains("function subtract"));
}

#[test]
fn a_long_passage_is_quoted_in_part() {
    let answer = format!("{} the zebra sleeps {}", "word ".repeat(50), "word ".repeat(50));
    let judgement = judged(checklist("a", "Mentions a sleeping zebra"), &answer);
    let quote = &judgement.evidence[0].quote;
    assert!(
        quote.len() <= 320 && answer.contains(quote.as_str()) && quote.contains("zebra sleeps"),
        "{quote}"
    );
}
