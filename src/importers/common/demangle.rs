//! Names as compilers give them to linkers (`_ZN4core3fmt5write17h…E`, `_RNvC4demo4main`, `_Z3addii`), made readable. The
//! name that the file has stays as the raw name.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, Symbol};
use hashbrown::HashMap;

use crate::escape;
use crate::events::{
    Cost, Edge, Frame, FunctionDef, FunctionId, Info, Label, LabelsId, MetricId, Note, RunFact, Sample, Sink, Unit,
};

/// Bytes that a readable name may have: a few bytes can stand for any number of them.
const LONGEST: usize = 16 * 1024;

/// What parts of a name beyond ASCII are told apart by, while it is read.
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Different parts of a name beyond ASCII: half of the letters.
const MOST_PARTS: usize = LETTERS.len() / 2;

/// Passes everything on, functions by their readable names. Several raw names may read alike (instances of a generic
/// function): they stay several functions, told apart by their numbers.
pub(in crate::importers) struct Demangler<'s> {
    sink: &'s mut dyn Sink,
    known: HashMap<String, FunctionId>,
    /// How many raw names read so, by name, module and file.
    alike: HashMap<[String; 3], u32>,
}

impl<'s> Demangler<'s> {
    pub(in crate::importers) fn new(sink: &'s mut dyn Sink) -> Self {
        Self { sink, known: HashMap::new(), alike: HashMap::new() }
    }
}

/// The readable form of a name that a linker knows; `None` for other names.
fn readable(name: &str) -> Option<String> {
    let start = name.trim_start_matches('_');
    let underscores = name.len() - start.len();
    // One underscore, or two where the system puts one in front of every name.
    if !(1..=2).contains(&underscores) || !start.starts_with(['Z', 'R']) {
        return None;
    }
    let bytes = escape::bytes(name);
    if !bytes.is_ascii() {
        // An accident would be another one with other letters.
        let (one, other) = (beyond_ascii(&bytes, 0)?, beyond_ascii(&bytes, MOST_PARTS)?);
        return (one == other).then_some(one);
    }
    let mut text = Bounded(String::new());
    if let Ok(symbol) = rustc_demangle::try_demangle(name) {
        // Without the hash: the raw name has it.
        return write!(text, "{symbol:#}").is_ok().then_some(text.0);
    }
    of_cpp(&name[underscores - 1..])
}

fn of_cpp(name: &str) -> Option<String> {
    let mut text = Bounded(String::new());
    let symbol = Symbol::new(name).ok()?;
    symbol.structured_demangle(&mut text, &DemangleOptions::new()).is_ok().then_some(text.0)
}

