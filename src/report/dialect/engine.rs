//! Engines that read datasets, and their words for types and texts.

use crate::base::hex::hex;

/// An engine that reads datasets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Apache Spark.
    Spark,
    /// `DuckDB`.
    DuckDb,
    /// `ClickHouse`, and chDB, which is the same in a process.
    ClickHouse,
}

impl Dialect {
    /// All engines, by name.
    pub const ALL: [(&'static str, Self); 3] = [
        ("spark", Self::Spark),
        ("duckdb", Self::DuckDb),
        ("clickhouse", Self::ClickHouse),
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, dialect)| *dialect == self);
        found.map_or("", |(name, _)| name)
    }

    /// The dialect of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, dialect)| *dialect)
    }

    /// What it calls text, where it may be NULL.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Spark => "STRING",
            Self::DuckDb => "VARCHAR",
            Self::ClickHouse => "Nullable(String)",
        }
    }

    /// What it calls a floating-point number of 64 bits that may be NULL.
    #[must_use]
    pub fn double(self) -> &'static str {
        match self {
            Self::Spark | Self::DuckDb => "DOUBLE",
            Self::ClickHouse => "Nullable(Float64)",
        }
    }

    /// What it calls a whole number of 64 bits that may be NULL.
    #[must_use]
    pub fn integer(self) -> &'static str {
        match self {
            Self::Spark | Self::DuckDb => "BIGINT",
            Self::ClickHouse => "Nullable(Int64)",
        }
    }

    /// A map from text to text without anything in it.
    #[must_use]
    pub fn no_tags(self) -> &'static str {
        match self {
            Self::Spark => "CAST(MAP() AS MAP<STRING, STRING>)",
            Self::DuckDb => "CAST(MAP {} AS MAP(VARCHAR, VARCHAR))",
            Self::ClickHouse => "CAST(map() AS Map(String, String))",
        }
    }

    /// What it calls a whole number of 38 digits that may be NULL: sums of numbers of 64 bits do not leave it.
    #[must_use]
    pub fn whole(self) -> &'static str {
        match self {
            Self::Spark | Self::DuckDb => "DECIMAL(38, 0)",
            Self::ClickHouse => "Nullable(Decimal(38, 0))",
        }
    }

    /// Text in quotes.
    #[must_use]
    pub fn literal(self, text: &str) -> String {
        match self {
            Self::DuckDb => format!("'{}'", text.replace('\'', "''")),
            Self::Spark | Self::ClickHouse => {
                format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
            }
        }
    }

    /// Text of a user in a statement. What would end a line or the text early is given by its bytes, and so is what Spark would put
    /// a variable in the place of, in quotes or not.
    pub(in crate::report) fn text_value(self, text: &str) -> String {
        if text.contains(char::is_control) || (self == Self::Spark && text.contains("${")) {
            self.bytes(&hex(text.as_bytes()))
        } else {
            self.literal(text)
        }
    }

    /// Text that is given by its bytes, in hexadecimal digits.
    fn bytes(self, digits: &str) -> String {
        match self {
            Self::Spark => format!("CAST(X'{digits}' AS STRING)"),
            Self::DuckDb => format!("decode(unhex('{digits}'))"),
            Self::ClickHouse => format!("unhex('{digits}')"),
        }
    }

    /// What comes before statements: in `ClickHouse`, what an outer join does not find is NULL then, and not 0 or an empty text.
    #[must_use]
    pub fn before(self) -> &'static str {
        match self {
            Self::Spark | Self::DuckDb => "",
            Self::ClickHouse => "SET join_use_nulls = 1;\n",
        }
    }

    /// What comes after the statement of a view, where nothing can come before.
    #[must_use]
    pub fn after_view(self) -> &'static str {
        match self {
            Self::Spark | Self::DuckDb => "",
            Self::ClickHouse => "\nSETTINGS join_use_nulls = 1",
        }
    }

    /// What comes after a statement.
    #[must_use]
    pub fn after(self) -> &'static str {
        match self {
            Self::Spark | Self::DuckDb => "",
            Self::ClickHouse => "\nSETTINGS join_use_nulls = 1, prefer_column_name_to_alias = 1",
        }
    }
}
