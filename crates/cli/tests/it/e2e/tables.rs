//! Every command that reads tables reads all forms of a table with the same result, and refuses damaged tables with the
//! same message.

use assize_testkit::cli::{CliOutput, CliTest};
use serde_json::{Value, json};

use crate::e2e::bench::{cli, lines, rows};

/// A reader of tables: a table that it reads, with a text and a number that the forms replace.
struct Consumer {
    table: &'static [&'static [&'static str]],
    /// Files beside the table.
    files: &'static [(&'static str, &'static str)],
    args: &'static [&'static str],
    /// Whether the command has the option `--encoding`.
    names_encoding: bool,
    /// Returns the value that the command read.
    read: fn(&CliTest, &CliOutput) -> Value,
}

/// Stands for a text in a table.
const TEXT: &str = "TEXT";
/// Stands for the number 0.5, where a column holds numbers.
const NUMBER: &str = "NUMBER";
/// Stands for yes or no.
const YES: &str = "YES";
const NO: &str = "NO";

const RUBRIC: (&str, &str) =
    ("r.yaml", "name: r\ncriteria:\n- {id: a, outcome: 'Names \"apples\"', required: false}\n");

const ANSWERS: Consumer = Consumer {
    table: &[&["id", "question", "answer"], &["one", "Which?", TEXT], &["two", "Why, now?", "apples"]],
    files: &[RUBRIC],
    args: &["grade", "r.yaml", "--answers", "t.csv", "--judge", "offline", "--run-dir", "run", "-q"],
    names_encoding: true,
    read: outputs,
};

const TESTS: Consumer = Consumer {
    table: &[
        &["id", "q", "__threshold", "__expected", "__expected2"],
        &["1", TEXT, NUMBER, "contains: apples", "contains: never"],
        &["2", "Why, now?", "", "contains: y", ""],
    ],
    files: &[("c.yaml", "prompts: ['{{id}} {{q}}']\nproviders: [echo]\ntests: file://t.csv\n")],
    args: &["eval", "c.yaml", "--run-dir", "run", "-q"],
    names_encoding: false,
    read: outputs,
};

const PROMPTS: Consumer = Consumer {
    table: &[&["prompt", "label", "note"], &[TEXT, "one", "-"], &["Why, now?", "two", "-"]],
    files: &[("c.yaml", "prompts: [file://t.csv]\nproviders: [echo]\ntests: [{vars: {a: b}}]\n")],
    args: &["eval", "c.yaml", "--run-dir", "run", "-q"],
    names_encoding: false,
    read: outputs,
};

const LABELS: Consumer = Consumer {
    table: &[
        &["case", "who", "label", "drawn", "note"],
        &["a", "1", YES, NUMBER, TEXT],
        &["a", "2.0", NO, "1", "Why, now?"],
        &["b", "1.0", NO, "1", "-"],
        &["b", "2", NO, "1", "-"],
    ],
    files: &[],
    args: &["calibrate", "agreement", "t.csv", "--json"],
    names_encoding: true,
    read: printed,
};

const DECISIONS: Consumer = Consumer {
    table: &[
        &["case", "criterion", "label", "note"],
        &["one", "a", YES, TEXT],
        &["two", "a", NO, "Why, now?"],
    ],
    files: &[
        RUBRIC,
        ("a.jsonl", "{\"id\": \"one\", \"answer\": \"x\"}\n{\"id\": \"two\", \"answer\": \"y\"}\n"),
    ],
    args: &["review", "base", "--labels", "labels", "--who", "ann", "--decisions", "t.csv"],
    names_encoding: true,
    read: labels,
};

const CRITERIA: Consumer = Consumer {
    table: &[
        &["id", "criterion", "weight", "required"],
        &["a", TEXT, NUMBER, YES],
        &["b", "Why, now?", "-2", NO],
    ],
    files: &[],
    args: &["convert", "t.csv", "--to", "tests"],
    names_encoding: true,
    read: printed,
};

fn outputs(cli: &CliTest, _: &CliOutput) -> Value {
    rows(cli, "run").iter().map(|row| json!([row["output"], row["input"], row["verdict"]])).collect()
}

fn printed(_: &CliTest, output: &CliOutput) -> Value {
    output.stdout.as_str().into()
}

fn labels(cli: &CliTest, _: &CliOutput) -> Value {
    let rows = lines(&cli.read("labels/review-ann.jsonl")).into_iter();
    rows.map(|row| json!([row["case"], row["label"], row["note"]])).collect()
}

/// The values in a table.
#[derive(Clone, Copy)]
struct Values {
    text: &'static str,
    number: &'static str,
    yes: &'static str,
    no: &'static str,
}

const PLAIN: Values = Values { text: "apples and pears", number: "0.5", yes: "true", no: "false" };

impl Consumer {
    /// Returns the lines of the table.
    fn lines(&self, values: Values, divider: char) -> Vec<String> {
        let cell = |cell: &&str| {
            let text = match *cell {
                TEXT => values.text,
                NUMBER => values.number,
                YES => values.yes,
                NO => values.no,
                other => other,
            };
            let is_plain = !text.contains([divider, ',', '"', '\n']);
            if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
        };
        self.table
            .iter()
            .map(|row| row.iter().map(cell).collect::<Vec<_>>().join(&divider.to_string()))
            .collect()
    }

