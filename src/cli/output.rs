//! How and where answers are written.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};
use console::Term;

use super::args::{decimals, output_format, unit};
use super::draft::{self, Draft, folder_of};
use super::failure::{Failure, complain, database, output, unwritten};
use super::heard;
use super::inputs::Inputs;
use super::outfile_name::is_packed;
use super::pager::{self, Lines, Pager, PagerArgs};
use super::progress::{beside, end};
use super::screen::{Screen, screen};
use super::source::is_profile;
use crate::base::error::Stop;
use crate::formats::export;
use crate::report::Answer;
use crate::report::render::{Format, Layout, RenderError, Unit, plain, render};
use crate::text::separators::Separators;

/// Endings of the names of files, and the format of each. A file without an ending has the format of
/// the screen; that of a file with another ending cannot be guessed.
const ENDINGS: [(&str, Format); 10] = [
    ("txt", Format::Text),
    ("text", Format::Text),
    ("csv", Format::Csv),
    ("tsv", Format::Tsv),
    ("tab", Format::Tsv),
    ("xml", Format::Xml),
    ("json", Format::Json),
    ("jsonl", Format::JsonLines),
    ("ndjson", Format::JsonLines),
    ("md", Format::Markdown),
];

/// The flag that is added where a user of `]PROFILE` has written `-outfile`, with one dash.
pub(super) const XML_BY_DEFAULT: &str = "xml-by-default";

/// How a list or an answer is written, and where it goes.
#[derive(Clone, Debug, Args)]
pub(super) struct ListArgs {
    /// text, csv, tsv, json, jsonl, markdown or xml
    ///
    /// Lists have no XML. [default: by the name of --outfile, or text]
    #[arg(long, value_name = "FORMAT", value_parser = output_format)]
    format: Option<Format>,
    /// Write to a file; its extension selects the format
    ///
    /// Extensions are .txt, .csv, .tsv, .json, .jsonl, .md and .xml. The file is replaced when the
    /// output is complete.
    #[arg(short = 'o', long, visible_alias = "output", value_name = "FILE", value_hint = ValueHint::FilePath)]
    outfile: Option<PathBuf>,
    /// XML where the name of the file says nothing else, as the manual of `]PROFILE` has it
    #[arg(long = XML_BY_DEFAULT, hide = true)]
    xml_by_default: bool,
    /// Do not shorten text to the width of the terminal
    #[arg(long)]
    wide: bool,
    #[command(flatten)]
    pager: PagerArgs,
}

impl ListArgs {
    /// The format of the answer.
    pub(super) fn format(&self) -> Format {
        let usual = || match self.ending() {
            Some(Ending::Known(format)) => format,
            Some(_) if self.xml_by_default => Format::Xml,
            _ => Format::Text,
        };
        self.format.unwrap_or_else(usual)
    }

    /// Whether no text is to be shortened.
    pub(super) fn is_wide(&self) -> bool {
        self.wide
    }

    /// What the name of the file says; `None` without a file.
    fn ending(&self) -> Option<Ending> {
        let ending = self.outfile.as_ref()?.extension();
        let Some(ending) = ending.map(|ending| ending.to_string_lossy().to_lowercase()) else {
            return Some(Ending::None);
        };
        let known = ENDINGS.iter().find(|(name, _)| *name == ending);
        Some(known.map_or(Ending::Other, |(_, format)| Ending::Known(*format)))
    }

    /// What a list shall look like.
    pub(super) fn layout(&self) -> Layout {
        Layout {
            format: self.format(),
            width: if self.outfile.is_some() || self.wide {
                None
            } else {
                screen_width()
            },
            colours: self.outfile.is_none() && Target::Screen.has_colours(),
            ..Layout::default()
        }
    }

    /// Where it goes.
    ///
    /// # Errors
    /// When there can be no such file, it is one that is read, or its name ends as that of no format;
    /// before anything is done.
    pub(super) fn target(&self, inputs: &Inputs) -> Result<Target, Failure> {
        let Some(file) = &self.outfile else {
            let lines = if self.wide {
                Lines::Whole
            } else {
                Lines::Wrapped
            };
            return Ok(self.pager.target(lines));
        };
        let target = Target::named("--outfile", Some(file))?;
        target.spares("--outfile", inputs)?;
        let is_unclear = matches!(self.ending(), Some(Ending::Other))
            && self.format.is_none()
            && !self.xml_by_default;
        if is_packed(file) {
            return Err(complain(
                format!(
                    "--outfile: {}: reports are not compressed; use a name that ends in .csv, .json or similar",
                    file.display()
                ),
                Failure::Usage,
            ));
        }
        if is_unclear {
            let instead = match file.extension().and_then(OsStr::to_str) {
                Some("html" | "htm") => "; `profdb report --html FILE` writes an HTML page",
                Some("svg") => "; `profdb export --format flamegraph -o FILE` draws a flame graph",
                _ => "",
            };
            let names = ENDINGS.map(|(name, _)| format!(".{name}")).join(", ");
            let name = file.display();
            return Err(complain(
                format!("--outfile: {name}: expected {names}, or --format FORMAT{instead}"),
                Failure::Usage,
            ));
        }
        Ok(target)
    }
}

