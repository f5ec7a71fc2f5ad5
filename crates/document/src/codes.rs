//! Codes of all diagnostics of this crate, with their explanations.
//!
//! The hundreds group them: 00 reading the text, 01 shape of maps and values, 02 criteria and scores, 03
//! graders, 04 cases and suites, 05 files and references, 06 targets and settings, 07 scorecards. [`ALL`] is
//! the source of the error index.

use assize_diagnostic::DiagnosticCode;

/// A code with its page in the error index.
#[derive(Debug, Clone, Copy)]
pub struct CodePage {
    /// Diagnostic code.
    pub code: DiagnosticCode,
    /// Short title.
    pub title: &'static str,
    /// Explanation and advice, in Markdown.
    pub text: &'static str,
}

impl CodePage {
    /// Returns the section of the error index about this code, in Markdown.
    pub fn to_markdown(&self) -> String {
        format!("### {}: {}\n\n{}\n", self.code, self.title.trim_end_matches('.'), self.text)
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $id:literal, $title:literal, $text:literal;)*) => {
        $(#[doc = $title] pub const $name: DiagnosticCode = DiagnosticCode::new($id);)*

        /// Every code, in ascending order within its group.
        pub const ALL: &[CodePage] = &[
            $(CodePage { code: $name, title: $title, text: $text },)*
        ];
    };
}