/// The readable form of a name of C++ with letters beyond ASCII, which the library does not take. Their bytes count in the
/// lengths of a mangled name, so that ASCII of the same length takes their place while it is read: a dollar sign, which the
/// name does not have, and a letter that says which part it was.
fn beyond_ascii(name: &[u8], first: usize) -> Option<String> {
    const DOLLAR: u8 = b'$';
    const FILLER: u8 = b'x';
    if name.contains(&DOLLAR) {
        return None;
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    let mut plain = String::with_capacity(name.len());
    for part in name.chunk_by(|a, b| a.is_ascii() == b.is_ascii()) {
        if part.is_ascii() {
            plain.push_str(std::str::from_utf8(part).ok()?);
            continue;
        }
        let at = parts.iter().position(|known| *known == part).unwrap_or(parts.len());
        if at == parts.len() {
            parts.push(part);
        }
        let letter = LETTERS.get(first + at).filter(|_| at < MOST_PARTS)?;
        plain.extend([char::from(DOLLAR), char::from(*letter)]);
        // One byte alone leaves no room.
        plain.extend(std::iter::repeat_n(char::from(FILLER), part.len().checked_sub(2)?));
    }
    let underscores = plain.len() - plain.trim_start_matches('_').len();
    let text = of_cpp(plain.get(underscores - 1..)?)?;
    let mut pieces = text.as_bytes().split(|byte| *byte == DOLLAR);
    let mut bytes = pieces.next()?.to_vec();
    for piece in pieces {
        let (letter, rest) = piece.split_first()?;
        let at = LETTERS.iter().position(|known| known == letter)?.checked_sub(first)?;
        let part = *parts.get(at)?;
        let (filler, rest) = rest.split_at_checked(part.len() - 2)?;
        if filler.iter().any(|byte| *byte != FILLER) {
            return None;
        }
        bytes.extend_from_slice(part);
        bytes.extend_from_slice(rest);
    }
    Some(escape::owned(bytes))
}

/// Text up to a length.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

impl Sink for Demangler<'_> {
    fn function(&mut self, def: FunctionDef<'_>) -> FunctionId {
        let Some(name) = readable(def.name).filter(|_| def.raw_name.is_empty()) else {
            return self.sink.function(def);
        };
        let FunctionDef { kind, module, file, first_line, first_col, .. } = def;
        let key = format!("{}\0{module}\0{file}\0{}\0{first_line}\0{first_col}", def.name, kind.name());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let alike = self.alike.entry([name.clone(), module.to_owned(), file.to_owned()]).or_insert(0);
        let first_col = if first_line == 0 { *alike } else { first_col };
        *alike += 1;
        let id = self.sink.function(FunctionDef { name: &name, raw_name: def.name, first_col, ..def });
        self.known.insert(key, id);
        id
    }

    fn run(&mut self, fact: RunFact<'_>) {
        self.sink.run(fact);
    }

    fn metric(&mut self, name: &str, unit: Unit) -> MetricId {
        self.sink.metric(name, unit)
    }

    fn labels(&mut self, labels: &[Label<'_>]) -> LabelsId {
        self.sink.labels(labels)
    }

    fn enter(&mut self, frame: Frame<'_>, calls: Option<u64>) {
        self.sink.enter(frame, calls);
    }

    fn cost(&mut self, metric: MetricId, cost: Cost) {
        self.sink.cost(metric, cost);
    }

    fn leave(&mut self) {
        self.sink.leave();
    }

    fn sample(&mut self, sample: Sample<'_>) {
        self.sink.sample(sample);
    }

    fn edge(&mut self, edge: Edge<'_>) {
        self.sink.edge(edge);
    }

    fn info(&mut self, info: Info<'_>) {
        self.sink.info(info);
    }

    fn record(&mut self, what: fmt::Arguments<'_>) {
        self.sink.record(what);
    }

    fn note(&mut self, note: Note<'_>) {
        self.sink.note(note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::Recorder;

    #[test]
    fn only_what_a_compiler_has_mangled_is_made_readable() {
        let table = [
            ("_ZN4core3fmt5write17h0123456789abcdefE", Some("core::fmt::write")),
            ("__ZN4core3fmt5write17h0123456789abcdefE", Some("core::fmt::write")),
            ("_ZN4core3fmt5write17h0123456789abcdefE.llvm.1234", Some("core::fmt::write")),
            ("_RNvC6_123foo3bar", Some("123foo::bar")),
            ("_RNvNtC7mycrate3foo3bar", Some("mycrate::foo::bar")),
            ("_Z3addii", Some("add(int, int)")),
            ("__Z3addii", Some("add(int, int)")),
            (
                "_ZNSt6vectorIiSaIiEE9push_backERKi",
                Some("std::vector<int, std::allocator<int> >::push_back(int const&)"),
            ),
            ("_ZN3fooC1Ev", Some("foo::foo()")),
            ("_Z3addii.constprop.0", Some("add(int, int) [clone .constprop.0]")),
            ("main", None),
            ("", None),
            ("_", None),
            ("__libc_start_main", None),
            ("_Run", None),
            ("_Zebra", None),
            ("___Z3addii", None),
            ("Z3addii", None),
            ("_ZN4core3fmt", None),
            ("_Z3add∆", None),
            ("_ZNK7größe6Matrix6längeEv", Some("größe::Matrix::länge() const")),
            ("__ZNK7größe6Matrix6längeEv", Some("größe::Matrix::länge() const")),
            ("_ZN7größe6MatrixC1Ed", Some("größe::Matrix::Matrix(double)")),
            ("_ZN7größe12_GLOBAL__N_16Ünter2éEi", Some("größe::(anonymous namespace)::Ünter::é(int)")),
            ("_Z10äöü_ß9N7größe6MatrixERS0_3計", Some("äöü_ß9(größe::Matrix, größe::Matrix&, 計)")),
            ("_ZN3計4𝛼EiPS_", Some("計::𝛼(int, 計*)")),
            ("_ZNK7größe6Matrix6какIiEET_S2_", Some("int größe::Matrix::как<int>(int) const")),
            ("_Z10äöü_ß9i.constprop.0", Some("äöü_ß9(int) [clone .constprop.0]")),
            // The lengths are not those of the bytes.
            ("_ZNK5größe6Matrix5längeEv", None),
            // A dollar sign of its own, and one byte of Latin-1.
            ("_Z4ö$$i", None),
            (r"_Z2f\x{f6}i", None),
            (r"_Z2\x{f6}\x{df}i", Some(r"\x{f6}\x{df}(int)")),
            // Rust has ways of its own to write such names.
            ("_ZN1r13gr$uf6$$udf$e9L$ue4$nge12_$ufc$berall17ha9df10146cd3537bE", Some("r::größe::Länge::überall")),
            ("_RNvMNtCs6GmmlP4bgsG_1ru9gre_6ka8iNtB2_u8Lnge_loau10berall_2ya", Some("<r::größe::Länge>::überall")),
            ("Rain", None),
        ];
        for (name, expected) in table {
            assert_eq!(readable(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn names_that_explode_stay_as_they_are() {
        // Each parameter repeats all before it twice.
        let mut name = "_Z1fI".to_owned();
        name.push_str(&"St4pairIS_S_E".repeat(1000));
        name.push_str("EvT_");
        assert!(readable(&name).is_none_or(|text| text.len() <= LONGEST));
    }

    #[test]
    fn instances_of_a_function_stay_apart() {
        let mut told = Vec::new();
        let mut recorder = Recorder::new(|text| told.push(text));
        let mut demangler = Demangler::new(&mut recorder);
        let mut function = |name: &str| demangler.function(FunctionDef::named(name));
        let first = function("_ZN1a1b17h0000000000000001E");
        let second = function("_ZN1a1b17h0000000000000002E");
        assert_ne!(first, second);
        assert_eq!(function("_ZN1a1b17h0000000000000001E"), first);
        // Two functions of one raw name stay two.
        let number = |first_col| FunctionDef { first_col, ..FunctionDef::named("_ZL1fv") };
        assert_eq!(demangler.function(number(0)), demangler.function(number(0)));
        assert_ne!(demangler.function(number(0)), demangler.function(number(1)));
        let mut function = |name: &str| demangler.function(FunctionDef::named(name));
        assert_ne!(function("a::b.c"), first);
        let expected = [
            "function a::b, raw name _ZN1a1b17h0000000000000001E",
            "function a::b number 1, raw name _ZN1a1b17h0000000000000002E",
            "function f(), raw name _ZL1fv",
            "function f() number 1, raw name _ZL1fv",
            "function a::b.c",
        ];
        assert_eq!(told, expected);
    }
}