/// What the end of the name of a file says.
enum Ending {
    Known(Format),
    Other,
    None,
}

/// How an answer looks, and where it goes.
#[derive(Clone, Debug, Args)]
pub(super) struct OutputArgs {
    #[command(flatten)]
    list: ListArgs,
    /// Title of the output
    ///
    /// [default: the title of the run, in XML and JSON]
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    title: Option<String>,
    /// Decimals of costs and percentages in text and Markdown
    ///
    /// CSV and TSV have up to 10 significant digits. The default is 1 for percentages, and enough
    /// decimals to show a thousandth of the total for costs.
    #[arg(long, value_name = "N", value_parser = decimals, allow_negative_numbers = true)]
    decimal: Option<u8>,
    /// Unit of costs: ns, us, ms, s, B, KiB, MiB, 1, k, M
    ///
    /// Also kB, MB, GB and GiB. Applies to text, CSV, TSV and Markdown. The default fits the total
    /// in text and Markdown, and is ms, B or 1 in CSV.
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    unit: Option<Unit>,
}

impl OutputArgs {
    /// The format of the answer.
    pub(super) fn format(&self) -> Format {
        self.list.format()
    }

    /// What the answer shall look like.
    pub(super) fn layout(&self, separators: Option<Separators>, flags: Vec<String>) -> Layout {
        Layout {
            decimals: self.decimal.map(usize::from),
            unit: self.unit,
            separators: separators.unwrap_or_default(),
            title: self.title.clone(),
            flags,
            ..self.list.layout()
        }
    }

    /// Where the answer goes.
    ///
    /// # Errors
    /// When there can be no such file; before anything is done.
    pub(super) fn target(&self, inputs: &Inputs) -> Result<Target, Failure> {
        self.list.target(inputs)
    }
}

impl PagerArgs {
    /// Standard output, by way of a pager where there may be one.
    pub(super) fn target(self, lines: Lines) -> Target {
        if self.no_pager {
            Target::Screen
        } else {
            Target::Pager(lines)
        }
    }
}

/// Where a file is or will be, whatever way leads there.
fn place(file: &Path) -> PathBuf {
    fs::canonicalize(file)
        .ok()
        .or_else(|| draft::place(file))
        .unwrap_or_else(|| file.to_owned())
}

/// Where an answer goes.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Screen,
    /// The screen, by way of a pager where it is a terminal and too small.
    Pager(Lines),
    File(PathBuf),
}

impl Target {
    /// The file that a flag names; the screen without one.
    ///
    /// # Errors
    /// When there can be no such file; before anything is done.
    pub(super) fn named(flag: &str, file: Option<&Path>) -> Result<Self, Failure> {
        let Some(file) = file else {
            return Ok(Self::Screen);
        };
        let name = file.display();
        let fault = if file == Path::new("-") || file.as_os_str().is_empty() {
            Some(format!(
                "expected a file name; without {flag} the output goes to standard output"
            ))
        } else if file.is_dir() {
            Some(format!("{name} is a directory; expected a file name"))
        } else if !folder_of(file).is_dir() {
            Some(format!(
                "{name}: the directory {} does not exist",
                folder_of(file).display()
            ))
        } else {
            None
        };
        match fault {
            Some(fault) => Err(complain(format!("{flag}: {fault}"), Failure::Usage)),
            None => Ok(Self::File(file.to_owned())),
        }
    }

