//! JSON Schemas of all files that are read or stored.

use assize_schema::SchemaFile;

/// Titles of the files of a run, by the names of their schemas.
const STORED_TITLES: [(&str, &str); 6] = [
    ("run", "run.json of a run"),
    ("result", "A line of results.jsonl of a run"),
    ("judgement", "A line of judgements.jsonl of a run"),
    ("question", "A line of questions.jsonl of a run"),
    ("review", "A line of review.jsonl of a run"),
    ("label", "A line of a labels file"),
];

/// Returns all schemas, each self-contained: of input files and of stored runs.
pub fn all_schemas() -> Vec<SchemaFile> {
    let mut all = assize_schema::schemas();
    all.extend(stored_schemas());
    all
}

/// Returns the schemas of the files of a stored run.
pub fn stored_schemas() -> impl Iterator<Item = SchemaFile> {
    assize_store::schemas().into_iter().map(|(name, schema)| {
        let title = STORED_TITLES.iter().find(|(known, _)| *known == name).map_or(name, |(_, title)| title);
        SchemaFile { name, title, schema }
    })
}