    /// Runs the command on a table.
    fn run(&self, bytes: &[u8], more: &[&str]) -> (CliTest, CliOutput) {
        let cli = cli();
        for (name, text) in self.files {
            cli.file(name, text);
        }
        if self.args[0] == "review" {
            let judged =
                ["grade", "r.yaml", "--answers", "a.jsonl", "--judge", "offline", "--run-dir", "base"];
            cli.run(&judged);
        }
        cli.file("t.csv", bytes);
        let output = cli.run(&[self.args, more].concat());
        (cli, output)
    }

    /// Returns the value that the command reads from the table.
    #[track_caller]
    fn value(&self, bytes: &[u8], more: &[&str], form: &str) -> Value {
        let (cli, output) = self.run(bytes, more);
        assert!(matches!(output.code, Some(0 | 1)), "{form}: {}{}", output.stdout, output.stderr);
        (self.read)(&cli, &output)
    }

    /// Checks that a table is refused, with these words.
    #[track_caller]
    fn refuse(&self, bytes: &[u8], words: &[&str], form: &str) {
        let (_, output) = self.run(bytes, &[]);
        let said = format!("{}{}", output.stdout, output.stderr);
        assert_eq!(output.code, Some(2), "{form}: {said}");
        for word in words {
            assert!(said.contains(word), "{form}: {word} is not in {said}");
        }
    }

    /// Walks through all forms.
    fn walk(&self) {
        self.walk_forms();
        self.walk_damage();
        self.walk_encodings();
        self.walk_values();
    }

    fn walk_forms(&self) {
        let text = |divider: char, end: &str| self.lines(PLAIN, divider).join(end) + end;
        let plain = self.value(text(',', "\n").as_bytes(), &[], "plain");
        assert!(!plain.is_null() && plain != json!([]) && plain != "", "{plain}");

        let blank = text(',', "\n").replace('\n', "\n\n,,,\n  \n");
        let utf16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text(',', "\r\n").encode_utf16().flat_map(order).collect()
        };
        let forms: Vec<(&str, Vec<u8>)> = vec![
            ("semicolons", text(';', "\n").into()),
            ("tabs", text('\t', "\n").into()),
            ("CR", text(',', "\r").into()),
            ("CR LF", text(',', "\r\n").into()),
            ("sep=", format!("sep=;\r\n{}", text(';', "\r\n")).into()),
            ("sep=|", format!("\u{feff}sep=|\n{}", text('|', "\n")).into()),
            ("mark", format!("\u{feff}{}", text(',', "\n")).into()),
            ("blank rows", blank.into()),
            ("UTF-16LE", utf16(u16::to_le_bytes)),
            ("UTF-16BE", utf16(u16::to_be_bytes)),
            ("UTF-16LE with a mark", [vec![0xff, 0xfe], utf16(u16::to_le_bytes)].concat()),
        ];
        for (form, bytes) in forms {
            assert_eq!(self.value(&bytes, &[], form), plain, "{form}");
        }
    }

    fn walk_damage(&self) {
        let lines = self.lines(PLAIN, ',');
        let width = self.table[0].len();
        let with_last = |last: String| {
            let mut lines = lines.clone();
            *lines.last_mut().expect("a row") = last;
            lines.join("\n") + "\n"
        };
        let last = vec!["x"; width].join(",");
        let columns = format!("under {width} columns");
        let not_closed = ["a quotation mark is not closed", "double each quotation mark"];
        let not_as_wide = ["does not match the header", &columns, "quotation marks"];
        for (form, table, words) in [
            ("open quote", with_last(format!("\"{last}")), &not_closed[..]),
            ("short row", with_last("x,y".to_owned()), &not_as_wide[..]),
            ("long row", with_last(format!("{last},z")), &not_as_wide[..]),
            (
                "text after a quote",
                with_last(format!("\"x\"y{last}")),
                &["text follows the closing quotation"],
            ),
        ] {
            self.refuse(table.as_bytes(), words, form);
        }

        // One pass reports all problems.
        let both = with_last(format!("x,y\n{last},z\n\"x\"y"));
        self.refuse(
            both.as_bytes(),
            &["2 cells under", &format!("{} cells under", width + 1), "text follows"],
            "all",
        );
    }

    fn walk_encodings(&self) {
        for (name, probably, text, bytes) in [
            (
                "gbk",
                "GBK",
                "请在三十天内申请退款，我们会发电子邮件给您。",
                &b"\xc7\xeb\xd4\xda\xc8\xfd\xca\xae\xcc\xec\xc4\xda\xc9\xea\xc7\xeb\xcd\xcb\xbf\xee\xa3\xac\xce\xd2\xc3\xc7\xbb\xe1\xb7\xa2\xb5\xe7\xd7\xd3\xd3\xca\xbc\xfe\xb8\xf8\xc4\xfa\xa1\xa3"[..],
            ),
            (
                "shift-jis",
                "Shift_JIS",
                "返金は三十日以内に申請してください。電子メールで連絡します。",
                b"\x95\xd4\x8b\xe0\x82\xcd\x8eO\x8f\x5c\x93\xfa\x88\xc8\x93\xe0\x82\xc9\x90\x5c\x90\xbf\x82\xb5\x82\xc4\x82\xad\x82\xbe\x82\xb3\x82\xa2\x81B\x93d\x8eq\x83\x81\x81[\x83\x8b\x82\xc5\x98A\x97\x8d\x82\xb5\x82\xdc\x82\xb7\x81B",
            ),
            (
                "cp1252",
                "windows-1252",
                "Für die Rückgabe genügt ein kurzer Brief",
                b"F\xfcr die R\xfcckgabe gen\xfcgt ein kurzer Brief",
            ),
        ] {
            let (before, after) = {
                let table = self.lines(Values { text: "@@@", ..PLAIN }, ',').join("\n") + "\n";
                let (before, after) = table.split_once("@@@").expect("the text");
                (before.to_owned(), after.to_owned())
            };
            let encoded = [before.as_bytes(), bytes, after.as_bytes()].concat();
            let advice = if self.names_encoding {
                format!("`--encoding {probably}`")
            } else {
                format!("save the file as UTF-8 (it is probably {probably} now)")
            };
            self.refuse(&encoded, &["the file is not UTF-8 text", probably, &advice], name);

            if self.names_encoding {
                let plain = self.value(format!("{before}{text}{after}").as_bytes(), &[], name);
                assert_eq!(self.value(&encoded, &["--encoding", name], name), plain, "{name}");
            }
        }
    }

    fn walk_values(&self) {
        let has = |mark: &str| self.table.iter().any(|row| row.contains(&mark));
        let table = |values: Values| self.lines(values, ',').join("\n") + "\n";
        let plain = self.value(table(PLAIN).as_bytes(), &[], "plain");
        if has(NUMBER) {
            for number in ["0,5", "50 %", "０．５", "0.50"] {
                assert_eq!(
                    self.value(table(Values { number, ..PLAIN }).as_bytes(), &[], number),
                    plain,
                    "{number}"
                );
            }
            let words = ["ambiguous: its comma"];
            self.refuse(table(Values { number: "1,500", ..PLAIN }).as_bytes(), &words, "1,500");
            self.refuse(table(Values { number: "much", ..PLAIN }).as_bytes(), &["much"], "much");
        }
        if has(YES) {
            for (yes, no) in [("WAHR", "FALSCH"), ("是", "否"), ("oui", "non"), ("Ja", "Nein")] {
                assert_eq!(
                    self.value(table(Values { yes, no, ..PLAIN }).as_bytes(), &[], yes),
                    plain,
                    "{yes}"
                );
            }
            self.refuse(table(Values { yes: "perhaps", ..PLAIN }).as_bytes(), &["perhaps"], "perhaps");
        }
    }
}

