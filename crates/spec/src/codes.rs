//! The codes of every complaint this crate makes, with what each means.
//!
//! The hundreds group them: 00 reading the text, 01 shape of maps and values, 02 criteria and
//! scores, 03 graders, 04 cases and suites, 05 files and references, 06 targets and settings.
//! [`ALL`] is the source of the error index.

use assize_diagnostic::Code;

/// A code with its page in the error index.
#[derive(Debug, Clone, Copy)]
pub struct CodePage {
    /// The code.
    pub code: Code,
    /// What it says, in a few words.
    pub title: &'static str,
    /// What it means and what to do, in Markdown.
    pub text: &'static str,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $id:literal, $title:literal, $text:literal;)*) => {
        $(#[doc = $title] pub const $name: Code = Code::new($id);)*

        /// Every code, in order.
        pub const ALL: &[CodePage] = &[
            $(CodePage { code: $name, title: $title, text: $text },)*
        ];
    };
}

codes! {
    YAML_SYNTAX = "E0001", "The file is not valid YAML.",
        "The reader could not go on at the marked place. The most frequent causes are a tab in the indentation, a text with `: ` in it that needs quotes, and a quotation mark or bracket that is not closed.";
    JSON_SYNTAX = "E0002", "The text is not valid JSON.",
        "In a JSONL file every line is one JSON object. The mistake is usually just before the marked place: a missing comma, quote or bracket.";
    CONTROL_CHARACTER = "E0003", "There is a control character in the file.",
        "Control characters are invisible and can change what a terminal shows. Remove them, or write them as an escape in a double-quoted string.";
    SEVERAL_DOCUMENTS = "E0004", "The file holds more than one YAML document.",
        "An eval file is one document. A `---` in the middle of the file starts another one.";
    TOO_DEEP = "E0005", "Values are nested too deeply.",
        "Eval files need fewer than ten levels. Far deeper nesting is a mistake or an attack.";
    ALIAS_EXPANSION = "E0006", "Aliases repeat too much of the file.",
        "An alias stands for a copy of its anchor. Aliases of aliases can multiply to more values than memory holds, so there is a limit.";
    UNKNOWN_ALIAS = "E0007", "An alias names no anchor.",
        "Define the anchor with `&name` before the alias `*name`.";
    MERGE_VALUE = "E0008", "A merge key names something that is not a map.",
        "`<<` copies the entries of a map. Point it at an anchor that stands on a map, or at a list of such anchors.";
    DUPLICATE_KEY = "E0101", "A key stands twice in one map.",
        "Only one of the two could count, and which one would be a guess. Keep one.";
    KEY_IS_NOT_TEXT = "E0102", "A key is not plain text.",
        "This is usually a template that lacks quotes: `{{ name }}` is YAML for a map in a map. Write `\"{{ name }}\"`.";
    UNKNOWN_KEY = "E0103", "A key is not known here.",
        "Nothing is ignored silently: a key that nothing reads is usually a typing mistake. Keys that begin with `x-` are free for your own use.";
    TWO_SPELLINGS = "E0104", "Two spellings of one key are given.",
        "Several keys have an older name that is still read. When both stand in one map, only one could count.";
    WRONG_TYPE = "E0105", "A value is of the wrong kind.",
        "The message says what was expected and what was found. A number or `true` where text is expected must be put in quotes.";
    OUT_OF_RANGE = "E0106", "A number is out of its range.",
        "Scores and thresholds run from 0 to 1; raw scores from 0 to 10 in whole numbers; weights are any finite number.";
    EMPTY_TEXT = "E0107", "A text is empty.",
        "An empty text can't be judged or shown. Write it, or remove the key.";
    FILE_NOT_FOUND = "E0501", "A file that is referred to does not exist.",
        "Relative paths are looked for in the folder of the file that names them, in each parent folder up to the root of the repository, and in the working folder.";
    FILE_UNREADABLE = "E0502", "A file that is referred to can't be read.",
        "Attachments and prompts are UTF-8 text files (images excepted) of moderate size.";
    OUTSIDE_ROOT = "E0503", "A reference leads out of the folders that may be read.",
        "An eval file may read the files of its own repository (or, outside a repository, those under the working folder or its own folder). Symbolic links are followed before this is checked. `--root DIR` widens the limit.";
}
