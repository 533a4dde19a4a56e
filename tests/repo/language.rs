//! The language of comments, names and commits does not get worse (STYLE.md, "Language").
//!
//! Each check counts the locations that break a rule. `tests/repo/language.txt` stores the counts, and the
//! test fails unless they are equal: a count that has risen names a location to rewrite, and a count that has
//! fallen must be stored. `UPDATE_DOCS=1 cargo test --test repo language::` lowers the stored counts and
//! adds the checks that the file lacks; it raises none. A count may be raised by hand, with the reason in
//! the commit message.

#![expect(
    clippy::disallowed_methods,
    reason = "reads the stored counts, and the variable that allows rewriting them"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::time::SystemTime;

use regex::Regex;

use crate::files::{Source, at_root, read, sources};
use crate::support::tools;
use crate::tidy::assert_empty;
use crate::tidy::reading::{Kind, Token};

/// The file with the stored counts.
const COUNTS: &str = "tests/repo/language.txt";

/// Number of locations that a failure shows with their text. Other locations are counted per file.
const SHOWN_LOCATIONS: usize = 40;

/// A rule that a regular expression can find broken.
struct Pattern {
    name: &'static str,
    /// The remedy, in the imperative.
    advice: &'static str,
    scope: &'static [Scope],
    pattern: &'static str,
    /// Matches that this pattern matches, too, are not counted.
    except: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    /// Comments that start with `///` or `//!`.
    Docs,
    /// All other comments in Rust, SQL, JavaScript, CSS, Python and shell.
    Comments,
    /// Paragraphs of Markdown documents, without code.
    Documents,
    /// String literals of the program.
    Strings,
}

const CODE: &[Scope] = &[Scope::Docs, Scope::Comments];
const PROSE: &[Scope] = &[Scope::Docs, Scope::Comments, Scope::Documents];

const PATTERNS: &[Pattern] = &[
    Pattern {
        name: "begins-with-what",
        advice: "begin with a verb in the third person or a noun phrase: \"Returns the ..\", \"The maximum ..\"",
        scope: CODE,
        pattern: r"(?m)^(?:What|Who|Whatever)\b",
        except: None,
    },
    Pattern {
        name: "begins-without-antecedent",
        advice: "repeat the noun that the comment is about",
        scope: CODE,
        pattern: r"(?m)^(?:The same|Those|These|They|Others?|The others?|Of|All of|As (?:it|a))\b",
        except: None,
    },
    Pattern {
        name: "is-said",
        advice: "name the actor and the act: reports, prints, returns",
        scope: PROSE,
        pattern: r"\b(?:is|are|be) (?:said|told)\b(?: apart)?|\b(?:there is|what) to say\b",
        except: Some(" apart$"),
    },
    Pattern {
        name: "are-one",
        advice: "write \"are equal\" or \"match\"",
        scope: PROSE,
        pattern: r"\b(?:are|were) one(?: *[,.;:)]| (?:where|whatever|if|by)\b)|\bis one whatever\b",
        except: None,
    },
    Pattern {
        name: "so-many",
        advice: "write \"N\" or \"the given number of\"",
        scope: PROSE,
        pattern: r"\bso (?:many|much)\b(?: (?:that|as|so|more|to|have)\b)?",
        except: Some(" (?:that|as|so|more|to|have)$"),
    },
    Pattern {
        name: "as-x-has-it",
        advice: "write \"as in X\" or \"in the form of X\"",
        scope: PROSE,
        pattern: r"\bas \w+(?: \w+)? (?:has|have) (?:it|them)\b",
        except: None,
    },
    Pattern {
        name: "is-no",
        advice: "write \"is not a\"",
        scope: PROSE,
        pattern: IS_NO,
        except: Some(NOT_IS_NO),
    },
    Pattern {
        name: "is-no-in-strings",
        advice: "write \"is not a\"",
        scope: &[Scope::Strings],
        pattern: IS_NO,
        except: Some(NOT_IS_NO),
    },
    Pattern {
        name: "archaic",
        advice: "write again, must or will, further, respect",
        scope: PROSE,
        pattern: r"\b(?:anew|shall|farther|heed|heeds|heeded)\b",
        except: None,
    },
    Pattern {
        name: "stands-in",
        advice: "write \"is in\", \"follows\" or \"precedes\"",
        scope: PROSE,
        pattern: r"\bstands? (?:in|at|behind|beside|there|before|after)\b",
        except: None,
    },
];

