//! The rules that are built in: what compilers, linkers, runtimes and operating systems add to names and
//! paths, and what is left of it in an identity.
//!
//! Each rule takes away what one build, process or machine has made up: a hash, a number, an address,
//! a version. A number that stays would be worse than one that changes: after a closure is put in
//! front of another one, `main.func2` is the name of what was `main.func1`. No rule may match its own
//! result, or that of another rule: tests try all of them on all names of the samples and on all pairs
//! of suffixes.

use super::rule::Field;

/// A rule that is built in.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltIn {
    /// What the rule takes away, in words.
    pub(super) about: &'static str,
    pub(super) field: Field,
    /// Extensions of the source files in which the rule holds, with blanks between; `-` for rows
    /// without a file. Empty: all rows.
    pub(super) files: &'static str,
    /// Where none of these texts occurs, the pattern does not match. Empty: unknown.
    pub(super) needs: &'static [&'static str],
    /// Where the last byte is none of these, the pattern does not match. Empty: unknown.
    pub(super) ends: &'static str,
    /// A regular expression of the package regex. What its group `file` matches is the file of a
    /// function that has none; what its group `nfc` matches is put in normalization form C of Unicode.
    pub(super) pattern: &'static str,
    /// What is put for what was matched; `$1` or `${1}` is a group.
    pub(super) replacement: &'static str,
}

const ANY: &str = "";
/// Files that compilers of native code read; the suffixes of their clones are names of methods
/// elsewhere (`module.cold`).
const NATIVE: &str =
    "- c cc cpp cxx c++ h hh hpp hxx inl ipp tcc m mm rs s S asm d zig f f90 swift pyx";
const RUST: &str = "- rs";
const GO: &str = "- go s";
const JVM: &str = "- java kt scala groovy clj";
const HASKELL: &str = "- hs lhs";
const PYTHON: &str = "py pyx <frozen";

const DIGIT: &str = "0123456789";
const HEX: &str = "0123456789abcdef";
const DIGITS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
const NOTHING: &[&str] = &[];

/// Parts of a rule: the field, where it holds, what it needs, and the ends of what it matches.
type Where = (Field, &'static str, &'static [&'static str], &'static str);

const fn rule(
    about: &'static str,
    (field, files, needs, ends): Where,
    pattern: &'static str,
    replacement: &'static str,
) -> BuiltIn {
    BuiltIn {
        about,
        field,
        files,
        needs,
        ends,
        pattern,
        replacement,
    }
}

const fn name(files: &'static str, needs: &'static [&'static str], ends: &'static str) -> Where {
    (Field::Name, files, needs, ends)
}

const fn module(needs: &'static [&'static str], ends: &'static str) -> Where {
    (Field::Module, ANY, needs, ends)
}

const fn file(needs: &'static [&'static str], ends: &'static str) -> Where {
    (Field::File, ANY, needs, ends)
}

const fn container(needs: &'static [&'static str], ends: &'static str) -> Where {
    (Field::Container, ANY, needs, ends)
}

/// A program or library by its path: what another checkout, another machine or a temporary folder has before its name is none of it.
const PATH: &str = r"^(?:(?:/|\.{1,2}/)(?:.*/)?|(?:[A-Za-z]:[\\/]|\\\\)(?:.*[\\/])?)([^\\/]+)$";
const LIBRARY: &str = r"^[^:]*/([^/]+\.(?:so|dylib|dll|node|ko))$";

const NIX: &str = r"^/nix/store/[0-9a-z]{32}-([a-zA-Z_][0-9A-Za-z_.+]*?(?:-[a-zA-Z_][0-9A-Za-z_.+]*?)*)(?:-[0-9][0-9A-Za-z_.+-]*)?/";
const CONTAINER_ROOT: &str = r"^/var/lib/(?:docker|containers)/.+?/(?:merged|diff)/";
const OTHER_ROOT: &str = r"^/proc/[0-9]+/(?:root)/";

