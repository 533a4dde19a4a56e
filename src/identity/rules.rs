//! The rules in force, and what they make of a function.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use sha2::{Digest, Sha256};

use super::built_in::{BUILT_IN, BuiltIn};
use super::compiled::{Circle, CompiledRule, settle};
use super::rule::{Field, Origin, Rule};
use super::{Class, Identity, NO_NAME, hash_part};
use crate::events::{FunctionDef, Kind};

/// The rules in force, ready to be applied.
pub struct Rules {
    all: Vec<Rule>,
    /// By field: the rules, and their places in `all`.
    fields: [(Vec<CompiledRule>, Vec<usize>); 4],
    digest: [u8; 32],
}

/// A rule that cannot be in force.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It is no regular expression.
    #[error("{pattern}: {reason}")]
    Pattern {
        /// Which of the rules, from 0.
        rule: usize,
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: regex::Error,
    },
    /// With others or alone, it changes a text again and again.
    #[error("the rules for {text} do not end: they still change it after 32 rounds")]
    Circle {
        /// One of the rules, from 0.
        rule: usize,
        /// The text.
        text: String,
    },
}

impl Refused {
    /// Which of the rules, from 0.
    #[must_use]
    pub fn rule(&self) -> usize {
        match self {
            Self::Pattern { rule, .. } | Self::Circle { rule, .. } => *rule,
        }
    }
}

impl From<&BuiltIn> for Rule {
    fn from(rule: &BuiltIn) -> Self {
        Self {
            origin: Origin::BuiltIn,
            about: rule.about.to_owned(),
            field: rule.field,
            files: rule.files.to_owned(),
            pattern: rule.pattern.to_owned(),
            replacement: rule.replacement.to_owned(),
        }
    }
}

/// The digest of the built-in rules alone.
#[must_use]
pub fn built_in_digest() -> [u8; 32] {
    static DIGEST: LazyLock<[u8; 32]> = LazyLock::new(|| {
        digest(BUILT_IN.iter().map(|rule| {
            [
                rule.field.word(),
                rule.files,
                rule.pattern,
                rule.replacement,
            ]
        }))
    });
    *DIGEST
}

fn digest<'r>(rules: impl Iterator<Item = [&'r str; 4]>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in rules.flatten() {
        hash_part(&mut hash, part);
    }
    hash.finalize().into()
}

impl Rules {
    /// The built-in rules alone.
    #[must_use]
    pub fn built_in() -> Self {
        Self {
            all: BUILT_IN.iter().map(Rule::from).collect(),
            fields: by_field(
                BUILT_IN
                    .iter()
                    .map(|rule| (rule.field, CompiledRule::built_in(rule))),
            ),
            digest: built_in_digest(),
        }
    }

    /// The user's rules, and after them the built-in ones.
    ///
    /// # Errors
    /// When a pattern is no regular expression.
    pub fn with(user: Vec<Rule>) -> Result<Self, Refused> {
        Self::new(
            user.into_iter()
                .chain(BUILT_IN.iter().map(Rule::from))
                .collect(),
        )
    }

    /// These rules, in this order.
    ///
    /// # Errors
    /// When a pattern is no regular expression.
    pub fn new(all: Vec<Rule>) -> Result<Self, Refused> {
        let mut compiled = Vec::with_capacity(all.len());
        for (at, rule) in all.iter().enumerate() {
            // A rule that this program knows is made when it is needed.
            let known = BUILT_IN.iter().find(|known| {
                known.field == rule.field
                    && known.files == rule.files
                    && known.pattern == rule.pattern
                    && known.replacement == rule.replacement
            });
            let ready = match known {
                Some(known) => Ok(CompiledRule::built_in(known)),
                None => CompiledRule::new(rule),
            };
            let ready = ready.map_err(|reason| Refused::Pattern {
                rule: at,
                pattern: rule.pattern.clone(),
                reason,
            })?;
            compiled.push((rule.field, ready));
        }
        let parts = all.iter().map(|rule| {
            [
                rule.field.word(),
                &rule.files,
                &rule.pattern,
                &rule.replacement,
            ]
        });
        let digest = digest(parts);
        Ok(Self {
            fields: by_field(compiled.into_iter()),
            digest,
            all,
        })
    }

    /// All rules, in the order in which they are tried.
    #[must_use]
    pub fn all(&self) -> &[Rule] {
        &self.all
    }

