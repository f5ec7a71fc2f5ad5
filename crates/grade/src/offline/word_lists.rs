//! English word lists of the offline judge.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

/// Words without content of their own.
const STOP_WORDS: &str = "a an the this that these those it its itself they them their theirs he she his her hers him we us \
    our you your yours i me my mine one ones some any each every both all most more less many much few several other \
    another such same own of in on at by for from to into onto with within about as than then so if when while where \
    which who whom whose what how why and or but nor yet also too very just only even still already again there here \
    is are was were be been being am do does did doing done has have had having can could may might must shall should \
    will would ought need needs let lets get gets got between among during before after above below up down out off \
    over under through per via etc ie eg vs because since until unless though although however therefore thus hence \
    it's that's there's i'm you're we're they're he's she's let's what's who's i've you've we've they've i'll you'll \
    we'll they'll i'd you'd s t re ve ll d m either whether rather quite well upon along across around without not no \
    never none neither";

/// Words with which rubrics address the judge or name the judged object.
const INSTRUCTION_WORDS: &str = "answer response respond reply output agent assistant model ai text candidate submission \
    mention explain include state describe provide give given correct proper accurate accuracy clear explicit \
    appropriate relevant identify discuss show contain note address cover demonstrate present display indicate specific \
    specify clarify least point make sure ensure offer aspect full complete adequate sufficient concept detail good \
    user say tell";

/// Words that occur in almost any answer; they have less weight.
const GENERAL_WORDS: &str = "use thing way work code function value data system case name type set part number kind problem \
    example information important different change new old first second last find want know think take come look help \
    try start end run call add order form general define consider list warn advise recommend handle lead return compare \
    introduce extra possible simple main line base list process result solution ask suggest";

/// Verbs of saying. A negation after one of them belongs to its object: "explains that it is not ...".
const SAYING_VERBS: &str = "mention explain state describe say tell note indicate clarify acknowledge point warn conclude \
    advise recommend suggest report admit recognize recognise stress emphasize emphasise mean show claim inform know \
    understand identify answer";

/// Verbs of mentioning: whether an answer does it can be seen by its words.
const MENTIONING_VERBS: &str = "mention name include contain cite list quote refer reference state say";

/// Other verbs that ask for the words that are quoted after them.
const QUOTING_VERBS: &str =
    "give provide use write tell show begin start end call return greet sign print output answer";

/// Verbs of mentioning that are about a statement.
const STATING_VERBS: &str = "state say";

/// Words that negate their neighbours.
const NEGATION_WORDS: &str = "not no never none neither nor without cannot avoid avoids avoiding avoided refrain refrains \
    refraining omit omits omitted omitting exclude excludes excluding lack lacks lacking fail fails failed failing \
    nothing nobody against hardly free absent missing deny denies denied denying";

/// Weekdays and months, except those that are also other words.
const DATE_WORDS: &str = "monday tuesday wednesday thursday friday saturday sunday january february april june july august \
    september october november december";

/// Interchangeable words, in groups separated by semicolons.
const SYNONYMS: &str = "error err exception failure fault; configuration config cfg configure; repository repo; database db; \
    authentication auth login; parameter param arg argument; implement impl; function fn func method; directory \
    dir folder; document doc; application app; environment env; delete remove drop erase; create generate build; \
    begin start; end finish; fast quick rapid; large big huge; small little tiny; buy purchase; doctor physician \
    clinician; drug medication medicine; example instance; maximum max; minimum min; average mean avg; verify \
    check validate confirm; important crucial essential vital; risk danger hazard; advantage benefit; \
    disadvantage drawback downside; reason cause; cost price; assist help; permit allow; require need; ask \
    request inquire; fix repair resolve; javascript js; typescript ts; python py; kubernetes k8s; asynchronous \
    async; synchronous sync; initialize initialise init; string str; integer int; boolean bool; character char; \
    temporary temp; message msg; approximately roughly; child children kid; person people human; null none nil; \
    loop iterate iteration; concise brief short; apologize apologise apology sorry; greeting hello hi welcome";

