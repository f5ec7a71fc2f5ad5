//! Whether a text is English, the only language that the offline judge reads.
//!
//! A negation that is not read turns a criterion around, so a criterion is read only if its words show that it is
//! English. Few words must be enough for that, and words that several languages share are no evidence.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::text::split_words;

/// Words that are English, and in common use in no other language in Latin script.
const ENGLISH: &str = "the and with from into about that this these those which who whom whose what when where why how it \
    its they them their there are been being be does did doing have having cannot could might shall \
    should would not never nothing nobody without neither nor none only also because since although \
    though unless until while whether if or but both each every less least your yours she i'm it's \
    don't doesn't isn't won't can't didn't aren't wasn't answer answers answered ask asks asked mention \
    mentions mentioned mentioning explain explains explained includes included including state states \
    stated describe describes described provide provides provided give gives given say says said saying \
    tell tells told names named naming show shows shown listed contain contains use uses used using \
    avoid avoids avoiding refrain refrains omit omits lack lacks fail fails identify identifies address \
    addresses acknowledge acknowledges admit admits apologise apologises apologize apologizes greet \
    greets greeting thank thanks offer offers offered promise promises promised refuse refuses \
    recommend recommends suggest suggests advise advises warn warns encourage encourages keep keeps \
    made return returns returned write writes written call calls called check checks found know knows \
    follow follows followed need needs want wants begin begins claim claims claimed conclude concludes \
    confirm confirms compares defines demonstrate demonstrates discuss discusses ensures exclude \
    excludes rejects remain remains repeats reply replies respond responds summarise summarises \
    summarize summarizes treats understand understands verify verifies hello sorry please yes ok okay \
    clearly correctly right short brief polite politely friendly helpful harmful unsafe missing absent \
    wait waits price prices cost costs refund refunds customer customers delay delayed parcel sentence \
    sentences number numbers dates day days weeks month months year years times hour hours third two \
    three five seven eight nine \
    adds add requires require required specific marks proposes propose blames good changes breaking users pick picks take takes cites cite quote quotes \
    lists handles handle covers computes calculates links";

/// Words that are English, and Dutch, German or Spanish too: they count unless other words are of another language.
const SHARED: [&str; 4] = ["is", "was", "of", "has"];

/// Words without content of other languages in Latin script, among them their negations. None of them is an English
/// word.
const FOREIGN: &str = "der das und nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne ist ein eine \
    einen einem einer dem auf für von zum zur wird werden oder wenn dass über sich auch sind kann soll darf muss weder noch \
    het een niet geen nooit zonder voor wordt deze niets maar \
    le la les du une est ne pas jamais aucun aucune ne sans que qui dans pour avec rien ni aux cette sont \
    el los las del una es nunca sin ningún ninguna por para jamás tampoco nada su \
    não um uma da dos sem nenhum nenhuma \
    il lo gli della di non mai senza nessun nessuna che \
    och inte ingen inget aldrig utan är att det som för \
    ikke aldri aldrig uden uten og ei eikä älä ja ilman että mitään koskaan \
    nie jest bez nigdy żaden żadnych się ani oraz není žádné nikdy že nije nema \
    nu și fără niciun nicio niciodată este nem nincs soha nélkül az egy hogy sem \
    değil yok ve bir asla hiç olmadan için ile \
    không chẳng đừng và của là tidak bukan tanpa jangan dan yang tak \
    hakuna bila wala ya kwa hindi ang ng walang huwag mga";

static ENGLISH_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| ENGLISH.split_ascii_whitespace().collect());
static FOREIGN_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| FOREIGN.split_ascii_whitespace().collect());

/// Endings of Turkish words that say no. Without them, a sentence of one word would be read as a word to mention.
const DENYING_ENDINGS: [&str; 8] = ["maz", "mez", "miyor", "muyor", "madi", "medi", "masin", "mesin"];

/// A text counts as written in another script if more than this share of its letters is.
const FOREIGN_SHARE: f64 = 0.2;
/// Number of words of an answer that are looked at.
const MAX_WORDS: usize = 2000;

/// Counts of the evidence about the language of a text.
#[derive(Debug, Default)]
struct LanguageSigns {
    english: usize,
    foreign: usize,
    /// English words that other languages have too.
    shared: usize,
    /// Words of two letters or more.
    words: usize,
    letters: usize,
    other_script: usize,
}

