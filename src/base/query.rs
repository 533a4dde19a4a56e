//! Statements that are files in `queries/`.

/// Name and text of a statement, by the folder that it is in: what it is called here is what its file is called.
macro_rules! query {
    ($folder:literal, $name:literal) => {
        (
            $name,
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/queries/",
                $folder,
                "/",
                $name,
                ".sql"
            )),
        )
    };
}

pub(crate) use query;
