//! Identities: what rules make of names, that they depend on nothing else, and that databases of every
//! age and origin have the same ones.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Output;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use profdb::events::{FunctionDef, Kind};
use profdb::identity::{Class, Identity, NO_NAME, Rule, Rules, read_rules};
use rusqlite::{Connection, OpenFlags};

use crate::support::case_files::{entries, files, repository_path};
use crate::support::program;

fn of<'a>(rules: &Rules, kind: Kind, [name, module, file]: [&'a str; 3]) -> Identity<'a> {
    rules.identity(&FunctionDef {
        kind,
        module,
        file,
        ..FunctionDef::named(name)
    })
}

/// Name, module and file of what code is held to be.
fn code<'a>(rules: &Rules, name: &'a str, module: &'a str, file: &'a str) -> [String; 3] {
    let identity = of(rules, Kind::Function, [name, module, file]);
    assert_eq!(identity.class, Class::Code);
    [identity.name, identity.module, identity.file].map(std::borrow::Cow::into_owned)
}

/// Names of code as two builds, processes or machines have them, by the file that they are in, and what
/// they are held to be.
#[rustfmt::skip] // A table is read line by line.
const ONE: &[(&str, &[&str], &str)] = &[
    // Rust, of both manglings.
    ("", &["work::h00aa11bb22cc33dd", "work::hffee11bb22cc33dd", "work::h00aa11bb22cc33dd.llvm.123", "work"], "work"),
    ("src/a.rs", &["a::f::{{closure}}", "a::f::{closure#0}", "a::f::{closure#1}", "a::f::{{closure}}::h00aa11bb22cc33dd"], "a::f::{closure}"),
    ("", &["<dep::P>::new", "dep::P::new"], "dep::P::new"),
    ("", &["<dep::P<u8>>::new", "dep::P<u8>::new"], "dep::P<u8>::new"),
    ("", &["_RINvCs5uaZVJF4aQX_3dep1fhE", "_RINvCsabcdefghijk_3dep1fhE"], "_RINvC_3dep1fhE"),
    ("", &["dep[00aa11bb22cc33dd]::f", "dep[1122334455667788]::f"], "dep::f"),
    // C and C++.
    ("", &["f.part.0", "f.cold", "f.constprop.1", "f.isra.2.cold", "f.lto_priv.3", "f.llvm.123", "f.__uniq.9", "f.cfi", "f.part.0.cold.1"], "f"),
    ("work.c", &["_IO_do_write@@GLIBC_2.2.5", "_IO_do_write@GLIBC_2.17", "_IO_do_write"], "_IO_do_write"),
    ("", &["main<0000000000002897>", "main"], "main"),
    ("", &["f()::{lambda(int)#1}::operator()(int) const", "f()::{lambda(int)#2}::operator()(int) const"], "f()::{lambda(int)#*}::operator()(int) const"),
    ("", &["f()::{lambda(char const*)#1}"], "f()::{lambda(char const*)#*}"),
    ("", &["main::$_0::operator()() const", "main::$_1::operator()() const"], "main::$_*::operator()() const"),
    ("", &["a::<lambda_1>::f", "a::<lambda_8f5d2b7a>::f"], "a::<lambda_*>::f"),
    ("", &["?A0x1234ABCD::f", "?A0xFFFFFFFF::f"], "?A0x*::f"),
    ("", &["f(B const&, int) [clone .constprop.0]", "f(B const&, int) [clone .part.0] [clone .cold]", "f(B const&, int) [clone .isra.0]+0x12",
           "f(B const&, int) [clone .llvm.12]", "f(B const&, int) (.isra.0)", "f(B const&, int) (.part.0.cold)", "f(B const&, int)"], "f(B const&, int)"),
    ("work.cc", &["f(int) [clone ._omp_fn.0]", "f(int) [clone ._omp_fn.12]"], "f(int) [clone ._omp_fn.*]"),
    ("", &["f(int) (.omp_outlined.3)", "f(int) (.omp_outlined)"], "f(int) (.omp_outlined.*)"),
    ("", &[".omp_outlined.", ".omp_outlined..4"], ".omp_outlined.*"),
    ("", &["f.constprop.0.isra.0.cold", "f.hot.1", "f.localalias", "f.part", "f+0x12/0x100"], "f"),
    ("", &["f()::{unnamed class#1}::g", "f()::{unnamed class#2}::g"], "f()::{unnamed class#*}::g"),
    ("", &["f()::'lambda'(int)::operator()", "f()::'lambda0'(int)::operator()"], "f()::'lambda*'(int)::operator()"),
    ("", &["`main'::`2'::f", "`main'::`3'::f"], "`main'::`*'::f"),
    ("", &["main::__l2::<lambda_1>::f", "main::__l3::<lambda_2>::f"], "main::__l*::<lambda_*>::f"),
    ("", &["wasm://wasm/3fa9c1d2:wasm-function[12]", "wasm://wasm/4fa9c1d2:wasm-function[13]"], "wasm://wasm/*:wasm-function[*]"),
    ("", &["bpf_prog_6deef7357e7b4530_run", "bpf_prog_7deef7357e7b4530_run"], "bpf_prog_*_run"),
    // Rust, further ordinals.
    ("", &["a::f::{closure_env#0}", "a::f::{closure_env#1}"], "a::f::{closure_env}"),
    ("", &["a::f::{async_block#0}"], "a::f::{async_block}"),
    ("", &["a::f::{async_block_env#0}<T>", "a::f::{async_block_env#2}<T>"], "a::f::{async_block_env}<T>"),
    ("", &["a::f::{async_fn_env#0}"], "a::f::{async_fn_env}"),
    ("", &["call_once{{vtable.shim}}", "call_once::{shim:vtable#0}"], "call_once::{shim:vtable}"),
    ("", &["<dep::P<Vec<u8>>>::new", "<dep[3fa9c1]::P<Vec<u8>>>::new", "dep::P<Vec<u8>>::new"], "dep::P<Vec<u8>>::new"),
    ("", &["_ZN4work3run17h00aa11bb22cc33ddE", "_ZN4work3run17h11aa11bb22cc33ddE.llvm.12"], "_ZN4work3runE"),
    // Swift.
    ("", &["$s3foo3barSiyFS2iXEfU_", "$s3foo3barSiyFS2iXEfU0_"], "$s3foo3barSiyFS2iXEfU*_"),
    // Go.
    ("", &["main.T.m·dwrap·1", "main.T.m·dwrap·2"], "main.T.m·dwrap·*"),
    ("", &["github.com/a/b/v2.Run", "github.com/a/b/v3.Run", "github.com/a/b.Run"], "github.com/a/b.Run"),
    ("main.go", &["main.main.func1", "main.main.func2"], "main.main.func*"),
    ("", &["main.f.func2.1", "main.f.func3.4"], "main.f.func*.*"),
    ("", &["main.(*T).Run.func1", "main.(*T).Run.func12"], "main.(*T).Run.func*"),
    ("main.go", &["main.init.0", "main.init.1"], "main.init.*"),
    ("main.go", &["main.f.deferwrap1", "main.f.deferwrap2"], "main.f.deferwrap*"),
    ("main.go", &["main.f.gowrap1"], "main.f.gowrap*"),
    ("", &["main.f[go.shape.int]", "main.f[go.shape.struct { a []int }]"], "main.f[...]"),
    // Java.
    ("", &["A$$Lambda$92+0x00007fdf74039b40.1555991487.get", "A$$Lambda$14/0x00000008400b1840.get", "A$$Lambda.0x000000005c0139e8.get",
           "A$$Lambda/0x000000005c0139e8.get", "A$$Lambda$7/1234567.get"], "A$$Lambda*.get"),
    ("", &["LambdaForm$MH/0x00000008400b1840.invoke", "LambdaForm$MH/0x00000008400c0000.invoke"], "LambdaForm$MH/*.invoke"),
    ("A.java", &["A.lambda$main$0", "A.lambda$main$1"], "A.lambda$main$*"),
    ("", &["A$1.run", "A$2.run"], "A$*.run"),
    ("", &["GeneratedMethodAccessor120.invoke", "GeneratedMethodAccessor7.invoke"], "GeneratedMethodAccessor*.invoke"),
    ("", &["$Proxy12.get", "$Proxy3.get"], "$Proxy*.get"),
    ("", &["Outer$1$1.run", "Outer$1$2.run", "Outer$2$1.run"], "Outer$*$*.run"),
    ("", &["Outer$1Local.run", "Outer$2Local.run"], "Outer$*Local.run"),
    ("", &["java.lang.invoke.LambdaForm$MH/183264084.invoke", "java.lang.invoke.LambdaForm$MH.898557489.invoke"], "java.lang.invoke.LambdaForm$MH/*.invoke"),
    ("", &["__cxx_global_var_init", "__cxx_global_var_init.1", "__cxx_global_var_init.12"], "__cxx_global_var_init"),
    ("", &["A$$SpringCGLIB$$0.f", "A$$SpringCGLIB$$1.f", "A$$SpringCGLIB$$1a2b3c4d.f"], "A$$SpringCGLIB$$*.f"),
    ("", &["jdk.proxy2.$Proxy12.get", "jdk.proxy3.$Proxy1.get"], "jdk.proxy*.$Proxy*.get"),
    ("", &["run_[j]", "run_[i]", "run_[0]", "run_[1]", "run_[k]"], "run"),
    // Clojure, .NET, Haskell, OCaml, Julia, Erlang.
    ("", &["a.core$_main$fn__123__124.invoke", "a.core$_main$fn__12.invoke"], "a.core$_main$fn__*.invoke"),
    ("", &["user$eval1234.invoke", "user$eval1235.invoke"], "user$eval*.invoke"),
    ("", &["App.<Main>g__F|0_0", "App.<Main>g__F|1_2"], "App.<Main>g__F|*"),
    ("", &["<>f__AnonymousType0.get_x", "<>f__AnonymousType3.get_x"], "<>f__AnonymousType*.get_x"),
    ("", &["$wgo1_r3Xy", "$wgo1_r4Ab"], "$wgo1_*"),
    ("", &["Main_zdwgo1_r3Xy_info", "Main_zdwgo1_r4Ab_info"], "Main_zdwgo1_*_info"),
    ("", &["sat_s3Xy", "sat_s4Xy"], "sat_*"),
    ("", &["camlFoo__bar_12_34_code", "camlFoo__bar_13", "camlFoo__bar_13_35_code"], "camlFoo__bar_*"),
    ("", &["camlFoo__anon_fn[foo.ml:3,4-10]_12", "camlFoo__anon_fn[foo.ml:5,4-10]_13"], "camlFoo__anon_fn[foo.ml]_*"),
    ("a.jl", &["#3", "#14"], "#*"),
    ("", &["julia_run_1234", "julia_run_999"], "julia_run_*"),
    ("a.erl", &["m:'-f/2-fun-0-'/1", "m:'-f/2-fun-3-'/1"], "m:'-f/2-fun-*-'/1"),
    ("a.hs", &["sources_r43E", "sources_r4Kb", "sources_s3zi"], "sources_*"),
    ("", &["CAF:number_r1VU", "CAF:number_r43E"], "CAF:number_*"),
    ("", &["camlStdlib__Bigarray__reshape_1_606", "camlStdlib__Bigarray__reshape_1_611"], "camlStdlib__Bigarray__reshape_1_*"),
    ("", &["camlStdlib__List__map_15_113_code", "camlStdlib__List__map_16_124_code", "camlStdlib__List__map_462"], "camlStdlib__List__map_*"),
    ("", &["camlStdlib__fun_854", "camlStdlib__fun_856"], "camlStdlib__fun_*"),
    ("", &["example.com/a/v2/work.spin", "example.com/a/v3/work.spin"], "example.com/a/work.spin"),
    ("", &["helm.sh/helm/v3/pkg/action.(*Install).Run", "helm.sh/helm/v4/pkg/action.(*Install).Run"], "helm.sh/helm/pkg/action.(*Install).Run"),
    ("", &["gopkg.in/yaml%2ev2.Unmarshal", "gopkg.in/yaml%2ev3.Unmarshal", "gopkg.in/yaml.v3.Unmarshal"], "gopkg.in/yaml.Unmarshal"),
    ("work.c", &["__pyx_pf_4work_2parse", "__pyx_pf_4work_4parse", "__pyx_pf_4work_parse"], "__pyx_pf_4work_*parse"),
    ("", &["__pyx_pw_4work_1C_1go", "__pyx_pw_4work_1C_3go"], "__pyx_pw_4work_1C_*go"),
    ("w.cpp", &["_GLOBAL__sub_I__Z8front_fni", "_GLOBAL__sub_I__Z4workv"], "_GLOBAL__sub_I_*"),
    ("", &["__main__::work[abi:v1][abi:c8tJTIeF](int)", "__main__::work[abi:v2][abi:c8tJTIeG](int)"], "__main__::work(int)"),
    ("", &["A$_run_closure1.doCall", "A$_run_closure2.doCall"], "A$_run_closure*.doCall"),
    ("", &["A$_closure1$_closure2.doCall", "A$_closure3$_closure1.doCall"], "A$_closure*$_closure*.doCall"),
    ("", &["MyApp!Program+work@12.Invoke(int)", "MyApp!Program+work@19-1.Invoke(int)"], "MyApp!Program+work@*.Invoke(int)"),
    // V8 in `perf`.
    ("", &["JS:*parse /srv/app.js:1:15", "JS:~parse /srv/app.js:2:15", "JS:^parse /srv/app.js:2:15+0x1f", "LazyCompile:*parse /srv/app.js:3"], "parse"),
    // Threads and processes among the frames of folded stacks.
    ("", &["[main tid=1234]", "[main tid=99]"], "[main]"),
    ("", &["[http-nio-8080-exec-1 tid=1235]", "[http-nio-8080-exec-9 tid=7]"], "[http-nio-8080-exec-*]"),
    ("", &["java-1234/1235", "java-6677/6678", "java-?/6678"], "java"),
    ("", &["process 1234:\"python work.py\"", "process 6677:\"python work.py\""], "process:python work.py"),
    ("", &["thread (1235): \"MainThread\"", "thread (0x7F121234): MainThread"], "thread: MainThread"),
    ("", &["thread (1235): \"ThreadPoolExecutor-0_0\"", "thread (1236): ThreadPoolExecutor-0_1"], "thread: ThreadPoolExecutor-*"),
    ("", &["python (1234)", "python (6677)"], "python"),
    // Lisp, PHP, Perl.
    ("", &["class@anonymous/a.php:12$0::run", "class@anonymous/a.php:13$1::run"], "class@anonymous/a.php::run"),
    ("", &["(FLET \"WITHOUT-GCING-BODY-5\" :IN SUB-GC)", "(FLET \"WITHOUT-GCING-BODY-12\" :IN SUB-GC)"], "(FLET \"WITHOUT-GCING-BODY*\" :IN SUB-GC)"),
    ("a.php", &["{closure:a.php:3-5}", "{closure:a.php:13-15}"], "{closure:a.php}"),
    ("a.pm", &["A::BEGIN@4", "A::BEGIN@5"], "A::BEGIN@*"),
    // Objects of Python and Ruby.
    ("", &["<built-in method __new__ of type object at 0x9584a0>", "<built-in method __new__ of type object at 0x7f142685ea00>"],
     "<built-in method __new__ of type object at *>"),
    ("a.rb", &["#<Class:0x000055d0c8a1b2c8>#each", "#<Class:0x00007f0000000028>#each"], "#<Class:*>#each"),
];