    /// SHA-256 of the rules: identities of two databases can be compared if it is the same.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Fails if what a rule of the user's puts is changed again and again, as far as that can be seen
    /// from the rule alone: groups in it stand for nothing.
    ///
    /// # Errors
    /// Names the rule.
    pub fn come_to_rest(&self) -> Result<(), Refused> {
        let groups = Regex::new(r"\$(?:[0-9A-Za-z_]+|\{[^}]*\})");
        for rule in self.all.iter().filter(|rule| rule.origin == Origin::User) {
            let text = match &groups {
                Ok(groups) => groups.replace_all(&rule.replacement, ""),
                Err(_) => Cow::Borrowed(&*rule.replacement),
            };
            let function = match rule.field {
                Field::Name => FunctionDef::named(&text),
                Field::Module => FunctionDef {
                    module: &text,
                    ..FunctionDef::named("f")
                },
                Field::File => FunctionDef {
                    file: &text,
                    ..FunctionDef::named("f")
                },
                Field::Container => FunctionDef {
                    kind: Kind::Thread,
                    ..FunctionDef::named(&text)
                },
            };
            self.try_identity(&function)?;
        }
        Ok(())
    }

    /// The identity of a function. A text whose rules turn in a circle stays as it is.
    #[must_use]
    pub fn identity<'f>(&self, function: &FunctionDef<'f>) -> Identity<'f> {
        self.checked(function, &mut |_, _| ())
    }

    /// The identity of a function.
    ///
    /// # Errors
    /// When the rules of one of its texts turn in a circle.
    pub fn try_identity<'f>(&self, function: &FunctionDef<'f>) -> Result<Identity<'f>, Refused> {
        let mut refused = None;
        let identity = self.checked(function, &mut |rule, text| {
            refused = Some(Refused::Circle {
                rule,
                text: text.to_owned(),
            });
        });
        refused.map_or(Ok(identity), Err)
    }

    // benches/instructions.sh counts what identities cost by the name of this function.
    #[inline(never)]
    fn checked<'f>(
        &self,
        function: &FunctionDef<'f>,
        circle: &mut dyn FnMut(usize, &str),
    ) -> Identity<'f> {
        if function.kind.is_container() {
            return self.container(function, circle);
        }
        let mut file = normal_path(function.file);
        let module = self.settled(
            Field::Module,
            function.module,
            &mut Cow::Borrowed(""),
            circle,
        );
        let mut name = self.settled(Field::Name, function.name, &mut file, circle);
        if name.contains('\'')
            && (is_object(&module) || is_object(function.module))
            && !is_haskell(&file)
        {
            name = Cow::Owned(self.parts(&name, &mut file, circle));
        }
        let (name, file) = if is_nameless(&name, &file)
            || is_place_in(function.module, function.name)
        {
            (Cow::Borrowed(NO_NAME), Cow::Borrowed(""))
        } else {
            let file = match normal_path(&file) {
                Cow::Borrowed(_) => file,
                Cow::Owned(normal) => Cow::Owned(normal),
            };
            let settled = match &file {
                Cow::Borrowed(file) => {
                    self.settled(Field::File, file, &mut Cow::Borrowed(""), circle)
                }
                Cow::Owned(file) => {
                    let settled = self.settled(Field::File, file, &mut Cow::Borrowed(""), circle);
                    Cow::Owned(settled.into_owned())
                }
            };
            (name, settled)
        };
        Identity {
            class: Class::Code,
            name,
            module,
            file,
        }
    }

    fn container<'f>(
        &self,
        function: &FunctionDef<'f>,
        circle: &mut dyn FnMut(usize, &str),
    ) -> Identity<'f> {
        let settled = self.settled(
            Field::Container,
            function.name.trim(),
            &mut Cow::Borrowed(""),
            circle,
        );
        let name = match settled {
            name if name.trim().is_empty() => Cow::Owned(format!("{} *", function.kind.name())),
            name if name.trim().len() < name.len() => Cow::Owned(name.trim().to_owned()),
            name => name,
        };
        Identity {
            class: Class::Container,
            name,
            module: Cow::Borrowed(""),
            file: Cow::Borrowed(""),
        }
    }

    /// A name that a profiler has joined of a function, its callers and levels of recursion, with
    /// apostrophes between: `fib'2'main`. Rules hold for each part; levels are no part of it.
    fn parts(
        &self,
        name: &str,
        file: &mut Cow<'_, str>,
        circle: &mut dyn FnMut(usize, &str),
    ) -> String {
        let is_level =
            |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let parts: Vec<Cow<'_, str>> = name
            .split('\'')
            .filter(|part| !is_level(part))
            .map(|part| self.settled(Field::Name, part, file, circle))
            .collect();
        parts.join("'")
    }

    fn settled<'t>(
        &self,
        field: Field,
        text: &'t str,
        file: &mut Cow<'_, str>,
        circle: &mut dyn FnMut(usize, &str),
    ) -> Cow<'t, str> {
        let (rules, places) = &self.fields[field as usize];
        let last = (field == Field::Name).then_some(without_hash as fn(&str) -> Option<&str>);
        settle(rules, text, file, last).unwrap_or_else(|Circle(at)| {
            circle(places[at], text);
            Cow::Borrowed(text)
        })
    }
}

