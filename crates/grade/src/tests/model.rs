//! The model judge against a scripted model: every way in which a judge can go wrong, and the result.

use std::sync::Arc;

use crate::tests::common::*;
use crate::{JudgeOptions, ModelJudge};
use assize_llm::{AskError, ErrorKind, FinishReason};
use assize_rubric::{
    CriterionOperator, EvidencePolicy, Gate, JudgeConfidence, JudgingMode, Outcome, RawScore, UngradedKind,
    Weight,
};
use tokio::sync::Semaphore;

const MET: &str = r#"{"evidence":["brown fox"],"reason":"It is there.","outcome":"met"}"#;
const UNMET: &str = r#"{"evidence":[],"reason":"It is not there.","outcome":"unmet"}"#;

fn scored(n: u8) -> Outcome {
    Outcome::Scored(RawScore::new(n).unwrap())
}

#[test]
fn one_call_per_criterion_in_the_rubrics_order() {
    let model = Scripted::by_text(|text| {
        Ok(reply(if text.contains("does B") {
            UNMET
        } else if text.contains("ranges") {
            r#"{"evidence":["quick"],"reason":"r","score":7}"#
        } else {
            MET
        }))
    });
    let (judge, task) = (
        judge(&model),
        task(vec![checklist("a", "does A"), checklist("b", "does B"), bands("c", "how well")]),
    );
    let judgements = run(&judge, &task);
    assert_eq!(outcomes(&judgements), [Outcome::Met, Outcome::Unmet, scored(7)]);
    assert_eq!(
        judgements.iter().map(|j| j.criterion().unwrap().id.as_str()).collect::<Vec<_>>(),
        ["a", "b", "c"]
    );
    for judgement in &judgements {
        assert_eq!(
            (judgement.spent.attempts, judgement.spent.replies.len(), judgement.spent.latency_ms),
            (1, 1, Some(20))
        );
        assert_eq!(judgement.spent.tokens.input, Some(10));
        assert_eq!(judgement.judge.model.as_deref(), Some("scripted-2"));
        assert_eq!(&*judgement.judge.name, "openai:scripted");
        assert!(judgement.judge.prompt_hash.as_ref().is_some_and(|hash| hash.len() == 16));
        assert_eq!(judgement.ungraded, None);
        assert_ne!(judgement.confidence, Some(JudgeConfidence::High));
    }
    assert!(judgements[0].evidence[0].verified);
    assert_eq!(judgements[0].reason, "It is there.");
}