/// Names that stay as they are.
const KEPT: &[(&str, &str)] = &[
    ("Suite.func1", "suite.py"),
    ("module.cold", "module.py"),
    ("module.cfi", "module.js"),
    ("a$1", "bundle.js"),
    ("std::vector<int>::push_back", "vector.h"),
    ("fib", "fib.hs"),
    ("foldl'2", "Data/List.hs"),
    ("\u{212a}elvin", "units.dyalog"),
    ("$$Lambda*", ""),
    ("work::hello", ""),
    ("a - b", ""),
    // A person has called them so.
    ("x[deadbeef]", "a.js"),
    ("level[00000001]", ""),
    ("fetch (localhost:80)", ""),
    ("connect db.local:5432", ""),
    ("GET (http://host:80)", ""),
    ("aggregate (mean:1)", ""),
    ("main.func1Name", ""),
    ("$Proxy1Handler.get", ""),
    ("A.lambda$x$1y", ""),
    ("cache.warm", ""),
    ("pkg.cache.cold", ""),
    ("decode@UTF_8", ""),
    ("render@2x", ""),
    ("lvl1", ""),
    ("$_1", ""),
    ("test {case#1}", ""),
    ("closure #1st", ""),
    ("Foo.init.0", ""),
    ("julia_set_12", ""),
    ("sha-256", ""),
    ("parse_rows", "a.hs"),
    ("block (2 levels) in f", ""),
    // What one language or compiler writes, another one's people may have written.
    ("add-range1", "a.lisp"),
    ("GeneratedUserAccessor1", "a.py"),
    ("read_u16_entry", "a.c"),
    ("read_u16_entry", ""),
    ("get_s32_info", ""),
    ("to_r8g_slow", "a.c"),
    ("apply_c99_closure", ""),
    // A width of bits, an ordinal or a short number after a tag is none of GHC's.
    ("decode_u16", "Codec.hs"),
    ("decode_u32", "Codec.hs"),
    ("area_c12", "A.hs"),
    ("row_r10", "A.hs"),
    ("is_utf8_s12", "A.hs"),
    ("pcm_s16le", "A.hs"),
    ("get_u32BE", "A.hs"),
    ("add_s32x4", "A.hs"),
    ("take_s2nd", "A.hs"),
    ("$wdecode_u16", "A.hs"),
    ("CAF:table_s16", ""),
    ("sat_s16le", ""),
    (
        "bytestringzm0zi10zi12zi1_DataziByteStringziInternal_c2w_info",
        "",
    ),
    ("Data_Conv_s2lbs_info", ""),
    // Versions of an interface are folders of one module.
    ("github.com/acme/app/api/v2/users.List", "list.go"),
    ("__pyx_f_4work_2d", ""),
    ("_GLOBAL__sub_I_g.cpp", "g.cpp"),
    ("std::f[abi:cxx11](int)", ""),
    ("user@12.example", ""),
    // The first major version of a Go module has no number in its path: this is one of an interface.
    ("k8s.io/api/core/v1.Get", "a.go"),
];

