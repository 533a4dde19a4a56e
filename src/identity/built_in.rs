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
    /// function that has none; what its group `nfc` matches is put in normalization form C of Unicode;
    /// what its group `hash` matches must look like a hash, and what its group `unique` matches like a number of GHC's.
    pub(super) pattern: &'static str,
    /// What is put for what was matched; `$1` or `${1}` is a group.
    pub(super) replacement: &'static str,
}

const ANY: &str = "";
/// Files that compilers of native code read; the suffixes of their clones are names of methods
/// elsewhere (`module.cold`).
const NATIVE: &str =
    "- c cc cpp cxx c++ h hh hpp hxx inl ipp tcc m mm rs s S asm d zig f f90 swift pyx";
const NATIVE_FILES: &str =
    "c cc cpp cxx c++ h hh hpp hxx inl ipp tcc m mm rs s S asm d zig f f90 swift pyx";
const RUST: &str = "- rs";
const GO: &str = "- go s";
const JVM: &str = "- java kt scala groovy clj";
const HASKELL: &str = "- hs lhs";
const PYTHON: &str = "py pyx <frozen";
const JULIA: &str = "jl";
const LUA: &str = "- lua luau";
const V8: &str = "- js mjs cjs ts tsx jsx";
/// Rows of which only the name is known: frames of folded stacks, of which some are threads or processes.
const NO_FILE: &str = "-";

const DIGIT: &str = "0123456789";
const HEX: &str = "0123456789abcdef";
const ALNUM: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const ALNUM_: &str = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ$";
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

/// A source file: by its ending, by the brackets of code that is in no file, or by its folder. A host with a port is none.
const PY_SPY: &str = r"^(.+) \((?P<file><[^()]*>|(?:[^()]|\([^()]*\))+\.(?:pyx?|pyw|pyi|pxd|pxi|[cm]|cc|cpp|cxx|c\+\+|hh?|hpp|hxx|inl|rs|go|[cm]?[jt]sx?|rb|java|kts?|scala|clj[cs]?|groovy|cs|fs|vb|php|p[lm]|lua|jl|swift|zig|hs|mli?|exs?|erl|R|S|asm|f90|nim|dart|cr|d)|(?:[A-Za-z]:)?(?:[^():]|\([^():]*\))*[/\\](?:[^():]|\([^():]*\))*):[0-9]+(?::[0-9]+)?\)$";
const AUSTIN: &str = r"^(.+) (?P<file>/[^:]+|[^ :/]+\.(?:pyx?|pyw|pyi|pxd|[cm]|cc|cpp|cxx|hh?|hpp|rs|go|[cm]?[jt]sx?|rb|java|kts?|scala|php|p[lm]|lua|jl)):[0-9]+$";
/// Suffixes that compilers and linkers give to further versions of a function, with the points before them.
const CLONE: &str = r"(.)(?:\.(?:part|constprop|isra|lto_priv|clone|llvm|__uniq|specialized|__part|cold|hot|simdclone|icf|memprof|extracted|localalias)(?:\.[0-9]+)+|\.(?:part|constprop|isra|specialized|simdclone|tm_clone|cfi_jt|localalias))$";
/// Names of methods may end so, after a point: before it there is one name, with such suffixes, or more than names have.
const COLD: &str = r"^([^./ ]+(?:\.(?:part|constprop|isra|lto_priv|clone|llvm|__uniq|specialized|__part)(?:\.[0-9]+)*)*|.*(?:::|\().*)\.(?:cold|cfi)$";
/// Clones as demanglers write them after what they have read: `[clone .isra.0]` (GNU), `(.isra.0)` (LLVM).
const CLONE_READ: &str = r"(.) (?:\[clone (?:\.(?:part|constprop|isra|lto_priv|clone|llvm|__uniq|specialized|__part|cold|hot|warm|simdclone|icf|memprof|extracted|cfi|cfi_jt|localalias)(?:\.[0-9]+)*)+\]|\((?:\.(?:part|constprop|isra|lto_priv|clone|llvm|__uniq|specialized|__part|cold|hot|warm|simdclone|icf|memprof|extracted|cfi|cfi_jt|localalias)(?:\.[0-9]+)*)+\))$";
/// Pools of threads, which number them.
const POOLS: &str = r"((?:[Pp]ool|[Tt]hread|[Ww]orker|[Ee]xec|[Ee]xecutor|[Dd]ispatcher|[Ss]cheduler|EventLoopGroup|Dummy|Process|rayon|virtual|asyncio|GC Thread|G1 Conc|G1 Refine|Runner)[-_#])[0-9]+(?:[_-][0-9]+)?";
const POOL_ROW: &str = r"^((?:\[|thread: )(?:.*[^A-Za-z])?(?:[A-Za-z]*(?:[Pp]ool|[Tt]hread|[Ww]orker|[Ee]xec|[Ee]xecutor|[Dd]ispatcher|[Ss]cheduler|EventLoopGroup|CompilerThread)|rayon|virtual|asyncio|GC Thread|G1 Conc|G1 Refine)[-_#]?)[0-9]+(?:[_-][0-9]+)?";
/// A program or library by its path: what another checkout, another machine or a temporary folder has before its name is none of it.
const PATH: &str = r"^(?:(?:/|\.{1,2}/)(?:.*/)?|(?:[A-Za-z]:[\\/]|\\\\)(?:.*[\\/])?)([^\\/]+)$";
const LIBRARY: &str = r"^[^:]*/([^/]+\.(?:so|dylib|dll|node|ko))$";