const IS_NO: &str =
    r"(?:here )?\b(?:is|are|was) (?:no|none)\b(?: (?:longer|more|such|need|way)\b)?";
const NOT_IS_NO: &str = "^here | (?:longer|more|such|need|way)$";

/// Words whose rate in documentation comments must not rise: the name of the check, the pattern and the advice.
const RATES: &[(&str, &str, &str)] = &[
    (
        "what-per-10000-words",
        r"\b[Ww]hat\b",
        "name the thing instead of a clause with `what`",
    ),
    (
        "one-per-10000-words",
        r"\b[Oo]ne\b",
        "repeat the noun instead of `one`",
    ),
];

/// Type names that each parser may declare.
const PARSER_TYPES: [&str; 12] = [
    "Column", "Error", "Frame", "Header", "Item", "Node", "Reader", "Record", "Row", "Table",
    "Tree", "Writer",
];

/// Type names that do not say what a value is: participles, adjectives, adverbs, pronouns and verbs.
const VAGUE_TYPES: &str = "
    About After All Another Any Apart Appended Applied Around Ascending Asked At Awaited Away Back Before Begun Behind
    Below Beside Best Between Beyond Both Bounded By ByDefinition Called Calling Carried CarriedOut Changed Checked
    Choosing Chosen Cleared Closed Coming Compacted Compared Confirmed Copied Counted Covered Declared Decoded Derived
    Differing Distinct Doing Done Drawn Dropped Each EachCost EachFile EachRow Earlier Either Else Ended Ending Enough
    Entered Every Everything Exact Expected Exported Filled First Fitted Fitting Followed Foreign Found Free Fresh
    Fits Further Given Gone Grouped Growing HasCalls Heard Heeded Heedful Held Here Hidden Holds Identified Imported Inner
    Inside IsOver Joined Judged Kept Known Labelled Large Last Late Later Latest Left LeftOut Looked Looks Lost Made Many
    Marked Matched Meant Measured Merged Mine Misread Missing Most Moved Named Needed Needs Neither New Newer Next None NoRuns Nothing
    Now Numbered Occupied Of OfFunction OfRun Old Older Once OneAhead OneByOne Only Open Opened Other Others Ours Outer
    Outside Own Packed Paid Parsed Passed PassedOver Past Pending Picked PickedBy Place Places Planned Previous Printed Pruned
    Raised Reached Read Reading Recorded Refused Renamed Repeated Reserved Rest Ruled Same Seen Selected Sent Served
    Several Shared Showing Shown Since Small Some Something Sorted Sparse Split Stated Stopped Stored Such Tagged
    Taken Takes Tested That There These Thing Things This Those Told Took Top United Unkept Unknown Unstable Until Unwritten
    Up Used Waiting Walked Wanted Wants Watched Way Ways What Where Which Who Whole Whose Within Without Writing
    Written";

/// Names of local variables that say how a value was obtained, not what it is.
const VAGUE_LOCALS: [&str; 4] = ["found", "known", "said", "there"];

/// Types of numeric constants.
const NUMERIC: [&str; 14] = [
    "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "u128", "u16", "u32", "u64", "u8",
    "usize",
];

/// Words that the documentation of a numeric constant begins with, after an article.
const MEASURES: &str = r"^(?:The |An? )?(?i:maximum|minimum|number of|size|length|width|height|depth|capacity|default|threshold|limit|lower bound|upper bound|timeout|interval|duration|delay|offset|index|position|address|version|identifier|id|tag|code|exit code|opcode|flag|mask|bit|bits|seed|factor|ratio|rate|share|weight|probability|confidence|significance|precision|tolerance|marks)\b";

/// The last commit before the rule about subjects.
const BASE: &str = "439887714100d23143c368964b219082bf46237b";

/// Maximum characters of the subject of a commit.
const SUBJECT_CHARACTERS: usize = 60;

