//! Why a recount gives no verdict of its own.

/// The statements of `queries/checks` have to be asked.
#[derive(Debug)]
pub(in crate::store) enum Doubt {
    /// A row is not as expected. The statements say which, and whether that is wrong.
    Unexpected,
    /// A row could not be read.
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Doubt {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Fails unless something is as expected.
pub(super) fn expect(is_expected: bool) -> Result<(), Doubt> {
    expected(is_expected.then_some(()))
}

/// What is there as expected.
pub(super) fn expected<T>(found: Option<T>) -> Result<T, Doubt> {
    found.ok_or(Doubt::Unexpected)
}
