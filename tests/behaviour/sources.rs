//! Source that is stored with a run: what a case folder cannot show.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::support::program;
use profdb::base::error::Stop;
use profdb::formats::{Options, format_named};
use profdb::input::{Input, Limits};
use profdb::pipeline::{Failure, Imported, import, meta};
use profdb::source::Folder;
use profdb::store::{Database, RunMeta};

const PROFILE: &str = "\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n\
                       0,\"#.main\",¯1,1,1,1\n1,\"#.main\",1,1,0.75,0.75\n1,\"#.main\",2,1,0.25,0.25\n";

/// What the program says on standard output and on standard error, in this order.
fn profdb(folder: &Path, arguments: &[&str]) -> String {
    let output = program::command()
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs");
    String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8")
}

#[test]
fn a_report_stays_true_when_the_code_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("apl/main.aplf");
    fs::create_dir(folder.path().join("apl")).expect("a folder");
    fs::write(folder.path().join("run.csv"), PROFILE).expect("a file");
    let write = |text: &str| fs::write(&script, text).expect("a file");
    let report = |more: &[&str]| {
        profdb(
            folder.path(),
            &[&["report", "lines", "--format", "csv", "--code"], more].concat(),
        )
    };
    let table = |first: &str, second: &str| {
        format!(
            "\"Element\",\"Line\",\"Time\",\"PctOfTot\",\"Calls\",\"Code\",\"FunctionId\"\n\
             \"#.main\",1,0.75,75,1,{first},1\n\"#.main\",2,0.25,25,1,{second},1\n"
        )
    };
    write("main\none\ntwo\n");
    assert_eq!(
        profdb(folder.path(), &["import", "run.csv", "--source", "apl"]),
        "run.csv: run 1, 3 nodes\n"
    );
    assert_eq!(report(&[]), table("\"one\"", "\"two\""));
    write("main\nthree\n");
    assert_eq!(report(&[]), table("\"one\"", "\"two\""));
    assert_eq!(
        report(&["--source", "apl"]),
        table("\"three\"", "") + "profdb: no source for 1 of 2 lines\n"
    );
    let again = ["import", "run.csv", "--source", "apl", "--again"];
    let told = "run.csv: run 2, 3 nodes\nprofdb: run.csv: no source for 1 of 2 lines\n";
    assert_eq!(profdb(folder.path(), &again), told);
    fs::remove_dir_all(folder.path().join("apl")).expect("the folder goes");
    let missing = "profdb: no source for 1 of 2 lines; use --source DIR\n";
    assert_eq!(report(&[]), table("\"three\"", "") + missing);
    assert_eq!(report(&["--run", "1"]), table("\"one\"", "\"two\""));
}

/// Runs `import` on a profile with this source.
fn imported(source: Arc<dyn Folder>) -> Result<Imported, Failure> {
    let stop = Stop::default();
    let input = Input::new(
        Box::new(PROFILE.as_bytes()),
        Limits::default(),
        stop.clone(),
    )?;
    let format = format_named("dyalog_csv").expect("a format");
    let options = Options::default();
    let describe = |fingerprint| RunMeta {
        source: Some(source),
        ..meta(format, &options, "run.csv", fingerprint)
    };
    import(
        input,
        format,
        &options,
        &stop,
        describe,
        Database::in_memory,
    )
}

/// One script that nobody may read.
#[derive(Debug)]
struct Closed(Vec<String>, io::ErrorKind);

impl Folder for Closed {
    fn files(&self) -> &[String] {
        &self.0
    }

    fn read(&self, _: usize) -> io::Result<Vec<u8>> {
        Err(self.1.into())
    }
}

#[test]
fn a_file_that_cannot_be_read_is_a_note_and_an_interrupt_ends_the_import() {
    let closed = |kind| imported(Arc::new(Closed(vec!["main.aplf".to_owned()], kind)));
    let told = closed(io::ErrorKind::PermissionDenied).expect("the run is imported");
    let notes: Vec<String> = told
        .database
        .warnings(1)
        .expect("notes")
        .into_iter()
        .map(|note| note.message)
        .collect();
    assert_eq!(
        notes,
        ["no source for 2 of 2 lines", "main.aplf: permission denied"]
    );
    let stopped = closed(io::ErrorKind::Interrupted).expect_err("nobody waits");
    assert_eq!(stopped.to_string(), "interrupted");
}