/// Verbs that a subject may begin with after `area:`.
const VERBS: &str = "
    accept add adjust align allow allocate anchor append apply assert attach avoid batch bind bound build bump cache
    call cap change check choose clamp clarify clean clear close collapse collect combine compare compile compress
    compute configure connect convert copy correct count cover create cut declare decode decouple deduplicate default
    define delay delete demangle deny deprecate derive describe detect disable disallow display distinguish document
    drop embed emit enable encode enforce ensure escape estimate exclude exit expand expect explain export expose
    extend extract fail filter find fix flatten flush fold follow forbid format free gate generate give group guard handle hash
    hide highlight hold ignore implement import improve include increase index infer inline insert inspect install
    intern introduce invert isolate join keep label leave limit link list load lock log lower make map mark match measure
    merge migrate mock move name normalize note number omit open optimize order overlap override pack page parse pass
    pin port prefer prepare preserve prevent print provide prune publish put query quote raise read record recognize record
    redirect reduce refactor refer refuse register reject release rely remove rename render reorder repair repeat replace
    report require reserve reset resolve respect restore restrict retain retry return reuse revert review reword rewrite
    rotate round run sample satisfy save say scale scan select send separate serialize serve set shorten show shrink simplify skip
    sort specify speed spill split start state stop store stream strip suggest support suppress swap switch sync take terminate test
    tighten time tolerate trace track translate treat trim truncate try turn unify unset update upgrade use validate
    verify warn widen wrap write";

/// A location that breaks a rule.
struct Location {
    path: &'static str,
    line: usize,
    text: String,
}

/// The result of a check.
struct Measurement {
    name: &'static str,
    advice: &'static str,
    count: usize,
    locations: Vec<Location>,
}

/// Text of many files with the locations that it is from. Each comment, paragraph or literal is a line.
#[derive(Default)]
struct Prose {
    text: String,
    /// Start of each source line in the text, with its file and line number.
    lines: Vec<(usize, &'static str, usize)>,
}

impl Prose {
    fn add(&mut self, path: &'static str, line: usize, text: &str, continues: bool) {
        self.text.push(if continues { ' ' } else { '\n' });
        self.lines.push((self.text.len(), path, line));
        self.text.push_str(text);
    }

    /// Returns the matches of a pattern that the other pattern does not match.
    fn locations(&self, pattern: &str, except: Option<&str>) -> Vec<Location> {
        let except = except.map(compile);
        let is_exception = |text: &str| except.as_ref().is_some_and(|except| except.is_match(text));
        let mut locations = Vec::new();
        for matched in compile(pattern).find_iter(&self.text) {
            if is_exception(matched.as_str()) {
                continue;
            }
            let line = self.lines.partition_point(|line| line.0 <= matched.start()) - 1;
            let (start, path, number) = self.lines[line];
            let end = self
                .lines
                .get(line + 1)
                .map_or(self.text.len(), |next| next.0);
            let text = self.text[start..end.max(matched.end())].trim().to_owned();
            locations.push(Location {
                path,
                line: number,
                text,
            });
        }
        locations
    }
}

/// Compiles a pattern for ASCII: Unicode classes are slow without optimization.
fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?-u:{pattern})")).expect("a valid pattern")
}

/// Returns whether a file is code whose comments and names are checked.
fn is_checked_code(source: &Source) -> bool {
    const FOLDERS: [&str; 7] = [
        "src/",
        "crates/",
        "tests/",
        "benches/",
        "web/",
        "queries/",
        "migrations/",
    ];
    const DATA: [&str; 5] = [
        "tests/cases/",
        "tests/samples/",
        "tests/old/",
        "web/made/",
        "web/vendor/",
    ];
    FOLDERS.iter().any(|folder| source.is_in(folder))
        && !DATA.iter().any(|folder| source.is_in(folder))
}

/// Returns whether a file is part of the program.
fn is_program(source: &Source) -> bool {
    source.is_in("src/") || source.is_in("crates/")
}

/// Returns whether a file is a document for users or developers.
fn is_document(source: &Source) -> bool {
    source.is_a("md") && (source.is_in("docs/") || !source.path.contains('/'))
}

/// Collects the prose of all files.
fn prose() -> BTreeMap<Scope, Prose> {
    let mut prose: BTreeMap<Scope, Prose> = BTreeMap::new();
    for source in sources() {
        if is_document(source) {
            add_document(source, prose.entry(Scope::Documents).or_default());
        } else if is_checked_code(source) {
            let mut last: (usize, &str) = (0, "");
            for (line, text) in comments(source) {
                let marker =
                    &text[..text.len() - text.trim_start_matches(['/', '!', '-', '#', '*']).len()];
                let scope = if matches!(marker, "///" | "//!") {
                    Scope::Docs
                } else {
                    Scope::Comments
                };
                let continues = last == (line - 1, marker);
                last = (line, marker);
                let text = text[marker.len()..].trim();
                prose
                    .entry(scope)
                    .or_default()
                    .add(&source.path, line, text, continues);
            }
            if is_program(source) && source.is_a("rs") {
                let strings = prose.entry(Scope::Strings).or_default();
                for token in source
                    .tokens()
                    .iter()
                    .filter(|token| token.kind == Kind::Text)
                {
                    strings.add(
                        &source.path,
                        token.line,
                        &token.text.replace('\n', " "),
                        false,
                    );
                }
            }
        }
    }
    prose
}