/// Rules by the field that they change.
fn by_field(
    rules: impl Iterator<Item = (Field, CompiledRule)>,
) -> [(Vec<CompiledRule>, Vec<usize>); 4] {
    let mut fields: [(Vec<CompiledRule>, Vec<usize>); 4] = Default::default();
    for (place, (field, rule)) in rules.enumerate() {
        let (compiled, places) = &mut fields[field as usize];
        compiled.push(rule);
        places.push(place);
    }
    fields
}

/// The name without the hash of Rust's older mangling.
fn without_hash(name: &str) -> Option<&str> {
    let (path, hash) = name.rsplit_once("::h")?;
    let is_hash = hash.len() == 16
        && hash
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_hash && !path.is_empty()).then_some(path)
}

/// Windows paths with `/` between folders and a small letter for the drive, however they are written: as
/// `C:\a.js`, `\\?\C:\a.js`, `/c:/a.js` and `file:///c%3A/a.js`.
fn normal_path(path: &str) -> Cow<'_, str> {
    let Some((drive, rest, is_address)) = split_drive(path) else {
        // Rust's standard library on Windows is in `/rustc/HASH\library`.
        let is_windows = path.starts_with(r"\\") || path.starts_with("/rustc/");
        if !is_windows || !path.contains('\\') {
            return Cow::Borrowed(path);
        }
        let share = path.strip_prefix(r"\\?\UNC\");
        let path = share.map_or_else(|| path.to_owned(), |share| format!(r"\\{share}"));
        return Cow::Owned(path.replace('\\', "/"));
    };
    // What follows these signs in an address is no part of the path.
    let rest = match rest.find(['?', '#']) {
        Some(end) if is_address => &rest[..end],
        _ => rest,
    };
    if drive.is_ascii_lowercase() && path.len() == rest.len() + 2 && !rest.contains('\\') {
        return Cow::Borrowed(path);
    }
    let drive = drive.to_ascii_lowercase();
    Cow::Owned(format!("{drive}:{}", rest.replace('\\', "/")))
}

/// The letter of the drive of a Windows path, what follows its colon, and whether the path is written as
/// an address.
fn split_drive(path: &str) -> Option<(char, &str, bool)> {
    let address = path
        .strip_prefix("file:///")
        .or_else(|| path.strip_prefix("file://"))
        .or_else(|| path.strip_prefix("file:/"));
    let heads = [r"\\?\", "//?/", "/"];
    let plain = || heads.iter().find_map(|head| path.strip_prefix(head));
    let bare = address.or_else(plain).unwrap_or(path);
    let mut letters = bare.chars();
    let drive = letters.next().filter(char::is_ascii_alphabetic)?;
    let after = letters.as_str();
    let rest = [":", "%3A", "%3a"]
        .iter()
        .find_map(|colon| after.strip_prefix(colon))?;
    rest.starts_with(['/', '\\'])
        .then_some((drive, rest, address.is_some()))
}

fn is_haskell(file: &str) -> bool {
    [".hs", ".lhs"].iter().any(|end| file.ends_with(end))
}

/// Whether a module is a program or library of native code.
fn is_object(module: &str) -> bool {
    ["/", "./"].iter().any(|start| module.starts_with(start))
        || [":/", ":\\"].iter().any(|drive| module.contains(drive))
        || [".so", ".dll", ".dylib", ".exe", ".o"]
            .iter()
            .any(|end| module.ends_with(end))
}

/// An address, or one of the words that profilers write where they know no name.
fn is_nameless(name: &str, file: &str) -> bool {
    const WORDS: [&str; 10] = [
        NO_NAME,
        "",
        "[unknown]",
        "<unknown>",
        "(unknown)",
        "unknown",
        "??",
        "???",
        "[no stack]",
        "(no debug info)",
    ];
    const WITHOUT_FILE: [&str; 4] = ["(anonymous)", "<anonymous>", "<Anonymous>", "<lambda>"];
    let is_address = name.strip_prefix("0x").is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    let is_unknown_at = name
        .strip_prefix("[unknown <")
        .is_some_and(|rest| rest.ends_with(">]"));
    is_address
        || is_unknown_at
        || WORDS.contains(&name)
        || (file.is_empty() && WITHOUT_FILE.contains(&name))
}

/// Whether a name is a place in a module that has no symbols: `server+0x2222` of `/usr/bin/server`.
fn is_place_in(module: &str, name: &str) -> bool {
    let Some((object, digits)) = name.rsplit_once("+0x") else {
        return false;
    };
    !module.is_empty()
        && module.rsplit(['/', '\\']).next() == Some(object)
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