#[test]
fn what_builds_and_processes_make_up_is_taken_away() {
    let rules = Rules::built_in();
    for (file, names, expected) in ONE {
        for name in *names {
            assert_eq!(
                code(&rules, name, "", file)[0],
                *expected,
                "{name} in {file}"
            );
        }
    }
    for (name, file) in KEPT {
        assert_eq!(code(&rules, name, "m", file), [*name, "m", *file]);
    }
}

#[test]
fn places_in_names_become_the_file() {
    let rules = Rules::built_in();
    let table = [
        ("deep (work.c:14 @ 13ef)", ["deep", "", "work.c"]),
        (
            "Event.wait (threading.py:622)",
            ["Event.wait", "", "threading.py"],
        ),
        (
            "f (<frozen importlib._bootstrap>:1149)",
            ["f", "", "<frozen importlib._bootstrap>"],
        ),
        ("block in a - lib/b.rb:12", ["block in a", "", "lib/b.rb"]),
        ("<main> - unknown:1", ["<main>", "", ""]),
        ("JS:*parse /srv/app.js:1:15", ["parse", "", "/srv/app.js"]),
        (
            "JS:~ file:///srv/app.js:1:1",
            ["(anonymous)", "", "file:///srv/app.js"],
        ),
        ("f (src/a b/c.rs:3)", ["f", "", "src/a b/c.rs"]),
        ("f (<string>:1)", ["f", "", "<string>"]),
    ];
    for (name, expected) in table {
        assert_eq!(code(&rules, name, "", ""), expected, "{name}");
    }
    assert_eq!(code(&rules, "f:12", "", "a.py"), ["f", "", "a.py"]);
}

