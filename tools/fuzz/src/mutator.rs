//! Mutator that knows about lines, indentation, numbers and the words of the formats.

use assize_stats::SeededRandom;
use rand::Rng as _;

/// Maximum size of an input.
const MAX_INPUT_BYTES: usize = 32 * 1024;

/// Pieces that tend to break parsers: ends of structures, unusual numbers and characters, words of the formats.
const PIECES: &[&str] = &[
    "{", "}", "[", "]", ",", ":", "- ", "\n", "\n  ", "\"", "'", "\\", "#", "&a ", "*a", "<<: *a", "!!str ",
    "|", ">-", "---\n", "...\n", "? ", "\t", "\r\n", "\u{feff}", "\u{0}", "\u{7f}", "\u{202e}", "\u{2028}",
    "😀", "e\u{301}", "\\ud800", "\\u0000", "null", "true", "false", "~", "NaN", ".inf", "-.inf", "1e999",
    "-0", "0x7fffffff", "9223372036854775808", "1e-400", "18446744073709551616", "0.1", "-1", "999999999999",
    "{{x}}", "${{ X }}", "file://", "file://**", "../", "tests:", "evalcases:", "assertions:", "criteria:",
    "input:", "id:", "rubrics:", "score_ranges:", "required:", "weight:", "min_score:", "include:",
    "type: is-json", "type: regex\nvalue: ", "turns:", "depends_on:", "execution:", "targets:", "workspace:",
    "vars:", "outcome", "\"pass\":", "\"verdict\":", "\"met\"", "\"unmet\"", "\"not_applicable\"",
    "\"score\":", "\"reason\":", "\"evidence\":", "\"results\":", "\"id\":\"c1\"", "```json\n", "```",
    "<think>", "</think>", "\"graders\":", "\"decisions\":", "\"crc\":\"00000000\"",
];

/// Maker of inputs from seeds.
#[derive(Debug)]
pub struct InputMutator<'a> {
    random: SeededRandom,
    seeds: &'a [Vec<u8>],
}

impl<'a> InputMutator<'a> {
    /// Creates the mutator of one input: the same seed and number always make the same input.
    pub fn new(seeds: &'a [Vec<u8>], seed: u64, number: u64) -> Self {
        Self { random: SeededRandom::new(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)), seeds }
    }

    /// Creates the random choices that belong to one input, such as a position in a document. They depend on
    /// the seed and number only, so a kept input gets the same ones again.
    pub fn choices(seed: u64, number: u64) -> InputMutator<'static> {
        InputMutator::new(&[], !seed, number)
    }

    /// Makes an input.
    pub fn make(&mut self) -> Vec<u8> {
        // Takes the smallest of three seeds: small inputs are faster to read and find the same bugs.
        let seeds = [(); 3].map(|()| self.pick(self.seeds));
        let mut input = seeds.into_iter().min_by_key(|seed| seed.len()).cloned().unwrap_or_default();

        // Mostly few changes, because an input that differs too much from its seed fails at the parser's first check.
        let times = [1, 1, 2, 3, 5, 9][self.below(6)];
        for _ in 0..times {
            self.change(&mut input);
            // Repeating lines of repeated lines would fill the memory.
            input.truncate(MAX_INPUT_BYTES);
        }

        input
    }

    /// Returns a number below `end`, or 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { self.random.random_range(0..end) }
    }

    fn pick<'s, T>(&mut self, list: &'s [T]) -> &'s T {
        &list[self.below(list.len())]
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        match self.below(12) {
            0 => self.flip_bit(input),
            1 => {
                let piece = self.pick(PIECES);
                input.splice(at..at, piece.bytes());
            }
            2 => {
                let piece = self.pick(PIECES);
                let end = (at + self.below(16)).min(input.len());
                input.splice(at..end, piece.bytes());
            }
            3 => {
                let end = (at + self.below(64)).min(input.len());
                input.drain(at..end);
            }
            4 => self.repeat_lines(input),
            5 => self.move_line(input),
            6 => self.indent_line(input),
            7 => self.change_number(input),
            8 => self.splice_seed(input, at),
            9 => {
                let times = 1 + self.below(200);
                let piece = self.pick(PIECES).repeat(times);
                input.splice(at..at, piece.bytes());
            }
            10 => input.truncate(at),
            _ => self.wrap_value(input),
        }
    }

    fn flip_bit(&mut self, input: &mut [u8]) {
        if !input.is_empty() {
            let at = self.below(input.len());
            input[at] ^= 1 << self.below(8);
        }
    }

    /// Returns the range of a line, with its line end.
    fn line(&mut self, input: &[u8]) -> std::ops::Range<usize> {
        let at = self.below(input.len());
        let start = input[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let end = input[at..].iter().position(|byte| *byte == b'\n').map_or(input.len(), |end| at + end + 1);
        start..end
    }

    fn repeat_lines(&mut self, input: &mut Vec<u8>) {
        let line = self.line(input);
        let times = 1 + self.below(20);
        let text = input[line.clone()].repeat(times);
        input.splice(line.end..line.end, text);
    }

    fn move_line(&mut self, input: &mut Vec<u8>) {
        let line = self.line(input);
        let text: Vec<u8> = input.drain(line).collect();
        let to = self.line(input).start;
        input.splice(to..to, text);
    }

    fn indent_line(&mut self, input: &mut Vec<u8>) {
        let line = self.line(input);
        let spaces = self.below(5);
        if self.below(2) == 0 {
            input.splice(line.start..line.start, std::iter::repeat_n(b' ', spaces));
        } else {
            let removed = input[line.clone()].iter().take(spaces).take_while(|byte| **byte == b' ').count();
            input.drain(line.start..line.start + removed);
        }
    }

    fn change_number(&mut self, input: &mut Vec<u8>) {
        let from = self.below(input.len());
        let Some(start) = input[from..].iter().position(u8::is_ascii_digit).map(|at| from + at) else {
            return;
        };
        let length = input[start..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        let number = *self.pick(&[
            "0", "-1", "1e999", "0.0000001", "99999999999999999999", "11", "10", "1.5", "00", "5e-324",
        ]);
        input.splice(start..start + length, number.bytes());
    }

    fn splice_seed(&mut self, input: &mut Vec<u8>, at: usize) {
        let other = self.pick(self.seeds);
        let line = self.line(other);
        let start = if self.below(2) == 0 { line.start } else { self.below(other.len()) };
        let end = (start + self.below(512)).min(other.len());
        input.splice(at..at, other[start..end].iter().copied());
    }

    /// Puts a part of the input into brackets, several times.
    fn wrap_value(&mut self, input: &mut Vec<u8>) {
        let start = self.below(input.len());
        let end = (start + self.below(80)).min(input.len());
        let times = 1 + self.below(120);
        let (open, close) =
            *self.pick(&[("[", "]"), ("{\"a\":", "}"), ("\"", "\""), ("- ", ""), ("{{", "}}")]);
        input.splice(end..end, close.repeat(times).bytes());
        input.splice(start..start, open.repeat(times).bytes());
    }
}