    /// Refuses to write to a file that is something else already, under this name or another one.
    ///
    /// # Errors
    /// When it is that; before anything is done.
    pub(super) fn is_not(&self, flag: &str, file: &Path, what: &str) -> Result<(), Failure> {
        match self {
            // There are two ways to be one file: links that lead to one place, also where nothing
            // is yet, and names of one inode.
            Self::File(own) if place(own) == place(file) || draft::are_one(own, file) => {
                let name = own.display();
                Err(complain(
                    format!("{flag}: {name} is {what}; use another file"),
                    Failure::Usage,
                ))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to write to a database, or to a file that SQLite has beside it.
    ///
    /// # Errors
    /// When it is one of them; before anything is done.
    pub(super) fn is_no_database(&self, flag: &str, database: &Path) -> Result<(), Failure> {
        self.is_not(flag, database, "the database")?;
        // SQLite names them after the file that a link leads to.
        let names = [database.to_owned(), place(database)];
        names
            .iter()
            .flat_map(|name| BESIDE.map(|suffix| (name, suffix)))
            .try_for_each(|(database, suffix)| {
                let mut name = database.as_os_str().to_owned();
                name.push(suffix);
                self.is_not(flag, Path::new(&name), "a file of the database")
            })
    }

    /// Refuses to write to anything that is read.
    ///
    /// # Errors
    /// When the file of a flag is one of them, under this name or another one; before anything is done.
    pub(super) fn spares(&self, flag: &str, inputs: &Inputs) -> Result<(), Failure> {
        for database in &inputs.databases {
            self.is_no_database(flag, database)?;
        }
        // Pipes and terminals lose nothing, and what is not there is not read.
        let Self::File(own) = self else {
            return Ok(());
        };
        if !own.is_file() {
            return Ok(());
        }
        for file in &inputs.files {
            if file.is_dir() {
                spares_below(file, inputs.from, flag, own)?;
            } else {
                self.is_not(flag, file, "an input file")?;
            }
        }
        Ok(())
    }

    /// Returns whether the output may have colours: it goes to a terminal that has them, and `NO_COLOR`
    /// (<https://no-color.org>) is unset or empty.
    pub(super) fn has_colours(&self) -> bool {
        !matches!(self, Self::File(_))
            && !heard::is_listening()
            && io::stdout().is_terminal()
            && pager::moves_its_cursor()
            && pager::variable("NO_COLOR").is_none_or(|value| value.is_empty())
    }

    /// Writes there what a function writes: to the screen as it comes, to a file completely or not
    /// at all.
    pub(super) fn write(
        &self,
        stop: &Stop,
        content: impl FnOnce(&mut dyn Write) -> Result<(), Unwritten>,
    ) -> Result<(), Failure> {
        self.write_as(stop, |out, _| content(out))
    }

    /// Writes text that may have marks of colours as [`write`](Self::write) does.
    pub(super) fn write_coloured(
        &self,
        stop: &Stop,
        content: impl FnOnce(&mut dyn Write) -> Result<(), Unwritten>,
    ) -> Result<(), Failure> {
        self.write_with(stop, self.has_colours(), |out, _| content(out))
    }

    /// Lets a function write the output, and tells it whether a draft is thrown away if it fails.
    pub(super) fn write_as(
        &self,
        stop: &Stop,
        content: impl FnOnce(&mut dyn Write, export::Output) -> Result<(), Unwritten>,
    ) -> Result<(), Failure> {
        self.write_with(stop, false, content)
    }

    fn write_with(
        &self,
        stop: &Stop,
        has_marks: bool,
        content: impl FnOnce(&mut dyn Write, export::Output) -> Result<(), Unwritten>,
    ) -> Result<(), Failure> {
        let Self::File(file) = self else {
            if heard::is_listening() {
                let mut out = Heedful {
                    out: heard::Output,
                    stop,
                };
                let written = content(&mut out, export::Output::Stream);
                return written.map_err(|error| error.failure(stop, output));
            }
            let pager = match self {
                Self::Pager(lines) => Pager::new(*lines),
                Self::Screen | Self::File(_) => None,
            };
            let content = |out: &mut dyn Write| content(out, export::Output::Stream);
            if let Some(pager) = pager {
                return write_paged(pager, stop, has_marks, content);
            }
            let mut out = Heedful {
                out: screen(has_marks),
                stop,
            };
            let written = content(&mut out).and_then(|()| Ok(out.flush()?));
            return written.map_err(|error| error.failure(stop, output));
        };
        let name = file.display();
        write_draft(file, stop, content)?;
        let told = || {
            writeln!(
                io::stderr(),
                "Data written to: {}",
                plain(&name.to_string())
            )
        };
        let _ = beside(told);
        Ok(())
    }
}

/// Refuses to write to a profile below a folder that is read. Another file there, such as an answer of the time before, is
/// passed over by what reads the folder.
fn spares_below(
    read: &Path,
    from: Option<&'static crate::formats::Format>,
    flag: &str,
    own: &Path,
) -> Result<(), Failure> {
    let places = [own, folder_of(own)].map(|path| fs::canonicalize(path).ok());
    let is_below = fs::canonicalize(read).is_ok_and(|read| {
        let mut places = places.iter().flatten();
        places.any(|place| place.starts_with(&read))
    });
    if is_below && is_profile(own, from) {
        let (name, read) = (own.display(), read.display());
        return Err(complain(
            format!("{flag}: {name} is a profile in {read}, an input directory; use another file"),
            Failure::Usage,
        ));
    }
    Ok(())
}

/// Writes to a terminal by way of a pager.
fn write_paged(
    pager: Pager,
    stop: &Stop,
    has_marks: bool,
    content: impl FnOnce(&mut dyn Write) -> Result<(), Unwritten>,
) -> Result<(), Failure> {
    let mut out = Heedful {
        out: Screen::for_terminal(pager, has_marks),
        stop,
    };
    let written = content(&mut out).and_then(|()| Ok(out.flush()?));
    // Also after a failure: what has come can be read.
    let ended = out.out.into_inner().finish().map_err(Unwritten::Output);
    written
        .and(ended)
        .map_err(|error| error.failure(stop, output))
}

/// Writes a file completely or not at all.
///
/// # Errors
/// When it cannot be written; that has been reported.
pub(super) fn write_file(
    file: &Path,
    stop: &Stop,
    content: impl FnOnce(&mut dyn Write) -> Result<(), Unwritten>,
) -> Result<(), Failure> {
    write_draft(file, stop, |out, _| content(out))
}

fn write_draft(
    file: &Path,
    stop: &Stop,
    content: impl FnOnce(&mut dyn Write, export::Output) -> Result<(), Unwritten>,
) -> Result<(), Failure> {
    let failed = |error| unwritten(&format!("{}: cannot write it", file.display()), error);
    let draft = Draft::of(file).map_err(failed)?;
    // An output file may be a terminal by name (`/dev/tty`).
    let is_terminal = draft.is_terminal();
    if is_terminal {
        end();
    }
    let output = draft.output();
    let mut out = Heedful {
        out: Screen::new(io::BufWriter::new(draft), is_terminal, false),
        stop,
    };
    content(&mut out, output)
        .and_then(|()| Ok(out.flush()?))
        .map_err(|error| error.failure(stop, failed))?;
    out.out.into_inner().into_parts().0.finish().map_err(failed)
}

/// Where a database and the files that SQLite has beside it are or will be, whatever way leads there.
pub(super) fn places(database: &Path) -> Vec<PathBuf> {
    let database = place(database);
    let beside = |suffix: &str| {
        let mut name = database.clone().into_os_string();
        name.push(suffix);
        name.into()
    };
    std::iter::once("").chain(BESIDE).map(beside).collect()
}

/// Whether a file is one of those whose places these are. Only a file with the name of one is looked up.
pub(super) fn is_among(file: &Path, places: &[PathBuf]) -> bool {
    let has_its_name = |known: &&PathBuf| known.file_name() == file.file_name();
    places
        .iter()
        .find(has_its_name)
        .is_some_and(|known| place(file) == *known)
}

/// What SQLite adds to the names of the files that it has beside a database.
const BESIDE: [&str; 3] = ["-journal", "-wal", "-shm"];

/// An output that fails once the user has asked to stop.
struct Heedful<'s, W> {
    out: W,
    stop: &'s Stop,
}

impl<W: Write> Write for Heedful<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            // Writers repeat what fails with `ErrorKind::Interrupted`.
            return Err(io::Error::other("interrupted"));
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Why something was not written.
pub(super) enum Unwritten {
    /// The output is closed or full.
    Output(io::Error),
    /// There was nothing to write, or no more; it has been reported.
    Failed(Failure),
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Unwritten {
    fn failure(self, stop: &Stop, report: impl FnOnce(io::Error) -> Failure) -> Failure {
        match self {
            // `Heedful` makes writes fail once a stop is asked for: that is no fault of the output.
            Self::Output(_) if stop.is_set() => Failure::Interrupted,
            Self::Output(error) => report(error),
            Self::Failed(failure) => failure,
        }
    }
}

/// Writes an answer where it shall go.
pub(super) fn print(
    answer: &mut Answer<'_>,
    layout: &Layout,
    target: &Target,
    stop: &Stop,
) -> Result<(), Failure> {
    let unwritten = |error| match error {
        RenderError::Usage(message) => Unwritten::Failed(complain(message, Failure::Usage)),
        RenderError::Output(error) => Unwritten::Output(error),
        RenderError::Store(error) => Unwritten::Failed(database(error, stop)),
    };
    let content = |out: &mut dyn Write| render(answer, layout, out).map_err(unwritten);
    if layout.format == Format::Text {
        target.write_coloured(stop, content)
    } else {
        target.write(stop, content)
    }
}

/// Columns of the terminal that the output goes to, if it goes to one.
pub(super) fn screen_width() -> Option<usize> {
    let screen = Term::stdout();
    if !screen.is_term() {
        return None;
    }
    screen
        .size_checked()
        .map(|(_, columns)| usize::from(columns))
}