/// Callgrind's names of callers and levels of recursion, in a program and in Haskell.
#[test]
fn rules_hold_for_each_part_of_a_joined_name() {
    let rules = Rules::built_in();
    let app = "/usr/bin/app";
    assert_eq!(code(&rules, "fib'2'deep'main", app, "")[0], "fib'deep'main");
    assert_eq!(
        code(&rules, "f.constprop.0'qsort.part.0'main", app, "")[0],
        "f'qsort'main"
    );
    assert_eq!(code(&rules, "foldl'", "Main", "")[0], "foldl'");
}

#[test]
fn nameless_code_of_a_module_is_one_and_flagged() {
    let rules = Rules::built_in();
    let nameless = [
        ["0x115f", "app", "a.c"],
        ["0x7fca220f2ad7", "app", ""],
        ["[unknown <7fca220f2ad7>]", "app", ""],
        ["[unknown]", "app", "b.c"],
        ["", "app", ""],
        ["[no stack]", "app", ""],
        ["(anonymous)", "app", ""],
        ["<lambda>", "app", ""],
        ["app+0x1f0", "app", ""],
    ];
    for function in nameless {
        for kind in [Kind::Function, Kind::Pseudo] {
            let identity = of(&rules, kind, function);
            assert!(identity.is_unnamed(), "{function:?}");
            assert_eq!(
                (&*identity.name, &*identity.module, &*identity.file),
                (NO_NAME, "app", "")
            );
        }
    }
    let named = [
        ["(anonymous)", "", "a.js"],
        ["<lambda>", "", "a.py"],
        ["main", "app", ""],
    ];
    for function in named {
        assert!(
            !of(&rules, Kind::Function, function).is_unnamed(),
            "{function:?}"
        );
    }
}

