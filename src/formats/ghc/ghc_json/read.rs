//! GHC cost-centre profiles as JSON (`-pj`)
//!
//! # What it is
//! The file that a Haskell program compiled with `-prof` writes to `PROGRAM.prof` if run with `-pj` (GHC 8.2 and later). It has totals,
//! the cost centres, and the tree of cost-centre stacks with entries, ticks of the timer and bytes allocated. Default
//! metric: `time`; also `ticks` and `alloc`.
//!
//! # How to record one
//! ```text
//! ghc -prof -fprof-auto Main.hs
//! ./Main +RTS -pj
//! ```
//!
//! # What we read
//! - All stacks, also those that never ran. Calls are the entries, and time is the ticks times their interval, divided by the
//!   processors. The file has no inherited costs: they are added up.
//! - Invalid JSON of GHC 9.0, which does not escape quotes in labels and arguments. A string ends at a quote that
//!   the next member, or the end of the list, follows. A backslash escapes only a backslash, a quote, a slash and `u`
//!   with four digits, because GHC does not escape modules, the program and, in 9.0, source spans.
//! - Trees of any depth.
//! - Cost centres by label, module and source span: two with one name are two functions. If the starts of their spans are
//!   equal, too, the second has its complete span as file.
//! - Stacks of an undeclared centre: it gets a name such as `<cc 180>` and is `pseudo`, because it may not be code of the
//!   program.
//! - Built-in centres (GC, IDLE, SYSTEM, `OVERHEAD_of`, `DONT_CARE`) below a separate root and outside the total, as in
//!   the ordinary text report of the same run. `--with-builtins` leaves them below MAIN and inside the total.
//!
//! # What we leave out
//! - `is_caf`, and the ends of source spans.
//! - Unknown members: a note counts them.
//!
//! # References
//! - GHC User's Guide, "Profiling: JSON profile format".
//! - The GHC run-time system, rts/ProfilerReportJson.c.

use std::collections::HashMap;

use super::texts::{After, Ghc};
use crate::base::error::{ImportError, Position, quote};
use crate::events::{RunFact, Severity, Sink};
use crate::formats::common::counted::Counted;
use crate::formats::common::json::Reader;
use crate::formats::format::{Confidence, Format};
use crate::formats::ghc::built_in::made_up;
use crate::formats::ghc::centres::{Centre, Centres, Costs, Stacks, Totals, WITH_BUILTINS};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "ghc_json",
    summary: "GHC time and allocation profiles, JSON (-pj)",
    revision: 2,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Json,
    options: &[KEEP_BEFORE_ERROR_OPTION, WITH_BUILTINS],
    import,
};

fn sniff(head: &[u8]) -> Confidence {
    let Some(object) = head.trim_ascii_start().strip_prefix(b"{") else {
        return Confidence::No;
    };
    let has = |member: &[u8]| memchr::memmem::find(object, member).is_some();
    if has(b"\"rts_arguments\"") || has(b"\"cost_centres\"") {
        return Confidence::Yes;
    }
    // Arguments may be longer than the head.
    let first = object.trim_ascii_start().starts_with(b"\"program\"");
    if first && has(b"\"arguments\"") {
        Confidence::Maybe
    } else {
        Confidence::No
    }
}

fn import(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let mut file = File {
        json: Reader::new(input),
        sink,
        options,
        members: Vec::new(),
        head: Head::default(),
        centres: Centres::default(),
        by_id: HashMap::new(),
        undeclared: Counted::default(),
        unknown: Counted::default(),
        text: Vec::new(),
    };
    // An error waits for the notes: `dump` shows what came before it.
    let read = file.read();
    let File {
        json,
        sink,
        centres,
        undeclared,
        unknown,
        ..
    } = file;
    centres.finish(sink);
    undeclared.note_with(sink, Severity::Warning, |count, first| {
        format!(
            "{count} cost centres of stacks are not declared (first: {first}): named by their ids"
        )
    });
    unknown.note_with(sink, Severity::Warning, |count, first| {
        format!("{count} unknown members skipped (first: {first})")
    });
    json.dialect().bare_quotes.note_with(sink, Severity::Info, |count, first| {
        format!("{count} quotes in strings are not escaped, a bug of GHC 9.0: read as part of the strings (first: \
                 {first})")
    });
    read
}

