//! `schema`: it prints valid schemas, and the files of a run match them.

use serde_json::Value;

use crate::e2e::bench::{cli, info, judgements, object, one_case, rows};

fn validator(name: &str) -> jsonschema::Validator {
    let schema = object(&cli().run(&["schema", name]).expect_code(0));
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    jsonschema::draft202012::new(&schema).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[track_caller]
fn keeps(validator: &jsonschema::Validator, value: &Value) {
    let problems: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{error} at {}", error.instance_path())).collect();
    assert!(problems.is_empty(), "{problems:?}\n{value:#}");
}

#[test]
fn every_listed_schema_is_one_and_is_written_under_its_name() {
    let cli = cli();
    let list = object(&cli.run(&["schema", "--json"]).expect_code(0));
    let names: Vec<&str> =
        list["schemas"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.len() > 20, "{names:?}");
    cli.run(&["schema", "--out", "out/schemas"]).expect_code(0);
    let definitions: Value =
        serde_json::from_str(&cli.read("out/schemas/definitions.schema.json")).expect("JSON");
    let registry = jsonschema::Registry::new()
        .add("file:///schemas/definitions.schema.json", &definitions)
        .and_then(jsonschema::RegistryBuilder::prepare)
        .expect("definitions");
    for name in names {
        let text = cli.read(format!("out/schemas/{name}.schema.json"));
        let schema: Value = serde_json::from_str(&text).expect("JSON");
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        // A schema that accepts every document would be useless.
        let validator = jsonschema::draft202012::options()
            .with_base_uri(format!("file:///schemas/{name}.schema.json"))
            .with_registry(&registry)
            .build(&schema)
            .expect("a schema");
        assert!(!validator.is_valid(&Value::from(1)), "{name}");
    }
    let refused = cli.run(&["schema", "sute"]).expect_code(2);
    assert!(
        refused.stderr.contains("no schema `sute`") && refused.stderr.contains("suite"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_run_keeps_the_schemas_of_its_files() {
    let cli = cli();
    cli.file("s.eval.yaml", one_case("Bread at 8.", &["Says when there is bread", "Names a price"]));
    cli.run(&["eval", "s.eval.yaml", "--run-dir", "run"]).expect_code(1);
    keeps(&validator("run"), &info(&cli, "run"));
    let (result, judgement) = (validator("result"), validator("judgement"));
    let results = rows(&cli, "run");
    for row in &results {
        keeps(&result, row);
    }
    let decisions = judgements(&cli, "run");
    assert_eq!((results.len(), decisions.len()), (1, 2));
    for row in &decisions {
        keeps(&judgement, row);
    }
    let mut broken = results[0].clone();
    broken["verdict"] = Value::from("perfect");
    assert!(!result.is_valid(&broken));
    broken["verdict"] = Value::from("pass");
    broken.as_object_mut().expect("a map").remove("graders");
    assert!(!result.is_valid(&broken));
}