#[test]
fn answers_are_read_by_the_rules_of_tables() {
    ANSWERS.walk();
}

#[test]
fn tests_are_read_by_the_rules_of_tables() {
    TESTS.walk();
}

#[test]
fn prompts_are_read_by_the_rules_of_tables() {
    PROMPTS.walk();
}

#[test]
fn labels_are_read_by_the_rules_of_tables() {
    LABELS.walk();

    // Numbers of people are the same with decimals.
    let table = LABELS.lines(PLAIN, ',').join("\n") + "\n";
    let whole = table.replace("1.0", "1").replace("2.0", "2");
    assert_ne!(table, whole);
    assert_eq!(LABELS.value(table.as_bytes(), &[], "1.0"), LABELS.value(whole.as_bytes(), &[], "1"));
}

#[test]
fn decisions_are_read_by_the_rules_of_tables() {
    DECISIONS.walk();
}

#[test]
fn criteria_are_read_by_the_rules_of_tables() {
    CRITERIA.walk();
}

#[test]
fn lists_and_thresholds_of_tests_mean_what_they_say() {
    let cli = cli();
    cli.file("c.yaml", TESTS.files[0].1);
    for (table, words) in [
        (
            "q,__expected1,__config:__expected2:threshold\nfoo,levenshtein: fop,0\n",
            "expectation 2, which is not there",
        ),
        ("q,__threshold,__expected\nfoo,high,contains: o\n", "`high` is no threshold"),
        ("q,__expected\nfoo,similar(much): o\n", "`much` is no threshold"),
        ("q,__expected\nfoo,\"contains-any: a,\"\"b\"\n", "a quotation mark in a list is not closed"),
    ] {
        cli.file("t.csv", table);
        let output = cli.run(&["validate", "c.yaml"]).expect_code(2);
        assert!(output.stdout.contains(words), "{table}: {}{}", output.stdout, output.stderr);
    }
    cli.file(
        "t.csv",
        "id,q,__expected\n1,\"we sell cats, dogs\",\"not-contains-any:\"\"cats, dogs\"\",birds\"\n",
    );
    let output = cli.run(&["eval", "c.yaml"]).expect_code(1);
    assert!(output.stdout.contains("found `cats, dogs`"), "{}{}", output.stdout, output.stderr);
}