/// A name of Cython: scopes, each after its length, and an ordinal before the name.
const CYTHON: &str = r"^(__pyx_(?:pf|pw|gb)_(?:(?:1[0-9A-Za-z_]{1}|2[0-9A-Za-z_]{2}|3[0-9A-Za-z_]{3}|4[0-9A-Za-z_]{4}|5[0-9A-Za-z_]{5}|6[0-9A-Za-z_]{6}|7[0-9A-Za-z_]{7}|8[0-9A-Za-z_]{8}|9[0-9A-Za-z_]{9}|10[0-9A-Za-z_]{10}|11[0-9A-Za-z_]{11}|12[0-9A-Za-z_]{12}|13[0-9A-Za-z_]{13}|14[0-9A-Za-z_]{14}|15[0-9A-Za-z_]{15}|16[0-9A-Za-z_]{16}|17[0-9A-Za-z_]{17}|18[0-9A-Za-z_]{18}|19[0-9A-Za-z_]{19}|20[0-9A-Za-z_]{20}|21[0-9A-Za-z_]{21}|22[0-9A-Za-z_]{22}|23[0-9A-Za-z_]{23}|24[0-9A-Za-z_]{24}|25[0-9A-Za-z_]{25}|26[0-9A-Za-z_]{26}|27[0-9A-Za-z_]{27}|28[0-9A-Za-z_]{28}|29[0-9A-Za-z_]{29}|30[0-9A-Za-z_]{30}|31[0-9A-Za-z_]{31}|32[0-9A-Za-z_]{32}|33[0-9A-Za-z_]{33}|34[0-9A-Za-z_]{34}|35[0-9A-Za-z_]{35}|36[0-9A-Za-z_]{36}|37[0-9A-Za-z_]{37}|38[0-9A-Za-z_]{38}|39[0-9A-Za-z_]{39}|40[0-9A-Za-z_]{40})_)+)[0-9]*([A-Za-z_][0-9A-Za-z_]*)$";

const NIX: &str = r"^/nix/store/[0-9a-z]{32}-([a-zA-Z_][0-9A-Za-z_.+]*?(?:-[a-zA-Z_][0-9A-Za-z_.+]*?)*)(?:-[0-9][0-9A-Za-z_.+-]*)?/";
const CONTAINER_ROOT: &str = r"^/var/lib/(?:docker|containers)/.+?/(?:merged|diff)/";
const OTHER_ROOT: &str = r"^/proc/[0-9]+/(?:root)/";