#[test]
fn containers_are_known_without_numbers() {
    let rules = Rules::built_in();
    let table = [
        (Kind::Process, "P11745", "process *"),
        (Kind::Thread, "T0:11761", "thread *"),
        (Kind::Thread, "25159", "thread *"),
        (Kind::Process, "", "process *"),
        (Kind::Part, "", "part *"),
        (Kind::Process, "work 25157", "work"),
        (Kind::Thread, "Thread 9572 \"worker;0\"", "worker;0"),
        (Kind::Thread, "pool-1-thread-12", "pool-*-thread-*"),
        (Kind::Thread, "http-nio-8080-exec-1", "http-nio-8080-exec-*"),
        (Kind::Thread, "C2 CompilerThread0", "C2 CompilerThread*"),
        (Kind::Thread, "G1 Conc#0", "G1 Conc#*"),
        (Kind::Thread, "rayon-1", "rayon-*"),
        (Kind::Thread, "asyncio_0", "asyncio_*"),
        (Kind::Thread, "kworker/0:1", "kworker/*"),
        (Kind::Thread, "worker 2", "worker"),
        (Kind::Thread, "[main tid=1234]", "main"),
        (Kind::Process, "java-1234/1235", "java"),
        (Kind::Process, "python 7", "python"),
        (Kind::Part, "layer-2", "layer-2"),
        (Kind::Part, "redis:6379", "redis:6379"),
        (
            Kind::Part,
            "Wall time profile for 11738:0:11740",
            "Wall time profile",
        ),
        (Kind::Part, "Dump at 2026-11-21T09-42-22", "Dump"),
        (Kind::Thread, "main", "main"),
        // Upper-case digits, as py-spy writes them.
        (
            Kind::Thread,
            "Thread 0x1F3E4C1C0 \"MainThread\"",
            "MainThread",
        ),
        (
            Kind::Thread,
            "Thread 0x7f3e4c1c0 \"MainThread\"",
            "MainThread",
        ),
        (
            Kind::Thread,
            "Process 12 Thread 0X7FA \"x\"",
            "Process Thread * \"x\"",
        ),
        (
            Kind::Thread,
            "Process 12 Thread 77 \"y\"",
            "Process Thread \"y\"",
        ),
        (Kind::Thread, "worker (tid 0xABCD)", "worker (tid *)"),
        (Kind::Thread, "Thread-0x7F00AA", "thread *"),
        (Kind::Thread, "Thread id=99", "thread *"),
        (Kind::Thread, "P11745:T11746", "thread *"),
        (Kind::Thread, "Process 11738 wall", "Process wall"),
        (Kind::Thread, "11738/11739 main", "main"),
        (Kind::Part, "1/2 main", "1/2 main"),
    ];
    for (kind, name, expected) in table {
        let identity = of(&rules, kind, [name, "m", "f"]);
        let found = (
            identity.class,
            &*identity.name,
            &*identity.module,
            &*identity.file,
        );
        assert_eq!(found, (Class::Container, expected, "", ""), "{name}");
    }
    // Which kind of code or of container something is does not tell.
    let name = ["INVALID", "m", "f"];
    assert_eq!(
        of(&rules, Kind::Function, name).key(),
        of(&rules, Kind::Pseudo, name).key()
    );
    assert_ne!(
        of(&rules, Kind::Function, ["main", "", ""]).key(),
        of(&rules, Kind::Thread, ["main", "", ""]).key()
    );
}

#[test]
fn paths_lose_what_one_machine_has() {
    let rules = Rules::built_in();
    let table = [
        ("C:\\Work\\a.c", "c:/Work/a.c"),
        ("c:/Work/a.c", "c:/Work/a.c"),
        ("\\\\host\\share\\a.c", "//host/share/a.c"),
        ("a\\b.c", "a\\b.c"),
        ("file:///C:/Work/a.js", "c:/Work/a.js"),
        ("file:///c%3A/Work/a.js", "c:/Work/a.js"),
        ("file:///c:/Work/a.mjs?update=12", "c:/Work/a.mjs"),
        ("/C:/Work/a.js", "c:/Work/a.js"),
        ("\\\\?\\C:\\Work\\a.js", "c:/Work/a.js"),
        ("\\\\?\\UNC\\host\\share\\a.c", "//host/share/a.c"),
        ("file:///c/Work/a.js", "file:///c/Work/a.js"),
        ("/c/Work/a.js", "/c/Work/a.js"),
        ("file:///srv/a.mjs?update=1", "file:///srv/a.mjs"),
        (
            "webpack://app/./src/App.vue?1a2b",
            "webpack://app/./src/App.vue",
        ),
        (
            "webpack:///src/App.vue?vue&type=script",
            "webpack:///src/App.vue?vue&type=script",
        ),
        (
            "/rustc/0123456789012345678901234567890123456789\\library\\core\\a.rs",
            "/rustc/library/core/a.rs",
        ),
        (
            "/w/target/release/build/app-0123456789abcdef/out/pb.rs",
            "app/out/pb.rs",
        ),
        (
            "D:\\w\\target\\debug\\build\\app-fedcba9876543210\\out\\pb.rs",
            "app/out/pb.rs",
        ),
        ("/w/build/app-1/out/pb.rs", "/w/build/app-1/out/pb.rs"),
        ("dist/vendor.01234abc.min.js", "dist/vendor.*.min.js"),
        ("dist/vendor.facade.min.js", "dist/vendor.facade.min.js"),
        (
            "/x/pkg/mod/example.com/a/v2@v2.0.1/b.go",
            "example.com/a/b.go",
        ),
        (
            "/rustc/0123456789012345678901234567890123456789/library/core/a.rs",
            "/rustc/library/core/a.rs",
        ),
        (
            "/x/.cargo/registry/src/index-1949cf8c6b5b557f/regex-1.13.0/src/a.rs",
            "regex/src/a.rs",
        ),
        (
            "/usr/lib/python3.11/json/decoder.py",
            "python/json/decoder.py",
        ),
        ("/x/venv/lib/python3.11/site-packages/a/b.py", "a/b.py"),
        ("dist/bundle.3fa9c1.js", "dist/bundle.*.js"),
        ("dist/assets/index-BxT3k_9a.js", "dist/assets/index-*.js"),
        ("dist/assets/index-4f3c2b1a.js", "dist/assets/index-*.js"),
        ("/assets/page-Settings.js", "/assets/page-Settings.js"),
        ("/assets/page-Register.js", "/assets/page-Register.js"),
        ("/assets/page-20240101.js", "/assets/page-20240101.js"),
        ("/assets/part-Chapter1.js", "/assets/part-Chapter1.js"),
        ("/assets/lib-base64js.js", "/assets/lib-base64js.js"),
        (
            "https://x/_next/static/chunks/main-3fa9c1d2e3f4a5b6.js",
            "https://x/_next/static/chunks/main-*.js",
        ),
        ("dist/chunk-ABCD1234.js", "dist/chunk-*.js"),
        ("dist/lib.123456.js", "dist/lib.123456.js"),
        ("/tmp/ipykernel_1234/123456.py", "ipykernel/*.py"),
        ("<ipython-input-3-abcdef012345>", "<ipython-input-*>"),
        (
            "<attrs generated init a.B-12>",
            "<attrs generated init a.B>",
        ),
        (
            "/x/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/a.rs",
            "/rustc/library/core/a.rs",
        ),
        ("src/my-function.js", "src/my-function.js"),
        ("src/a.facade.js", "src/a.facade.js"),
        ("/x/pkg/mod/example.com/a@v1.2.3/b.go", "example.com/a/b.go"),
        // As macOS writes accents and Hangul, and as others do; a kelvin sign is no file name of its own.
        ("src/re\u{301}sume\u{301}.py", "src/r\u{e9}sum\u{e9}.py"),
        ("src/r\u{e9}sum\u{e9}.py", "src/r\u{e9}sum\u{e9}.py"),
        ("\u{1112}\u{1161}\u{11ab}.js", "\u{d55c}.js"),
        ("src/\u{212a}.dyalog", "src/K.dyalog"),
        ("/venv\u{e9}/site-packages/e\u{301}.py", "\u{e9}.py"),
        ("a\ne\u{301}.c", "a\n\u{e9}.c"),
    ];
    for (file, expected) in table {
        assert_eq!(code(&rules, "f", "", file)[2], expected, "{file}");
    }
    let table = [
        // Programs and libraries are known by their names, wherever they lie.
        ("/usr/lib/libfoo.so.1.2.3", "libfoo.so"),
        ("/usr/lib/libfoo-1.2.3.so", "libfoo.so"),
        (
            "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-foo-1.2/lib/a.so",
            "a.so",
        ),
        (
            "/v/scipy.libs/libscipy_openblas64_-ff651d7f.so",
            "libscipy_openblas64_.so",
        ),
        (
            "/v/numpy.libs/libgfortran-040039e1.so.5.0.0",
            "libgfortran.so",
        ),
        ("/v/libfoo-deadbeef.so", "libfoo-deadbeef.so"),
        ("/tmp/ci-7/base/target/app", "app"),
        ("./app", "app"),
        ("C:\\build\\7\\app.exe", "app"),
        ("/tmp/go-build2014858508/b001/w.test", "w.test"),
        ("/x/target/release/deps/bench-0123456789abcdef", "bench"),
        (
            "/x/target/release/deps/libstd-0123456789abcdef.so",
            "libstd.so",
        ),
        ("/proc/1234/exe", "exe"),
        ("/tmp/_MEIab12cd/libpython3.11.so.1.0", "libpython3.11.so"),
        ("/tmp/.mount_AppAbCdEf/usr/bin/app", "app"),
        (
            "/v/lib/python3.11/site-packages/numpy/_m.cpython-311-x86_64-linux-gnu.so",
            "_m.so",
        ),
        ("C:\\v\\_m.cp312-win_amd64.pyd", "_m.pyd"),
        ("/tmp/perf-1234.map", "perf-*.map"),
        (
            "/x/.debug/jit/java-jit-20261126.XXab12cd/jitted-1234-56.so",
            "jitted-*.so",
        ),
        ("[JIT] tid 1234", "[JIT]"),
        ("[kernel.kallsyms]_text", "[kernel.kallsyms]"),
        ("[guest.kernel.kallsyms.123]", "[guest.kernel.kallsyms]"),
        ("lib\\strings.br", "lib\\strings.br"),
        ("example.com/a/b", "example.com/a/b"),
        ("APP", "APP"),
        ("example.com/a/v2", "example.com/a"),
        ("app (deleted)", "app"),
    ];
    for (module, expected) in table {
        assert_eq!(code(&rules, "f", module, "")[1], expected, "{module}");
    }
}