impl LanguageSigns {
    fn count<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let mut signs = Self::default();
        for word in words.take(MAX_WORDS) {
            let letters = word.chars().filter(|c| c.is_alphabetic()).count();
            signs.letters += letters;
            signs.other_script += word.chars().filter(|c| c.is_alphabetic() && !is_latin(*c)).count();
            if letters < 2 || letters < word.chars().filter(|c| c.is_alphanumeric()).count() {
                continue;
            }
            signs.words += 1;
            signs.english += usize::from(ENGLISH_WORDS.contains(word));
            signs.shared += usize::from(SHARED.contains(&word));
            signs.foreign += usize::from(FOREIGN_WORDS.contains(word) || is_elided(word));
        }

        signs
    }
}

/// Returns true if the words of a criterion outside its quotations show that it is English.
pub(super) fn is_english_criterion<'w>(words: impl Iterator<Item = &'w str> + Clone) -> bool {
    // A criterion of a single word asks to mention it, in any language.
    if let [only] = words.clone().filter(|word| word.len() > 1).take(2).collect::<Vec<_>>().as_slice()
        && only.is_ascii()
        && !DENYING_ENDINGS.iter().any(|ending| only.ends_with(ending))
    {
        return true;
    }

    let signs = LanguageSigns::count(words);
    // Numbers and quotations alone are of no language.
    let is_english = signs.english > signs.foreign || signs.foreign == 0 && signs.shared > 0;
    signs.other_script == 0 && (signs.words == 0 || is_english)
}

/// Returns true if a text shows that it is in another language than English.
pub(super) fn is_foreign_text(text: &str) -> bool {
    let words = split_words(text);
    let signs = LanguageSigns::count(words.iter().map(|word| &*word.spelling));
    signs.foreign > signs.english || signs.other_script as f64 > FOREIGN_SHARE * signs.letters as f64
}

/// Returns true for a word that begins with an article or a negation cut short, as in French: `n'indique`.
fn is_elided(word: &str) -> bool {
    word.split_once('\'')
        .is_some_and(|(before, _)| matches!(before, "c" | "d" | "j" | "l" | "m" | "n" | "qu" | "s" | "t"))
}

/// Returns true for letters of the Latin script, and for Greek letters, because they are symbols of quantities.
fn is_latin(c: char) -> bool {
    matches!(c, '\0'..='\u{24f}' | '\u{370}'..='\u{3ff}' | '\u{1e00}'..='\u{1eff}' | '\u{2100}'..='\u{218f}' | '\u{ff21}'..='\u{ff5a}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_is_told_from_other_languages_by_few_words() {
        let is_english = |text: &str| {
            let words = split_words(text);
            is_english_criterion(words.iter().map(|word| &*word.spelling))
        };
        for text in [
            "Mentions the price", "Does not mention prices", "polite", "ok", "30", "Names Müller",
            "Explains the O(n²) bound", "States that π is irrational", "The answer is short",
            "Mount Everest is 8849 metres tall", "apples", "Paris",
        ] {
            assert!(is_english(text), "{text}");
        }
        for text in [
            "Nennt keinen Preis",
            "N’indique pas le prix",
            "Ne cite aucun prix",
            "No menciona precios",
            "不提及价格",
            "不得 promise a refund",
            "Prijs is niet genoemd of geschat",
            "Fiyattan bahsetmiyor",
            "Bahsetmez",
            "říká",
            "Не указывает цену",
            "Δεν αναφέρει την τιμή",
            "לא מציין מחיר",
            "لا يذكر السعر",
            "価格に言及しない",
            "가격을 언급하지 않음",
        ] {
            assert!(!is_english(text), "{text}");
        }
        for (text, is_foreign) in [
            ("Der Preis ist nicht genannt.", true),
            ("我们承诺退款。", true),
            ("Lisbon", false),
            ("42", false),
            ("The price is 10 euros; see Müller & Söhne.", false),
            ("fn main() { let x = 1; }", false),
            ("", false),
        ] {
            assert_eq!(is_foreign_text(text), is_foreign, "{text}");
        }
    }
}