codes! {
    YAML_SYNTAX = "E0001", "The file is not valid YAML.",
        "Parsing failed at the marked position. The most frequent causes are a tab in the indentation, a text with `: ` in it that needs quotes, and a quotation mark or bracket that is not closed.";
    JSON_SYNTAX = "E0002", "The text is not valid JSON.",
        "In a JSONL file every line is one JSON object. The mistake is usually just before the marked position: a missing comma, quote or bracket.";
    CONTROL_CHARACTER = "E0003", "There is a control character in the file.",
        "Control characters are invisible and can change what a terminal shows. Remove them, or write them as an escape in a double-quoted string.";
    SEVERAL_DOCUMENTS = "E0004", "The file holds more than one YAML document.",
        "An eval file is one document. A `---` in the middle of the file starts another one.";
    TOO_DEEP = "E0005", "Values are nested too deeply.",
        "Eval files need fewer than ten levels. Much deeper nesting is a mistake or an attack.";
    ALIAS_EXPANSION = "E0006", "Aliases repeat too much of the file.",
        "An alias is a copy of its anchor. Aliases of aliases, and aliases of long texts, can expand to more than fits into memory, so there is a limit.";
    UNKNOWN_ALIAS = "E0007", "An alias names no anchor.",
        "Define the anchor with `&name` before the alias `*name`.";
    MERGE_VALUE = "E0008", "A merge key refers to something that is not a map.",
        "`<<` copies the entries of a map. Point it at an anchor of a map, or at a list of such anchors.";
    DUPLICATE_KEY = "E0101", "A key occurs twice in one map.",
        "Only one of the two can count. Keep one.";
    KEY_IS_NOT_TEXT = "E0102", "A key is not plain text.",
        "This is usually a template that lacks quotes: `{{ name }}` is YAML for a map in a map. Write `\"{{ name }}\"`.";
    UNKNOWN_KEY = "E0103", "Unknown key.",
        "Nothing is ignored silently: a key that nothing reads is usually a typing mistake. Keys that begin with `x-` are free for your own use.";
    TWO_SPELLINGS = "E0104", "Two spellings of one key.",
        "Several keys have an older name that is still read. When both occur in one map, only one of them can count.";
    WRONG_TYPE = "E0105", "A value is of the wrong kind.",
        "The message says what was expected and what was found. A number or `true` where text is expected must be put in quotes.";
    OUT_OF_RANGE = "E0106", "A number is out of its range.",
        "Scores and thresholds run from 0 to 1; raw scores from 0 to 10 in whole numbers; weights are any finite number.";
    EMPTY_TEXT = "E0107", "A text is empty.",
        "An empty text can't be judged or shown. Write it, or remove the key.";
    MISSING_TEXT = "E0201", "A criterion does not say what is checked.",
        "Every criterion needs a text: `outcome` in the `tests` format, `expected_outcome` in the `evalcases` format. Only a criterion with `score_ranges` can do without, because its ranges describe it.";
    EMPTY_RUBRIC = "E0202", "A rubric has no criteria.",
        "A rubric needs at least one criterion, or there is nothing to judge.";
    DUPLICATE_CRITERION = "E0203", "Two criteria of a rubric have the same id.",
        "Ids identify the judge's decisions. A criterion without an id is named `rubric-N` by its position, so don't use such a name for another one.";
    NO_USABLE_WEIGHT = "E0204", "All weights of a rubric are zero.",
        "A score is a weighted mean, so at least one weight must differ from zero.";
    MIN_SCORE_SCALE = "E0205", "A minimum is on the wrong scale.",
        "`min_score` runs from 0 to 1, `required_min_score` from 0 to 10 in whole numbers: `min_score: 0.7` and `required_min_score: 7` mean the same.";
    TWO_MINIMUMS = "E0206", "A criterion has two minimums.",
        "`min_score` and `required_min_score` say the same thing on two scales. Keep one.";
    MINIMUM_WITHOUT_RANGES = "E0207", "A criterion without a score has a raw minimum.",
        "`required_min_score` compares a score from 0 to 10, which only a criterion with `score_ranges` has. A checklist criterion is met or not: use `required: true`.";
    BAD_SCORE_RANGE = "E0208", "A score range is not two whole numbers from 0 to 10.",
        "In the list form write `score_range: [LOW, HIGH]`, both included. In the map form each key is the lowest score of its range.";
    REVERSED_RANGE = "E0209", "A score range ends before it begins.",
        "The first number of `score_range` is the lowest score of the range, the second the highest.";
    RANGES_OVERLAP = "E0210", "Two score ranges share a score.",
        "Each score from 0 to 10 belongs to exactly one range; both ends of a range are included in it.";
    RANGES_GAP = "E0211", "Some scores are in no score range.",
        "Together the ranges must cover every whole number from 0 to 10. In the map form the first key must be 0.";
    OPERATOR_WITH_RANGES = "E0212", "A score-range criterion has an operator.",
        "`operator` defines how a checklist criterion is read. A score-range criterion is read by its ranges.";
    TEXT_BECAME_MAP = "E0213", "A text was read as a map.",
        "In YAML a `: ` inside a plain text makes a map of it. Put the text in quotes.";
    NOT_A_RUBRIC = "E0214", "The file is not a rubric.",
        "A rubric file is a list of criteria, or a map with such a list under `rubrics` or `criteria`.";
    PENALTY_WEIGHT = "W0201", "A weight is negative.",
        "A criterion of negative weight is a penalty: if met, it costs points. The score is the sum of weight times value, divided by the sum of the positive weights, clamped to 0 and 1. If all weights are negative, an answer without faults scores 1. A penalty is not a gate unless it is marked as one.";
    OTHER_SPELLING = "W0202", "A key belongs to the other format.",
        "The `evalcases` format writes the text of a criterion as `expected_outcome` and its minimum as `required_min_score`; the `tests` format writes `outcome` and `min_score`. Both formats accept both.";
    REQUIRED_WITHOUT_MINIMUM = "W0203", "A score-range criterion is required but has no minimum.",
        "A score is not met or unmet, so the criterion must reach the pass threshold. Set the score it needs with `min_score` or `required_min_score`.";
    MIN_SCORE_ON_CHECKLIST = "W0204", "A checklist criterion has a minimum score.",
        "A checklist criterion is met (1) or unmet (0), so every minimum above 0 means that it must be met. `required: true` is clearer.";
    MIN_SCORE_OF_ONE = "W0205", "A minimum of 1 may be on the wrong scale.",
        "`min_score: 1` demands full marks, 10 of 10. For 1 of 10 write `required_min_score: 1`. Write `1.0` to silence this warning.";
    GATE_TURNED_OFF = "W0206", "A minimum has no effect.",
        "`required: false` disables the gate of a criterion, including one set by a minimum.";
    REQUIRED_PENALTY = "W0207", "A penalty is required.",
        "`required` means that the case fails unless the criterion is met, but meeting a criterion of negative weight costs points.";
    LONG_CRITERION = "W0208", "The text of a criterion is very long.",
        "Judges decide best on one short statement. A long text is sent with every call, and judged, but consider splitting it into several criteria.";
    UNKNOWN_GRADER = "E0301", "A grader has an unknown type.",
        "The type is none of the built-in ones, and no file of that name is in `.assize/graders/` or `.agentv/assertions/` of the eval file's folder or a folder above it.";
    GRADER_NOT_OFFERED = "E0302", "A grader type belongs to another dialect.",
        "The message names what to use instead, or why there is nothing like it.";
    MISSING_TYPE = "E0303", "A grader does not say its type.",
        "Every entry of an assertion list is a text (a criterion), a map with `type`, or `include: NAME`.";
    MISSING_SETTING = "E0304", "A setting that is needed is missing.",
        "The message names the key and shows how it is written.";
    GRADER_WEIGHT = "E0305", "A grader has a negative weight.",
        "Graders are combined by a weighted mean, so their weights are 0 or more. A penalty is a criterion of negative weight; `negate: true` inverts a grader.";
    UNUSED_SETTING = "E0306", "A setting has no effect here.",
        "The grader ignores it. The message names what to write instead.";
    UNKNOWN_CHOICE = "E0307", "Unknown value.",
        "The message lists the values. Hyphens and underscores are equivalent.";
    BAD_COMMAND = "E0308", "A command is empty, refers to one case although it is run for all, or would run text of a case as a script.",
        "A command is a list of the program and its arguments, run without a shell, or one text that `sh` runs.";
    BAD_PATTERN = "E0309", "A regular expression can't be used.",
        "The pattern must not be empty, and the flags are letters of `d g i m s u v y`, each once.";
    BAD_FIELD_PATH = "E0310", "A field path can't be read.",
        "A path is names joined by dots, with `[N]` for an item of a list: `order.items[0].price`.";
    TEMPLATE_NOT_FOUND = "E0311", "An included template does not exist.",
        "`include: NAME` reads `.assize/templates/NAME.yaml` or `.agentv/templates/NAME.yaml` in the folder of the file that includes it or a folder above. A path to a file is also accepted.";
    TEMPLATE_CYCLE = "E0312", "A template includes itself.",
        "The message shows the cycle. Remove one of the includes.";
    TEMPLATE_DEPTH = "E0313", "Templates are nested too deeply.",
        "A template may include another, up to three levels.";
    TEMPLATE_BROKEN = "E0314", "An included template can't be used.",
        "A template is a map with a list under `assertions`. Errors in it are reported for its own file.";
    UNKNOWN_MEMBER = "E0315", "A weight does not name a member of the composite.",
        "`aggregator.weights` refers to members by their `name`.";
    DUPLICATE_MEMBER = "E0316", "Two members of a composite have the same name.",
        "Members are referred to by name, so names must differ.";
    PANEL_CONFLICT = "E0317", "The settings of a panel contradict each other.",
        "A judge is either a member of the panel or the one it escalates to; probabilities need one call per criterion.";
    DUPLICATE_JUDGE = "E0318", "A judge is listed twice in a panel.",
        "To call a judge several times, set `repeats`; to give it more influence, set `weight`.";
    BAD_SCRIPT = "E0319", "A script is not valid JavaScript.",
        "One line is an expression, such as `output.length < 200`; several lines are the body of a function and end with `return`. The script gets `output` and `context`. It runs without access to files, network or other programs, so `require` and `import` do not exist.";
    UNUSABLE_GRADER = "E0320", "A grader can't be run.",
        "A run refuses the file. The message names the part of the grader that can't be used, such as an unknown keyword of a JSON schema.";
    OLDER_SPELLING = "W0301", "An older spelling is used.",
        "It is still accepted. The message names the current spelling.";
    UNNAMED_GRADER = "W0302", "A grader has no name.",
        "The `evalcases` format requires a `name`, under which results are listed. Without one, the type is used.";
    CONFIG_LOOKS_MISSPELT = "W0303", "A key that is passed to a program looks misspelt.",
        "A grading program receives all unknown keys as its settings. This one is similar to a known key.";
    PROMPT_LOOKS_LIKE_PATH = "W0304", "A prompt looks like a path but is taken as text.",
        "In the `tests` format, a prompt is read from a file only if it begins with `file://`.";
    DUPLICATE_GRADER_NAME = "W0305", "Two graders have the same name.",
        "Results are listed by name, so the later grader gets a number.";
    TYPE_LOOKS_MISSPELT = "W0306", "An expected text begins like a misspelt assertion type.",
        "In a table of tests, `__expected` holds `TYPE: VALUE` or a text that the answer must equal. A word that is not a type makes the whole cell such a text. Correct the type, or begin the cell with `equals:`.";
    NOT_AN_EVAL_FILE = "E0401", "The file is not an eval file.",
        "An eval file is a map with its cases under `tests` (or `evalcases`). The message names the kind of file that was found, and the command for it.";
    BOTH_FORMATS = "E0402", "The file has more than one list of cases.",
        "`tests` and `evalcases` belong to different formats with different defaults. Keep one list in each file.";
    NO_CASES = "E0403", "There are no cases.",
        "A suite without a case would pass without having checked anything.";
    NO_ID = "E0404", "A case has no id.",
        "Results are stored, compared and resumed by case id, so each case needs a stable one.";
    BAD_ID = "E0405", "An id can't be used.",
        "An id is text of at least one visible character. Slashes and inner spaces are allowed; control characters and leading or trailing blanks are not. A number needs quotes, so that `007` stays what it is.";
    DUPLICATE_ID = "E0406", "Two cases have the same id.",
        "Ids must be unique in a suite: with two equal ones, the results of one case would replace those of the other.";
    NO_INPUT = "E0407", "A case has no input.",
        "A case needs the `input` of the target, or the answer itself (`output`).";
    NOTHING_TO_GRADE = "E0408", "A case has nothing to grade by.",
        "Give it graders (`assertions`), or say what a good answer does (`criteria`; in the older format `expected_outcome`): that sentence then becomes its only criterion.";
    BAD_MESSAGE = "E0409", "A message is not of the right shape.",
        "A message is a map with a `role` (system, user, assistant or tool) and a `content`: a string, an object, or a list of blocks `{type: text | file | image, value: ...}`.";
    TWO_GRADER_LISTS = "E0410", "Two lists of graders.",
        "`assertions`, `assert`, `evaluators` and the lists under `execution` are equivalent. Move all graders into one list.";
    NO_GRADER_WEIGHT = "E0411", "All graders of a case have weight zero.",
        "The score of a case is the weighted mean of its graders, and with no weight at all there is no mean.";
    VARIABLE_NOT_SET = "E0412", "An environment variable is not set.",
        "`${{ NAME }}` takes its value from the environment or the `.env` file. `${{ NAME:-default }}` gives a default; `$${{ NAME }}` is the literal text.";
    LINES_CROSSED = "E0413", "The borderline threshold is above the pass threshold.",
        "`borderline` is the lower of the two: a score from `borderline` up to `threshold` is borderline; from `threshold` it passes.";
    NOT_SUPPORTED = "E0414", "A feature of another tool or version.",
        "The key is known but not supported. The message names the equivalent.";
    BAD_DEPENDENCY = "E0415", "A dependency between cases can't be satisfied.",
        "`depends_on` names other cases of the same suite by their ids, without a cycle.";
    MORE_PROBLEMS = "E0416", "More errors than are shown.",
        "Only the first errors of a file, and of the lines of a dataset, are listed. Fix those and validate again.";
    NO_TURNS = "E0417", "A conversation has no turns, or its settings are used without one.",
        "`turns` is a list with at least one entry. `aggregation`, `on_turn_failure` and `window_size` only have an effect together with it.";
    EMPTY_LIST = "E0418", "A list is empty where at least one entry is needed.",
        "Write the entries, or remove the key.";
    EMPTY_FILE = "E0419", "The file has no content.",
        "It has only blank lines and comments.";
    OLD_SPELLING = "W0401", "An older or foreign spelling of a key is used.",
        "It is accepted as the key that the message names. The spelling belongs to the other format or to an earlier version.";
    UNKNOWN_VARIABLE = "W0402", "A text names a variable that the case does not define.",
        "`{{ name }}` is filled from the `vars` of the case. Placeholders of unknown names are left as they are.";
    NO_EFFECT = "W0403", "A setting has no effect.",
        "It is accepted but not used here.";
    MORE_WARNINGS = "W0404", "More warnings than are shown.",
        "Only the first warnings of a file are listed. Fix those and validate again.";
    NO_ANSWER = "E0420", "A line of an answers file has no answer.",
        "Each line is a JSON object with the text to grade under `answer` (or `output`, `response`, `completion`, `prediction`, `model_output`); a table has a column of that name. `--columns answer=NAME` names another one.";
    NO_COLUMN = "E0421", "A column named on the command line is not in the file.",
        "`--columns FIELD=COLUMN` names the key or column of a field. Every line must have it.";
    BAD_TABLE = "E0422", "A table is not well formed.",
        "Every row of a CSV or TSV file has as many cells as the header. A cell that contains a separator, a line break or a quotation mark is enclosed in quotation marks, and each inner quotation mark is doubled. A spreadsheet is an `.xlsx` file with the sheet that is named; cells with an error such as `#N/A`, and formulas that no program has computed, are refused.";
    BAD_TEMPLATE = "E0423", "A template can't be rendered.",
        "Files with prompts and providers are templates: `{{ name }}` stands for a variable of the test, `{% if name %}` and `{% for x in list %}` are read too. The message names what is wrong. Text that only looks like a template goes between `{% raw %}` and `{% endraw %}`.";
    MATRIX_TOO_LARGE = "E0424", "Prompts, tests and variables make too many cases.",
        "There is one case for each prompt, each test and each combination of values of variables that are lists. Beyond the limit, the file is refused: use fewer values, or put the cases into a JSONL file.";
    BAD_MATRIX_PART = "E0425", "A part of a file with prompts and providers can't be read.",
        "Prompts are texts, files, or maps with `raw`; providers are names, or maps with `id`; tests are maps, or files of them. The message says what was found.";
    PROGRAM_FAILED = "E0426", "A program that writes a part of the file failed.",
        "Prompts, tests and variables may come from a function in Python, TypeScript or JavaScript, or from a command. The message has the last line of its error. A prompt is a text or a list of messages, tests are a list of maps, and a variable is `{output: TEXT}`.";
    NO_ASSERTIONS = "W0405", "A test has no assertions.",
        "Nothing says what a good answer is, so every answer passes, as long as there is one. Add `assert` to the test, or to the default test.";
    READ_DIFFERENTLY = "W0406", "A setting of another tool is read differently here.",
        "The file loads and runs, but this setting gives a different result in the other tool. The message says what happens here; the page about the other tool says why.";
    UNKNOWN_METRIC = "W0409", "A formula names a metric that no assertion has.",
        "`derivedMetrics` are computed from the scores of assertions with `metric: NAME`, from derived metrics above them, and from `__count`. A formula with another name is undefined in every run.";
    CODE_NOT_RUN = "W0407", "The tests come from a program, which was not run.",
        "Programs run with your permissions, so that only a run with your consent starts them, such as `assize eval FILE --allow-code` or one in a folder of `assize trust`. Other commands see the rest of the file. JavaScript that loads no modules runs in a built-in engine without access to anything, and needs no permission.";
    UNUSABLE_TARGET = "W0408", "A target can't be run.",
        "A run of the file is refused unless `--target` names another one.";
    DUPLICATE_SUITE = "W0412", "Eval files have the same name.",
        "Results are identified by the name of their suite. Files with the same name are distinguished by their paths within their innermost common folder, but only if they are run together: a run of one of them alone has the plain name, and can't be compared with a run of all. Give each file a `name` of its own.";
    LIMIT_WITHOUT_MEASURE = "W0413", "A limit is set on something that a given answer does not report.",
        "The case gives its `output`, so no target runs, and time, cost and tokens are not measured. Such a grader can't decide, and the case stays incomplete. Remove the grader, or the `output` so that a target answers, or give `output` as messages that record it (`duration_ms`, `token_usage`, `tool_calls`).";
    ITEM_IN_TEXT = "W0414", "A line that looks like an item of a list is part of a text.",
        "In YAML, a text without quotation marks continues on each line that is indented more than its key or its dash. Indent the line like the items before it, or write a text of several lines as a block (`|`).";
    CUT_TEXT = "W0415", "A text ends before a `#`.",
        "In YAML, ` #` begins a comment, so that `Mentions issue #42` is read as `Mentions issue`. Put the text into quotation marks. A comment is written with a space after the `#`.";
    FULL_WIDTH = "W0416", "A full-width character stands where YAML needs an ASCII one.",
        "Input methods for Chinese and Japanese write `：` for `:` and a wide space (U+3000) for a space. YAML reads both as letters of a text, so there is no key, or no indentation. Write `: ` and ordinary spaces; a text that begins like this needs quotation marks.";
    NO_WORKSPACE = "W0417", "A grading program needs a workspace, and there is none.",
        "A command such as `pytest` tests the folder in which it runs. Without a workspace, that is the folder of the eval file, where no target has worked: the result says nothing about the answer. Give the suite or the case a `workspace` and a target that works in it, a command or an agent. If the program should run in another folder, name it with `cwd`.";
    FILE_NOT_FOUND = "E0501", "A file that is referred to does not exist.",
        "Relative paths are looked for in the folder of the file that names them, in each parent folder up to the root of the repository, and in the working folder.";
    FILE_UNREADABLE = "E0502", "A file that is referred to can't be read.",
        "Attachments and prompts are UTF-8 text files (images excepted) of moderate size.";
    OUTSIDE_ROOT = "E0503", "A reference is outside the folders that may be read.",
        "An eval file may read the files of its own repository (or, outside a repository, those under the working folder or its own folder). Symbolic links are resolved first. `--root DIR` allows another folder, and `--allow-code` or a trusted folder allows all of them.";
    NOT_UTF8 = "E0504", "A file is not UTF-8 text.",
        "Eval files are UTF-8. The usual cause is a file saved as Latin-1 or UTF-16; save it again as UTF-8.";
    FILE_TOO_LARGE = "E0505", "A file or line is too large.",
        "YAML files are read as a whole, so there is a limit. A dataset of that size belongs in a JSONL file, which is read line by line.";
    NO_MATCH = "E0506", "A pattern or folder holds no cases.",
        "A reference that matches no cases is almost always a mistake.";
    UNKNOWN_FILE_KIND = "E0507", "A file is of a kind that is not read here.",
        "Cases come from .yaml, .yml, .json and .jsonl files, or from a folder with one sub-folder for each case; images are png, jpg, jpeg, gif, webp, svg or bmp.";
    LIMIT_REACHED = "E0508", "A file refers to more than the limit allows.",
        "The number of files that a pattern may match, of graders that includes may add, and the like are limited, so that a small file can't exhaust memory. [The limits](limits.md) are listed on one page.";
    CASE_FOLDER_WITHOUT_CASE = "W0501", "A folder beside case folders holds no case.",
        "In a folder of cases, every sub-folder with a `case.yaml` is a case. Others are skipped.";
    NO_TARGETS = "E0601", "A targets file has no targets.",
        "A targets file is a map with a list under `targets`; each entry has a `name` and a `provider`.";
    UNKNOWN_PROVIDER = "E0602", "Unknown provider.",
        "`provider` is the kind of a target: a model behind a server, a command (`cli`), an agent (`claude`, `codex`), a recording (`transcript`, `replay`) or a `mock`. Any server that speaks OpenAI's chat completions is `openai-compatible` with a `base_url`.";
    DUPLICATE_TARGET = "E0603", "Two targets have the same name.",
        "Suites refer to a target by its name, so names differ.";
    UNKNOWN_TARGET = "E0604", "A target that is referred to does not exist.",
        "`use_target` and `fallback_targets` name other targets of the same file.";
    TARGET_CYCLE = "E0605", "Targets refer to each other in a cycle.",
        "Following `use_target` must end at a target with a `provider`.";
    TARGET_CONFLICT = "E0606", "A setting is combined with `use_target`.",
        "A target with `use_target` is another target under a new name. Only its judge, its number of workers, its retries, its health check and its fallbacks can differ.";
    BAD_ADDRESS = "E0607", "The address of a server can't be used.",
        "An address begins with `http://` or `https://` and usually ends with `/v1`.";
    BAD_VARIABLE = "E0608", "A variable is malformed, or used where none is allowed.",
        "Settings take values from the environment as `${{ NAME }}` or `${{ NAME:-default }}`, alone or inside a text.";
    PRICE_MODEL = "E0609", "A row of a prices file does not name a model.",
        "Rows are named as for `--judge`, such as `openai:gpt-6-luna`.";
    DUPLICATE_PRICE = "E0610", "Two rows of a prices file are about the same model.",
        "Only one of them can count. Two spellings of a provider, such as `gemini` and `google`, are one provider.";
    LITERAL_SECRET = "W0601", "An API key is written in a file.",
        "Files are shared and committed. Put the key into an environment variable or the `.env` file and refer to it as `${{ NAME }}`.";
    UNKNOWN_JUDGE = "W0602", "The judge of a target is not in the file.",
        "`grader_target` names a target of the same file, a model such as `openai:MODEL`, or `offline`. A run that needs this judge stops, unless `--judge` names another.";
    FOREIGN_SETTING = "W0603", "An unknown setting in something that is only partly supported.",
        "Targets that are not supported yet, and config files of other tools, may have settings that are not listed here. They are ignored.";
    NOT_A_SCORECARD = "E0701", "The file or folder is not a scorecard.",
        "A scorecard is a folder with `rubrics/` and `benchmarks/`, or one file: a map with a list under `rubrics`, or a single rubric with everything inside it.";
    UNKNOWN_CODE = "E0702", "Unknown code.",
        "Rubrics, benchmarks, cases and labels refer to each other by their codes, exactly as the other file writes its `code`.";
    DUPLICATE_CODE = "E0703", "A code is used twice.",
        "The index, the rubrics and the benchmarks of a scorecard share one set of codes, so each code identifies one node.";
    ORPHAN_BENCHMARK = "E0704", "A benchmark belongs to no rubric.",
        "A benchmark counts only where a rubric lists its code under `benchmarks`. One that no rubric lists has no effect.";
    RUBRIC_CYCLE = "E0705", "Rubrics contain each other in a cycle.",
        "Following `sub_rubrics` downwards must end at rubrics with `benchmarks`. The message shows the cycle.";
    TWO_PARENTS = "E0706", "A rubric or benchmark is listed twice.",
        "A scorecard is a tree: each node counts in one place, with one weight. To use a benchmark in two rubrics, give it two codes.";
    OTHER_PARENT = "E0707", "A benchmark names another rubric than the one that lists it.",
        "`parent_rubric` and the list of the rubric must agree. Correct one of them.";
    BOTH_OR_NEITHER = "E0708", "A rubric has both benchmarks and sub-rubrics, or neither.",
        "A leaf rubric has `benchmarks`, a composite rubric `sub_rubrics`; each with at least one entry.";
    SHARE_RANGE = "E0709", "A weight of a scorecard is not from 0 to 1.",
        "Weights are shares of the score of the node above: 0.20 is 20%.";
    LINE_RANGE = "E0710", "A threshold of a scorecard is not from 0 to 1.",
        "Thresholds are shares: 0.95 is 95%.";
    NO_SHARE = "E0711", "All weights below a node are zero.",
        "A weighted average needs a weight above 0. Improvement signals are only reported, so theirs does not count.";
    PROMPT_NOT_FOUND = "E0712", "A prompt file does not exist.",
        "`llm_prompt_file` is a path from the folder of the scorecard.";
    PROMPT_NOT_NAMED = "E0713", "A benchmark for a model has no prompt file.",
        "The evaluators `llm_judge` and `hybrid` ask a model with the file under `llm_prompt_file`.";
    PROMPT_PART_MISSING = "E0714", "A prompt lacks a required part.",
        "A prompt names its behaviour (`BEHAVIOR:`), what fails it (`Automatic fail if any of the following are true:`) and what passes it (`Pass conditions (all must be satisfied):`), with at least one entry each.";
    SEVERAL_BEHAVIOURS = "E0715", "A prompt asks about several behaviours.",
        "One prompt decides one behaviour with yes or no. Two questions can't be scored separately: write two benchmarks, each with a prompt.";
    BAD_FORMULA = "E0716", "A normalisation formula can't be used.",
        "It is arithmetic over `x`, `min`, `max` and numbers with `+ - * /` and parentheses, and maps every score of the scale to 0 to 1: `x`, `x/100`, `(x-min)/(max-min)`.";
    BAD_SCALE = "E0717", "A scoring scale can't be used.",
        "`min_value` is below `max_value`, and the keys of `descriptions` are numbers from one to the other.";
    BAD_WEIGHT_SET = "E0718", "A weight set does not match the components.",
        "Each set of an index gives a weight to every component and to nothing else.";
    DUPLICATE_CARD_CASE = "E0719", "Two cases of a scorecard have the same id.",
        "Results and labels refer to cases by their ids.";
    DUPLICATE_RESULT = "E0720", "A case has two results of one benchmark.",
        "Only one of them can count. Keep one.";
    CHECK_NEEDS_JUDGE = "E0721", "A check of a benchmark needs a judge.",
        "Checks under `deterministic` decide without a judge: texts, patterns, JSON, fields, tool calls, limits, programs. Put questions for a model into the prompt file of the benchmark.";
    SCORE_CONTRADICTION = "E0722", "The verdict and the score of a result contradict each other.",
        "A failed result has less than the full score, and a passed one more than the lowest. For a hard gate, a failed case also has less than the gate's threshold. Correct one of the two, or remove `score`. A pass then counts as 1 and a fail as 0.";
    RESULT_OUT_OF_PLACE = "E0723", "A result contradicts the cases that its benchmark applies to.",
        "By the case's `benchmarks` list, or by tags, the benchmark applies to the case or does not. A result that says otherwise would exclude or include a case. Correct the result, or the list or tags of the case. A result with `applies: false` also has no verdict and no score.";
    MISTYPED_TAG = "E0724", "A tag seems to be misspelt.",
        "A benchmark with `tags` applies to the cases that share one of them. A tag that matches nothing and is almost the name of another tag would silently exclude benchmarks, hard gates among them, from a case. Correct it, list the case's `benchmarks`, or, if the tag is meant, give it a name that differs more from the other one.";
    GATE_LEFT_OUT = "E0725", "A case lists its benchmarks without a hard gate that its tags select.",
        "A benchmark with `tags` applies to the cases that share one of them. A tag that matches nothing and is almost the name of another tag would silently exclude benchmarks, hard gates among them, from a case. Correct it, list the case's `benchmarks`, or, if the tag is meant, give it a name that differs more from the other one.";
    LABEL_HASH = "E0730", "A label has an invalid hash.",
        "`seen` is written by `assize review`: the hash of the question, the inputs, the target and the answer. Labels written by hand have none.";
    LABEL_FILE = "E0731", "A file of labels is of a kind that is not read.",
        "Files in `labels/` are `.jsonl`, `.json` or `.yaml`, or `.md` for descriptions. Decisions of a spreadsheet are recorded with `assize review RUN --decisions FILE`, which binds them to the answers of the run.";
    RECORDS_UNREADABLE = "E0750", "Records of another tool can't be read.",
        "Logs of Inspect, results of promptfoo, logs and data sets of OpenAI's evals, data sets of DeepEval and evals of agent skills are read. The message names the part of the file that is damaged, or of a kind that is not read. Each record that can't be read is named at its line; `assize convert FILE --to cases --keep-going` writes the others.";
    SHARES_NOT_ONE = "W0701", "The weights below a node do not add up to 1.",
        "The score is still the true weighted mean: the sum is divided by the sum of the weights. Improvement signals are not counted.";
    UNUSED_PROMPT = "W0702", "No benchmark uses a prompt file.",
        "Name it in the `llm_prompt_file` of a benchmark, or remove it.";
    FULL_MARKS_NO_TIER = "W0703", "A threshold of 1.0 has no criticality.",
        "A threshold of 1.0 usually means that no failure is allowed, which only `criticality: hard_gate` enforces. Without it the benchmark is a `threshold_gate`: the rubric can pass although it failed.";
    INCLUSION_FORM = "W0704", "The inclusion criteria are not in their standard form.",
        "`Apply when TRIGGER. Flag if FAILURE.` The trigger names the cases that the benchmark applies to, the failure what to look for.";
    EXCLUSION_FORM = "W0705", "The exclusion criteria are not in their standard form.",
        "`Do not apply when ...` What is excluded is skipped: it neither passes nor fails.";
    NUMBERED_CRITERIA = "W0706", "Inclusion or exclusion criteria hold a numbered list.",
        "They are one sentence or two. Several triggers usually mean several benchmarks.";
    PROMPT_PART_ADVISED = "W0707", "A prompt lacks a recommended part.",
        "A complete prompt has `SYSTEM:`, `BEHAVIOR:`, `DESCRIPTION:`, `EVALUATION SCOPE:` with `Include:` and `Ignore:`, `RUBRIC` with its four parts, and a last line that asks for JSON.";
    NOT_NUMBERED = "W0708", "Pass conditions are not numbered.",
        "All pass conditions must hold together. Numbers make that clear, and let the judge name the one that fails.";
    AND_SPLIT = "W0709", "One condition seems to be split over several bullets of an \"any of\" list.",
        "Each bullet of that list fails the answer by itself. Put conditions that only fail together into one bullet.";
    PROMPT_ORDER = "W0710", "The parts of a prompt are in an unusual order.",
        "Judges and people read them as SYSTEM, BEHAVIOR, DESCRIPTION, EVALUATION SCOPE, RUBRIC, INPUTS.";
    FILE_NAME = "W0711", "A file is not named after its code.",
        "Files of rubrics and benchmarks are found by their code: `A-REF.yaml` holds `code: A-REF`.";
    DEFAULT_TAKEN = "W0712", "A setting that should be explicit uses its default.",
        "A weight of 1.0 and a passing threshold of 0.80 are assumed. Write them for readers of the file.";
    ORPHAN_RUBRIC = "W0713", "A rubric is outside the index.",
        "It is scored, but counts nowhere. List it under the `components` of the index or the `sub_rubrics` of a rubric.";
    LABEL_WITHOUT_CASE = "W0714", "A label names a trace that is not a case.",
        "`trace_id` names the `id` of a case. The label is kept and has no effect.";
    NO_CHECKS = "W0715", "A benchmark for a program has no checks.",
        "`code` decides by the checks under `evaluator_config: {deterministic: [...]}`. Without one it can be listed but not run. `hybrid` without a check asks the judge about every case, as `llm_judge` does.";
    TAG_WITHOUT_MATCH = "W0716", "A tag matches no benchmark or no case.",
        "A benchmark with `tags` applies to the cases that share one of them. A tag that only benchmarks or only cases have has no effect. A tag that is almost the name of another one is an error (`E0724`). Tags that only select cases with `--tag` are fine on a case that has a matching tag as well.";
    GATE_WITHOUT_CASE = "W0717", "A hard gate has no case.",
        "No case lists the benchmark, and none shares a tag with it. A gate without a case never passes: the scorecard stays incomplete.";
    PROMPT_LIST_ADVISED = "W0718", "A prompt has no list of fail or pass conditions.",
        "Older prompts only name and describe a behaviour. They are used as they are. Judges agree with people more often when a prompt says `Automatic fail if any of the following are true:` and `Pass conditions (all must be satisfied):`, each with at least one entry.";
    LABEL_WITHOUT_SCORE = "W0730", "A label is pass or fail, but its benchmark has a scale.",
        "The label does not count; write a score.";
    LABEL_ELSEWHERE = "W0731", "A label is for a case that its benchmark does not apply to.",
        "A case's list of benchmarks, or tags, exclude the benchmark from the case, so the label has no effect.";
    LABEL_OF_OTHER_RUN = "W0732", "A label is about another suite or repeat.",
        "`suite` of a label names the scorecard, and a scorecard runs each case once, so `repeat` is 1. A label with other values is about something else and does not count.";
    RECORDS_REMARK = "W0750", "Records of another tool are not complete, or not all of them are read.",
        "The message says what is missing: samples of a run that was stopped, completions after the first one of a sample, or names that several records have.";
}
