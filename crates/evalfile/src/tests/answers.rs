//! Answers to grade, as files of other tools have them.

use crate::{AnswerColumns, LoadOptions, LoadedSuite, load_answers, load_rubric};
use assize_model::{Case, GivenOutput};

/// The answers of a file of this name and content, read with these columns.
fn read(name: &str, content: &str, columns: &str) -> LoadedSuite {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    std::fs::write(place("rubric.yaml"), "- Names it\n").expect("written");
    std::fs::write(place(name), content).expect("written");

    let options = LoadOptions::new(folder.path());
    let columns = match columns {
        "" => AnswerColumns::default(),
        columns => AnswerColumns::parse(columns).expect("columns"),
    };
    let rubric = load_rubric(&place("rubric.yaml"), &options);
    let loaded = load_answers(&place(name), &columns, &rubric, &options);
    // Cases of a dataset are read again, so the folder has to be there.
    let ids: Vec<_> = cases(&loaded).iter().map(|case| case.id.clone()).collect();
    assert_eq!(ids.len(), loaded.cases.len());
    std::mem::forget(folder);

    loaded
}

fn cases(loaded: &LoadedSuite) -> Vec<Case> {
    loaded.cases.iter().map(|case| Case::clone(&case.expect("readable"))).collect()
}

/// Code and line of each diagnostic.
fn problems(loaded: &LoadedSuite) -> Vec<(&'static str, usize)> {
    let place = |span| loaded.sources.position(span).line;
    loaded.diagnostics.iter().map(|one| (one.code.as_str(), place(one.primary.span))).collect()
}

fn answer(case: &Case) -> &str {
    match &case.output {
        Some(GivenOutput::Text(text)) => text,
        other => panic!("no text: {other:?}"),
    }
}

#[test]
fn tables_are_read_by_the_usual_names_of_their_columns() {
    for (name, content) in [
        ("a.csv", "prompt,Response\r\n\"What, and\nwhere?\",\"Here \"\"now\"\"\"\r\nQ2,A2\r\n,\r\n"),
        ("a.csv", "\u{feff}Query;Model Output\n\"What, and\nwhere?\";\"Here \"\"now\"\"\"\nQ2;A2\n;;\n"),
        ("a.tsv", "question\tcompletion\n\"What, and\nwhere?\"\t\"Here \"\"now\"\"\"\nQ2\tA2\n"),
        ("answers", "input,prediction\n\"What, and\nwhere?\",\"Here \"\"now\"\"\"\nQ2,A2\n"),
    ] {
        let loaded = read(name, content, "");
        assert_eq!(problems(&loaded), [], "{content}");
        let cases = cases(&loaded);
        let found: Vec<(String, &str)> = cases.iter().map(|case| (case.question(), answer(case))).collect();
        assert_eq!(found, [("What, and\nwhere?".to_owned(), "Here \"now\""), ("Q2".to_owned(), "A2")]);
        assert_eq!(cases.iter().map(|case| case.place.line).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(cases[1].id.as_str(), "row-2");
    }
}

#[test]
fn lines_are_read_by_the_same_names() {
    for (question, reply) in
        [("prompt", "response"), ("query", "completion"), ("input", "output"), ("question", "prediction")]
    {
        let loaded = read("a.jsonl", &format!("{{\"{question}\": \"Q\", \"{reply}\": \"A\"}}\n"), "");
        assert_eq!(problems(&loaded), []);
        let cases = cases(&loaded);
        assert_eq!((cases[0].question(), answer(&cases[0])), ("Q".to_owned(), "A"));
    }
}

#[test]
fn nothing_the_judge_may_need_is_dropped() {
    // A misspelt question, two questions, no answer: an error each.
    assert_eq!(problems(&read("a.jsonl", "{\"qestion\": \"Q\", \"answer\": \"A\"}\n", "")), [("E0103", 1)]);
    let both = "{\"prompt\": \"Q\", \"input\": \"Q\", \"answer\": \"A\"}\n";
    assert_eq!(problems(&read("a.jsonl", both, "")), [("E0104", 1)]);
    assert_eq!(problems(&read("a.jsonl", both, "metadata=input")), []);
    assert_eq!(problems(&read("a.jsonl", "{\"prompt\": \"Q\"}\n", "")), [("E0420", 1)]);
    assert_eq!(problems(&read("a.csv", "prompt,input,answer\nQ,Q,A\n", "")), [("E0104", 1)]);
    assert_eq!(problems(&read("a.csv", "prompt,text\nQ,A\n", "")), [("E0420", 1)]);

    // An unknown column does not hide problems in the rows.
    let rows = "id,answer,model\na,A,m\na,B,m\nb\n";
    assert_eq!(problems(&read("a.csv", rows, "")), [("E0103", 1), ("E0406", 3), ("E0422", 4)]);

    // One message for all columns, with a line to copy.
    let loaded = read("a.csv", "ticket_id,topic,customer message,bot_reply\n1,t,Q,A\n", "");
    let message = format!("{:?}", loaded.diagnostics);
    assert_eq!(problems(&loaded), [("E0420", 1)]);
    assert!(
        message.contains("--columns 'answer=bot_reply,question=customer message,id=ticket_id,metadata=*'"),
        "{message}"
    );
    let two = read("a.csv", "answer,model,ms\nA,m,1\n", "");
    assert_eq!(problems(&two), [("E0103", 1)]);
    assert!(format!("{:?}", two.diagnostics).contains("`model`, `ms`"));
    assert_eq!(
        problems(&read("a.csv", ",prompt,answer\n0,Q,A\n", "")),
        [("W0403", 1)],
        "a column without name"
    );
}

#[test]
fn columns_can_be_named() {
    let loaded = read("a.csv", "Frage,gpt-4,ms\nQ,A,3\n", "question=Frage,answer=gpt-4,metadata=*");
    assert_eq!(problems(&loaded), []);
    let cases = cases(&loaded);
    assert_eq!((cases[0].question(), answer(&cases[0])), ("Q".to_owned(), "A"));
    assert_eq!(cases[0].metadata["ms"], "3");
    assert_eq!(problems(&read("a.csv", "q,answer\nQ,A\n", "question=p,metadata=q")), [("E0421", 1)]);

    let lines = "{\"text\": \"A\", \"answer\": \"no\"}\n{\"answer\": \"A\"}\n";
    let loaded = read("a.jsonl", lines, "answer=text,metadata=*");
    assert_eq!(problems(&loaded), [("E0421", 2)], "a line without the column");
    assert_eq!(answer(&loaded.cases.iter().next().expect("a case").expect("readable")), "A");
}

#[test]
fn tables_that_are_none_are_refused_where_they_break() {
    assert_eq!(problems(&read("a.csv", "prompt,answer\nQ,A\nQ,A,B\nQ\n", "")), [("E0422", 3), ("E0422", 4)]);
    assert_eq!(problems(&read("a.csv", "prompt,answer\nQ,A\nQ,\"A\nQ,A\n", "")), [("E0422", 3)]);
    assert_eq!(problems(&read("a.csv", "", "")), [("E0403", 1)]);
    assert_eq!(
        problems(&read("a.json", "[{\"answer\": \"A\"},\n{\"answer\": \"B\"}]\n", "")),
        [("E0414", 1)]
    );
}

#[test]
fn a_model_may_answer_nothing() {
    let loaded = read("a.csv", "prompt,answer,reference\nQ,,\n", "");
    assert_eq!(problems(&loaded), []);
    let cases = cases(&loaded);
    assert_eq!((answer(&cases[0]), cases[0].reference()), ("", None));
}