const NUMBER_WORDS: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
    seventeen eighteen nineteen twenty";

/// The lists above, parsed.
pub(super) struct WordLists {
    stemmer: Stemmer,
    stop: HashSet<&'static str>,
    negation: HashSet<&'static str>,
    date: HashSet<&'static str>,
    instruction: HashSet<String>,
    general: HashSet<String>,
    saying: HashSet<String>,
    mentioning: HashSet<String>,
    quoting: HashSet<String>,
    stating: HashSet<String>,
    same: HashMap<String, String>,
}

/// The word lists; built once.
pub(super) static WORDS: LazyLock<WordLists> = LazyLock::new(|| {
    let stemmer = Stemmer::create(Algorithm::English);
    let stems =
        |list: &str| list.split_whitespace().map(|word| stemmer.stem(word).into_owned()).collect::<Vec<_>>();
    let mut same = HashMap::new();

    for group in SYNONYMS.split(';').map(stems) {
        same.extend(group.iter().skip(1).map(|stem| (stem.clone(), group[0].clone())));
    }

    WordLists {
        stop: STOP_WORDS.split_whitespace().collect(),
        negation: NEGATION_WORDS.split_whitespace().collect(),
        date: DATE_WORDS.split_whitespace().collect(),
        instruction: stems(INSTRUCTION_WORDS).into_iter().collect(),
        general: stems(GENERAL_WORDS).into_iter().collect(),
        saying: stems(SAYING_VERBS).into_iter().collect(),
        mentioning: stems(MENTIONING_VERBS).into_iter().collect(),
        quoting: stems(QUOTING_VERBS).into_iter().collect(),
        stating: stems(STATING_VERBS).into_iter().collect(),
        same,
        stemmer,
    }
});

impl WordLists {
    pub(super) fn is_stop(&self, word: &str) -> bool {
        self.stop.contains(word) || is_contracted_not(word)
    }

    pub(super) fn is_instruction(&self, word: &str) -> bool {
        self.instruction.contains(&*self.stemmer.stem(word))
    }

    pub(super) fn is_general(&self, word: &str) -> bool {
        self.general.contains(&*self.stemmer.stem(word))
    }

    pub(super) fn is_saying(&self, word: &str) -> bool {
        self.saying.contains(&*self.stemmer.stem(word))
    }

    pub(super) fn is_mention(&self, word: &str) -> bool {
        self.mentioning.contains(&*self.stemmer.stem(word))
    }

    pub(super) fn is_quoting(&self, word: &str) -> bool {
        self.is_mention(word) || self.quoting.contains(&*self.stemmer.stem(word))
    }

    pub(super) fn is_statement(&self, word: &str) -> bool {
        self.stating.contains(&*self.stemmer.stem(word))
    }

    pub(super) fn is_negation(&self, word: &str) -> bool {
        self.negation.contains(word) || is_contracted_not(word)
    }

    pub(super) fn is_date(&self, word: &str) -> bool {
        self.date.contains(word)
    }

    /// The common stem of a word and its synonyms.
    pub(super) fn stem(&self, word: &str) -> String {
        let stem = self.stemmer.stem(word.strip_suffix("'s").unwrap_or(word));

        self.same.get(&*stem).cloned().unwrap_or_else(|| stem.into_owned())
    }
}

/// The number that a word names. "One" is left out, since it is more often an article.
pub(super) fn parse_number_word(word: &str) -> Option<usize> {
    NUMBER_WORDS.split(' ').position(|name| name == word).filter(|number| *number != 1)
}

fn is_contracted_not(word: &str) -> bool {
    word.ends_with("n't") || matches!(word, "dont" | "doesnt" | "isnt" | "cant" | "wont")
}

/// Returns true if the word is a negation that also applies to its subject: "is not", "can't".
pub(super) fn negates_backwards(word: &str) -> bool {
    matches!(word, "not" | "never" | "cannot" | "missing" | "absent") || is_contracted_not(word)
}