/// Functions of all databases of cases and samples: kind, name, module, file.
fn corpus() -> BTreeSet<(String, [String; 3])> {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("all.db");
    let cases = entries(&repository_path("tests/cases"));
    // Cases with wrong input fail, which is what they are for.
    let imported = program::command()
        .args(["import", "--db"])
        .arg(&database)
        .args(cases)
        .arg("tests/samples")
        .output();
    imported.expect("the program was built");
    let connection = Connection::open(&database).expect("a database");
    let mut statement = connection
        .prepare("SELECT kind, name, module, file FROM functions")
        .expect("a table");
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))
    });
    rows.expect("rows").collect::<Result<_, _>>().expect("rows")
}

/// The identity of an identity is itself.
fn rests(rules: &Rules, kind: Kind, function: [&str; 3]) {
    let once = of(rules, kind, function);
    let again = of(rules, kind, [&once.name, &once.module, &once.file]);
    assert_eq!(again, once, "{function:?}");
    assert_eq!(again.key(), once.key());
}

/// Rules that this program does not know by heart: none is passed over because of what it needs.
fn tried_always() -> Rules {
    let built_in = Rules::built_in();
    let rules = built_in.all().iter().map(|rule| Rule {
        files: format!("{} ", rule.files),
        ..rule.clone()
    });
    Rules::new(rules.collect()).expect("right patterns")
}

/// What may come at the end of a name, each made by another tool.
#[rustfmt::skip] // One column would be a page.
const SUFFIXES: [&str; 36] = [
    ".part.0", ".cold", ".constprop.1", ".isra.2", ".lto_priv.3", ".llvm.123", ".__uniq.9", ".cfi", ".warm",
    "@@GLIBC_2.2.5", "@VERS_1.0", "+0x1f", "<0000000000002897>", "::{{closure}}", "::{closure#1}", ".func1",
    ".func1.2", ".gowrap1", ".deferwrap2", ".init.0", "$1", "$$Lambda$14/0x00000008400b1840", "'2", " (a.py:12)",
    "::h00aa11bb22cc33dd", "{lambda(int)#1}", " [clone .isra.0]", " (.part.0.cold)", " [clone ._omp_fn.3]", "$1Local", "_[j]",
    "__12", "$$SpringCGLIB$$0", "_r3Xy", "·dwrap·1", ".hot.2",
];