/// All rules, in the order in which they are tried.
#[rustfmt::skip] // A table is read line by line.
pub(super) const BUILT_IN: &[BuiltIn] = &[
    // Places in names, as converters to folded stacks write them.
    rule("gprof -l: line and address", name(ANY, &[" @ "], ")"), r"^(.+) \((?P<file>[^()]+):[0-9]+ @ [0-9a-f]+\)$", "$1"),
    rule("V8 in perf: tier, file and position of anonymous code", name(V8, &["JS:", "LazyCompile:", "Function:", "Script:", "Eval:"], ""), r"^(?:JS|LazyCompile|Function|Script|Eval):[*~^+-]? (?P<file>[^ ].*?)(?::[0-9]+){0,2}(?:\+0x[0-9a-f]+)?$", "(anonymous)"),
    rule("V8 in perf: tier, file and position", name(V8, &["JS:", "LazyCompile:", "Function:", "Script:", "Eval:"], ""), r"^(?:JS|LazyCompile|Function|Script|Eval):[*~^+-]?([^ ].*?) (?P<file>(?:/|file:|node:|wasm:|https?:|[A-Za-z]:[\\/]).+?|[^ ]+?)(?::[0-9]+){0,2}(?:\+0x[0-9a-f]+)?$", "$1"),
    rule("V8 in perf: tier", name(V8, &["JS:", "LazyCompile:", "Function:"], ""), r"^(?:JS|LazyCompile|Function):[*~^+]([^ ]+)$", "$1"),
    rule("py-spy: file and line", name(ANY, &[" ("], ")"), PY_SPY, "$1"),
    rule("rbspy: file and line", name(ANY, &[" - "], DIGIT), r"^(.+) - (?:(?P<file>.+\.rb)|unknown|-e|\(eval\)):[0-9]+$", "$1"),
    rule("tracing-flame: file and line", name(ANY, &[".rs:"], DIGIT), r"^(.+?):(?P<file>[^:]+\.rs):[0-9]+$", "$1"),
    rule("pyinstrument and austin: file and line", name(ANY, &[" "], DIGIT), AUSTIN, "$1"),
    rule("Lua: line of a anonymous function", name(LUA, &["<"], ">"), r"^((?:function )?<[^<>:]+):[0-9]+>$", "$1>"),
    rule("line after the name of a Python function", name(PYTHON, &[":"], DIGIT), r"^([^: ]+):[0-9]+$", "$1"),
    rule("PHP: line of a closure", name(ANY, &["{closure:"], "}"), r"^(.*\{closure:.+?)(?::[0-9]+(?:-[0-9]+)?|\([0-9]+\))\}$", "$1}"),
    rule("PHP: position of an anonymous class", name(ANY, &["@anonymous"], ""), r"(@anonymous.*?):[0-9]+\$[0-9a-f]+", "$1"),
    rule("Perl: line of anonymous code", name(ANY, &["__ANON__["], ""), r"(__ANON__\[.+?):[0-9]+\]", "$1]"),
    rule("Perl: line of a BEGIN block", name("- pl pm t", &["BEGIN@"], ""), r"BEGIN@[0-9]+($|[^0-9A-Za-z_])", "BEGIN@*$1"),
    rule("Python and Ruby: address of an object", name(ANY, &[" at 0x", ":0x"], ""), r"( at |#<[0-9A-Za-z_:]+:)0x[0-9a-f]+", "${1}*"),
    // Rows of folded stacks that are threads or processes: so their whole name says.
    rule("thread of async-profiler", name(NO_FILE, &[" tid=", "[tid="], "]"), r"^\[([^\[\]].*?),? tid=[0-9]+\]$", "[$1]"),
    rule("thread of async-profiler without a name", name(NO_FILE, &["[tid="], "]"), r"^\[tid=[0-9]+\]$", "[thread]"),
    rule("thread of stackcollapse-perf", name(NO_FILE, &["/"], DIGIT), r"^([^/]+)-(?:[0-9]{3,}/[0-9]{3,}|\?/[0-9]+)$", "$1"),
    rule("process of py-spy", name(NO_FILE, &["process "], ""), r#"^process [0-9]+(?:(:)"(.*)")?$"#, "process$1$2"),
    rule("thread of py-spy", name(NO_FILE, &["thread "], ""), r#"^(?:thread \((?:0x)?[0-9A-Fa-f]+\)|thread (?:0x[0-9A-Fa-f]+|[0-9]{3,}))(?:(: )"?([^"]*)"?)?$"#, "thread$1$2"),
    rule("thread by its address", name(NO_FILE, &["Thread 0x"], ""), r#"^Thread 0x[0-9A-Fa-f]+(?: "(.*)")?$"#, "thread: $1"),
    rule("process and its number", name(NO_FILE, &[" ("], ")"), r"^([^ ():]+) \((?:pid )?[0-9]{4,}\)$", "$1"),
    rule("number of a pool's thread", name(NO_FILE, &["ool", "hread", "orker", "xec", "ispatcher", "cheduler", "Group", "rayon", "virtual", "asyncio", "G1 "], ""), POOL_ROW, "$1*"),
    // Native code.
    rule("gperftools: address after the name", name(ANY, &["<0"], ">"), r"<[0-9a-f]{16}>$", ""),
    rule("offset in a symbol", name(NATIVE, &["+0x"], HEX), r"^(.+)\+0x[0-9a-f]+(?:/0x[0-9a-f]+)?$", "$1"),
    rule("clones of gcc and LLVM", name(NATIVE, &["."], ""), CLONE, "$1"),
    rule("clones of gcc and LLVM, after a name that was read", name(NATIVE, &[" [clone .", " (."], "])"), CLONE_READ, "$1"),
    rule("C++: number of an initializer or finalizer of variables", name(ANY, &["__cxx_global_"], DIGIT), r"^(__cxx_global_(?:var_init|array_dtor))\.[0-9]+$", "$1"),
    rule("C++: first symbol of the initialization of a file", name(NATIVE, &["_GLOBAL__"], ALNUM_), r"^(_GLOBAL__(?:sub_)?[ID]_)[0-9A-Za-z_$]+$", "${1}*"),
    rule("Cython: ordinal of a function", name(ANY, &["__pyx_p", "__pyx_gb_"], ALNUM_), CYTHON, "${1}*$2"),
    rule("Numba: version and flags of a compiled function", name(ANY, &["[abi:v"], ""), r"\[abi:v[0-9]+\]\[abi:c[0-9A-Za-z_]+\]", ""),
    rule("cold part, jump table", name(NATIVE, &[".cold", ".cfi"], ""), COLD, "$1"),
    rule("cold part, jump table", name(NATIVE_FILES, &[".cold", ".warm", ".hot", ".cfi"], ""), r"(.)\.(?:cold|warm|hot|cfi)$", "$1"),
    rule("OpenMP: number of an outlined region", name(NATIVE, &["_omp_fn.", "omp_outlined"], "0123456789d_."), r"\.(_omp_fn|omp_outlined|omp_outlined_debug__)(?:\.+[0-9]+|\.)?$", ".$1.*"),
    rule("OpenMP: number of an outlined region, after a name that was read", name(NATIVE, &["_omp_fn.", "omp_outlined"], "])"), r" (\[clone |\()\.(_omp_fn|omp_outlined|omp_outlined_debug__)(?:\.+[0-9]+|\.)?([\])])$", " $1.$2.*$3"),
    rule("version of a symbol", name(NATIVE, &["@"], ""), r"(.)(?:@@[A-Za-z][A-Za-z0-9_.]*|@(?:[A-Z][A-Za-z0-9_]*_[0-9]+(?:\.[0-9]+)+|GLIBC_PRIVATE|OPENSSL_[0-9_]+[a-z]?|LIBSYSTEMD_[0-9]+))$", "$1"),
    rule("C++: number of a lambda or anonymous type", name(ANY, &[")#", "{unnamed "], ""), r"(\)|\{unnamed (?:type|class|struct|union|enum))#[0-9]+\}", "$1#*}"),
    rule("Clang: number of a lambda or anonymous type", name(ANY, &["'lambda", "'unnamed"], ""), r"(^|::|<)'(lambda|unnamed)[0-9]*'", "$1'$2*'"),
    rule("Clang: number of a lambda without a name", name(NATIVE, &["$_"], ""), r"(::|^_Z[0-9A-Za-z_]*?)\$_[0-9]+", "$1$$_*"),
    rule("Clang: number of a lambda without a name or namespace", name(NATIVE, &["$_"], ""), r"^\$_[0-9]+::", "$$_*::"),
    rule("MSVC: number or hash of a lambda", name(ANY, &["<lambda_"], ""), r"<lambda_[0-9a-f]+>", "<lambda_*>"),
    rule("MSVC: anonymous namespace", name(ANY, &["?A0x"], ""), r"\?A0x[0-9A-Fa-f]{8}", "?A0x*"),
    rule("MSVC: number of a scope", name(ANY, &["`"], ""), r"`[0-9]+'", "`*'"),
    rule("MSVC: number of a scope in a name that was read", name(ANY, &["::__l"], ""), r"::__l[0-9]+::", "::__l*::"),
    rule("MSVC: number of a handler", name(NATIVE, &["$filt$", "$fin$", "$catch$", "$dtor$"], DIGIT), r"\$(filt|fin|catch|dtor)\$[0-9]+$", "$$$1$$*"),
    rule("LLVM: number of outlined code", name(ANY, &["OUTLINED_FUNCTION_"], DIGIT), r"^OUTLINED_FUNCTION_[0-9]+$", "OUTLINED_FUNCTION_*"),
    rule("BPF: tag of a program", name(ANY, &["bpf_prog_"], ""), r"^bpf_prog_[0-9a-f]{16}", "bpf_prog_*"),
    rule("WebAssembly: number of a function", name(ANY, &["wasm-function["], ""), r"wasm-function\[[0-9]+\]", "wasm-function[*]"),
    rule("WebAssembly: hash of a module", name(ANY, &["wasm://wasm/"], ""), r"wasm://wasm/[0-9a-f]+", "wasm://wasm/*"),
    rule("number of a block", name(NATIVE, &["_block_invoke"], ""), r"_block_invoke(?:[._][0-9]+)?$", "_block_invoke.*"),
    rule("Swift: number of a closure", name(ANY, &["closure #"], ""), r"closure #[0-9]+($|[ )])", "closure #*$1"),
    rule("Swift: number of a closure in a symbol", name(ANY, &["$s", "$S"], ""), r"^(_?\$[sS][0-9A-Za-z_*]*?f[uU])[0-9]*_", "$1*_"),
    rule("Swift: number of a part between suspensions", name(ANY, &["resume partial function"], ""), r"^\([0-9]+\) (suspend|await) resume partial", "$1 resume partial"),
    rule("Zig: number of anonymous code", name(ANY, &["__anon_"], ""), r"__anon_[0-9]+", "__anon_*"),
    rule("OCaml: position of anonymous code", name(ANY, &["anon_fn["], ""), r"(anon_fn\[[^:\]]+):[0-9,-]+\]", "$1]"),
    rule("OCaml: position of anonymous code in a symbol", name(ANY, &["anon_fn$5b"], ""), r"(anon_fn\$5b[^$]+)\$3a[0-9$a-f]*?\$5d", "$1$$5d"),
    rule("OCaml: stamp", name(ANY, &["caml"], DIGIT), r"^(caml[0-9A-Za-z_']+(?:__|\.)[0-9A-Za-z_'.$\[\]]+)_[0-9]+$", "${1}_*"),
    rule("OCaml: stamps of code of flambda", name(ANY, &["_code"], "e"), r"^(caml[0-9A-Za-z_']+(?:__|\.)[0-9A-Za-z_'.$\[\]]+?)(?:_[0-9]+){1,2}_code$", "${1}_*"),
    // Rust.
    rule("Rust: closure, impl and constant, of both manglings", name(ANY, &["{{"], ""), r"\{\{(closure|impl|constant|shim)\}\}", "{$1}"),
    rule("Rust: shim of a table of methods, of both manglings", name(ANY, &["{{vtable.shim}}"], ""), r"(?:::)?\{\{vtable\.shim\}\}", "::{shim:vtable}"),
    rule("Rust: number of a closure, impl or constant", name(ANY, &["#"], ""), r"(^|::|>|[a-z]\.)\{([a-z_]+(?:[:.][a-z_]+)?)#[0-9]+\}", "$1{$2}"),
    rule("Rust: disambiguator of a crate", name(RUST, &["]::"], ""), r"([A-Za-z_][0-9A-Za-z_]*)\[[0-9a-f]{5,16}\]::", "$1::"),
    rule("Rust: disambiguator of a crate in a symbol", name(ANY, &["Cs"], ""), r"^(_R[0-9A-Za-z_]*?)Cs[0-9A-Za-z]+_", "${1}C_"),
    rule("Rust: hash in a symbol of the older mangling", name(ANY, &["17h"], ""), r"^(_ZN[0-9A-Za-z_.$]*?)17h[0-9a-f]{16}E", "${1}E"),
    rule("Rust: type of an inherent impl", name(RUST, &[">::"], ""), r"^<([A-Za-z_][0-9A-Za-z_:]*(?:<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>)?)>::", "$1::"),
    // Go.
    rule("Go: shape of a generic function", name(ANY, &["[go.shape."], ""), r"\[go\.shape\.(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\]", "[...]"),
    rule("Go: number of a closure", name(GO, &[".func", ".gowrap", ".deferwrap"], ""), r"^((?:[^ :(]|\(\*?[^ :()]+\))+)\.(func|gowrap|deferwrap)[0-9]+($|[^0-9A-Za-z_])", "$1.$2*$3"),
    rule("Go: number of a closure in a closure", name(GO, &[".func*."], ""), r"(\.func\*(?:\.\*)*)\.[0-9]+", "$1.*"),
    rule("Go: body of a loop over a function", name(GO, &["-range"], ""), r"-range[0-9]+", "-range*"),
    rule("Go: major version of a module", name(GO, &["/v"], ""), r"^(github\.com/[^/ :(]+/[^/ :(]+|[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*\.[a-z]+/[^/ :(]+(?:/[^/ :(]+)?)/v(?:[2-9]|[1-9][0-9]+)([./])", "$1$2"),
    rule("Go: version of a module of gopkg.in", name(GO, &["gopkg.in/"], ""), r"^(gopkg\.in/(?:[0-9A-Za-z_-]+/)?[0-9A-Za-z_-]+)(?:\.|%2e)v[0-9]+([./])", "$1$2"),
    rule("Go: number of init", name(GO, &[".init."], ""), r"^((?:[^ :(]*/)?[a-z0-9_%~-]+(?:\.[a-z0-9_%~-]+)*)\.init\.[0-9]+", "$1.init.*"),
    rule("Go: number of a deferred call", name(ANY, &["·dwrap·"], ""), r"·dwrap·[0-9]+", "·dwrap·*"),
    rule("Go: number of a table", name(GO, &["..stmp_"], DIGIT), r"\.\.stmp_[0-9]+$", "..stmp_*"),
    // Java and its relatives.
    rule("Java: number and address of a lambda class", name(ANY, &["$$Lambda$"], ""), r"\$\$Lambda\$[0-9]+(?:[/+.]0x[0-9a-f]+(?:\.[0-9]+)?|/[0-9]+)?", "$$$$Lambda*"),
    rule("Java: address of a lambda class", name(ANY, &["$$Lambda"], ""), r"\$\$Lambda(?:[/+.]0x[0-9a-f]+(?:\.[0-9]+)?|/[0-9]+)", "$$$$Lambda*"),
    rule("Java: address of a hidden class", name(ANY, &["/0x", "+0x", ".0x"], ""), r"(\$[0-9A-Za-z_]+)[/+.]0x[0-9a-f]{6,}(?:\.[0-9]+)?", "$1/*"),
    rule("Java: number of a lambda form", name(ANY, &["LambdaForm$"], ""), r"(LambdaForm\$[0-9A-Za-z_]+)[/.][0-9]+", "$1/*"),
    rule("async-profiler: how the code was compiled", name(JVM, &["_["], "]"), r"^(.+)_\[[jik01]\]$", "$1"),
    rule("Java: number of a lambda", name(JVM, &["lambda$"], ""), r"lambda\$([^$./ ]*)\$[0-9]+($|[^0-9A-Za-z_])", "lambda$$$1$$*$2"),
    rule("Kotlin: number of a lambda", name(JVM, &["$lambda"], ""), r"\$lambda[-$][0-9]+", "$$lambda$$*"),
    rule("Groovy: number of a closure", name(JVM, &["closure"], ""), r"(\$_(?:[0-9A-Za-z_]+_)?closure)[0-9]+([.$/]|$)", "$1*$2"),
    rule("Scala: number of a function", name(JVM, &["$anonfun$"], ""), r"\$anonfun\$([^$./ ]+)\$[0-9]+", "$$anonfun$$$1$$*"),
    rule("Java: number of an anonymous class", name(JVM, &["$"], ""), r"([0-9A-Za-z_*])\$[0-9]+([.$]|$)", "$1$$*$2"),
    rule("Java: number of a class in a method", name(JVM, &["$"], ""), r"([0-9A-Za-z_*])\$[0-9]+([A-Z][0-9A-Za-z_]*(?:[.$]|$))", "$1$$*$2"),
    rule("Scala: number of a lifted try", name(JVM, &["liftedTree"], ""), r"liftedTree[0-9]+", "liftedTree*"),
    rule("Clojure: number of a function", name(JVM, &["__"], ""), r"(\$[0-9A-Za-z_]*?)__[0-9]+(?:__[0-9]+)*([.$/]|$)", "${1}__*$2"),
    rule("Clojure: number of evaluated code", name(JVM, &["$eval"], ""), r"\$eval[0-9]+([.$/]|$)", "$$eval*$1"),
    rule("Java: number of a generated accessor", name(JVM, &["Accessor"], ""), r"(Generated[A-Za-z]*Accessor)[0-9]+", "$1*"),
    rule("Java: number of a proxy", name(ANY, &["$Proxy"], ""), r"\$Proxy[0-9]+([^0-9A-Za-z_]|$)", "$$Proxy*$1"),
    rule("Java: number of a package of proxies", name(ANY, &["proxy"], ""), r"(^|[^0-9A-Za-z_])(jdk[./]proxy)[0-9]+([./])", "$1$2*$3"),
    rule("Java: hash or number of a generated class", name(ANY, &["CGLIB$$", "HibernateProxy$", "ByteBuddy$"], ""), r"(CGLIB\$\$|HibernateProxy\$|ByteBuddy\$)(?:[0-9a-zA-Z]{6,}|[0-9]+)", "$1*"),
    // .NET.
    rule(".NET: tier of compiled code", name(ANY, &["Tier", "JIT]", "itted]", "JITed]", "ptimized]", "ReadyToRun]", "FullOpts]"], "]"), r"^(.+?)(?:\[(?:PreJIT|ReadyToRun|ReJIT|QuickJitted|MinOptJ(?:itted|ITed)|FullOpts|(?:Uno|O)ptimized|(?:Optimized|Unoptimized|Quick|Instrumented|OptimizedInstrumented)?Tier[01](?:OSR|Instrumented|Optimized)?)\])+$", "$1"),
    rule(".NET: number of a closure", name(ANY, &["__"], ""), r"(<[0-9A-Za-z_.]*>[a-z]__)[0-9][0-9_]*", "$1*"),
    rule(".NET: number of a closure class", name(ANY, &["<>c__DisplayClass", "<>c__Iterator"], ""), r"(<>c__(?:DisplayClass|Iterator))[0-9][0-9_]*", "$1*"),
    rule(".NET: number of a local function", name(ANY, &["g__"], ""), r"(<[0-9A-Za-z_.<>$]*>g__[0-9A-Za-z_]+\|)[0-9]+(?:_[0-9]+)?", "$1*"),
    rule(".NET: number of an anonymous type", name(ANY, &["AnonymousType"], ""), r"(<>f__AnonymousType)[0-9]+", "$1*"),
    rule(".NET: number of a compiled expression", name(ANY, &["lambda_method"], ""), r"lambda_method[0-9]+\(", "lambda_method*("),
    rule("F#: line of a closure", name("- fs fsx", &["@"], ""), r"([0-9A-Za-z_'])@[0-9]+(?:-[0-9]+)?(\.(?:Invoke|DirectInvoke|Specialize|GenerateNext|MoveNext|\.ctor)(?:[^0-9A-Za-z_]|$))", "$1@*$2"),
    // Lisp and Haskell.
    rule("SBCL: number of a generated body", name(ANY, &["\""], ""), r#"("[A-Z][A-Z-]*?)-?[0-9]+""#, "$1*\""),
    rule("GHC: unique of a constant", name(HASKELL, &["CAF:"], ALNUM), r"^(CAF:.+)_[rs](?P<unique>[1-9][0-9A-Za-z]{2,5})$", "${1}_*"),
    rule("GHC: number of a floated expression", name(HASKELL, &["CAF:lvl"], ""), r"^CAF:lvl[0-9]+(_\*)?$", "CAF:lvl*$1"),
    rule("GHC: number of a floated expression in a file", name("hs lhs", &["lvl"], ""), r"^lvl[0-9]+(_\*)?$", "lvl*$1"),
    rule("GHC: number of a floated expression in a symbol", name(ANY, &["lvl"], "o"), r"^([A-Z][0-9A-Za-z_]*_lvl)[0-9]+(_info)$", "$1*$2"),
    rule("GHC: unique of a local function", name(HASKELL, &["$", "sat_"], ALNUM), r"^((?:[A-Z][0-9A-Za-z_.']*\.)?\$[a-z][0-9A-Za-z_']*?|sat)_[rscu](?P<unique>[1-9][0-9A-Za-z]{2,5})$", "${1}_*"),
    rule("GHC: unique of a local function in a file", name("hs lhs", &["_"], ALNUM), r"^([0-9A-Za-z_.']+?)_[rscu](?P<unique>[1-9][0-9A-Za-z]{2,5})$", "${1}_*"),
    rule("GHC: unique of a local function in a symbol", name(HASKELL, &["_info", "_entry", "_closure", "_slow"], "oyew"), r"^((?:[0-9A-Za-z_$.']*_)?[a-z$][0-9A-Za-z$']*)_[rscu](?P<unique>[1-9][0-9A-Za-z]{2,5})(_(?:con_)?(?:info|entry|closure|slow))$", "${1}_*$3"),
    // Julia, Erlang, D, Nim, Dart, Python.
    rule("Julia: number of anonymous code", name(JULIA, &["#"], ""), r"#[0-9]+", "#*"),
    rule("Julia: number of anonymous code, without a file", name(NO_FILE, &["#"], DIGIT), r"^#[0-9]+(?:#[0-9]+)*$", "#*"),
    rule("Julia: number of a compiled method", name("jl", &["jl", "julia", "jfptr", "japi1"], DIGIT), r"^(julia|jlsys|jlplt|jfptr|japi1|jlcapi|gfptrjl)_(.+)_[0-9]+$", "${1}_${2}_*"),
    rule("Julia: number of a compiled method, without a file", name(NO_FILE, &["jl", "julia", "jfptr", "japi1"], DIGIT), r"^(julia|jlsys|jlplt|jfptr|japi1|jlcapi|gfptrjl)_(.+)_[0-9]{3,}$", "${1}_${2}_*"),
    rule("Erlang: number of a fun", name(ANY, &["-fun-"], ""), r"-fun-[0-9]+-", "-fun-*-"),
    rule("Erlang: number of a comprehension", name(ANY, &["c$^"], ""), r"(-(?:lc|lbc|blc|mc)\$\^)[0-9]+/([0-9]+)-[0-9]+-", "$1*/$2-*-"),
    rule("D: number of a lambda", name("d di", &["__lambda"], ""), r"__lambda(?:[0-9]+|_L[0-9]+_C[0-9]+)", "__lambda*"),
    rule("Nim: number of a procedure", name("nim", &["__"], DIGIT), r"^(.+__.+)_[0-9]+$", "${1}_*"),
    rule("Dart: position of anonymous code", name(ANY, &["<anonymous closure @"], ""), r"<anonymous closure @[0-9]+>", "<anonymous closure>"),
    rule("Jupyter: line of a cell", name(ANY, &["<cell line:"], ">"), r"^<cell line: [0-9]+>$", "<cell line: *>"),
    // Modules: programs, libraries, packages.
    rule("deleted file", module(&[" (deleted)"], ")"), r" \(deleted\)$", ""),
    rule("directory of a program or library", module(&["/", "\\"], ""), PATH, "$1"),
    rule("directory of a library", module(&["/"], "ebltnoy"), LIBRARY, "$1"),
    rule("Python: hash of a library in a wheel", module(&["-"], "ol"), r"^(.+)-(?P<hash>[0-9a-f]{8}|[0-9a-f]{32})(?:\.[0-9A-Za-z]+)*?(\.so|\.dll)$", "$1$3"),
    rule("version of a shared library", module(&[".so."], DIGIT), r"\.so(?:\.[0-9]+)+$", ".so"),
    rule("version in a library's name", module(&["-"], "o"), r"-[0-9]+(?:\.[0-9]+)+\.so$", ".so"),
    rule("version of a dynamic library", module(&[".dylib"], "b"), r"(?:\.[0-9]+)+\.dylib$", ".dylib"),
    rule("Python: version and machine of an extension", module(&[".cpython-", ".pypy", ".abi3", ".cp3"], "od"), r"\.(?:cpython-[0-9]+[0-9A-Za-z_-]*|pypy[0-9]+-[0-9A-Za-z_-]+|abi3|cp[0-9]+-[0-9A-Za-z_]+)\.(so|pyd)$", ".$1"),
    rule("extension of a program", module(&[".exe", ".EXE"], "eE"), r"(?i)(.)\.exe$", "$1"),
    rule("cargo: hash of a build", module(&["-"], ""), r"(.)-[0-9a-f]{16}(\.(?:so|dylib|dll))?$", "$1$2"),
    rule("perf: map of a process", module(&["perf-"], "p"), r"^perf-[0-9]+\.map$", "perf-*.map"),
    rule("perf: code that was compiled while a process ran", module(&["jitted-"], "o"), r"^jitted-[0-9]+-[0-9]+\.so$", "jitted-*.so"),
    rule("samply: code that was compiled while a thread ran", module(&["[JIT] tid "], DIGIT), r"^\[JIT\] tid [0-9]+$", "[JIT]"),
    rule("kernel: start of its symbols", module(&["[kernel.kallsyms]_"], ""), r"^(\[kernel\.kallsyms\])_(?:text|stext)$", "$1"),
    rule("kernel of a guest", module(&["[guest.kernel.kallsyms."], "]"), r"^\[guest\.kernel\.kallsyms\.[0-9]+\]$", "[guest.kernel.kallsyms]"),
    rule("BPF: tag of a program", module(&["bpf_prog_"], ""), r"^bpf_prog_[0-9a-f]{16}", "bpf_prog_*"),
    rule("version of a module", module(&["@"], ""), r"@v?[0-9][0-9A-Za-z_.+-]*", ""),
    rule("major version of a Go module", module(&["/v"], ""), r"^([0-9A-Za-z_.-]+\.[a-z]+/.+)/v(?:[2-9]|[1-9][0-9]+)(/|$)", "$1$2"),
    // Files.
    rule("Unicode: letters and their marks as one character (NFC)", file(NOTHING, ""), r"^(?s)(?P<nfc>.*[^\x00-\x7f].*)$", "$nfc"),
    rule("directory of another root", file(&["/proc/"], ""), OTHER_ROOT, "/"),
    rule("directory of a container", file(&["/merged/", "/diff/"], ""), CONTAINER_ROOT, "/"),
    rule("directory of the Nix store", file(&["/nix/store/"], ""), NIX, "$1/"),
    rule("Rust: commit of the standard library", file(&["/rustc/"], ""), r"^/rustc/[0-9a-f]{40}/", "/rustc/"),
    rule("Rust: directory of the output of a build script", file(&["/out/", "\\out\\"], ""), r"^(?:.*[/\\])?build[/\\]([A-Za-z][0-9A-Za-z_-]*?)-[0-9a-f]{16}[/\\]out[/\\]", "$1/out/"),
    rule("Rust: directory of the standard library", file(&["/rustlib/src/rust/"], ""), r"^.*/rustlib/src/rust/", "/rustc/"),
    rule("Rust: folder and version of a crate", file(&["/registry/src/"], ""), r"^.*/registry/src/[^/]+/([A-Za-z][0-9A-Za-z_-]*?)-[0-9][0-9A-Za-z_.+-]*/", "$1/"),
    rule("Rust: directory of a crate from git", file(&["/git/checkouts/"], ""), r"^.*/git/checkouts/([A-Za-z][0-9A-Za-z_-]*?)-[0-9a-f]{16}/[0-9a-f]{7,}/", "$1/"),
    rule("Python: directory of installed packages", file(&["-packages/"], ""), r"^.*/(?:site|dist)-packages/", ""),
    rule("Python: version of the standard library", file(&["/lib/python"], ""), r"^.*/lib/python[0-9][0-9.]*/", "python/"),
    rule("Ruby: folder and version of a gem", file(&["/gems/"], ""), r"^.*/gems/([A-Za-z][0-9A-Za-z_-]*?)-[0-9][0-9A-Za-z_.]*/", "$1/"),
    rule("Node: directory of installed packages", file(&["/node_modules/"], ""), r"^(?:file://)?.*/node_modules/", ""),
    rule("Go: version of a module", file(&["@v"], ""), r"(?:/v[0-9]+|\.v[0-9]+)?@v[0-9][0-9A-Za-z_.+-]*", ""),
    rule("Go: directory of downloaded modules", file(&["/pkg/mod/"], ""), r"^.*/pkg/mod/", ""),
    rule("hash in the name of a bundle", file(&["."], "s"), r"\.(?P<hash>[0-9a-f]{6,32})((?:\.(?:chunk|min|bundle|legacy|css))*\.[cm]?js)$", ".*$2"),
    rule("hash at the end of the name of a bundle", file(&["/assets/", "/chunks/"], "s"), r"(/(?:assets|chunks)/(?:[^/]+/)*(?:[^/]*-)?[^/]*[0-9A-Za-z])-(?P<hash>[0-9A-Za-z_]{8})(\.m?js)$", "$1-*$3"),
    rule("long hash at the end of the name of a bundle", file(&["-"], "s"), r"([0-9A-Za-z_\])])-(?P<hash>[0-9a-f]{16,40})(\.m?js)$", "$1-*$3"),
    rule("esbuild: hash of a part that is shared", file(&["chunk-"], "s"), r"(^|/)chunk-[0-9A-Z]{8}(\.m?js)$", "${1}chunk-*$2"),
    rule("Jupyter: process and number of a cell", file(&["/ipykernel_"], "y"), r"^.*/ipykernel_[0-9]+/[0-9]+\.py$", "ipykernel/*.py"),
    rule("IPython: number of a cell", file(&["<ipython-input-"], ">"), r"^<ipython-input-[0-9]+(?:-[0-9a-f]+)?>$", "<ipython-input-*>"),
    rule("attrs: number of a generated method", file(&["<attrs generated "], ">"), r"^(<attrs generated .+?)-[0-9]+>$", "$1>"),
    rule("SymPy: number of generated code", file(&["<lambdifygenerated-"], ">"), r"^<lambdifygenerated-[0-9]+>$", "<lambdifygenerated-*>"),
    rule("WebAssembly: hash of a module", file(&["wasm://wasm/"], ""), r"^(wasm://wasm/)(?:.*-)?[0-9a-f]+$", "$1*"),
    rule("query of an address", file(&["http://", "https://", "file://"], ""), r"^((?:https?|file)://[^?#]+)[?#].*$", "$1"),
    rule("webpack: hash of a file", file(&["webpack"], HEX), r"^(webpack(?:-internal)?://[^?]+)\?[0-9a-f]{4,32}$", "$1"),
    // Containers.
    rule("time of day", container(DIGITS, ""), r"(?: at)? ?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}[:.-][0-9]{2}(?:[:.-][0-9]{2})?(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?", ""),
    rule("numbers of the purpose of a part", container(&[":"], DIGIT), r"(?: for)? [0-9]+(?::[0-9]+)+$", ""),
    rule("number of a process before the name", container(&["["], ""), r"^\[[0-9]+\] +", ""),
    rule("number after a slash", container(&["-?/"], ""), r"-\?/[0-9]+", ""),
    rule("number of a thread beside its quoted name", container(&["Thread "], "\""), r#"^Thread (?:[0-9]+|0[xX][0-9a-fA-F]+) "(.*)"$"#, "$1"),
    rule("only a number", container(NOTHING, DIGIT), r"^ *[PT]?[0-9]+(?:[:.][PT]?[0-9]+)*$", ""),
    rule("a thread by its number", container(NOTHING, "0123456789abcdefABCDEF)"), r"^(?i-u:thread|process|pid|tid)(?i-u:[ _-]?id)?[ _#:=-]*(?:\(?[0-9]+\)?|0x[0-9a-fA-F]+|[0-9a-f]{4,})$", ""),
    rule("number of a process in brackets", container(NOTHING, ")]"), r" ?[\[(](?:(?:pid|tid)[ :=]*)?[0-9]+[\])]$", ""),
    rule("number after the name", container(&[" "], DIGIT), r" +(?:(?:pid|tid)[ :=]*)?[0-9]+(?:\.[0-9]+)?$", ""),
    rule("numbers of a process and a thread", container(&["id", "ID", "hread", "rocess", "oroutine"], ""), r"((?:^|[ ,])(?i-u:pid|tid|process|thread|goroutine))[ :=]*[0-9]+($|[ ,])", "$1$2"),
    rule("thread of async-profiler", container(&["tid="], "]"), r"^\[(?:(.+?),? )?tid=[0-9]+\]$", "$1"),
    rule("numbers of a process and a thread after a name", container(&["/"], DIGIT), r"-(?:[0-9]+|\?)/[0-9]+$", ""),
    rule("numbers of a process and a thread before a name", container(&["/"], ""), r"^[0-9]{2,}/[0-9]{2,} +", ""),
    rule("number of a process after a name", container(&["-"], DIGIT), r"-[0-9]{4,}$", ""),
    rule("number out of a total", container(&[" ("], ")"), r" \([0-9]+/[0-9]+\)$", ""),
    rule("address", container(&["0x", "0X"], ""), r"0[xX][0-9a-fA-F]+", "*"),
    rule("Linux: processor of a thread of the kernel", container(&["/"], ""), r"^((?:kworker|ksoftirqd|migration|cpuhp|swapper|watchdog|idle_inject|rcu[a-z]+|irq)/)[0-9u][0-9:]*H?", "$1*"),
    rule("Java: number of a compiler's thread", container(&["CompilerThread"], DIGIT), r"CompilerThread[0-9]+$", "CompilerThread*"),
    rule("Jetty: number of a pool and its thread", container(&["qtp"], DIGIT), r"^qtp[0-9]+-[0-9]+$", "qtp*-*"),
    rule("number of a thread in brackets", container(&["hread<"], ">"), r"([Tt]hread)<[0-9]+>", "$1<*>"),
    rule("number of a pool's thread", container(DIGITS, ""), POOLS, "$1*"),
];