/// What the file says before the tree.
#[derive(Default)]
struct Head {
    program: String,
    /// Each after a blank, the first left out: it is the program.
    arguments: String,
    rts_arguments: String,
    capabilities: u64,
    seconds: Option<f64>,
    ticks: Option<(Position, u64)>,
    interval: Option<u64>,
    alloc: Option<u64>,
    has_centres: bool,
}

struct File<'f, 'r, 'a> {
    json: Reader<'r, 'a, Ghc>,
    sink: &'f mut dyn Sink,
    options: &'f Options,
    /// Names that were there.
    members: Vec<&'static str>,
    head: Head,
    centres: Centres,
    by_id: HashMap<u64, Centre>,
    undeclared: Counted,
    unknown: Counted,
    text: Vec<u8>,
}

/// The members of the file, in GHC's order.
const MEMBERS: [&str; 11] = [
    "program",
    "arguments",
    "rts_arguments",
    "end_time",
    "initial_capabilities",
    "total_time",
    "total_ticks",
    "tick_interval",
    "total_alloc",
    "cost_centres",
    "profile",
];

/// Those that make up the command.
const COMMAND: [&str; 3] = ["program", "arguments", "rts_arguments"];

impl File<'_, '_, '_> {
    /// Passes over a value, within which records of the reader start.
    fn skip(&mut self) -> Result<(), ImportError> {
        self.json.skip()?;
        self.sink.at(self.json.record_start());
        Ok(())
    }

    fn read(&mut self) -> Result<(), ImportError> {
        self.json.expect(b'{', "`{`, the start of the profile")?;
        let mut more = !self.json.accept(b'}')?;
        while more {
            let position = self.json.place()?;
            self.json.begin_record();
            self.sink.at(self.json.record_start());
            let name = self.json.name()?;
            match MEMBERS.iter().find(|known| known.as_bytes() == name) {
                // A second member would replace what the tree has been read with (case
                // `ghc_json/repeated-member`).
                Some(known) if self.members.contains(known) => {
                    return Err(ImportError::malformed(
                        position,
                        format!("one member `{known}`"),
                        "a second one",
                    ));
                }
                Some(known) => {
                    self.members.push(known);
                    self.member(known, position)?;
                }
                None => {
                    self.unknown.add_with(position, || quote(name));
                    self.skip()?;
                }
            }
            more = !self.json.accept(b'}')?;
            if more {
                self.json.expect(b',', "`,` or `}`")?;
            }
        }
        if !self.members.contains(&"profile") {
            return Err(ImportError::malformed(
                self.json.position(),
                "a member `profile`",
                "the end of the profile",
            ));
        }
        self.json.end()
    }

    fn member(&mut self, name: &'static str, position: Position) -> Result<(), ImportError> {
        match name {
            "program" => self.head.program = self.text()?,
            "arguments" => self.head.arguments = self.texts(1)?,
            "rts_arguments" => self.head.rts_arguments = self.texts(0)?,
            "end_time" => {
                let time = self.text()?;
                self.sink.run(RunFact::RecordedAt(&time));
            }
            "initial_capabilities" => self.head.capabilities = self.count(name)?,
            "total_time" => {
                let (text, seconds) = self.json.decimal("seconds in `total_time`")?;
                self.sink.run(RunFact::Other(name, &text));
                self.head.seconds = Some(seconds);
            }
            "total_ticks" => self.head.ticks = Some((position, self.count(name)?)),
            "tick_interval" => self.head.interval = Some(self.count(name)?),
            "total_alloc" => self.head.alloc = Some(self.count(name)?),
            "cost_centres" => self.cost_centres()?,
            _ => self.profile(position)?,
        }
        // The parts come in any order, and the run has one command: it is stated with the last of
        // them, or, where one is missing, when the tree begins.
        if COMMAND.contains(&name) && self.has_command() {
            self.command();
        }
        Ok(())
    }

    fn has_command(&self) -> bool {
        COMMAND.iter().all(|part| self.members.contains(part))
    }

    /// As the text report has it.
    fn command(&mut self) {
        let Head {
            program,
            rts_arguments,
            arguments,
            ..
        } = &self.head;
        self.sink.run(RunFact::Command(&format!(
            "{program} +RTS{rts_arguments} -RTS{arguments}"
        )));
    }

    /// A figure of the run, which is kept as the file says it, too.
    fn count(&mut self, name: &str) -> Result<u64, ImportError> {
        let count = self.json.count(name)?;
        self.sink.run(RunFact::Other(name, &count.to_string()));
        Ok(count)
    }

    fn text(&mut self) -> Result<String, ImportError> {
        self.json.text_before(After::Member, &mut self.text)?;
        Ok(escape::text(&self.text).into_owned())
    }

    /// The texts of a list but for the first ones, each after a blank.
    fn texts(&mut self, left_out: u64) -> Result<String, ImportError> {
        let mut joined = String::new();
        let mut texts = 0;
        self.json.expect(b'[', "`[`, the start of the arguments")?;
        while !self.json.accept(b']')? {
            if texts > 0 {
                self.json.expect(b',', "`,` or `]`")?;
            }
            self.json.text_before(After::Item, &mut self.text)?;
            if texts >= left_out {
                joined.push(' ');
                joined.push_str(&escape::text(&self.text));
            }
            texts += 1;
        }
        Ok(joined)
    }

    fn cost_centres(&mut self) -> Result<(), ImportError> {
        let (mut label, mut module, mut src) = (Vec::new(), Vec::new(), Vec::new());
        self.json
            .expect(b'[', "`[`, the start of the cost centres")?;
        self.head.has_centres = true;
        let mut first = true;
        while !self.json.accept(b']')? {
            if !first {
                self.json.expect(b',', "`,` or `]`")?;
            }
            first = false;
            let position = self.json.place()?;
            self.json.begin_record();
            self.sink.at(self.json.record_start());
            self.json.expect(b'{', "`{`, the start of a cost centre")?;
            src.clear();
            let mut id = None;
            let mut named = [false; 2];
            let mut more = !self.json.accept(b'}')?;
            while more {
                let at = self.json.place()?;
                match self.json.name()? {
                    b"id" => id = Some(self.json.count("id")?),
                    b"label" => {
                        self.json.text_before(After::Member, &mut label)?;
                        named[0] = true;
                    }
                    b"module" => {
                        self.json.text_before(After::Member, &mut module)?;
                        named[1] = true;
                    }
                    b"src_loc" => self.json.text_before(After::Member, &mut src)?,
                    b"is_caf" => self.skip()?,
                    other => {
                        self.unknown.add_with(at, || quote(other));
                        self.skip()?;
                    }
                }
                more = !self.json.accept(b'}')?;
                if more {
                    self.json.expect(b',', "`,` or `}`")?;
                }
            }
            let (Some(id), [true, true]) = (id, named) else {
                let expected = "a cost centre with `id`, `label` and `module`";
                return Err(ImportError::malformed(position, expected, "one without"));
            };
            let centre = self
                .centres
                .centre(self.sink, position, &label, &module, &src);
            if self.by_id.insert(id, centre).is_some() {
                return Err(ImportError::malformed(
                    position,
                    "a unique `id`",
                    id.to_string(),
                ));
            }
        }
        Ok(())
    }

    /// Says what the head amounts to.
    fn totals(&mut self, position: Position) -> Result<Totals, ImportError> {
        let missing = |name: &str| {
            ImportError::malformed(position, format!("`{name}` before `profile`"), "none")
        };
        let head = &self.head;
        let (at, ticks) = head.ticks.ok_or_else(|| missing("total_ticks"))?;
        let interval = head.interval.ok_or_else(|| missing("tick_interval"))?;
        let alloc = head.alloc.ok_or_else(|| missing("total_alloc"))?;
        // Stacks have nothing but numbers of centres. They are read as they come, so that what they
        // need has to be there (case `ghc_json/profile-first`).
        if !head.has_centres {
            return Err(missing("cost_centres"));
        }
        #[expect(clippy::cast_precision_loss, reason = "microseconds between two ticks")]
        let interval_ns = interval as f64 * 1e3;
        // Programs without -threaded say 0.
        let processors = head.capabilities.max(1);
        let totals = Totals {
            position: at,
            seconds: head.seconds,
            ticks,
            interval_ns,
            processors,
            alloc,
        };
        if !self.has_command() {
            self.command();
        }
        Ok(totals)
    }

    /// Reads the tree. Nothing is kept of an open stack: what encloses it follows from the
    /// brackets.
    fn profile(&mut self, position: Position) -> Result<(), ImportError> {
        let totals = self.totals(position)?;
        let mut stacks = Stacks::new(self.sink, totals, self.options);
        loop {
            // The start of a stack.
            let position = self.json.place()?;
            self.json.begin_record();
            self.sink.at(self.json.record_start());
            self.json.expect(b'{', "`{`, the start of a stack")?;
            // No recursion: real trees have more levels than JSON readers allow (case
            // `ghc_json/deep`), and made-up ones more than the thread's stack.
            let opened = self.members(position, &mut stacks)?;
            if opened && !self.json.accept(b']')? {
                continue;
            }
            // After the last member of a stack or after its children.
            loop {
                self.json.begin_record();
                self.sink.at(self.json.record_start());
                while !self.json.accept(b'}')? {
                    self.json.expect(b',', "`,` or `}`")?;
                    let at = self.json.place()?;
                    let name = self.json.name()?;
                    // The sink has the costs of a stack before its first child: they cannot come
                    // after it (case `ghc_json/children-first`).
                    if matches!(name, b"id" | b"entries" | b"alloc" | b"ticks" | b"children") {
                        let found = escape::text(name).into_owned();
                        return Err(ImportError::malformed(
                            at,
                            "each member once, with `children` last",
                            format!("`{found}`"),
                        ));
                    }
                    self.unknown.add_with(at, || quote(name));
                    self.skip()?;
                }
                stacks.leave(self.sink);
                if stacks.depth() == 0 {
                    stacks.finish(self.sink);
                    return Ok(());
                }
                if !self.json.accept(b']')? {
                    self.json.expect(b',', "`,` or `]`")?;
                    break;
                }
            }
        }
    }

    /// Reads a stack up to its children (true) or its last member, and enters it.
    fn members(&mut self, position: Position, stacks: &mut Stacks) -> Result<bool, ImportError> {
        const NAMES: [&str; 4] = ["id", "entries", "alloc", "ticks"];
        let mut figures = [None; 4];
        let mut has_children = false;
        let mut first = true;
        // The end is left where it is: `profile` takes it, as it does after children.
        while !has_children && !self.json.is_next(b'}')? {
            if !first {
                self.json.expect(b',', "`,` or `}`")?;
            }
            first = false;
            let at = self.json.place()?;
            let name = self.json.name()?;
            if let Some((known, figure)) = NAMES
                .iter()
                .zip(&mut figures)
                .find(|(known, _)| known.as_bytes() == name)
            {
                if figure.is_some() {
                    return Err(ImportError::malformed(
                        at,
                        format!("one member `{known}`"),
                        "a second one",
                    ));
                }
                *figure = Some(self.json.count(known)?);
            } else if name == b"children" {
                self.json.expect(b'[', "`[`, the start of the children")?;
                has_children = true;
            } else {
                self.unknown.add_with(at, || quote(name));
                self.skip()?;
            }
        }
        let [Some(id), Some(entries), Some(alloc), Some(ticks)] = figures else {
            let missing = NAMES
                .iter()
                .zip(figures)
                .find(|(_, figure)| figure.is_none())
                .map_or("", |(name, _)| *name);
            let expected = format!("a stack with `{missing}` before its children");
            return Err(ImportError::malformed(position, expected, "one without"));
        };
        let centre = if let Some(centre) = self.by_id.get(&id) {
            *centre
        } else {
            let name = made_up(id);
            let centre = Centre::undeclared(self.sink, &name);
            self.undeclared
                .add_with(position, || quote(name.as_bytes()));
            // So that the note counts centres, not stacks.
            self.by_id.insert(id, centre);
            centre
        };
        stacks.enter(
            self.sink,
            position,
            centre,
            entries,
            Costs::Exact { ticks, alloc },
        )?;
        Ok(has_children)
    }
}
