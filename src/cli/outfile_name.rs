//! What the name of a file that is exported to says: its format, and how it is packed.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::failure::{Failure, complain};
use crate::formats::export::Export;
use crate::formats::{DRAWN_SVG, Options, export_named};

/// The format that is a picture.
const FLAME_GRAPH: &str = "flamegraph";

/// The format that dot makes a picture of.
const DOT: &str = "dot";

/// Endings that are not the name of their format.
const ENDINGS: [(&str, &str); 7] = [
    ("svg", FLAME_GRAPH),
    ("collapsed", "folded"),
    ("pb", "pprof"),
    ("pprof", "pprof"),
    ("gv", DOT),
    ("callgrind", "callgrind"),
    ("cachegrind", "callgrind"),
];

/// Endings of pictures and pages, which only programs open that show these.
const PICTURES: [&str; 9] = [
    "svg", "png", "jpg", "jpeg", "gif", "webp", "pdf", "html", "htm",
];

/// Endings of packed files that are not written.
const OTHER_PACKINGS: [&str; 8] = ["xz", "bz2", "zip", "br", "lz4", "lzma", "7z", "tgz"];

/// How an output is packed, as the end of its name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packed {
    /// As the format has it.
    AsItIs,
    Gzip,
    Zstd,
}

/// The end of a name in small letters, without the point.
fn ending(file: &Path) -> Option<String> {
    let ending = file.extension().map(OsStr::to_string_lossy);
    ending.map(|ending| ending.to_lowercase())
}

/// The name without the end that says how it is packed.
fn unpacked(file: &Path) -> &Path {
    match (ending(file).as_deref(), file.file_stem()) {
        (Some("gz" | "zst"), Some(stem)) => Path::new(stem),
        _ => file,
    }
}

/// Whether the name of a file says that it is packed, in whatever way.
pub(super) fn is_packed(file: &Path) -> bool {
    ending(file).is_some_and(|ending| {
        ["gz", "zst"].contains(&&*ending) || OTHER_PACKINGS.contains(&&*ending)
    })
}

/// The format that the name of a file asks for, if it does.
pub(super) fn format_of(file: &Path) -> Option<&'static Export> {
    let file = unpacked(file);
    let ending = ending(file)?;
    let known = ENDINGS.iter().find(|(known, _)| *known == ending);
    let name = known.map_or(&*ending, |(_, format)| format);
    // `run.speedscope.json`, as speedscope's own programs name them.
    let before = || format_of(Path::new(file.file_stem()?)).filter(|_| ending == "json");
    export_named(name).or_else(before)
}

/// Looks whether the name of a file goes with a format, and says how it is packed.
///
/// # Errors
/// If it is the name of a picture and the format is none, or it is packed in a way that is not written.
pub(super) fn packed(
    flag: &str,
    file: &Path,
    format: &Export,
    options: &Options,
) -> Result<Packed, Failure> {
    let name = file.display();
    let refused = |why: String| Err(complain(format!("{flag}: {name}: {why}"), Failure::Usage));
    let packing = ending(file);
    let packed = match packing.as_deref() {
        // Such a format is packed already, which its readers expect.
        Some("gz") if format.is_packed() => Packed::AsItIs,
        Some("gz") => Packed::Gzip,
        Some("zst") if format.is_packed() => {
            let format = format.name;
            return refused(format!(
                "{format} is compressed with gzip; use a name without .zst"
            ));
        }
        Some("zst") => Packed::Zstd,
        Some(other) if OTHER_PACKINGS.contains(&other) => {
            return refused(format!(
                "unknown compression; use .gz, .zst, or a name without .{other}"
            ));
        }
        _ => Packed::AsItIs,
    };
    let Some(picture) = ending(unpacked(file)).filter(|ending| PICTURES.contains(&&**ending))
    else {
        return Ok(packed);
    };
    let is_svg = format.name == FLAME_GRAPH || options.flag(DRAWN_SVG);
    match (is_svg, &*picture, format.name) {
        (true, "svg", _) => Ok(packed),
        (true, ..) => refused("the output is SVG; use a name that ends in .svg".to_owned()),
        (false, _, DOT) => refused(format!(
            "dot is a text format; use a name that ends in .dot, or --{DRAWN_SVG} and .svg"
        )),
        (false, "html" | "htm", format) => refused(format!(
            "{format} is not HTML; `profdb report --html {name}` writes a page"
        )),
        (false, _, format) => refused(format!(
            "{format} is not an image; `--format flamegraph` writes SVG"
        )),
    }
}

/// What to say where neither a flag nor the name of a file says in which format is written.
pub(super) fn unknown(flag: &str, file: Option<&Path>) -> Failure {
    let found = file.map_or_else(String::new, |file| format!(", found {}", file.display()));
    let ending = file
        .and_then(Path::extension)
        .map(OsStr::to_ascii_lowercase);
    let instead = match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("html" | "htm") => "`profdb report --html NAME` makes a page",
        Some("csv" | "tsv" | "json" | "jsonl" | "md" | "txt") => {
            "`profdb report data -o NAME` writes tables"
        }
        Some("parquet") => "`profdb export --format parquet --out DIR` writes a dataset",
        _ => "`profdb export --help` lists the formats",
    };
    complain(
        format!(
            "expected {flag} FORMAT, or a file name with a known extension, such as run.svg (a flame graph), run.folded, run.pb.gz{found}: {instead}"
        ),
        Failure::Usage,
    )
}

impl Packed {
    /// Lets a function write to an output, and packs what it writes.
    pub(super) fn through<E: From<io::Error>>(
        self,
        out: &mut dyn Write,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::AsItIs => write(out),
            Self::Gzip => {
                let mut packed = GzEncoder::new(out, Compression::default());
                write(&mut packed)?;
                packed.finish()?;
                Ok(())
            }
            Self::Zstd => {
                let mut packed = zstd::stream::write::Encoder::new(out, 0)?;
                write(&mut packed)?;
                packed.finish()?;
                Ok(())
            }
        }
    }
}