#[test]
fn an_unusable_reply_is_repaired_and_shown_as_data() {
    let model =
        Scripted::list(vec![Ok(reply(r#"{"evidence":[],"reason":"r","outcome":"yes"}"#)), Ok(reply(MET))]);
    let judgements = run(&judge(&model), &task(vec![checklist("a", "does A")]));
    assert_eq!(outcomes(&judgements), [Outcome::Met]);
    assert_eq!((judgements[0].spent.attempts, judgements[0].spent.replies.len()), (2, 2));
    assert_eq!(judgements[0].spent.tokens.output, Some(10));
    let requests = model.requests();
    let repair = texts(&requests[1]);
    assert_eq!(texts(&requests[0]), repair[..3], "a repair only adds to the question");
    assert!(repair[3].contains(r#""outcome" must be "met" or "unmet", not "yes""#));
    assert!(repair[3].contains("[[BEGIN previous reply "));
    let fence = |text: &str| {
        text.split("[[BEGIN ")
            .nth(1)
            .unwrap()
            .split("]]")
            .next()
            .unwrap()
            .rsplit(' ')
            .next()
            .unwrap()
            .to_owned()
    };
    assert_ne!(fence(&repair[1]), fence(&repair[3]), "the reply's writer knows the fence of the material");
}

#[test]
fn nonsense_for_ever_ends_ungraded_after_the_repairs() {
    for nonsense in [
        "",
        "   ",
        "I think it is met.",
        "{",
        "null",
        r#"{"pass":true,"score":1}"#,
        r#"{"outcome":"met"} {"outcome":"unmet"}"#,
    ] {
        let model = Scripted::always(Ok(reply(nonsense)));
        let judgements = run(&judge(&model), &task(vec![checklist("a", "does A")]));
        assert_eq!(outcomes(&judgements), [Outcome::Ungraded], "{nonsense}");
        assert_eq!(judgements[0].ungraded.as_ref().unwrap().kind, UngradedKind::Malformed);
        assert_eq!((judgements[0].spent.attempts, model.requests().len()), (3, 3));
        assert!(!judgements[0].reason.is_empty());
    }
}

#[test]
fn failures_keep_their_kind() {
    let mut refused = reply("");
    refused.refusal = Some("I can't help with that.".into());
    let mut filtered = reply(MET);
    filtered.finish = FinishReason::ContentFilter;
    let mut cut = reply(MET);
    cut.finish = FinishReason::Length;
    let mut slow = AskError::new(ErrorKind::Timeout, "no answer in 60 s");
    slow.attempts = 4;
    let table = [
        (Ok(refused), UngradedKind::Refusal, 1, "I can't help"),
        (Ok(filtered), UngradedKind::Refusal, 1, "content filter"),
        (Ok(cut), UngradedKind::Truncated, 2, "cut off"),
        (Err(slow), UngradedKind::Transport, 1, "no answer in 60 s"),
        (Err(AskError::new(ErrorKind::ContentRefused, "flagged")), UngradedKind::Refusal, 1, "flagged"),
        (Err(AskError::new(ErrorKind::ContextLength, "8192 tokens")), UngradedKind::ContextLength, 1, "8192"),
        (Err(AskError::cancelled()), UngradedKind::Cancelled, 1, "stopped"),
    ];
    for (answer, kind, calls, words) in table {
        let model = Scripted::always(answer);
        let judgements = run(&judge(&model), &task(vec![checklist("a", "does A")]));
        let ungraded = judgements[0].ungraded.clone().unwrap();
        assert_eq!((judgements[0].outcome(), ungraded.kind), (Outcome::Ungraded, kind));
        assert!(ungraded.message.contains(words), "{}", ungraded.message);
        assert_eq!(judgements[0].reason, ungraded.message);
        assert_eq!(model.requests().len(), calls);
        if kind == UngradedKind::Transport && words.contains("60 s") {
            assert_eq!(judgements[0].spent.attempts, 4);
        }
    }
}

#[test]
fn a_failed_call_spoils_only_its_own_criterion() {
    let model = Scripted::by_text(|text| {
        if text.contains("does B") { Err(AskError::new(ErrorKind::Server, "500")) } else { Ok(reply(MET)) }
    });
    let judgements = run(
        &judge(&model),
        &task(vec![checklist("a", "does A"), checklist("b", "does B"), checklist("c", "does C")]),
    );
    assert_eq!(outcomes(&judgements), [Outcome::Met, Outcome::Ungraded, Outcome::Met]);
}

#[test]
fn transport_failure_during_repair_tells_both_stories() {
    let model = Scripted::list(vec![Ok(reply("hm")), Err(AskError::new(ErrorKind::Connection, "reset"))]);
    let judgements = run(&judge(&model), &task(vec![checklist("a", "does A")]));
    let ungraded = judgements[0].ungraded.clone().unwrap();
    assert_eq!(ungraded.kind, UngradedKind::Transport);
    assert!(
        ungraded.message.contains("reset") && ungraded.message.contains("no JSON object"),
        "{}",
        ungraded.message
    );
}

fn entry(id: &str, rest: &str) -> String {
    format!(r#"{{"id":"{id}","evidence":[],"reason":"r",{rest}}}"#)
}

fn results(entries: &[String]) -> String {
    format!(r#"{{"results":[{}]}}"#, entries.join(","))
}

#[test]
fn a_batched_reply_keeps_what_is_valid_and_asks_again_for_the_rest() {
    // c1 valid, c2 out of range, c3 twice, c4 missing, c5 of the wrong kind, and an unknown one.
    let first = results(&[
        entry("c1", r#""outcome":"met""#),
        entry("c2", r#""score":11"#),
        entry("c3", r#""outcome":"met""#),
        entry("c3", r#""outcome":"met""#),
        entry("c5", r#""score":3"#),
        entry("c9", r#""outcome":"met""#),
    ]);
    let second = results(&[
        entry("c1", r#""outcome":"unmet""#),
        entry("c2", r#""score":6"#),
        entry("c3", r#""outcome":"unmet""#),
        entry("c4", r#""outcome":"unmet""#),
    ]);
    let third = results(&[entry("c5", r#""outcome":"met""#)]);
    let model = Scripted::list(vec![Ok(reply(&first)), Ok(reply(&second)), Ok(reply(&third))]);
    let mut task = task(vec![
        checklist("a", "does A"),
        bands("b", "how well"),
        checklist("c", "does C"),
        checklist("d", "does D"),
        checklist("e", "does E"),
    ]);
    task.judging = JudgingMode::Batched(None);
    let judgements = run(&judge(&model), &task);
    assert_eq!(
        outcomes(&judgements),
        [Outcome::Met, scored(6), Outcome::Unmet, Outcome::Unmet, Outcome::Met]
    );
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    let second = texts(&requests[1]);
    assert!(!second[2].contains("does A") && second[2].contains("does D"));
    assert!(second[3].contains("c2-") && second[3].contains("occurs more than once"));
    assert!(second[3].contains("was not asked about"));
    assert!(texts(&requests[2])[2].contains("does E") && !texts(&requests[2])[2].contains("does D"));
    // The calls are counted on the first criterion of each call.
    let attempts: Vec<u32> = judgements.iter().map(|j| j.spent.attempts).collect();
    assert_eq!(attempts, [1, 1, 0, 0, 1]);
}

#[test]
fn batches_have_the_size_asked_for_and_only_the_missing_end_ungraded() {
    let model = Scripted::by_text(|text| {
        let mut entries = Vec::new();
        for id in ["c1", "c2"] {
            if text.contains(&format!("\n{id}-")) && !text.contains("does 3") {
                entries.push(entry(id, r#""outcome":"met""#));
            }
        }
        Ok(reply(&results(&entries)))
    });
    let mut task = task((0..5).map(|n| checklist(&format!("k{n}"), &format!("does {n}"))).collect());
    task.judging = JudgingMode::Batched(std::num::NonZeroUsize::new(2));
    let judgements = run(&judge(&model), &task);
    assert_eq!(
        outcomes(&judgements),
        [Outcome::Met, Outcome::Met, Outcome::Ungraded, Outcome::Ungraded, Outcome::Met]
    );
    assert!(judgements[3].reason.contains("there is no entry for it"));
    assert_eq!(model.requests().len(), 2 + 3);
}

#[test]
fn a_batch_that_is_refused_or_cut_off_is_split() {
    for cut in [true, false] {
        let model = Scripted::by_text(move |text| {
            let many = text.matches(": does the answer meet this?").count() > 1;
            let ids: Vec<&str> = ["c1", "c2", "c3", "c4"]
                .into_iter()
                .filter(|id| text.contains(&format!("\n{id}-")))
                .collect();
            let mut reply =
                reply(&results(&ids.iter().map(|id| entry(id, r#""outcome":"met""#)).collect::<Vec<_>>()));
            if many && cut {
                reply.finish = FinishReason::Length;
            } else if many {
                reply.refusal = Some("no".into());
            }
            Ok(reply)
        });
        let mut task = task((0..4).map(|n| checklist(&format!("k{n}"), &format!("does {n}"))).collect());
        task.judging = JudgingMode::Batched(None);
        let judgements = run(&judge(&model), &task);
        assert_eq!(outcomes(&judgements), [Outcome::Met; 4]);
        assert_eq!(model.requests().len(), 1 + 2 + 4);
    }
}

#[test]
fn required_evidence_must_be_there_and_true() {
    let invented = r#"{"evidence":["a purple fox"],"reason":"r","outcome":"met"}"#;
    let none = r#"{"evidence":[],"reason":"r","outcome":"met"}"#;
    for bad in [invented, none] {
        let model = Scripted::list(vec![Ok(reply(bad)), Ok(reply(MET))]);
        let mut task = task(vec![checklist("a", "does A")]);
        task.evidence = EvidencePolicy::Required;
        let judgements = run(&judge(&model), &task);
        assert_eq!((judgements[0].outcome(), judgements[0].spent.attempts), (Outcome::Met, 2));
        assert!(
            !texts(&model.requests()[1])[3]
                .split("[[BEGIN previous reply")
                .next()
                .unwrap()
                .contains("purple")
        );

        let model = Scripted::always(Ok(reply(bad)));
        let judgements = run(&judge(&model), &task);
        assert_eq!(judgements[0].ungraded.as_ref().unwrap().kind, UngradedKind::Evidence);
        // Without the policy the decision counts and is marked.
        task.evidence = EvidencePolicy::Checked;
        let judgements = run(&judge(&model), &task);
        assert_eq!(judgements[0].outcome(), Outcome::Met);
        assert!(judgements[0].evidence.iter().all(|evidence| !evidence.verified));
    }
    // An absence can't be quoted.
    let model = Scripted::always(Ok(reply(UNMET)));
    let mut task = task(vec![checklist("a", "does A")]);
    task.evidence = EvidencePolicy::Required;
    assert_eq!(run(&judge(&model), &task)[0].outcome(), Outcome::Unmet);
    // A contradiction is present in the answer, so it can be quoted.
    let mut fact = checklist("a", "The sky is blue");
    fact.operator = CriterionOperator::Contradiction;
    task.rubric = rubric(vec![fact]);
    assert_eq!(run(&judge(&model), &task)[0].outcome(), Outcome::Ungraded);
}

#[test]
fn the_shared_part_is_the_same_for_all_criteria_and_repeats_and_follows_the_answer() {
    let model = Scripted::always(Ok(reply("broken")));
    let mut first = task(vec![checklist("a", "does A"), bands("b", "how well"), checklist("c", "does C")]);
    run(&judge(&model), &first);
    first.trial = 1;
    first.judging = JudgingMode::Batched(None);
    run(&judge(&model), &first);
    let requests = model.requests();
    assert_eq!(requests.len(), 12);
    let shared: Vec<_> = requests.iter().map(|request| texts(request)[..2].to_vec()).collect();
    assert!(shared.windows(2).all(|pair| pair[0] == pair[1]));
    let fence = |text: &str| text.split("[[BEGIN question ").nth(1).unwrap()[..20].to_owned();
    let own = fence(&shared[0][1]);
    let mut other = task(vec![checklist("a", "does A")]);
    other.material = material("another answer");
    run(&judge(&model), &other);
    assert_ne!(own, fence(&texts(model.requests().last().unwrap())[1]));
}

#[test]
fn nothing_that_hangs_on_a_criterion_reaches_the_judge() {
    let model = Scripted::always(Ok(reply("broken")));
    let mut a = checklist("critical-id-987", "does A");
    a.weight = Weight::new(31.25).unwrap();
    a.gate = Some(Gate::Met);
    let mut b = bands("another-id-654", "how well");
    b.weight = Weight::new(-77.5).unwrap();
    b.gate = Some(Gate::MinRaw(RawScore::new(7).unwrap()));
    let mut task = task(vec![a, b]);
    task.case_id = "case-id-321".into();
    for judging in [JudgingMode::PerCriterion, JudgingMode::Batched(None)] {
        task.judging = judging;
        run(&judge(&model), &task);
    }
    for request in model.requests() {
        let mut request = request;
        // Schemas have the JSON keyword "required", which is not about the criterion.
        let schema = request.schema.take().unwrap().schema.to_string();
        let all = serde_json::to_string(&request).unwrap();
        for word in [
            "31.25", "77.5", "weight", "gate", "critical", "-id-", "required:", "REQUIRED", "minimum",
            "at least 7",
        ] {
            assert!(!all.contains(word), "{word} in {all}");
            assert!(!schema.contains(word), "{word} in {schema}");
        }
    }
}

#[test]
fn options_reach_the_request() {
    let model = Scripted::always(Ok(reply(MET)));
    let options = JudgeOptions { temperature: Some(0.5), seed: Some(9), ..JudgeOptions::default() };
    let judge = ModelJudge::new(model.clone(), "x", fences(), Arc::new(Semaphore::new(1)), options);
    let mut task = task(vec![checklist("a", "does A"), checklist("b", "does B")]);
    run(&judge, &task);
    task.judging = JudgingMode::Batched(None);
    run(&judge, &task);
    let requests = model.requests();
    assert_eq!((requests[0].temperature, requests[0].seed), (Some(0.5), Some(9)));
    // Only an expected length, no limit: a limit would be part of the call's identity.
    let limits = |at: usize| (requests[at].max_output_tokens, requests[at].expected_output);
    assert_eq!((limits(0), limits(2)), ((None, Some(500)), (None, Some(800))));
}

#[test]
fn calls_in_flight_stay_under_the_limit_and_a_closed_limit_cancels() {
    let model = Scripted::always(Ok(reply(MET)));
    let limit = Arc::new(Semaphore::new(3));
    let judge = ModelJudge::new(model.clone(), "x", fences(), limit.clone(), JudgeOptions::default());
    let task = task((0..40).map(|n| checklist(&format!("k{n}"), "does it")).collect());
    assert!(run(&judge, &task).iter().all(|j| j.outcome() == Outcome::Met));
    assert_eq!(model.most_in_flight(), 3);
    limit.close();
    let judgements = run(&judge, &task);
    assert!(
        judgements
            .iter()
            .all(|j| j.ungraded.as_ref().unwrap().kind == UngradedKind::Cancelled && j.spent.attempts == 0)
    );
    assert_eq!(model.requests().len(), 40);
}

#[test]
fn not_applicable_only_where_the_author_allows_it() {
    let na = r#"{"evidence":[],"reason":"no code here","outcome":"not_applicable"}"#;
    let model = Scripted::always(Ok(reply(na)));
    let mut allowed = checklist("a", "If there is code, it has comments");
    allowed.may_not_apply = true;
    let judgements = run(&judge(&model), &task(vec![allowed, checklist("b", "does B")]));
    assert_eq!(outcomes(&judgements), [Outcome::NotApplicable, Outcome::Ungraded]);
}