#[test]
fn an_identity_has_itself_for_identity() {
    let (rules, always) = (Rules::built_in(), tried_always());
    let corpus = corpus();
    assert!(corpus.len() > 2500, "{}", corpus.len());
    for (kind, [name, module, file]) in &corpus {
        let kind = Kind::by_name(kind).expect("a kind");
        let function = [name.as_str(), module, file];
        rests(&rules, kind, function);
        assert_eq!(
            of(&rules, kind, function),
            of(&always, kind, function),
            "{function:?}"
        );
    }
    for file in ["", "a.rs", "a.go", "a.java", "a.py", "a.c"] {
        for module in ["", "/usr/bin/app"] {
            for first in SUFFIXES {
                for second in SUFFIXES {
                    // A function may itself be called like a hash: only one is taken off.
                    if first == second && first.starts_with("::h") {
                        continue;
                    }
                    let name = format!("work{first}{second}");
                    rests(&rules, Kind::Function, [&name, module, file]);
                    let function = [name.as_str(), module, file];
                    assert_eq!(
                        of(&rules, Kind::Function, function),
                        of(&always, Kind::Function, function)
                    );
                }
            }
        }
    }
}

/// A hash is taken off once, and before or after what else is there.
#[test]
fn suffixes_come_in_any_order() {
    let rules = Rules::built_in();
    let hash = "::h00aa11bb22cc33dd";
    for suffix in [".part.0", ".cold", ".llvm.123", ".constprop.1.cold"] {
        assert_eq!(
            code(&rules, &format!("work{hash}{suffix}"), "", "a.rs")[0],
            "work"
        );
        assert_eq!(
            code(&rules, &format!("work{suffix}{hash}"), "", "a.rs")[0],
            "work"
        );
    }
    assert_eq!(
        code(&rules, &format!("work{hash}{hash}"), "", "")[0],
        format!("work{hash}")
    );
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let output = program::command()
        .current_dir(folder)
        .args(arguments)
        .output();
    output.expect("the program was built")
}

fn done(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = run(folder, arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    (text(&output.stdout), text(&output.stderr))
}

fn open(path: &Path) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("a database")
}

type Key = Vec<u8>;

/// Identities of all functions.
fn identities(path: &Path) -> BTreeMap<[String; 6], Key> {
    let connection = open(path);
    let sql = "SELECT f.kind, f.name, f.module, f.file, f.first_line || '', f.first_col || '', i.identity_key
               FROM functions AS f
               LEFT JOIN identities AS i USING (identity_id)";
    let mut statement = connection.prepare(sql).expect("SQL");
    let rows = statement.query_map([], |row| {
        let texts = [
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
            row.get(5)?,
        ];
        Ok((texts, row.get(6)?))
    });
    rows.expect("rows").collect::<Result<_, _>>().expect("rows")
}

/// Fingerprints of all runs, in order.
fn fingerprints(path: &Path) -> Vec<Option<Key>> {
    let connection = open(path);
    let mut statement = connection
        .prepare("SELECT fingerprint FROM runs ORDER BY run_id")
        .expect("SQL");
    let rows = statement.query_map([], |row| row.get(0));
    let mut rows: Vec<_> = rows.expect("rows").collect::<Result<_, _>>().expect("rows");
    rows.sort();
    rows
}

/// One good profile of each format.
fn profiles() -> Vec<PathBuf> {
    let groups = entries(&repository_path("tests/cases"));
    let minimal = groups.iter().map(|group| group.join("minimal"));
    let mut profiles: Vec<PathBuf> = minimal
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| files(&folder))
        .collect();
    profiles.extend(files(Path::new("tests/samples/pstats")));
    profiles.retain(|path| {
        run(Path::new("."), &["dump", &path.to_string_lossy()])
            .status
            .success()
    });
    profiles
}

#[test]
fn order_compression_groups_and_merges_change_no_identity_and_no_fingerprint() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = |name: &str| folder.path().join(name);
    let profiles = profiles();
    assert!(profiles.len() >= 20, "{profiles:?}");
    let absolute: Vec<String> = profiles
        .iter()
        .map(|path| {
            fs::canonicalize(path)
                .expect("it is there")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    // In groups, alone, backwards, packed.
    let together: Vec<&str> = ["import", "--db", "together.db"]
        .into_iter()
        .chain(absolute.iter().map(String::as_str))
        .collect();
    done(folder.path(), &together);
    for (at, path) in absolute.iter().enumerate().rev() {
        done(folder.path(), &["import", "--db", "backwards.db", path]);
        let mut bytes = fs::read(path).expect("a file");
        if bytes.starts_with(&[0x1f, 0x8b]) {
            let packed = std::mem::take(&mut bytes);
            GzDecoder::new(&*packed)
                .read_to_end(&mut bytes)
                .expect("gzip");
        }
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&bytes).expect("memory");
        let name = format!("{at}.gz");
        fs::write(here(&name), packed.finish().expect("memory")).expect("a file");
        done(folder.path(), &["import", "--db", "packed.db", &name]);
        let alone = format!("{at}.db");
        done(folder.path(), &["import", "--db", &alone, path]);
        done(folder.path(), &["merge", "merged.db", &alone]);
    }
    let expected = identities(&here("together.db"));
    let marks = fingerprints(&here("together.db"));
    assert!(expected.values().all(|key| key.len() == 16));
    assert!(marks.iter().all(Option::is_some));
    for other in ["backwards.db", "packed.db", "merged.db"] {
        assert_eq!(identities(&here(other)), expected, "{other}");
        assert_eq!(fingerprints(&here(other)), marks, "{other}");
    }
    // Made anew, they are what they were.
    done(folder.path(), &["identify", "--db", "together.db"]);
    assert_eq!(identities(&here("together.db")), expected);
    assert_eq!(fingerprints(&here("together.db")), marks);
    assert_eq!(
        run(folder.path(), &["check", "--db", "together.db"])
            .status
            .code(),
        Some(0)
    );
}

