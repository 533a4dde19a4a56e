//! A folder of sources that the user names: its files, and what is in them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::walk::{Hidden, walk};
use crate::base::error::Stop;
use crate::source::{Folder, LARGEST_SOURCE};

/// A folder and the files below it. Links are not followed: what is outside the folder stays
/// outside.
#[derive(Debug)]
pub(super) struct Sources {
    names: Vec<String>,
    paths: Vec<PathBuf>,
    stop: Stop,
}

impl Sources {
    /// Lists a folder. A folder below that cannot be listed is left out: its files could not be read.
    pub(super) fn open(root: &Path, stop: &Stop) -> Result<Self, Failure> {
        let (names, paths) = walk(root, Hidden::Listed, stop)?.files.into_iter().unzip();
        Ok(Self {
            names,
            paths,
            stop: stop.clone(),
        })
    }
}

impl Folder for Sources {
    fn files(&self) -> &[String] {
        &self.names
    }

    fn read(&self, file: usize) -> io::Result<Vec<u8>> {
        if self.stop.is_set() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let mut bytes = Vec::new();
        let read = File::open(&self.paths[file])?
            // One byte more than may be there tells a file of exactly that size from a longer one.
            .take(LARGEST_SOURCE + 1)
            .read_to_end(&mut bytes)?;
        if read as u64 > LARGEST_SOURCE {
            let limit =
                format!("expected at most {LARGEST_SOURCE} bytes (LARGEST_SOURCE), found more");
            return Err(io::Error::other(limit));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::cli::walk::DEEPEST;
    use crate::source::{Extent, Place, find};

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (name, content) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, content).expect("a file");
        }
    }

    fn names(root: &Path) -> Vec<String> {
        Sources::open(root, &Stop::default())
            .expect("a folder")
            .names
    }

    #[test]
    fn files_are_listed_in_order_at_any_depth() {
        let root = tempfile::tempdir().expect("a folder");
        assert_eq!(names(root.path()), [""; 0]);
        let deep = format!("{}x.c", "d/".repeat(DEEPEST - 1));
        write(
            root.path(),
            &[
                ("b.c", ""),
                ("a/z.c", ""),
                ("a.c", ""),
                (&deep, ""),
                (&format!("d/{deep}"), ""),
            ],
        );
        assert_eq!(names(root.path()), ["a.c", "a/z.c", "b.c", &deep]);
    }

    /// A profile may name any path; only files that the folder lists are read.
    #[cfg(unix)]
    #[test]
    fn nothing_outside_the_folder_is_read() {
        let above = tempfile::tempdir().expect("a folder");
        let root = above.path().join("src");
        write(
            above.path(),
            &[
                ("secret.c", "secret"),
                ("src/own.c", "own"),
                ("other/Go.aplf", "secret"),
            ],
        );
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(above.path().join(to), root.join(name))
        };
        for (to, name) in [
            ("secret.c", "link.c"),
            ("other", "folder"),
            ("src", "loop"),
            ("missing", "missing.c"),
        ] {
            link(to, name).expect("a link");
        }
        assert_eq!(names(&root), ["own.c"]);
        let secret = above.path().join("secret.c").display().to_string();
        let files = [
            "../secret.c",
            "./../secret.c",
            "a/../../secret.c",
            "..\\secret.c",
            &secret,
            "link.c",
            "loop/own.c",
        ];
        let place = |name: &str, file: &str| Place {
            function_id: 1,
            name: name.to_owned(),
            file: file.to_owned(),
            lines: [0, 1].into(),
            begins: None,
            extent: Extent::default(),
        };
        let mut places: Vec<Place> = files.iter().map(|file| place("f", file)).collect();
        places.extend(["#.../other/Go", "#.folder.Go", "#.other.Go"].map(|name| place(name, "")));
        let found = find(
            &Sources::open(&root, &Stop::default()).expect("a folder"),
            &places,
        )
        .expect("nobody stops it");
        let with_text: Vec<&str> = places
            .iter()
            .zip(&found.places)
            .filter(|(_, text)| text.is_some())
            .map(|(place, _)| &*place.file)
            .collect();
        assert_eq!(
            (with_text, found.remarks.as_slice()),
            (vec!["loop/own.c"], [].as_slice())
        );
    }

    #[test]
    fn large_files_are_not_read() {
        let root = tempfile::tempdir().expect("a folder");
        for (name, length) in [
            ("large.c", LARGEST_SOURCE),
            ("larger.c", LARGEST_SOURCE + 1),
        ] {
            File::create(root.path().join(name))
                .and_then(|file| file.set_len(length))
                .expect("a file");
        }
        let sources = Sources::open(root.path(), &Stop::default()).expect("a folder");
        assert_eq!(
            sources.read(0).expect("as large as allowed").len() as u64,
            LARGEST_SOURCE
        );
        let error = sources.read(1).expect_err("too large").to_string();
        assert_eq!(
            error,
            "expected at most 16777216 bytes (LARGEST_SOURCE), found more"
        );
    }

    #[test]
    fn who_is_stopped_reads_nothing() {
        let root = tempfile::tempdir().expect("a folder");
        write(root.path(), &[("a.c", "a")]);
        let stop = Stop::default();
        let sources = Sources::open(root.path(), &stop).expect("a folder");
        stop.set();
        assert_eq!(
            sources.read(0).expect_err("stopped").kind(),
            io::ErrorKind::Interrupted
        );
        assert_eq!(
            Sources::open(root.path(), &stop).expect_err("stopped"),
            Failure::Interrupted
        );
    }
}