/// Returns the lines of comments with their numbers, and not the code blocks in them.
fn comments(source: &'static Source) -> Vec<(usize, &'static str)> {
    let mut comments: Vec<(usize, &str)> = Vec::new();
    if source.is_a("rs") || source.is_a("sql") {
        for token in source
            .tokens()
            .iter()
            .filter(|token| token.kind == Kind::Comment)
        {
            comments.extend((token.line..).zip(token.text.lines()));
        }
    } else {
        let markers: &[&str] = match source.path.rsplit_once('.') {
            Some((_, "js" | "css")) => &["//", "/*", "*"],
            Some((_, "py" | "sh")) => &["#"],
            _ => &[],
        };
        let lines = (1..).zip(source.text.lines().map(str::trim));
        let is_comment = |line: &str| markers.iter().any(|marker| line.starts_with(marker));
        comments.extend(lines.filter(|(_, line)| is_comment(line)));
    }
    let mut is_code = false;
    comments.retain(|(_, text)| {
        let is_fence = text.contains("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    comments
}

/// Adds the paragraphs of a document, without code.
fn add_document(source: &'static Source, prose: &mut Prose) {
    let (mut is_code, mut continues) = (false, false);
    for (line, text) in (1..).zip(source.text.lines()) {
        let is_fence = text.trim_start().starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || text.is_empty() || text.starts_with("    ") {
            continues = false;
            continue;
        }
        let without_code: Vec<&str> = text.split('`').step_by(2).collect();
        prose.add(&source.path, line, &without_code.join("`"), continues);
        continues = true;
    }
}

/// The names that the checks count.
#[derive(Default)]
struct Names {
    /// Declarations of types by crate and name.
    types: BTreeMap<(String, &'static str), Vec<Location>>,
    vague_types: Vec<Location>,
    locals: Vec<Location>,
    tests: Vec<Location>,
    constants: Vec<Location>,
}

impl Names {
    fn collect() -> Self {
        let vague: BTreeSet<&str> = VAGUE_TYPES.split_whitespace().collect();
        let measures = compile(MEASURES);
        let mut names = Self::default();
        for source in sources().filter(|source| source.is_a("rs") && is_checked_code(source)) {
            names.add(source, &vague, &measures);
        }
        names
    }

    fn add(&mut self, source: &'static Source, vague: &BTreeSet<&str>, measures: &Regex) {
        let crate_name: Vec<&str> = source.path.split('/').take(2).collect();
        let crate_name = if source.is_in("crates/") {
            crate_name.join("/")
        } else {
            String::new()
        };
        let tokens = source.tokens();
        let location = |token: &Token<'_>, text: String| Location {
            path: &source.path,
            line: token.line,
            text,
        };
        let (mut depth, mut is_test) = (0_usize, false);
        let mut doc: Option<&Token<'static>> = None;
        for (at, token) in tokens.iter().enumerate() {
            let following = |count: usize| tokens.get(at + count).map_or("", |token| token.text);
            match (token.kind, token.text) {
                (Kind::Comment, text) if text.starts_with("///") => {
                    let is_first = at == 0
                        || !tokens[at - 1].text.starts_with("///")
                        || tokens[at - 1].line + 1 != token.line;
                    if is_first {
                        doc = Some(token);
                    }
                }
                (Kind::Sign, "{") => (depth, doc) = (depth + 1, None),
                (Kind::Sign, "}") => (depth, doc) = (depth.saturating_sub(1), None),
                (Kind::Sign, ";") => doc = None,
                (Kind::Sign, "#") if following(1) == "[" && following(2) == "test" => {
                    is_test = true;
                }
                (Kind::Word, "fn") if is_test => {
                    is_test = false;
                    let name = following(1);
                    if is_vague_test(name) {
                        self.tests.push(location(token, format!("fn {name}")));
                    }
                }
                (Kind::Word, "let") => {
                    let name = if following(1) == "mut" {
                        following(2)
                    } else {
                        following(1)
                    };
                    if VAGUE_LOCALS.contains(&name) {
                        self.locals.push(location(token, format!("let {name}")));
                    }
                }
                (Kind::Word, "const") if following(2) == ":" && NUMERIC.contains(&following(3)) => {
                    let text = doc.map(|doc| doc.text.trim_start_matches('/').trim());
                    if let Some(text) = text.filter(|text| !measures.is_match(text)) {
                        self.constants
                            .push(location(token, format!("{}: {text}", following(1))));
                    }
                }
                (Kind::Word, kind @ ("struct" | "enum" | "union" | "trait" | "type"))
                    if is_program(source) =>
                {
                    let name = tokens.get(at + 1).filter(|name| name.kind == Kind::Word);
                    let name = name.map_or("", |name| name.text);
                    // An associated type has the name that its trait gives it.
                    let is_associated = kind == "type" && depth > 0;
                    if is_associated || !name.starts_with(|first: char| first.is_ascii_uppercase())
                    {
                        continue;
                    }
                    if vague.contains(name) {
                        self.vague_types
                            .push(location(token, format!("{kind} {name}")));
                    }
                    let declared = self.types.entry((crate_name.clone(), name)).or_default();
                    declared.push(location(token, format!("{kind} {name}")));
                }
                _ => {}
            }
        }
    }

    /// Returns the declarations of the types that a crate declares three times or more.
    fn repeated_types(&mut self) -> Vec<Location> {
        let types = std::mem::take(&mut self.types).into_iter();
        types
            .filter(|((_, name), locations)| locations.len() > 2 && !PARSER_TYPES.contains(name))
            .flat_map(|(_, locations)| locations)
            .collect()
    }
}

/// Returns whether the name of a test is a clause about a thing that it does not name.
fn is_vague_test(name: &str) -> bool {
    let starts = ["what_", "who_", "which_", "where_"];
    let ends = ["_said", "_told"];
    starts.iter().any(|start| name.starts_with(start)) || ends.iter().any(|end| name.ends_with(end))
}

/// Runs all checks.
fn measure() -> Vec<Measurement> {
    let prose = prose();
    let mut measurements = Vec::new();
    let mut add = |name, advice, locations: Vec<Location>| {
        measurements.push(Measurement {
            name,
            advice,
            count: locations.len(),
            locations,
        });
    };
    for pattern in PATTERNS {
        let scopes = pattern.scope.iter().filter_map(|scope| prose.get(scope));
        let locations = scopes.flat_map(|prose| prose.locations(pattern.pattern, pattern.except));
        add(pattern.name, pattern.advice, locations.collect());
    }
    let mut names = Names::collect();
    add(
        "constant-without-measure",
        "begin with Maximum, Minimum, Number of, Size of, Default or Threshold, and give the unit",
        std::mem::take(&mut names.constants),
    );
    add(
        "type-declared-three-times",
        "give the type a name that occurs once in the crate",
        names.repeated_types(),
    );
    add(
        "vague-type",
        "name the type with a noun that says what a value is",
        names.vague_types,
    );
    add(
        "vague-local",
        "name the value: `matches`, `run`",
        names.locals,
    );
    add(
        "vague-test",
        "name the test subject_condition_expectation",
        names.tests,
    );
    let docs = &prose[&Scope::Docs];
    let words = docs.text.split_ascii_whitespace().count();
    for (name, pattern, advice) in RATES {
        let locations = docs.locations(pattern, None);
        measurements.push(Measurement {
            name,
            advice,
            count: locations.len() * 10_000 / words,
            locations,
        });
    }
    measurements
}

/// Returns the stored counts by check.
fn stored_counts(text: &str) -> BTreeMap<String, usize> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let count = |line: &str| {
        let (name, count) = line.split_once(' ').expect("a name and a count");
        (name.to_owned(), count.trim().parse().expect("a count"))
    };
    lines.map(count).collect()
}

/// Describes the locations of a check, those in the most recently changed files first.
fn describe(locations: &[Location]) -> String {
    let mut by_file: BTreeMap<&str, Vec<&Location>> = BTreeMap::new();
    for location in locations {
        by_file.entry(location.path).or_default().push(location);
    }
    let changed = |path: &str| {
        let changed = fs::metadata(at_root(path)).and_then(|file| file.modified());
        changed.unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let mut files: Vec<(&str, Vec<&Location>)> = by_file.into_iter().collect();
    files.sort_by_key(|(path, _)| std::cmp::Reverse(changed(path)));
    let (mut text, mut shown) = (String::new(), 0);
    for (path, locations) in files {
        let _ = writeln!(text, "  {path}: {}", locations.len());
        for location in locations.iter().take(SHOWN_LOCATIONS.saturating_sub(shown)) {
            let _ = writeln!(text, "    {path}:{}: {}", location.line, location.text);
        }
        shown += locations.len();
    }
    text
}

#[test]
fn language_counts_do_not_rise() {
    let text = read(COUNTS);
    let mut stored = stored_counts(&text);
    let may_update = std::env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1");
    let mut updated: String = text
        .lines()
        .filter(|line| line.starts_with('#'))
        .fold(String::new(), |comments, line| comments + line + "\n");
    let mut faults = Vec::new();
    for Measurement {
        name,
        advice,
        count,
        locations,
    } in measure()
    {
        let before = stored.remove(name);
        let kept = before.map_or(count, |before| before.min(count));
        if before.is_some_and(|before| before < count) {
            faults.push(format!(
                "{name}: {kept} before, {count} now: {advice}. The most recently changed files come first.\n{}",
                describe(&locations)
            ));
        } else if before != Some(count) && !may_update {
            let before = before.map_or("none".to_owned(), |before| before.to_string());
            faults.push(format!(
                "{name}: {count} now, {before} in {COUNTS}: store the new count"
            ));
        }
        let _ = writeln!(updated, "{name} {kept}");
    }
    if !may_update {
        faults.extend(
            stored
                .keys()
                .map(|name| format!("{name}: there is a count, but not a check")),
        );
    }
    if may_update && updated != text {
        fs::write(at_root(COUNTS), updated).expect("a writable file");
    }
    assert_empty(
        "STYLE.md, \"Language\": counts must not rise. UPDATE_DOCS=1 cargo test --test repo language:: stores lower counts.",
        &faults,
    );
}

/// Returns the reason why a subject does not follow the rule.
fn subject_fault(subject: &str) -> Option<String> {
    let length = subject.chars().count();
    if length > SUBJECT_CHARACTERS {
        return Some(format!(
            "{length} characters, of at most {SUBJECT_CHARACTERS}"
        ));
    }
    let Some((_, text)) = subject.split_once(": ") else {
        return Some("expected `area: verb object`".to_owned());
    };
    let verb = text.split_whitespace().next().unwrap_or_default();
    let is_verb = VERBS.split_whitespace().any(|known| known == verb);
    (!is_verb).then(|| format!("`{verb}` is not in VERBS of tests/repo/language.rs"))
}

#[test]
fn commit_subjects_are_imperative() {
    let git = tools::require("git");
    let run = |arguments: &[&str]| {
        let mut command = tools::command_at(&git);
        command.args(arguments).current_dir(at_root(""));
        let output = command.output().expect("git starts");
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // An archive or a shallow clone does not have the base.
    let range = format!("{BASE}..HEAD");
    let Some(subjects) = run(&["log", "--no-merges", "--format=%h %s", &range]) else {
        tools::skip_unsupported("the history since the rule about subjects");
    };
    let fault = |line: &str| {
        let (_, subject) = line.split_once(' ')?;
        Some(format!("{line}: {}", subject_fault(subject)?))
    };
    let faults: Vec<String> = subjects.lines().filter_map(fault).collect();
    assert_empty("The subject of a commit is `area: verb object`.", &faults);
}

#[test]
fn subject_faults_name_the_rule() {
    let cases = [
        ("page: merge double clicks into one history entry", None),
        (
            "page: two clicks are one step",
            Some("`two` is not in VERBS of tests/repo/language.rs"),
        ),
        ("Fix things", Some("expected `area: verb object`")),
        (
            "cli: add a subject that is longer than the limit of sixty characters",
            Some("68 characters, of at most 60"),
        ),
    ];
    for (subject, expected) in cases {
        assert_eq!(subject_fault(subject).as_deref(), expected, "{subject}");
    }
}

/// Exceptions are subtracted, and a match may span two lines of a comment.
#[test]
fn patterns_match_across_lines_and_not_their_exceptions() {
    let mut prose = Prose::default();
    prose.add("a.rs", 7, "What this is", false);
    prose.add("a.rs", 8, "no one knows. There is no", true);
    prose.add("a.rs", 9, "other: it is no longer here.", true);
    prose.add("b.rs", 3, "So what", false);
    let count = |name: &str| {
        let pattern = PATTERNS
            .iter()
            .find(|pattern| pattern.name == name)
            .expect("a check");
        let locations = prose.locations(pattern.pattern, pattern.except).into_iter();
        locations
            .map(|location| (location.path, location.line))
            .collect::<Vec<_>>()
    };
    assert_eq!(count("begins-with-what"), [("a.rs", 7)]);
    assert_eq!(count("is-no"), [("a.rs", 7)]);
}