/// Each of these changes names as another build, process or version of the source does.
#[test]
fn nothing_that_a_build_or_process_makes_up_changes_an_identity() {
    let rules = Rules::built_in();
    for (kind, [name, module, file]) in &corpus() {
        let kind = Kind::by_name(kind).expect("a kind");
        if kind.is_container() {
            continue;
        }
        let function = [name.as_str(), module, file];
        let expected = of(&rules, kind, function);
        if expected.is_unnamed() {
            continue;
        }
        let native = file.is_empty()
            || [".c", ".cc", ".cpp", ".rs", ".h"]
                .iter()
                .any(|end| file.ends_with(end));
        let plain = |name: &str| {
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let mut changed = Vec::new();
        if native && plain(name) {
            changed.extend(
                [".cold", ".part.3", ".llvm.77", "::h0123456789abcdef"]
                    .map(|end| format!("{name}{end}")),
            );
        }
        if file.is_empty() && plain(name) {
            changed.push(format!("{name}<0000000000004711>"));
        }
        // Lines that were added above, where names have numbers of lines.
        if let Some((before, line)) = name.rsplit_once(':')
            && let Some(number) = line.strip_suffix(')').unwrap_or(line).parse::<u32>().ok()
            && (before.contains(".py") || before.contains(".rb"))
        {
            let end = if line.ends_with(')') { ")" } else { "" };
            changed.push(format!("{before}:{}{end}", number + 7));
        }
        for name in &changed {
            let other = of(&rules, kind, [name, module, file]);
            assert_eq!(
                (&other.name, &other.module),
                (&expected.name, &expected.module),
                "{name}"
            );
        }
    }
}

#[test]
fn merged_functions_are_identified_by_the_rules_of_the_database_that_gets_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    fs::write(here.join("a.folded"), "main;work_1 3\nmain;work_2 4\n").expect("a file");
    fs::write(here.join("b.folded"), "main;work_3 5\nmain;idle 1\n").expect("a file");
    fs::write(here.join("rules.txt"), "name /work_[0-9]+/ -> work_*\n").expect("a file");
    done(here, &["import", "--db", "a.db", "a.folded"]);
    let (said, _) = done(here, &["identify", "--db", "a.db", "--rules", "rules.txt"]);
    assert!(said.contains("3 functions have 2 identities"), "{said}");
    done(here, &["import", "--db", "b.db", "b.folded"]);
    // As if it had been imported here: new names come under the rules in force, too.
    fs::copy(here.join("a.db"), here.join("imported.db")).expect("a copy");
    done(here, &["import", "--db", "imported.db", "b.folded"]);
    let (_, said) = done(here, &["merge", "a.db", "b.db"]);
    assert!(said.contains("were computed by other rules"), "{said}");
    assert_eq!(
        identities(&here.join("a.db")),
        identities(&here.join("imported.db"))
    );
    assert_eq!(
        fingerprints(&here.join("a.db")),
        fingerprints(&here.join("imported.db"))
    );
    let works: i64 = open(&here.join("a.db"))
        .query_row(
            "SELECT COUNT(*) FROM identities WHERE name LIKE 'work%'",
            [],
            |row| row.get(0),
        )
        .expect("a number");
    assert_eq!(works, 1);
    let (_, said) = done(here, &["merge", "a.db", "imported.db"]);
    assert!(!said.contains("were computed by other rules"), "{said}");
    // Deleting the last function of an identity takes it along.
    done(here, &["delete", "--db", "a.db", "--yes", "1,2"]);
    let left: i64 = open(&here.join("a.db"))
        .query_row("SELECT COUNT(*) FROM identities", [], |row| row.get(0))
        .expect("a number");
    assert_eq!(left, 0);
}

#[test]
fn rules_that_turn_in_a_circle_are_refused_and_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    fs::write(here.join("a.folded"), "main;work 3\n").expect("a file");
    done(here, &["import", "a.folded"]);
    let before = identities(&here.join("profdb.db"));
    for rules in [
        "name /a/ -> aa\n",
        "name /wor./ -> play\nname /play/ -> work\n",
        "# first\nname /^(work)$/ -> $1.\nname /^(work)\\.$/ -> $1\n",
    ] {
        fs::write(here.join("rules.txt"), rules).expect("a file");
        let output = run(here, &["identify", "--rules", "rules.txt"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{rules}: {said}");
        assert!(
            said.contains("rules.txt: line ") && said.contains("do not end"),
            "{said}"
        );
        assert_eq!(identities(&here.join("profdb.db")), before, "{rules}");
    }
    let output = run(here, &["identify", "--root", "a=a/b"]);
    assert_eq!(output.status.code(), Some(2));
}

/// A name that comes later, of which rules make no end, stays as it is: the import does not fail.
#[test]
fn a_name_without_end_stays_as_it_is() {
    let rules = read_rules("r", "name /^x(y*)$/ -> x${1}y").expect("rules");
    let rules = Rules::with(rules.into_iter().map(|line| line.rule).collect()).expect("patterns");
    assert_eq!(of(&rules, Kind::Function, ["xy", "", ""]).name, "xy");
    let xy = FunctionDef::named("xy");
    assert!(rules.try_identity(&xy).is_err());
}

#[test]
fn the_digest_is_that_of_the_rules() {
    let built_in = Rules::built_in();
    assert_eq!(
        built_in.digest(),
        Rules::with(Vec::new()).expect("patterns").digest()
    );
    assert_eq!(built_in.digest(), profdb::identity::built_in_digest());
    assert_ne!(built_in.digest(), tried_always().digest());
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    fs::write(here.join("a.folded"), "main;work 3\n").expect("a file");
    done(here, &["import", "a.folded"]);
    let (said, _) = done(here, &["show"]);
    assert!(
        said.contains("metric samples: total 3, noise unknown\n"),
        "{said}"
    );
    let connection = open(&here.join("profdb.db"));
    let (digest, rules): (Vec<u8>, i64) = connection
        .query_row(
            "SELECT digest, (SELECT COUNT(*) FROM identity_rules) FROM identity_digests",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .expect("a row");
    assert_eq!(digest, built_in.digest());
    assert_eq!(usize::try_from(rules).ok(), Some(built_in.all().len()));
}