/// All rules, in the order in which they are tried.
#[rustfmt::skip] // A table is read line by line.
pub(super) const BUILT_IN: &[BuiltIn] = &[
    // Places in names, as converters to folded stacks write them.
    rule("gprof -l: line and address", name(ANY, &[" @ "], ")"), r"^(.+) \((?P<file>[^()]+):[0-9]+ @ [0-9a-f]+\)$", "$1"),
    rule("py-spy: file and line", name(ANY, &[" ("], ")"), r"^(.+) \((?P<file>(?:[^()]|\([^()]*\))+):[0-9]+\)$", "$1"),
    rule("rbspy: file and line", name(ANY, &[" - "], DIGIT), r"^(.+) - (?:(?P<file>.+\.rb)|unknown|-e|\(eval\)):[0-9]+$", "$1"),
    rule("tracing-flame: file and line", name(ANY, &[".rs:"], DIGIT), r"^(.+?):(?P<file>[^:]+\.rs):[0-9]+$", "$1"),
    rule("pyinstrument and austin: file and line", name(ANY, &[" "], DIGIT), r"^(.+) (?P<file>/[^:]+|[^ :/]+\.[a-z]+):[0-9]+$", "$1"),
    rule("line after the name of a Python function", name(PYTHON, &[":"], DIGIT), r"^([^: ]+):[0-9]+$", "$1"),
    rule("PHP: line of a closure", name(ANY, &["{closure:"], "}"), r"^(.*\{closure:.+?)(?::[0-9]+(?:-[0-9]+)?|\([0-9]+\))\}$", "$1}"),
    rule("Perl: line of nameless code", name(ANY, &["__ANON__["], ""), r"(__ANON__\[.+?):[0-9]+\]", "$1]"),
    rule("Perl: line of a BEGIN block", name(ANY, &["BEGIN@"], ""), r"BEGIN@[0-9]+", "BEGIN@*"),
    rule("Python and Ruby: address of an object", name(ANY, &[" at 0x", ":0x"], ""), r"( at |#<[0-9A-Za-z_:]+:)0x[0-9a-f]+", "${1}*"),
    // Native code.
    rule("gperftools: address after the name", name(ANY, &["<0"], ">"), r"<[0-9a-f]{16}>$", ""),
    rule("offset in a symbol", name(NATIVE, &["+0x"], HEX), r"^(.+)\+0x[0-9a-f]+$", "$1"),
    rule("clones of gcc and LLVM", name(NATIVE, &["."], DIGIT), r"(.)\.(?:part|constprop|isra|lto_priv|clone|llvm|__uniq|specialized|__part|cold)\.[0-9]+$", "$1"),
    rule("cold part, jump table, alias", name(NATIVE, &[".cold", ".warm", ".cfi", ".localalias"], ""), r"(.)\.(?:cold|warm|cfi|cfi_jt|localalias)$", "$1"),
    rule("OpenMP: number of an outlined region", name(NATIVE, &["_omp_fn.", "omp_outlined"], DIGIT), r"\.(_omp_fn|omp_outlined|omp_outlined_debug__)\.[0-9]+$", ".$1.*"),
    rule("version of a symbol", name(NATIVE, &["@"], ".0123456789"), r"(.)@@?[A-Za-z][A-Za-z0-9_]*_[0-9][0-9.]*$", "$1"),
    rule("C++: number of a lambda or nameless type", name(ANY, &[")#", "type#"], ""), r"(\)|\{unnamed type)#[0-9]+\}", "$1#*}"),
    rule("Clang: number of a lambda or nameless type", name(ANY, &["'lambda", "'unnamed"], ""), r"'(lambda|unnamed)[0-9]*'", "'$1*'"),
    rule("Clang: number of a lambda without a name", name(NATIVE, &["$_"], ""), r"\$_[0-9]+", "$$_*"),
    rule("MSVC: number or hash of a lambda", name(ANY, &["<lambda_"], ""), r"<lambda_[0-9a-f]+>", "<lambda_*>"),
    rule("MSVC: nameless namespace", name(ANY, &["?A0x"], ""), r"\?A0x[0-9A-Fa-f]{8}", "?A0x*"),
    rule("number of a block", name(NATIVE, &["_block_invoke"], ""), r"_block_invoke(?:[._][0-9]+)?$", "_block_invoke.*"),
    rule("Swift: number of a closure", name(ANY, &["closure #"], ""), r"closure #[0-9]+", "closure #*"),
    rule("Zig: number of nameless code", name(ANY, &["__anon_"], ""), r"__anon_[0-9]+", "__anon_*"),
    rule("OCaml: stamp", name(ANY, &["caml"], DIGIT), r"^(caml[0-9A-Za-z_']+(?:__|\.)[0-9A-Za-z_']+?)_[0-9]+$", "${1}_*"),
    // Rust.
    rule("Rust: closure, impl and constant, of both manglings", name(ANY, &["{{"], ""), r"\{\{(closure|impl|constant|shim)\}\}", "{$1}"),
    rule("Rust: number of a closure, impl or constant", name(ANY, &["#"], ""), r"\{([a-z]+(?:[:.][a-z_]+)?)#[0-9]+\}", "{$1}"),
    rule("Rust: disambiguator of a crate", name(ANY, &["["], ""), r"([A-Za-z_][0-9A-Za-z_]*)\[[0-9a-f]{8,16}\]", "$1"),
    rule("Rust: disambiguator of a crate in a symbol", name(ANY, &["Cs"], ""), r"^(_R[0-9A-Za-z_]*?)Cs[0-9A-Za-z]+_", "${1}C_"),
    rule("Rust: type of an inherent impl", name(RUST, &[">::"], ""), r"^<([A-Za-z_][0-9A-Za-z_:]*(?:<[^<>]*>)?)>::", "$1::"),
    // Go.
    rule("Go: shape of a generic function", name(ANY, &["[go.shape."], ""), r"\[go\.shape\.(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\]", "[...]"),
    rule("Go: number of a closure", name(GO, &[".func", ".gowrap", ".deferwrap"], ""), r"^((?:[^ :(]|\(\*?[^ :()]+\))+)\.(func|gowrap|deferwrap)[0-9]+", "$1.$2*"),
    rule("Go: number of a closure in a closure", name(GO, &[".func*."], ""), r"(\.func\*(?:\.\*)*)\.[0-9]+", "$1.*"),
    rule("Go: body of a loop over a function", name(GO, &["-range"], ""), r"-range[0-9]+", "-range*"),
    rule("Go: number of init", name(GO, &[".init."], ""), r"^([^ :(]+)\.init\.[0-9]+", "$1.init.*"),
    // Java and its relatives.
    rule("Java: number and address of a lambda class", name(ANY, &["$$Lambda$"], ""), r"\$\$Lambda\$[0-9]+(?:[/+.]0x[0-9a-f]+(?:\.[0-9]+)?|/[0-9]+)?", "$$$$Lambda*"),
    rule("Java: address of a lambda class", name(ANY, &["$$Lambda"], ""), r"\$\$Lambda(?:[/+.]0x[0-9a-f]+(?:\.[0-9]+)?|/[0-9]+)", "$$$$Lambda*"),
    rule("Java: address of a hidden class", name(ANY, &["/0x", "+0x", ".0x"], ""), r"(\$[0-9A-Za-z_]+)[/+.]0x[0-9a-f]{6,}(?:\.[0-9]+)?", "$1/*"),
    rule("Java: number of a lambda", name(JVM, &["lambda$"], ""), r"lambda\$([^$./ ]*)\$[0-9]+", "lambda$$$1$$*"),
    rule("Kotlin: number of a lambda", name(JVM, &["$lambda"], ""), r"\$lambda[-$][0-9]+", "$$lambda$$*"),
    rule("Scala: number of a function", name(JVM, &["$anonfun$"], ""), r"\$anonfun\$([^$./ ]+)\$[0-9]+", "$$anonfun$$$1$$*"),
    rule("Java: number of a nameless class", name(JVM, &["$"], ""), r"([0-9A-Za-z_])\$[0-9]+([.$]|$)", "$1$$*$2"),
    rule("Java: number of a generated accessor", name(ANY, &["Accessor"], ""), r"(Generated[A-Za-z]*Accessor)[0-9]+", "$1*"),
    rule("Java: number of a proxy", name(ANY, &["$Proxy"], ""), r"\$Proxy[0-9]+", "$$Proxy*"),
    rule("Java: hash of a generated class", name(ANY, &["CGLIB$$", "HibernateProxy$", "ByteBuddy$"], ""), r"(CGLIB\$\$|HibernateProxy\$|ByteBuddy\$)[0-9a-zA-Z]{6,}", "$1*"),
    // .NET.
    rule(".NET: number of a closure", name(ANY, &["__"], ""), r"(<[0-9A-Za-z_.]*>[a-z]__)[0-9][0-9_]*", "$1*"),
    rule(".NET: number of a closure class", name(ANY, &["<>c__DisplayClass"], ""), r"(<>c__DisplayClass)[0-9][0-9_]*", "$1*"),
    // Lisp and Haskell.
    rule("SBCL: number of a generated body", name(ANY, &["\""], ""), r#"("[A-Z][A-Z-]*?)-?[0-9]+""#, "$1*\""),
    rule("GHC: unique of a constant", name(HASKELL, &["CAF:"], ""), r"^(CAF:.+)_[rs][0-9A-Za-z]{2,6}$", "${1}_*"),
    rule("GHC: number of a floated expression", name(HASKELL, &["lvl"], ""), r"^(CAF:)?(lvl)[0-9]+(_\*)?$", "$1$2*$3"),
    // Modules: programs, libraries, packages.
    rule("deleted file", module(&[" (deleted)"], ")"), r" \(deleted\)$", ""),
    rule("folder of a program or library", module(&["/", "\\"], ""), PATH, "$1"),
    rule("folder of a library", module(&["/"], "ebltnoy"), LIBRARY, "$1"),
    rule("version of a shared library", module(&[".so."], DIGIT), r"\.so(?:\.[0-9]+)+$", ".so"),
    rule("version in a library's name", module(&["-"], "o"), r"-[0-9]+(?:\.[0-9]+)+\.so$", ".so"),
    rule("version of a dynamic library", module(&[".dylib"], "b"), r"(?:\.[0-9]+)+\.dylib$", ".dylib"),
    rule("Python: version and machine of an extension", module(&[".cpython-", ".pypy", ".abi3", ".cp3"], "od"), r"\.(?:cpython-[0-9]+[0-9A-Za-z_-]*|pypy[0-9]+-[0-9A-Za-z_-]+|abi3|cp[0-9]+-[0-9A-Za-z_]+)\.(so|pyd)$", ".$1"),
    rule("ending of a program", module(&[".exe", ".EXE"], "eE"), r"(?i)(.)\.exe$", "$1"),
    rule("cargo: hash of a build", module(&["-"], ""), r"(.)-[0-9a-f]{16}(\.(?:so|dylib|dll))?$", "$1$2"),
    rule("perf: map of a process", module(&["perf-"], "p"), r"^perf-[0-9]+\.map$", "perf-*.map"),
    rule("perf: code that was compiled while a process ran", module(&["jitted-"], "o"), r"^jitted-[0-9]+-[0-9]+\.so$", "jitted-*.so"),
    rule("samply: code that was compiled while a thread ran", module(&["[JIT] tid "], DIGIT), r"^\[JIT\] tid [0-9]+$", "[JIT]"),
    rule("kernel: start of its symbols", module(&["[kernel.kallsyms]_"], ""), r"^(\[kernel\.kallsyms\])_(?:text|stext)$", "$1"),
    rule("kernel of a guest", module(&["[guest.kernel.kallsyms."], "]"), r"^\[guest\.kernel\.kallsyms\.[0-9]+\]$", "[guest.kernel.kallsyms]"),
    rule("BPF: tag of a program", module(&["bpf_prog_"], ""), r"^bpf_prog_[0-9a-f]{16}", "bpf_prog_*"),
    rule("version of a module", module(&["@"], ""), r"@v?[0-9][0-9A-Za-z_.+-]*", ""),
    rule("major version of a Go module", module(&["/v"], ""), r"^([0-9A-Za-z_.-]+\.[a-z]+/.+)/v[0-9]+(/|$)", "$1$2"),
    // Files.
    rule("Unicode: letters and their marks as one character (NFC)", file(NOTHING, ""), r"^(?s)(?P<nfc>.*[^\x00-\x7f].*)$", "$nfc"),
    rule("folder of another root", file(&["/proc/"], ""), OTHER_ROOT, "/"),
    rule("folder of a container", file(&["/merged/", "/diff/"], ""), CONTAINER_ROOT, "/"),
    rule("folder of the Nix store", file(&["/nix/store/"], ""), NIX, "$1/"),
    rule("Rust: commit of the standard library", file(&["/rustc/"], ""), r"^/rustc/[0-9a-f]{40}/", "/rustc/"),
    rule("Rust: folder and version of a crate", file(&["/registry/src/"], ""), r"^.*/registry/src/[^/]+/([A-Za-z][0-9A-Za-z_-]*?)-[0-9][0-9A-Za-z_.+-]*/", "$1/"),
    rule("Rust: folder of a crate from git", file(&["/git/checkouts/"], ""), r"^.*/git/checkouts/([A-Za-z][0-9A-Za-z_-]*?)-[0-9a-f]{16}/[0-9a-f]{7,}/", "$1/"),
    rule("Python: folder of installed packages", file(&["-packages/"], ""), r"^.*/(?:site|dist)-packages/", ""),
    rule("Python: version of the standard library", file(&["/lib/python"], ""), r"^.*/lib/python[0-9][0-9.]*/", "python/"),
    rule("Ruby: folder and version of a gem", file(&["/gems/"], ""), r"^.*/gems/([A-Za-z][0-9A-Za-z_-]*?)-[0-9][0-9A-Za-z_.]*/", "$1/"),
    rule("Node: folder of installed packages", file(&["/node_modules/"], ""), r"^(?:file://)?.*/node_modules/", ""),
    rule("Go: version of a module", file(&["@v"], ""), r"@v[0-9][0-9A-Za-z_.+-]*", ""),
    rule("Go: folder of downloaded modules", file(&["/pkg/mod/"], ""), r"^.*/pkg/mod/", ""),
    rule("hash in the name of a bundle", file(&["."], "s"), r"\.(?:[0-9][0-9a-f]{5,31}|[a-f][0-9][0-9a-f]{4,30}|[a-f]{2}[0-9][0-9a-f]{3,29}|[a-f]{3}[0-9][0-9a-f]{2,28}|[a-f]{4}[0-9][0-9a-f]{1,27}|[a-f]{5}[0-9][0-9a-f]{0,26})(\.(?:chunk\.)?m?js)$", ".*$1"),
    rule("hash at the end of the name of a bundle", file(&["/assets/", "/chunks/"], "s"), r"(/(?:assets|chunks)/(?:[^/]*-)?[^/]*[0-9A-Za-z])-(?:[0-9A-Z][0-9A-Za-z_]{7}|[a-z_][0-9A-Z][0-9A-Za-z_]{6}|[a-z_]{2}[0-9A-Z][0-9A-Za-z_]{5}|[a-z_]{3}[0-9A-Z][0-9A-Za-z_]{4}|[a-z_]{4}[0-9A-Z][0-9A-Za-z_]{3}|[a-z_]{5}[0-9A-Z][0-9A-Za-z_]{2}|[a-z_]{6}[0-9A-Z][0-9A-Za-z_]|[a-z_]{7}[0-9A-Z])(\.m?js)$", "$1-*$2"),
    rule("query of an address", file(&["http://", "https://"], ""), r"^(https?://[^?#]+)[?#].*$", "$1"),
    // Containers.
    rule("time of day", container(DIGITS, ""), r"(?: at)? ?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}[:.-][0-9]{2}(?:[:.-][0-9]{2})?(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?", ""),
    rule("what a part is for, by numbers", container(&[":"], DIGIT), r"(?: for)? [0-9]+(?::[0-9]+)+$", ""),
    rule("number of a process before the name", container(&["["], ""), r"^\[[0-9]+\] +", ""),
    rule("number after a slash", container(&["-?/"], ""), r"-\?/[0-9]+", ""),
    rule("number of a thread beside its quoted name", container(&["Thread "], "\""), r#"^Thread [0-9]+ "(.*)"$"#, "$1"),
    rule("only a number", container(NOTHING, DIGIT), r"^[PT]?[0-9]+(?:[:.][0-9]+)*$", ""),
    rule("a thread by its number", container(NOTHING, "0123456789abcdefABCDEF)"), r"^(?i-u:thread|process|pid|tid)[ _#:-]*(?:\(?[0-9]+\)?|0x[0-9a-f]+|[0-9a-f]{4,})$", ""),
    rule("number of a process in brackets", container(NOTHING, ")]"), r" ?[\[(](?:(?:pid|tid)[ :=]*)?[0-9]+[\])]$", ""),
    rule("number after the name", container(&[" "], DIGIT), r" +(?:(?:pid|tid)[ :=]*)?[0-9]+(?:\.[0-9]+)?$", ""),
    rule("address", container(&["0x"], ""), r"0x[0-9a-f]+", "*"),
    rule("number of a pool's thread", container(DIGITS, ""), r"([Pp]ool|[Tt]hread|[Ww]orker|ThreadPoolExecutor)([-_#])[0-9]+(?:_[0-9]+)?", "$1$2*"),
    rule("number of a thread of the garbage collector", container(&["GC Thread#"], ""), r"^(GC Thread)#[0-9]+", "$1"),
];
